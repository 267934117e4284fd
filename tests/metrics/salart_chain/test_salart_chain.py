"""Hand-computed cases, refusals and properties of the chain metric."""

from __future__ import annotations

import doctest
import importlib
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lookcheck.metrics import salart_chain
from lookcheck.metrics.salart_chain import FIGURES, METRICS, PATTERNS, ROLES, compute

QUESTIONS = ("q1", "q2", "q3", "q4")
ART = {"role": "artifact", "q1": "yes", "q2": "A", "q3": "B", "q4": "C"}
REAL = {"role": "clean_reference", "q1": "no", "q2": "E", "q3": "E", "q4": "E"}
GEN = {"role": "paired_generated_counterpart", "q1": "", "q2": "E", "q3": "E", "q4": "E"}


def answers(q1: str, q2: str, q3: str, q4: str) -> dict[str, str]:
    return {"q1": q1, "q2": q2, "q3": q3, "q4": q4}


RIGHT = answers("yes", "A", "B", "C")
NOTHING = answers("no", "E", "E", "E")


def test_all_sixteen_patterns_by_hand() -> None:
    bits = list(product((True, False), repeat=4))
    predictions = [
        answers("yes" if a else "no", "A" if b else "D", "B" if c else "E", "C" if d else "")
        for a, b, c, d in bits
    ]
    result = compute(predictions, [ART] * 16)
    assert result["patterns"] == dict.fromkeys(PATTERNS, 1 / 16)
    assert [row["pattern"] for row in result["per_sample"]] == list(PATTERNS)
    # Q1 wrong in 8; of the other 8 Q4 wrong in 4; of the last 4 one has Q2 and Q3 right.
    assert result["counts"]["failure_attribution"] == {
        "missed": 8,
        "evidence": 4,
        "localisation": 3,
        "all_right": 1,
    }
    assert result["failure_attribution"]["localisation"] == 3 / 16
    # Not conditioned on Q1.
    assert result["q4_right_q3_wrong"] == result["q3_right_q4_wrong"] == 4 / 16
    assert (result["artifact_q1"], result["artifact_all_1_4"], result["artifact_all_2_4"]) == (
        0.5,
        1 / 16,
        1 / 8,
    )
    assert result["counts"]["missing"] == {"q1": 0, "q2": 0, "q3": 0, "q4": 8}


def test_roles_have_their_own_denominators() -> None:
    result = compute(
        [RIGHT, NOTHING, NOTHING, answers("yes", "E", "E", "E"), answers("", "E", "E", "E")],
        [ART, ART, REAL, REAL, GEN],
        ids=["a", "b", "c", "d", "e"],
        groups=["g", "g", "h", "h", "g"],
    )
    assert {name: result["counts"][name] for name in METRICS} == {
        "artifact_q1": {"right": 1, "total": 2},
        "artifact_all_1_4": {"right": 1, "total": 2},
        "artifact_all_2_4": {"right": 1, "total": 2},
        "real_q1": {"right": 1, "total": 2},
        "real_all_1_4": {"right": 1, "total": 2},
        "real_all_2_4": {"right": 2, "total": 2},
        "generated_all_2_4": {"right": 1, "total": 1},
        "overall_q1": {"right": 2, "total": 4},
        "overall_all_1_4": {"right": 2, "total": 4},
        "overall_all_2_4": {"right": 4, "total": 5},
    }
    assert result["overall_all_2_4"] == 0.8
    assert [row["group"] for row in result["per_sample"]] == ["g", "g", "h", "h", "g"]
    last = result["per_sample"][-1]
    assert (last["q1"], last["all_1_4"], last["all_2_4"], last["pattern"]) == (None, None, True, None)
    assert [row["attribution"] for row in result["per_sample"]] == ["all_right", "missed", None, None, None]


def test_missing_and_unparsed_are_wrong_counted_and_kept() -> None:
    result = compute([answers("", " ", "A or B", "C"), answers("", "", "E", "E")], [ART, GEN])
    assert result["artifact_q1"] == result["overall_all_2_4"] == 0.0
    # Q1 of the counterpart is not asked, so it is not missing.
    assert result["counts"]["missing"] == {"q1": 1, "q2": 2, "q3": 0, "q4": 0}
    assert result["counts"]["unparsed"] == {"q1": 0, "q2": 0, "q3": 1, "q4": 0}
    assert result["per_sample"][0]["missing"] == ["q1", "q2"]
    assert result["per_sample"][0]["unparsed"] == ["q3"]
    assert "|missing:3|unparsed:1|" in result["signature"]


def test_an_answer_to_the_question_nobody_asked_is_ignored_and_counted() -> None:
    asked = compute([answers("yes", "E", "E", "E")], [GEN])
    silent = compute([answers("", "E", "E", "E")], [GEN])
    assert asked["counts"]["ignored_q1"] == 1
    assert asked["generated_all_2_4"] == silent["generated_all_2_4"] == 1.0
    assert asked["overall_q1"] is None


def test_nothing_to_divide_by_is_none() -> None:
    result = compute([NOTHING], [REAL])
    assert result["artifact_q1"] is result["generated_all_2_4"] is None
    assert set(result["failure_attribution"].values()) == set(result["patterns"].values()) == {None}
    assert result["q4_right_q3_wrong"] is None
    assert result["baselines"]["constant"]["artifact_q1"] is None
    assert result["baselines"]["random"]["artifact_q1"] is None
    assert result["by_artifact_type"] is result["no_image"] is None
    assert result["real_all_1_4"] == 1.0


def test_by_artifact_type() -> None:
    result = compute(
        [RIGHT, answers("yes", "A", "B", "D"), NOTHING, NOTHING],
        [ART, ART, ART, REAL],
        artifact_types=["topology", "count", "count", "count"],
    )
    found = result["by_artifact_type"]
    assert list(found) == ["count", "topology"]
    assert found["count"]["counts"]["artifact_q1"] == {"right": 1, "total": 2}
    assert found["count"]["failure_attribution"] == {
        "missed": 0.5,
        "evidence": 0.5,
        "localisation": 0.0,
        "all_right": 0.0,
    }
    assert found["count"]["q3_right_q4_wrong"] == 0.5
    assert found["topology"]["artifact_all_1_4"] == 1.0
    assert [row["artifact_type"] for row in result["per_sample"]] == ["topology", "count", "count", None]


def test_control_without_the_image() -> None:
    result = compute(
        [RIGHT, RIGHT, answers("yes", "A", "B", "D"), RIGHT, NOTHING, answers("", "E", "E", "x")],
        [ART, ART, ART, ART, REAL, GEN],
        no_image=["f", "C", "D", "", "A or B", "E"],
    )
    control = result["no_image"]
    assert control["counts"] == {
        "n": 6,
        "picks_f": 1,
        "rest": 5,
        "right": 2,
        "agree": 2,
        "missing": 1,
        "unparsed": 1,
    }
    assert control["picks_f"] == 1 / 6
    assert control["accuracy"] == 2 / 5
    assert control["agreement"] == 2 / 5
    assert control["by_role"]["artifact"]["accuracy"] == 1 / 3
    assert control["by_role"]["clean_reference"]["agreement"] == 0.0
    # The answer with the image was not readable: nothing can agree with it.
    assert control["by_role"]["paired_generated_counterpart"]["agreement"] == 0.0
    assert "|no_image:yes|" in result["signature"]
    everything = compute([RIGHT], [ART], no_image=["F"])["no_image"]
    assert (everything["picks_f"], everything["accuracy"], everything["agreement"]) == (1.0, None, None)


def test_json_answers() -> None:
    result = compute(
        [answers('{"answer": "yes"}', '```json\n{"answer": "A"}\n```', "B", '{"answer": "C"}')],
        [ART],
        parser="json",
        no_image=['{"answer": "F"}'],
    )
    assert result["per_sample"][0]["pattern"] == "1101"
    assert result["counts"]["unparsed"]["q3"] == 1
    assert result["no_image"]["picks_f"] == 1.0
    assert "|parser:json|" in result["signature"]


def _key(role: str, letters: tuple[str, str, str]) -> dict[str, str]:
    base = {"artifact": ART, "clean_reference": REAL, "paired_generated_counterpart": GEN}[role]
    return {**base, **dict(zip(QUESTIONS[1:], letters, strict=True))} if role == "artifact" else base


KEYS = st.builds(_key, st.sampled_from(ROLES), st.tuples(*[st.sampled_from("ABCD")] * 3))
WORDS = st.sampled_from(["A", "B", "C", "D", "E", "e", "", "A or B"])
ANSWERS = st.builds(answers, st.sampled_from(["yes", "no", "YES ", "", "maybe"]), WORDS, WORDS, WORDS)
ROWS = st.lists(st.tuples(ANSWERS, KEYS), min_size=1, max_size=30)


@settings(deadline=None, max_examples=150)
@given(rows=ROWS, data=st.data())
def test_the_order_of_rows_does_not_matter(
    rows: list[tuple[dict[str, str], dict[str, str]]], data: st.DataObject
) -> None:
    def run(order: list[int]) -> dict[str, Any]:
        result = compute([rows[i][0] for i in order], [rows[i][1] for i in order], ids=order)
        result["per_sample"].sort(key=lambda row: row["id"])
        return result

    order = list(range(len(rows)))
    assert run(data.draw(st.permutations(order))) == run(order)


@settings(deadline=None, max_examples=150)
@given(rows=ROWS)
def test_bounds_and_sums(rows: list[tuple[dict[str, str], dict[str, str]]]) -> None:
    result = compute([row[0] for row in rows], [row[1] for row in rows])
    for name in METRICS:
        count = result["counts"][name]
        assert 0 <= count["right"] <= count["total"]
        expected = None if count["total"] == 0 else count["right"] / count["total"]
        assert result[name] == expected
    for part in ("artifact", "real"):
        longer, shorter = result[f"{part}_all_1_4"], result[f"{part}_all_2_4"]
        if longer is not None:
            assert longer <= shorter
            assert longer <= result[f"{part}_q1"]
    if result["artifact_q1"] is not None:
        assert sum(result["patterns"].values()) == pytest.approx(1)
        assert sum(result["failure_attribution"].values()) == pytest.approx(1)
        assert result["failure_attribution"]["missed"] == pytest.approx(1 - result["artifact_q1"])
        assert result["failure_attribution"]["all_right"] == result["artifact_all_1_4"]
    # The overall figures are the parts' counts together.
    counts = result["counts"]
    assert counts["overall_all_2_4"]["right"] == sum(
        counts[name]["right"] for name in ("artifact_all_2_4", "real_all_2_4", "generated_all_2_4")
    )


def test_the_constant_baseline_is_what_scoring_the_constant_gives() -> None:
    references = [ART, REAL, REAL, GEN]
    scored = compute([NOTHING] * 4, references)
    assert scored["baselines"]["constant"] == {name: scored[name] for name in FIGURES}


def test_the_random_baseline_is_the_mean_over_all_answers() -> None:
    every = [answers(*chain) for chain in product(("yes", "no"), *["ABCDE"] * 3)]
    for key in (ART, REAL, GEN):
        result = compute(every, [key] * len(every))
        for name, chance in result["baselines"]["random"].items():
            assert result[name] == (None if chance is None else pytest.approx(chance))


def test_doctests() -> None:
    attempted = 0
    for path in Path(salart_chain.__file__).parent.glob("*.py"):
        if path.stem not in {"__init__", "app", "salart_chain"}:
            module = importlib.import_module(f"lookcheck.metrics.salart_chain.{path.stem}")
            found = doctest.testmod(module)
            assert found.failed == 0
            attempted += found.attempted
    assert attempted > 8
