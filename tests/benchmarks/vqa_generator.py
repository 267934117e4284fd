"""Questions of VQA v2's size for the speed test: ten answers each, from a Zipf-distributed vocabulary."""

from __future__ import annotations

import numpy as np

QUESTIONS = 214_354
ANNOTATORS = 10
DISTINCT = 3_000

_NOUNS = ("dog", "cat", "bus", "tree", "man", "woman", "child", "plate", "table", "street", "sky", "water")
_COLOURS = ("red", "blue", "green", "white", "black", "brown", "yellow", "pink", "grey", "orange", "tan")


def vocabulary(size: int) -> list[str]:
    """`size` distinct answers, most frequent first: plain words, phrases, numbers, punctuation, capitals."""
    answers = ["yes", "no", "1", "2", "white", "none", "Yes", "two", "don't know", "t-shirt"]
    shapes = ("{c} {n} {i}", "the {n} {i}", "{n}{i}", "{i}", "{n}-{c} {i}", "{n}, {c} {i}.", "A {c} {n}{i}")
    number = 0
    while len(answers) < size:
        shape = shapes[number % len(shapes)]
        answers.append(
            shape.format(c=_COLOURS[number % len(_COLOURS)], n=_NOUNS[number % len(_NOUNS)], i=number + 11)
        )
        number += 1
    answers = answers[:size]
    assert len(set(answers)) == size
    return answers


def zipf_questions(
    questions: int = QUESTIONS, distinct: int = DISTINCT, seed: int = 0
) -> tuple[list[str], list[list[str]]]:
    """Predictions and references: rank r of the vocabulary is drawn with weight 1 / r.

    Half of a question's annotators repeat its first answer on average, as real annotators often agree;
    the prediction is that answer for two questions of three.
    """
    random = np.random.default_rng(seed)
    words = vocabulary(distinct)
    weights = 1 / np.arange(1, distinct + 1)
    draws = random.choice(distinct, size=(questions, ANNOTATORS + 1), p=weights / weights.sum())
    agree = random.random((questions, ANNOTATORS)) < random.random((questions, 1))
    draws[:, :ANNOTATORS] = np.where(agree, draws[:, :1], draws[:, :ANNOTATORS])
    draws[:, ANNOTATORS] = np.where(random.random(questions) < 2 / 3, draws[:, 0], draws[:, ANNOTATORS])
    # One string object for each occurrence, as a JSON parser gives them: no help from identity.
    texts = [["".join(list(words[at])) for at in row] for row in draws.tolist()]
    return [row[ANNOTATORS] for row in texts], [row[:ANNOTATORS] for row in texts]


def distinct_questions(questions: int) -> tuple[list[str], list[list[str]]]:
    """Questions in which no string occurs twice: the worst case for anything that remembers strings."""
    words = vocabulary(questions * (ANNOTATORS + 1))
    rows = [words[at::questions] for at in range(questions)]
    return [row[ANNOTATORS] for row in rows], [row[:ANNOTATORS] for row in rows]
