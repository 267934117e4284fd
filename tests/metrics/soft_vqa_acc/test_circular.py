"""Circular accuracy: all rotations or nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookcheck.metrics.soft_vqa_acc import circular_accuracy


def test_a_question_counts_only_if_every_rotation_is_right() -> None:
    correct = [True, True, True, True, True, False, True, True, False]
    questions = ["a", "a", "a", "a", "b", "b", "b", "b", "c"]
    assert circular_accuracy(correct, questions) == 1 / 3
    assert circular_accuracy([1, 0], [7, 8]) == 0.5
    assert circular_accuracy(np.array([True, True]), np.array(["a", "b"])) == 1.0


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 5)), min_size=1), st.randoms(use_true_random=False))
def test_order_and_bound(rows: list[tuple[bool, int]], dice: Any) -> None:
    value = circular_accuracy([right for right, _ in rows], [question for _, question in rows])
    expected = {question: True for _, question in rows}
    for right, question in rows:
        expected[question] &= right
    assert value == sum(expected.values()) / len(expected)
    dice.shuffle(rows)
    assert circular_accuracy([right for right, _ in rows], [question for _, question in rows]) == value


@pytest.mark.parametrize(
    ("correct", "questions", "said"),
    [
        ([], [], "correct is empty"),
        ([True], ["a", "b"], "question_ids has 2 items, but there are 1 items of correct"),
        ([True, None], ["a", "b"], "index 1: question 'b' has correct None"),
        ([True, "yes"], ["a", "b"], "index 1: question 'b' has correct 'yes'"),
        ([True, 2], ["a", "b"], "has correct 2"),
        ([True, 1.0], ["a", "b"], "has correct 1.0"),
        ([True, True], ["a", None], "index 1: the question id is None"),
        ([True, True], ["a", ""], "index 1: the question id is ''"),
        (None, ["a"], "correct is None"),
    ],
)
def test_bad_input(correct: Any, questions: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        circular_accuracy(correct, questions)


def test_ids_are_compared_by_their_text() -> None:
    assert circular_accuracy([True, False], [7, "7"]) == 0.0
    assert circular_accuracy([True, False], [7, "8"]) == 0.5
