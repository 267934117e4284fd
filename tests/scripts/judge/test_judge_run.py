"""`lookcheck judge run` from files to verdicts, with a tiny random model."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lookcheck.dataset_builders.core.verdict_file import identity, near_ties, read_verdicts
from lookcheck.scripts.judge.decision import MARGIN_TOLERANCE

Run = Callable[..., Any]


def rows(tmp_path: Path) -> dict[str, Any]:
    return read_verdicts(tmp_path / "v.jsonl")[1]


def alike(found: dict[str, Any], reference: dict[str, Any]) -> None:
    """The same margins but for the rounding of another batch, and the same verdicts beyond it."""
    assert found.keys() == reference.keys()
    for id, row in found.items():
        assert row["margin"] == pytest.approx(reference[id]["margin"], abs=MARGIN_TOLERANCE)
        if abs(row["margin"]) > MARGIN_TOLERANCE:
            assert row["verdict"] == reference[id]["verdict"]


@pytest.mark.parametrize("method", ["logprob", "generate"])
def test_each_sample_has_one_row(judge: Run, tmp_path: Path, method: str) -> None:
    run = judge("--method", method)
    assert run.code == 0, run.err
    found = rows(tmp_path)
    assert sorted(found) == ["1", "b", "c", "d", "e", "f"]
    assert {len(row) for row in found.values()} == {13}
    for id, reason in (("d", "no answer"), ("f", "the answer is empty")):
        row = found[id]
        assert (row["verdict"], row["method"], row["raw"], row["reason"]) == ("none", "unasked", None, reason)
        assert (row["status"], row["batch"]) == ("missing", None)
    for id in ("1", "b", "e"):
        row = found[id]
        assert (row["method"], row["bounds"], row["same_as"], row["batch"]) == (method, None, None, 3)
        assert row["probability"] == pytest.approx(1 / (1 + 2.718281828459045 ** -row["margin"]), abs=2e-6)
        assert 0 < row["mass"] < 1
        if method == "logprob":
            assert row["verdict"] == ("yes" if row["margin"] > 0 else "no")
        else:
            # A random model says neither; its gibberish is kept and nothing is made of it.
            assert (row["verdict"], row["status"], row["reason"]) == ("none", "undecided", "the reply is cut")
            assert row["raw"]
    assert [found[id]["exact"] for id in ("1", "b", "c", "d", "e", "f")] == [
        False,
        True,
        True,
        False,
        True,
        False,
    ]
    assert "none, 1: no answer" in run.out


def test_identical_triples_are_judged_once(judge: Run, tmp_path: Path) -> None:
    assert judge().code == 0
    found = rows(tmp_path)
    assert found["c"] == {**found["b"], "id": "c", "same_as": "b"}
    (tmp_path / "v.jsonl").unlink()
    assert judge("--no-dedupe").code == 0
    alone = rows(tmp_path)["c"]
    # Another batch moves a margin by rounding, so the figures are compared within the tolerance.
    figures = {
        key: pytest.approx(found["c"][key], abs=MARGIN_TOLERANCE) for key in ("margin", "probability", "mass")
    }
    assert (alone["batch"], found["c"]["batch"]) == (4, 3)
    assert alone == {**found["c"], **figures, "same_as": None, "batch": 4}


def test_exact_answers_only_if_asked_for_and_never_across_a_sign(judge: Run, tmp_path: Path) -> None:
    assert judge("--accept-exact").code == 0
    found = rows(tmp_path)
    assert (found["b"]["verdict"], found["b"]["method"], found["b"]["margin"]) == ("yes", "exact", None)
    # The normalisation drops the minus: equal for the exact match, but not accepted for it.
    assert found["e"]["exact"] is True
    assert found["e"]["method"] == "logprob"


def test_the_header_says_what_was_done(judge: Run, tmp_path: Path, tiny_folder: Path) -> None:
    run = judge("--min-mass", "0.25", "--json")
    header = read_verdicts(tmp_path / "v.jsonl")[0]
    told = header["deciding"]["judge"]
    assert {key: told[key] for key in ("backend", "model", "revision", "dtype", "device", "attention")} == {
        "backend": "transformers", "model": tiny_folder.name, "revision": None, "dtype": "float32", "device": "cpu", "attention": "sdpa",
    }  # fmt: skip
    assert (told["method"], told["prompt_version"], told["min_mass"]) == ("logprob", "2", 0.25)
    assert (told["prefix_cache"], told["max_new_tokens"], told["thinking"], told["noise"]) == (
        True, 1, "strip", 1e-3,
    )  # fmt: skip
    assert told["forms"] == [
        space + form for side in ("YES Yes yes", "NO No no") for space in ("", " ") for form in side.split()
    ]
    assert set(header["deciding"]["packages"]) == {"lookcheck", "torch", "transformers", "tokenizers"}
    assert header["deciding"]["dataset"]["rows"] == 6
    assert header["deciding"]["answers"]["rows"] == 5
    shown = json.loads(run.out)
    assert shown["rows"] == 6
    assert shown["yes"] + shown["no"] + shown["none"] == 6
    assert (
        shown["judge"] == f"{tiny_folder.name}@{told['weights'][:12]},logprob,prompt2,float32,near-ties:0/6"
    )
    assert shown["statuses"] == {"decided": 0, "undecided": 4, "failed": 0, "missing": 2}
    assert shown["reasons"] == {
        "no answer": 1,
        "the answer is empty": 1,
        "yes and no together have less than the probability 0.25": 4,
    }


@pytest.mark.parametrize(("option", "judged"), [((), 0), (("--min-mass", 0), 4)])
def test_half_of_the_mass_is_asked_for_unless_told_otherwise(
    lookcheck: Run,
    write: Run,
    tiny_folder: Path,
    tmp_path: Path,
    questions: list[Any],
    answers: list[Any],
    option: tuple[object, ...],
    judged: int,
) -> None:
    """A model that thinks of something else than yes and no gives no verdict, and says so once, with a count."""
    files = (
        "--dataset",
        write(tmp_path / "q.jsonl", questions),
        "--answers",
        write(tmp_path / "a.jsonl", answers),
    )
    common = ("--model", tiny_folder, "--device", "cpu", "--output", tmp_path / "v.jsonl")
    run = lookcheck("judge", "run", *files, *common, *option)
    assert run.code == 0, run.err
    assert sum(row["verdict"] != "none" for row in rows(tmp_path).values()) == judged
    said = "none, 4: yes and no together have less than the probability 0.5"
    assert (said in run.out) == (judged == 0)


def test_thinking_traces_in_answers(judge: Run, tmp_path: Path) -> None:
    """What is judged is the answer; a trace that is cut has none."""
    questions = [{"id": id, "question": "What?", "answer": "red"} for id in "abcd"]
    texts = ["<think>blue?</think>red", "<think>blue?", "red", "no <think> tag: red</think>"]
    answers = [{"id": id, "prediction": text} for id, text in zip("abcd", texts, strict=True)]
    assert judge("--accept-exact", questions=questions, answers=answers).code == 0
    found = rows(tmp_path)
    assert [found[id]["exact"] for id in "abcd"] == [True, False, True, False]
    assert [found[id]["status"] for id in "abcd"] == ["decided", "missing", "decided", "missing"]
    assert found["b"]["reason"] == "the answer: the thinking trace is cut"
    (tmp_path / "v.jsonl").unlink()
    assert judge("--thinking", "keep", questions=questions, answers=answers).code == 0
    assert [rows(tmp_path)[id]["exact"] for id in "abcd"] == [False, False, True, False]
    assert "judge.thinking was 'keep', is 'strip'" in judge(questions=questions, answers=answers).err


def test_near_ties_are_counted(judge: Run, tmp_path: Path) -> None:
    assert judge("--json").code == 0
    assert judge().out.count("near ties") == 0
    path = tmp_path / "v.jsonl"
    lines = path.read_text().splitlines(keepends=True)
    # What a coarser kind of numbers would say of the same margins.
    noise = 1.01 * min(abs(row["margin"]) for row in rows(tmp_path).values() if row["margin"] is not None)
    path.write_text("".join([lines[0].replace('"noise": 0.001', f'"noise": {noise}'), *lines[1:]]))
    header, found = read_verdicts(path)
    close = near_ties(header, found)
    assert 1 <= close < 4
    assert f"near-ties:{close}/6" in identity(header, found)


def test_the_longest_prompts_come_first(
    judge: Run, tmp_path: Path, cases: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Memory that ends ends in the first batch, and rows of one batch are of similar length."""
    from lookcheck.scripts.judge.engine import Engine

    batches: list[list[int]] = []
    whole = Engine.first

    def first(self: Engine, batch: Any) -> Any:
        batches.append([len(row) for row in batch])
        return whole(self, batch)

    monkeypatch.setattr(Engine, "first", first)
    some = cases[::9]
    assert judge("--batch-size", 4, questions=some, answers=some).code == 0
    lengths = [length for batch in batches for length in batch]
    assert len(lengths) == len(some)
    assert lengths[0] > lengths[-1]
    assert lengths == sorted(lengths, reverse=True)
    assert {len(batch) for batch in batches[:-1]} == {4}


@pytest.mark.parametrize(
    "options",
    [
        ("--batch-size", 1),
        ("--batch-size", 7),
        ("--batch-size", 1, "--no-prefix-cache"),
        ("--batch-size", 7, "--no-prefix-cache"),
        ("--device-map", "auto"),
        ("--attention", "eager"),
    ],
)
def test_batches_and_placing_change_no_verdict(
    judge: Run, tmp_path: Path, cases: list[dict[str, Any]], options: tuple[object, ...]
) -> None:
    some = cases[::7]
    assert judge(questions=some, answers=some).code == 0
    reference = rows(tmp_path)
    (tmp_path / "v.jsonl").unlink()
    assert judge(*options, questions=some, answers=some).code == 0
    found = rows(tmp_path)
    alike(found, reference)


def test_a_run_again_changes_nothing(judge: Run, tmp_path: Path) -> None:
    assert judge().code == 0
    before = (tmp_path / "v.jsonl").read_bytes()
    again = judge()
    assert again.code == 0
    assert "going on after 6 rows" in again.err
    assert (tmp_path / "v.jsonl").read_bytes() == before


@pytest.mark.parametrize("method", ["logprob", "generate"])
def test_going_on_from_any_line_gives_the_same_bytes(
    judge: Run, tmp_path: Path, cases: list[dict[str, Any]], method: str
) -> None:
    """Batches are cut from all rows, so that a half-done one is computed in the same company again."""
    twice = [{**case, "id": f"{case['id']}{suffix}"} for case in cases[:20] for suffix in ("", "-again")]
    options = {"questions": twice, "answers": twice}
    assert judge("--method", method, "--batch-size", 4, **options).code == 0
    path = tmp_path / "v.jsonl"
    whole = path.read_bytes()
    lines = whole.splitlines(keepends=True)
    for kept in (1, 2, 7, 8, 23, 40):
        path.write_bytes(b"".join(lines[:kept]) + lines[kept][:17])
        assert judge("--method", method, "--batch-size", 4, **options).code == 0
        assert path.read_bytes() == whole


def test_memory_that_ends_halves_the_batches(
    judge: Run, tmp_path: Path, cases: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    import torch

    from lookcheck.scripts.judge.engine import Engine

    assert judge(questions=cases, answers=cases).code == 0
    reference = rows(tmp_path)
    (tmp_path / "v.jsonl").unlink()
    sizes: Counter[int] = Counter()
    whole = Engine.first

    def first(self: Engine, batch: Any) -> Any:
        sizes[len(batch)] += 1
        if len(batch) > 5:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 GiB.")
        return whole(self, batch)

    monkeypatch.setattr(Engine, "first", first)
    run = judge("--batch-size", 16, questions=cases, answers=cases)
    assert run.code == 0
    assert [size for size in sizes if size > 5] == [16, 8]
    assert sizes[16] == sizes[8] == 1
    assert "out of memory: batches of 4 from here on" in run.err
    found = rows(tmp_path)
    alike(found, reference)
    # The rows say in what company they were computed; the header is that of a run with enough memory.
    assert max(row["batch"] for row in found.values()) == 4
    monkeypatch.setattr(Engine, "first", whole)
    assert judge("--batch-size", 16, questions=cases, answers=cases).code == 0


def test_the_file_feeds_the_score_and_the_metric(
    judge: Run, lookcheck: Run, write: Run, tmp_path: Path, repository: Path, questions: list[dict[str, Any]]
) -> None:
    """From answers to Grove, by the command and by evaluate, with the judge's name in the signature."""
    import evaluate

    assert judge().code == 0
    mask = {"size": [2, 4], "counts": "044"}
    labels = [{"id": record["id"], "masks": [mask]} for record in questions]
    files = (
        "--references",
        write(tmp_path / "r.jsonl", labels),
        "--predictions",
        write(tmp_path / "p.jsonl", labels),
    )
    run = lookcheck(
        "score", "vistaqa", *files, "--verdicts", tmp_path / "v.jsonl", "--unjudged", "wrong", "--json"
    )
    assert run.code == 0, run.err
    result = json.loads(run.out)
    header, found = read_verdicts(tmp_path / "v.jsonl")
    right = sum(row["verdict"] == "yes" for row in found.values())
    assert result["answer_accuracy"] == pytest.approx(right / 6)
    assert f"|judge:{identity(header, found)}|" in f"{result['signature']}|"
    named = lookcheck(
        "score",
        "vistaqa",
        *files,
        "--verdicts",
        tmp_path / "v.jsonl",
        "--unjudged",
        "wrong",
        "--json",
        "--judge",
        "me",
    )
    assert "judge:me" in json.loads(named.out)["signature"]
    grove = evaluate.load(str(repository / "metrics" / "grove"))
    computed = grove.compute(
        predictions=[
            {"verdict": found[str(label["id"])]["verdict"], "masks": [{"size": [2, 4], "counts": "044"}]}
            for label in labels
        ],
        references=[{"masks": [{"size": [2, 4], "counts": "044"}]} for _ in labels],
        unjudged="wrong",
    )
    assert computed["grove"] == pytest.approx(result["grove"])
