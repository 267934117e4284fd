"""`lookcheck build salart-vqa`, `check` and `score` as a person types them."""

from __future__ import annotations

import importlib.util
import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from lookcheck.scripts import console
from lookcheck.scripts.build.__main__ import app as build
from lookcheck.scripts.score.__main__ import app as score

ROLES = ("artifact", "clean_reference", "paired_generated_counterpart")


@pytest.fixture(scope="module")
def upstream(repository: Path) -> ModuleType:
    path = repository / "tests" / "dataset_builders" / "salart_vqa" / "salart_upstream.py"
    spec = importlib.util.spec_from_file_location("salart_upstream_for_cli", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run(monkeypatch: pytest.MonkeyPatch, app: object, *arguments: object) -> int:
    monkeypatch.setattr("sys.argv", ["lookcheck", *map(str, arguments)])
    with pytest.raises(SystemExit) as ended:
        console.run(app)  # type: ignore[arg-type]
    return int(ended.value.code or 0)


def test_the_sample_from_nothing_to_a_score(
    lookcheck: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    out = tmp_path / "sample"
    built = lookcheck("build", "salart-vqa", "--source", "sample", "--output", out)
    assert built.returncode == 0, built.stderr
    assert built.stdout.splitlines() == [
        f"salart_vqa 1.0.0 in {out}",
        "  images / test: 12 rows",
        "  questions / test: 47 rows",
    ]
    checked = lookcheck("check", "--dataset", out)
    assert checked.stdout == f"{out}: 2 files, 59 rows, all rules kept\n"
    import pyarrow.parquet as pq

    (images,) = (out / "data").glob("images-*.parquet")
    columns = ["row_id", *(f"q{number}_answer" for number in range(1, 5)), "image_role"]
    answers = tmp_path / "key.jsonl"
    with answers.open("w") as file:
        for row in pq.read_table(images, columns=columns, partitioning=None).to_pylist():
            given = {f"q{number}": row[f"q{number}_answer"] for number in range(1, 5)}
            file.write(json.dumps({"row_id": row["row_id"], **given}) + "\n")
    scored = lookcheck("score", "salart-vqa", "--dataset", out, "--predictions", answers, "--json")
    result = json.loads(scored.stdout)
    assert result["overall_all_2_4"] == result["artifact_all_1_4"] == result["generated_all_2_4"] == 1.0
    # "no, E, E, E" is right on all seven references.
    assert result["baselines"]["constant"]["overall_all_2_4"] == 7 / 12
    assert sorted(result["by_artifact_type"]) == ["anatomy", "count", "local rendering/structure", "topology"]


def test_faults_are_listed_by_id_and_nothing_is_written(
    upstream: ModuleType,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    rows = [upstream.row(number, upstream.label(number, role)) for number, role in enumerate(ROLES)]
    rows[1] |= {"q3_answer": "A", "q2_options": None}
    upstream.write_parquet(tmp_path / "in", rows, shards=1)
    before = sorted(tmp_path.iterdir())
    arguments = ("salart-vqa", "--source", "folder", "--folder", tmp_path / "in")
    assert run(monkeypatch, build, *arguments, "--output", tmp_path / "out") == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.splitlines() == [
        "error: salart_vqa: 3 faults, nothing was written",
        "salart_000000000001: q3_answer of the role clean_reference must be E, not 'A' [q3-answer]",
        "salart_000000000001: q2_options must give the options A to E, not None [q2-options]",
        "salart_vqa: 3 images, but 950 are declared (--allow-partial builds what is there) [count]",
    ]
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--source", "folder"], "--folder DIR goes with --source folder"),
        (["--source", "sample", "--folder", "x"], "--folder DIR goes with --source folder"),
        (["--source", "folder", "--folder", "no"], "no: no such folder"),
        (["--source", "sample", "--mapping", "no.jsonl"], "no.jsonl: no such file"),
    ],
)
def test_wrong_options_are_one_sentence(
    arguments: list[str],
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(monkeypatch, build, "salart-vqa", *arguments, "--output", tmp_path / "out") == 2
    captured = capsys.readouterr()
    assert said in captured.err
    assert captured.err.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_a_folder_of_something_else_has_no_labels(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "answers.jsonl").write_text('{"row_id": "a", "q1": "no"}\n')
    files = ("--dataset", tmp_path, "--predictions", tmp_path / "answers.jsonl")
    assert run(monkeypatch, score, "salart-vqa", *files) == 2
    assert capsys.readouterr().err == (
        f"error: {tmp_path}: not a folder written by lookcheck build, it lacks lookcheck.json; "
        "expected a folder of lookcheck build salart-vqa\n"
    )
