"""Soft accuracy against the official code's scores, its quirks one by one, and hostile input."""

from __future__ import annotations

import doctest
import hashlib
import importlib
import importlib.util
import json
import random
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lookcheck.metrics.soft_vqa_acc import (
    CONTRACTIONS,
    compute,
    leave_one_out,
    normalize_official,
    normalize_simple,
    score_question,
)
from lookcheck.metrics.soft_vqa_acc.normalize import PUNCTUATION, clean, process_punctuation


def _reference() -> ModuleType:
    spec = importlib.util.spec_from_file_location("vqa_reference", Path(__file__).with_name("reference.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


reference = _reference()


@pytest.fixture(scope="module")
def oracle(shared_data: Path) -> list[dict[str, Any]]:
    lines = (shared_data / "vqa" / "soft_accuracy_oracle.jsonl").read_text(encoding="utf-8").split("\n")
    return [json.loads(line) for line in lines if line]


@pytest.mark.parametrize("mode", ["official", "ungated"])
def test_every_case_of_the_official_code(oracle: list[dict[str, Any]], mode: str) -> None:
    assert len(oracle) == 2262
    result = compute(
        [case["prediction"] for case in oracle],
        [case["answers"] for case in oracle],
        mode=mode,
        ids=[case["id"] for case in oracle],
        question_types=[case["question_type"] for case in oracle],
        answer_types=[case["answer_type"] for case in oracle],
        missing="compared",
    )
    wrong = [
        (case["id"], case["tag"], case[mode], row["score"])
        for case, row in zip(oracle, result["per_sample"], strict=True)
        if abs(case[mode] - row["score"]) > 1e-9
    ]
    assert wrong == []
    slow = reference.evaluate(
        [case["prediction"] for case in oracle],
        [case["answers"] for case in oracle],
        gated=mode == "official",
    )
    assert max(abs(a - case[mode]) for a, case in zip(slow, oracle, strict=True)) < 1e-9
    for key in ("question_type", "answer_type"):
        for name, part in result[f"by_{key}"].items():
            scores = [case[mode] for case in oracle if case[key] == name]
            assert part["n"] == len(scores)
            assert part["score"] == pytest.approx(sum(scores) / len(scores), abs=1e-9)
        assert sum(part["n"] for part in result[f"by_{key}"].values()) == 2262


def test_explainers_worked_example() -> None:
    references = [
        ["red apple", "The red apple!", "a red apple", "apple"],
        ["blue", "light blue", "sky blue", "azure"],
        ["green", "green", "lime"],
    ]
    result = compute(["red apple", "sky blue", "yellow"], references, mode="simple", ids=["q1", "q2", "q3"])
    assert [row["score"] for row in result["per_sample"]] == [1.0, 1 / 3, 0.0]
    assert round(result["soft_vqa_acc"], 3) == 0.444
    assert result["signature"] == (
        "metric:soft_vqa_acc|mode:simple|exact_match:any|missing_rule:wrong|thinking:strip|n:3|missing:0"
        "|version:2.0.0"
    )


@pytest.mark.parametrize(
    ("raw", "seen"),
    [
        ("none", "0"),
        ("None of them", "0 of them"),
        ("Ten", "10"),
        ("eleven", "eleven"),
        ("the", ""),
        ("a\ta\nb", "b"),
        # Capitals of the table are out of reach once the text is lower-cased.
        ("Im", "im"),
        ("Id've", "id've"),
        ("dont", "don't"),
        ("somebody'd", "somebodyd"),
        ("somebodyd", "somebodyd"),
        ("ow's'at", "'ow's'at"),
        # Not in the table.
        ("itsnt its", "itsnt its"),
        ("mustntve", "mustntve"),
        # Deleted beside a space anywhere, replaced by a space otherwise; judged per kind of character.
        ("t-shirt", "t shirt"),
        ("t-shirt -x", "tshirt x"),
        ("a/b - c/d", "b c d"),
        # Digit, comma, digit anywhere deletes all punctuation, in any script.
        ("1,000/2", "10002"),
        ("١,٢ x-y", "١٢ xy"),
        ("1,b", "1 b"),
        # Punctuation that stays.
        ("50% & $5: #1*~'", "50% & $5: #1*~'"),
        # A full stop stays only before a digit, whatever stands before it.
        ("5. 5.5 .5 p.m.", "5 5.5 .5 pm"),
        # Only 32 full stops go.
        ("." * 33 + "x", ".x"),
        ("." * 32 + "x", "x"),
        # The original text decides, so what a deletion brings together is not looked at again.
        ("x,-, y", "x y"),
        ("one-way", "1 way"),
        ("two-and-a-half", "2 and half"),
        ("Ὀδυσσεύς", "ὀδυσσεύς"),
        ("\u00a0red\u00a0car\u00a0", "red car"),
    ],
)
def test_official_normalisation_quirks(raw: str, seen: str) -> None:
    assert normalize_official(raw) == seen
    assert reference.digits_and_articles(reference.punctuation(reference.clean(raw))) == seen


def test_the_tables() -> None:
    assert len(CONTRACTIONS) == 120
    assert sum(key != key.lower() for key in CONTRACTIONS) == 4
    assert {key for key, value in CONTRACTIONS.items() if key == value} == {"let's", "she's"}
    assert sorted(PUNCTUATION) == sorted(reference.PUNCTUATION)
    assert len(set(PUNCTUATION)) == 21


def test_the_contraction_table_stays_as_it_is() -> None:
    # Leaderboard scores depend on every entry, typing errors included.
    digest = hashlib.sha256(json.dumps(sorted(CONTRACTIONS.items())).encode()).hexdigest()
    assert digest == "3e5960526f62912d3b70896069c43c13d7c21be38d50ca28efbb9095b499454f"
    assert all(key.replace("'", "") == value.replace("'", "") for key, value in CONTRACTIONS.items())
    absent = {"its", "ill", "shell", "were", "wed", "shed", "id", "cannot", "dont've"}
    assert absent.isdisjoint(CONTRACTIONS)


@pytest.mark.parametrize(
    ("raw", "seen"),
    [
        ("Don't", "don't"),
        ("dont", "dont"),
        ("The Red-ish apple!", "red ish apple"),
        ("ten of an eleven", "10 of eleven"),
        ("none", "none"),
        ("zero_one", "0 1"),
        ("3.5", "3 5"),
        ("café", "caf"),
        (" \n", ""),
    ],
)
def test_simple_normalisation(raw: str, seen: str) -> None:
    assert normalize_simple(raw) == seen


def test_carriage_return_stays_inside_but_newline_and_tab_turn_into_spaces() -> None:
    assert clean("\r\n a\r\nb\tc \r") == "a\r b c"
    # Raw comparison with the gate closed: "\r" tells apart what a later split would make equal.
    assert score_question("a b", ["a\r\nb"] * 4) == 0.0
    assert score_question("a b", ["a\nb"] * 4) == 1.0


def test_the_gate() -> None:
    assert score_question("Black.", ["black"] * 10) == 0.0
    assert score_question("Black.", ["black"] * 10, "ungated") == 1.0
    assert score_question("Black.", ["black"] * 9 + ["grey"]) == 1.0
    # White space at the ends goes before the gate, so these ten are unanimous…
    assert score_question("Black.", ["black", " black", "black\n", *["black"] * 7]) == 0.0
    # …and these are not, although all steps make them equal.
    assert score_question("Black.", ["black", "black.", "Black", *["black"] * 7]) == 1.0


@pytest.mark.parametrize(
    ("matches", "score"), [(0, 0.0), (1, 0.3), (2, 0.6), (3, 0.9), (4, 1.0), (5, 1.0), (10, 1.0)]
)
def test_ten_annotators(matches: int, score: float) -> None:
    answers = ["cat"] * matches + [f"dog{index}" for index in range(10 - matches)]
    assert score_question("cat", answers) == score
    assert leave_one_out(matches, 10) == score


def test_few_annotators_hand_computed() -> None:
    # One annotator has no others: even a perfect answer gets 0 in the official definition.
    assert score_question("cat", ["cat"]) == 0.0
    assert score_question("cat", ["cat"], "simple") == 1 / 3
    assert score_question("cat", ["cat", "cat"]) == 1 / 3
    assert score_question("cat", ["cat", "cat", "dog"]) == pytest.approx((1 / 3 + 1 / 3 + 2 / 3) / 3)


def test_exact_match_rules() -> None:
    references = [["red", "blue", "Blue.", "red", "pink"], ["cat", "dog", "dog"], ["x", "y"], [" ", "x"]]
    predictions = ["RED", "cat", "z", ""]
    any_rule = compute(predictions, references)
    assert [row["exact_match"] for row in any_rule["per_sample"]] == [True, True, False, False]
    assert any_rule["exact_match"] == 0.5
    frequent = compute(predictions, references, exact_match="most_frequent")
    # red and blue tie; red stands first.
    assert [row["exact_match"] for row in frequent["per_sample"]] == [True, False, False, False]
    assert compute(["blue"], references[:1], exact_match="most_frequent")["exact_match"] == 0.0
    assert "|exact_match:most_frequent|" in frequent["signature"]


def test_missing_answers_are_counted_and_wrong() -> None:
    answers = ["", " \n", "cat", "", ""]
    references = [["cat"] * 4, ["cat"] * 4, ["cat"] * 4, ["", "", "", "x"], ["the", "an", "a", "the"]]
    result = compute(answers, references)
    assert (result["counts"]["n"], result["counts"]["missing"]) == (5, 4)
    assert "|missing_rule:wrong|" in result["signature"]
    assert "|missing:4|" in result["signature"]
    assert [row["score"] for row in result["per_sample"]] == [0, 0, 1, 0, 0]
    assert [row["matches"] for row in result["per_sample"]] == [0, 0, 4, 0, 0]
    assert [row["missing"] for row in result["per_sample"]] == [True, True, False, True, True]
    # As the official code: the empty string equals a reference of which nothing is left.
    as_upstream = compute(answers, references, missing="compared")
    assert [row["score"] for row in as_upstream["per_sample"]] == pytest.approx([0, 0, 1, 3 / 4, 1])
    assert [row["exact_match"] for row in as_upstream["per_sample"]] == [False, False, True, False, False]
    assert "|missing_rule:compared|" in as_upstream["signature"]
    for mode in ("ungated", "simple"):
        assert compute([""], [["the", ""]], mode=mode)["soft_vqa_acc"] == 0.0
        assert compute([""], [["the", ""]], mode=mode, missing="compared")["soft_vqa_acc"] > 0.0


def test_a_trace_of_thoughts_is_no_answer() -> None:
    said = ["<think>A dog? No.</think>cat", "<think>cat", "cat</think> cat", "<b>cat", "cat"]
    references = [["cat", "cat", "cat", "cat", "dog"]] * 5
    result = compute(said, references, mode="ungated")
    assert [row["score"] for row in result["per_sample"]] == [1, 0, 1, 0, 1]
    assert [row["cut"] for row in result["per_sample"]] == [False, True, False, False, False]
    assert result["counts"] == {"n": 5, "missing": 0, "thinking": {"seen": 3, "cut": 1}}
    assert "|thinking:strip|" in result["signature"]
    # The official code knows no thoughts: they are counted, and compared as they are.
    official = compute(said, references)
    assert [row["score"] for row in official["per_sample"]] == [0, 0, 0, 0, 1]
    assert official["counts"] == result["counts"]
    assert not any(row["cut"] for row in official["per_sample"])
    assert "|thinking:keep|" in official["signature"]
    named = compute(said, references, thinking="strip")
    assert [row["score"] for row in named["per_sample"]] == [1, 0, 1, 0, 1]
    # What was cut is wrong, whatever becomes of missing answers.
    cut = compute(["<think>"], [["the"] * 4], mode="ungated", missing="compared")
    assert cut["soft_vqa_acc"] == 0.0


def test_constant_answers_stand_beside_the_score() -> None:
    references = [["yes"] * 3 + ["no"], ["Red", "Red", "red.", "blue"], ["Red"] * 3 + ["no"], ["Yes."] * 4]
    for mode in ("official", "ungated", "simple"):
        for rule in ("any", "most_frequent"):
            policies = compute(["x"] * 4, references, mode=mode, exact_match=rule)["baselines"]
            # "Red" is given five times; "Yes." is gated off in official.
            for name, answer in (("always_yes", "yes"), ("most_frequent", "Red")):
                scored = compute([answer] * 4, references, mode=mode, exact_match=rule)
                expected = {"answer": answer, **{key: scored[key] for key in ("soft_vqa_acc", "exact_match")}}
                assert policies[name] == expected
    # Of equally frequent answers the first by alphabet.
    assert compute(["x"], [["b", "a"]])["baselines"]["most_frequent"]["answer"] == "a"


def test_arrays_are_taken_as_lists() -> None:
    plain = compute(["cat", "dog"], [["cat", "dog"], ["dog", "dog"]], ids=[3, 4], groups=["a", "b"])
    arrays = compute(
        np.array(["cat", "dog"]),  # type: ignore[arg-type]
        np.array([["cat", "dog"], ["dog", "dog"]]),  # type: ignore[arg-type]
        ids=np.array([3, 4]),  # type: ignore[arg-type]
        groups=np.array(["a", "b"]),  # type: ignore[arg-type]
    )
    assert arrays == plain
    assert type(arrays["per_sample"][0]["id"]) is int


def test_perfect_and_worst() -> None:
    references = [[f"answer {index}"] * 10 for index in range(50)]
    perfect = compute([answers[0] for answers in references], references)
    assert (perfect["soft_vqa_acc"], perfect["exact_match"]) == (1.0, 1.0)
    worst = compute(["nothing"] * 50, references)
    assert (worst["soft_vqa_acc"], worst["exact_match"]) == (0.0, 0.0)


def test_rows_carry_group_and_types() -> None:
    result = compute(
        ["cat", "2"],
        [["cat"] * 4, ["two", "3"]],
        ids=["q1", "q2"],
        groups=["img", "img"],
        question_types=["what", "how many"],
        answer_types=["other", "number"],
    )
    assert result["per_sample"][1] == {
        "id": "q2",
        "score": pytest.approx(1 / 6),
        "exact_match": True,
        "matches": 1,
        "annotators": 2,
        "missing": False,
        "cut": False,
        "group": "img",
        "question_type": "how many",
        "answer_type": "number",
    }
    assert list(result["by_question_type"]) == ["how many", "what"]
    assert result["by_answer_type"]["other"] == {"score": 1.0, "n": 1}
    assert compute(["cat"], [["cat"]])["by_answer_type"] == {}


GOOD: dict[str, Any] = {"predictions": ["a", "b"], "references": [["a"], ["b"]]}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"predictions": [], "references": []}, "predictions is empty"),
        ({"predictions": "ab"}, "predictions is 'ab'"),
        ({"predictions": None}, "predictions is None"),
        ({"predictions": 3}, "predictions is 3"),
        ({"references": [["a"]]}, "references has 1 items, but there are 2 predictions"),
        ({"predictions": ["a", None]}, "id 1: the prediction is None"),
        ({"predictions": ["a", 5], "ids": ["x", "y"]}, "id 'y': the prediction is 5"),
        ({"references": [["a"], []], "ids": ["x", "y"]}, "id 'y': the references are empty"),
        ({"references": [["a"], None]}, "id 1: the references are None"),
        ({"references": [["a"], "b"]}, "id 1: the references are 'b'"),
        ({"references": [["a"], ["b", None]]}, "id 1: a reference answer is None"),
        ({"references": [["a"], [1]]}, "id 1: a reference answer is 1"),
        ({"references": [["a"], [["b"]]]}, r"id 1: a reference answer is \['b'\]"),
        ({"ids": ["x", "x"]}, r"index 1: the id 'x' stands twice \(first at index 0\)"),
        ({"ids": ["x", None]}, "index 1: the id is None"),
        ({"ids": ["x", ""]}, "index 1: the id is ''"),
        ({"ids": [1, True]}, "index 1: the id is True"),
        ({"ids": [1, 2.0]}, "index 1: the id is 2.0"),
        ({"ids": ["x"]}, "ids has 1 items"),
        ({"groups": ["g"]}, "groups has 1 items"),
        ({"groups": ["g", None]}, "id 1: groups holds None"),
        ({"question_types": ["what", 1.5]}, "id 1: question_types holds 1.5"),
        ({"answer_types": ["other", None], "ids": ["x", "y"]}, "id 'y': answer_types holds None"),
        ({"mode": "Official"}, "mode is 'Official'; expected one of official, ungated, simple"),
        ({"exact_match": "all"}, "exact_match is 'all'; expected one of any, most_frequent"),
    ],
)
def test_bad_input_never_gives_a_number(change: dict[str, Any], said: str) -> None:
    compute(**GOOD)
    with pytest.raises(ValueError, match=said):
        compute(**{**GOOD, **change})


NASTY = st.text(alphabet="aAtheno012.,-/ \n\t\r'?;\u00a0\u0661İΣς", max_size=12) | st.sampled_from(
    [
        "none",
        "two",
        "the",
        "dont",
        "1,5",
        "a - b",
        "",
        ".",
        "x" + "." * 34,
        "somebody'd",
        "Yes",
        "yes",
        "yes.",
    ]
)
QUESTION = st.tuples(NASTY, st.lists(NASTY, min_size=1, max_size=12))
# Often the prediction is one of the answers, or all agree: the branches that chance alone rarely takes.
ECHO = st.lists(NASTY, min_size=1, max_size=12).map(lambda answers: (answers[0], answers))
UNANIMOUS = st.tuples(NASTY, NASTY, st.integers(1, 12)).map(lambda parts: (parts[0], [parts[1]] * parts[2]))
QUESTIONS = st.lists(QUESTION | ECHO | UNANIMOUS, min_size=1, max_size=8)


@settings(max_examples=400, deadline=None)
@given(QUESTIONS, st.sampled_from(["official", "ungated"]))
def test_equals_the_step_by_step_reference(questions: list[tuple[str, list[str]]], mode: str) -> None:
    predictions, references = [p for p, _ in questions], [answers for _, answers in questions]
    result = compute(predictions, references, mode=mode, missing="compared", thinking="keep")
    fast = [row["score"] for row in result["per_sample"]]
    assert fast == pytest.approx(
        reference.evaluate(predictions, references, gated=mode == "official"), abs=1e-9
    )


@settings(max_examples=150, deadline=None)
@given(QUESTIONS, st.sampled_from(["official", "ungated", "simple"]), st.randoms(use_true_random=False))
def test_bounds_and_order(questions: list[tuple[str, list[str]]], mode: str, dice: random.Random) -> None:
    predictions, references = [p for p, _ in questions], [answers for _, answers in questions]
    result = compute(predictions, references, mode=mode)
    assert all(0 <= row["score"] <= 1 for row in result["per_sample"])
    assert 0 <= result["exact_match"] <= 1
    order = list(range(len(questions)))
    dice.shuffle(order)
    shuffled = compute(
        [predictions[at] for at in order],
        [dice.sample(references[at], len(references[at])) for at in order],
        mode=mode,
        ids=order,
    )
    assert shuffled["soft_vqa_acc"] == result["soft_vqa_acc"]
    assert shuffled["exact_match"] == result["exact_match"]
    for row in shuffled["per_sample"]:
        assert row == result["per_sample"][row["id"]]


@given(NASTY)
def test_the_short_cut_for_plain_text_changes_nothing(text: str) -> None:
    assert process_punctuation(text) == reference.punctuation(text)


@given(NASTY)
def test_simple_normalisation_is_stable(text: str) -> None:
    once = normalize_simple(text)
    assert normalize_simple(once) == once


@pytest.mark.parametrize("name", ["common", "normalize", "scoring", "circular", "contractions", "validation"])
def test_docstring_examples(name: str) -> None:
    module = importlib.import_module(f"lookcheck.metrics.soft_vqa_acc.{name}")
    failed, attempted = doctest.testmod(module)
    assert failed == 0
    assert attempted > 0 or name in {"contractions", "validation"}


def test_an_integer_id_and_its_text_are_one_id() -> None:
    with pytest.raises(ValueError, match="index 1: the id '7' stands twice"):
        compute(predictions=["a", "b"], references=[["a"], ["b"]], ids=[7, "7"])
