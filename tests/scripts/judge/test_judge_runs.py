"""From the folder of a run to its verdicts and its score: nothing else has to be named."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from lookcheck.dataset_builders.core.verdict_file import read_verdicts
from lookcheck.dataset_builders.dataset import Work
from lookcheck.dataset_builders.parquet.writer import write_folder
from lookcheck.dataset_builders.registry import DATASETS

Run = Callable[..., Any]
# Right in every other row, with an empty answer in the third; the second and fifth fail as long as a file says so.
MODEL = """
import json
from pathlib import Path
HERE = Path({here!r})
KEY = json.loads((HERE / "key.json").read_text())
ASKED = []

def answer(row):
    if row["id"] not in ASKED:
        ASKED.append(row["id"])
    place = ASKED.index(row["id"])
    if place in (1, 4) and (HERE / "broken").exists():
        raise OSError("no GPU")
    text = KEY[row["id"]] if place % 2 == 0 else "something else"
    return {{"answer": "" if place == 2 else text, "masks": []}}
"""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Folders of two samples: one is judged, one is not."""
    found = {}
    for name in ("vistaqa", "salart_vqa"):
        folder = tmp_path_factory.mktemp(name)
        data_set = DATASETS[name]
        write_folder(data_set.plan(data_set.build_options(source="sample"), Work(folder)), folder / name)
        found[name] = folder / name
    return found


@pytest.fixture
def asked(
    lookcheck: Run, built: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Path]:
    """Makes a run of VistaQA's sample."""
    rows = [row for path in sorted((built["vistaqa"] / "data").glob("*.parquet")) for row in pq.read_table(path).to_pylist()]  # fmt: skip
    (tmp_path / "key.json").write_text(json.dumps({row["id"]: row["answer"] for row in rows}))
    monkeypatch.syspath_prepend(str(tmp_path))

    def run(name: str, *options: object) -> Path:
        module = f"judged_{tmp_path.name}_{name}".replace("-", "_")
        (tmp_path / f"{module}.py").write_text(MODEL.format(here=str(tmp_path)))
        folder = tmp_path / "runs" / name
        folder.parent.mkdir(exist_ok=True)
        given = ("--dataset", built["vistaqa"], "--protocol", "vistaqa-answer", "--model", f"{module}:answer")
        lookcheck("predict", "run", *given, "--output", folder, "--quiet", *options)
        return folder

    return run


@pytest.fixture
def with_tiny(lookcheck: Run, tiny_folder: Path) -> Run:
    def judged(*arguments: object) -> Any:
        model = ("--model", tiny_folder, "--device", "cpu", "--min-mass", 0, "--quiet")
        return lookcheck("judge", "run", *arguments, *model)

    return judged


def test_a_run_is_judged_as_its_answers_are(
    lookcheck: Run, with_tiny: Run, asked: Run, built: dict[str, Path], tmp_path: Path
) -> None:
    run = asked("whole")
    done = with_tiny(run)
    assert done.code == 0, done.err
    header, found = read_verdicts(run / "verdicts.jsonl")
    files = (
        "--dataset",
        built["vistaqa"],
        "--answers",
        run / "predictions.jsonl",
        "--output",
        tmp_path / "v.jsonl",
    )
    assert with_tiny(*files).code == 0
    assert (header, found) == read_verdicts(tmp_path / "v.jsonl")
    assert len(found) == 66
    (missing,) = [row for row in found.values() if row["status"] == "missing"]
    lines = [json.loads(line) for line in (run / "predictions.jsonl").read_text().splitlines()]
    assert [line["id"] for line in lines if line["answer"] == ""] == [missing["id"]]
    assert missing["reason"] == "the answer is empty"
    # Nothing else has to be named for the score.
    scored = lookcheck("score", run, "--json")
    assert scored.code == 0, scored.err
    right = sum(row["verdict"] == "yes" for row in found.values())
    assert json.loads(scored.out)["answer_accuracy"] == pytest.approx(right / 66)
    # Again, and nothing changes.
    before = (run / "verdicts.jsonl").read_bytes()
    assert with_tiny(run).code == 0
    assert (run / "verdicts.jsonl").read_bytes() == before


def test_a_part_and_several_runs_below_a_folder(
    with_tiny: Run, asked: Run, lookcheck: Run, built: dict[str, Path], tmp_path: Path
) -> None:
    first, second = asked("a", "--limit", 3), asked("b", "--limit", 4)
    (tmp_path / "salart.py").write_text("def answer(row):\n    return 'A'\n")
    other = (
        "--dataset",
        built["salart_vqa"],
        "--model",
        "salart:answer",
        "--output",
        tmp_path / "runs" / "c",
    )
    assert lookcheck("predict", "run", *other, "--quiet", "--limit", 2).code == 0
    done = with_tiny(tmp_path / "runs", "--json")
    assert done.code == 0, done.err
    told = [json.loads(line) for line in done.out.splitlines()]
    assert [(item["output"], item["rows"]) for item in told] == [
        (str(first / "verdicts.jsonl"), 3),
        (str(second / "verdicts.jsonl"), 4),
    ]
    assert not (tmp_path / "runs" / "c" / "verdicts.jsonl").exists()
    alone = with_tiny(tmp_path / "runs" / "c")
    assert (alone.code, alone.err.count("\n")) == (2, 1)
    assert alone.err.endswith("c: answers to SalArt-VQA are scored without a judge\n")


def test_an_unfinished_run_is_refused_or_judged_in_part(with_tiny: Run, asked: Run, tmp_path: Path) -> None:
    (tmp_path / "broken").touch()
    run = asked("some", "--limit", 6)
    refused = with_tiny(run)
    assert (refused.code, refused.err.count("\n")) == (2, 1)
    assert "is unfinished: of 6 rows 0 are not there and 2 failed" in refused.err
    assert not (run / "verdicts.jsonl").exists()
    assert with_tiny(run, "--partial").code == 0
    # What failed is no answer, and no wrong one.
    before = (run / "verdicts.jsonl").read_bytes()
    assert len(read_verdicts(run / "verdicts.jsonl")[1]) == 4
    # When the others have come, verdicts of a part are not taken for those of the whole.
    (tmp_path / "broken").unlink()
    asked("some", "--limit", 6)
    other = with_tiny(run)
    assert (other.code, other.err.count("\n")) == (2, 1)
    assert "was judged differently, delete it to judge the run again: answers.rows was 4, is 6" in other.err
    assert (run / "verdicts.jsonl").read_bytes() == before
    (run / "verdicts.jsonl").unlink()
    assert with_tiny(run).code == 0
    assert len(read_verdicts(run / "verdicts.jsonl")[1]) == 6


def test_what_a_run_says_is_not_said_again(
    with_tiny: Run, asked: Run, tmp_path: Path, built: dict[str, Path]
) -> None:
    run = asked("one", "--limit", 1)
    for options, said in (
        (("--dataset", built["vistaqa"]), "--dataset is not for runs"),
        (("--answers", run / "predictions.jsonl"), "--answers is not for runs"),
        (("--output", tmp_path / "v.jsonl"), "--output is not for runs"),
    ):
        refused = with_tiny(run, *options)
        assert (refused.code, refused.err.count("\n")) == (2, 1)
        assert said in refused.err
    assert "--partial is for runs" in with_tiny("--partial").err
    assert "no such folder" in with_tiny(tmp_path / "none").err
    assert "holds none" in with_tiny(built["vistaqa"]).err
    missing = with_tiny("--dataset", built["vistaqa"])
    assert (missing.code, missing.err.count("\n")) == (2, 1)
    assert "--answers, --output: missing" in missing.err


def test_another_data_set_at_the_same_place_is_refused(with_tiny: Run, asked: Run, tmp_path: Path) -> None:
    run = asked("moved", "--limit", 1)
    told = json.loads((run / "run.json").read_text())
    told["lookcheck_run"]["known"]["manifest"] = "0" * 64
    (run / "run.json").write_text(json.dumps(told))
    refused = with_tiny(run)
    assert (refused.code, refused.err.count("\n")) == (2, 1)
    assert "has changed since it was asked" in refused.err
