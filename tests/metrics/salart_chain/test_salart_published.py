"""Every published figure that the real labels and two models' answers allow, to the printed digit."""

from __future__ import annotations

import csv
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from lookcheck.metrics.salart_chain import FIGURES, METRICS, compute

QUESTIONS = ("q1", "q2", "q3", "q4")

# The paper's rows: ten figures in the order of METRICS, attribution, cross columns.
PUBLISHED = {
    "gemini31pro": (
        "99.37 53.26 53.89 50.28 7.87 8.71 0.00 78.34 33.81 30.21",
        "0.6 18.9 27.2 53.3",
        "18.7 9.5",
    ),
    "claudeopus46": (
        "47.58 11.79 17.47 100.00 96.35 96.35 0.84 70.04 48.01 44.95",
        "52.4 23.8 12.0 11.8",
        "19.2 23.4",
    ),
}


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]


def load(shared_data: Path, model: str) -> tuple[list[dict[str, str]], list[dict[str, str]], list[str]]:
    labels = _lines(shared_data / "salart" / "labels.jsonl")
    answers = {row["row_id"]: row for row in _lines(shared_data / "salart" / f"predictions_{model}.jsonl")}
    predictions = [{q: answers[row["row_id"]].get(q) or "" for q in QUESTIONS} for row in labels]
    references = [
        {"role": row["image_role"], **{q: row[f"{q}_answer"] or "" for q in QUESTIONS}} for row in labels
    ]
    return predictions, references, [row["row_id"] for row in labels]


FACTS = Path(__file__).parents[2] / "data" / "salart_patterns.json"
KEYS = {
    "artifact": {"q1": "yes", "q2": "A", "q3": "B", "q4": "C"},
    "clean_reference": {"q1": "no", "q2": "E", "q3": "E", "q4": "E"},
    "paired_generated_counterpart": {"q1": "", "q2": "E", "q3": "E", "q4": "E"},
}


def patterns(model: str) -> dict[str, dict[str, int]]:
    """How many images of each role a model answered in each pattern (Q1 first, "-" where it is not asked)."""
    found: dict[str, dict[str, int]] = json.loads(FACTS.read_text(encoding="utf-8"))[model]
    return found


def chains(model: str) -> tuple[list[dict[str, str]], list[dict[str, str]]]:
    """Answers of those patterns to as many images."""
    predictions, references = [], []
    for role, counts in patterns(model).items():
        key = KEYS[role]
        for bits, n in counts.items():
            said = {q: key[q] if bit == "1" else "" for q, bit in zip(QUESTIONS, bits, strict=True)}
            predictions += [said] * n
            references += [{"role": role, **key}] * n
    return predictions, references


@pytest.mark.parametrize("model", PUBLISHED)
def test_every_figure_of_the_row_from_counts_of_patterns(model: str) -> None:
    predictions, references = chains(model)
    assert len(references) == 950
    _check_row(model, compute(predictions, references))


def test_every_figure_of_the_row_from_the_shipped_answers(repository: Path) -> None:
    with (repository / "dataset_builders" / "salart_vqa" / "published.csv").open(
        encoding="utf-8", newline=""
    ) as file:
        rows = list(csv.DictReader(file))
    result = compute(
        [{q: row[f"answer_{q}"] for q in QUESTIONS} for row in rows],
        [{"role": row["role"], **{q: row[q] for q in QUESTIONS}} for row in rows],
        ids=[row["row_id"] for row in rows],
    )
    _check_row("gemini31pro", result)
    found: dict[str, Counter[str]] = {role: Counter() for role in KEYS}
    for row in result["per_sample"]:
        marks = (row["q1"], row["q2"], row["q3"], row["q4"])
        found[row["role"]]["".join("-" if mark is None else "01"[mark] for mark in marks)] += 1
    assert found == patterns("gemini31pro")


@pytest.mark.parametrize("model", PUBLISHED)
def test_every_figure_of_the_row(shared_data: Path, model: str) -> None:
    predictions, references, ids = load(shared_data, model)
    result = compute(predictions, references, ids=ids)
    _check_row(model, result)
    counted, keys = chains(model)
    # The shipped counts are those of the real answers: every figure agrees.
    assert {name: result[name] for name in FIGURES} == {
        name: value for name, value in compute(counted, keys).items() if name in FIGURES
    }


def _check_row(model: str, result: Any) -> None:
    ten, attribution, cross = PUBLISHED[model]
    assert [f"{100 * result[name]:.2f}" for name in METRICS] == ten.split()
    shares = result["failure_attribution"]
    assert list(shares) == ["missed", "evidence", "localisation", "all_right"]
    assert [f"{100 * share:.1f}" for share in shares.values()] == attribution.split()
    found = [f"{100 * result[name]:.1f}" for name in ("q4_right_q3_wrong", "q3_right_q4_wrong")]
    assert found == cross.split()


@pytest.mark.parametrize("model", PUBLISHED)
def test_composition_baselines_and_invariants(shared_data: Path, model: str) -> None:
    predictions, references, ids = load(shared_data, model)
    result = compute(predictions, references, ids=ids)
    counts = result["counts"]
    assert counts["n"] == 950
    assert counts["questions"] == 475 * 4 + 356 * 4 + 119 * 3 == 3681
    assert [counts[name]["total"] for name in METRICS] == [475] * 3 + [356] * 3 + [119, 831, 831, 950]
    assert sum(counts["missing"].values()) == sum(counts["unparsed"].values()) == 0
    assert counts["ignored_q1"] == 0
    constant = result["baselines"]["constant"]
    assert [f"{100 * constant[name]:.2f}" for name in METRICS] == (
        ["0.00", "0.00", "0.00", "100.00", "100.00", "100.00", "100.00", "42.84", "42.84", "50.00"]
    )
    random = result["baselines"]["random"]
    for name in METRICS:
        expected = "50.00" if name.endswith("q1") else "0.40" if name.endswith("1_4") else "0.80"
        assert f"{100 * random[name]:.2f}" == expected
    assert result["patterns"]["1111"] == result["failure_attribution"]["all_right"]
    assert result["artifact_all_1_4"] == result["failure_attribution"]["all_right"]
    assert sum(counts["patterns"].values()) == sum(counts["failure_attribution"].values()) == 475


def test_the_letters_of_an_image_are_scored_each_on_its_own_key(shared_data: Path) -> None:
    _, references, _ = load(shared_data, "gemini31pro")
    artifacts = [row for row in references if row["role"] == "artifact"]
    assert sum(row["q2"] == row["q3"] == row["q4"] for row in artifacts) == 462
    perfect = compute([{q: row[q] for q in QUESTIONS} for row in references], references)
    assert [perfect[name] for name in METRICS] == [1.0] * 10
    one_letter = [{"q1": row["q1"], **dict.fromkeys(QUESTIONS[1:], row["q2"])} for row in references]
    assert compute(one_letter, references)["counts"]["artifact_all_1_4"] == {"right": 462, "total": 475}
