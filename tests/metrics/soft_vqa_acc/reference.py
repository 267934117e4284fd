"""VQA soft accuracy written a second time, one step after the other, as the tests' yardstick.

Eleven normalisations and ten leave-one-out means for a question with ten answers, nothing kept
between questions. It shares only the contraction table with the metric.
"""

from __future__ import annotations

import re

from lookcheck.metrics.soft_vqa_acc import CONTRACTIONS

PUNCTUATION = [";", "/", "[", "]", '"', "{", "}", "(", ")", "=", "+", "\\", "_", "-", ">", "<", "@", "`"]
PUNCTUATION += [",", "?", "!"]
WORDS = {"none": "0", "zero": "0", "one": "1", "two": "2", "three": "3", "four": "4", "five": "5"}
WORDS |= {"six": "6", "seven": "7", "eight": "8", "nine": "9", "ten": "10"}
COMMA_IN_NUMBER = re.compile(r"\d,\d")
FULL_STOP = re.compile(r"\.(?!\d)")


def clean(text: str) -> str:
    return text.replace("\n", " ").replace("\t", " ").strip()


def punctuation(text: str) -> str:
    result = text
    for character in PUNCTUATION:
        beside_space = character + " " in text or " " + character in text
        if beside_space or COMMA_IN_NUMBER.search(text):
            result = result.replace(character, "")
        else:
            result = result.replace(character, " ")
    return FULL_STOP.sub("", result, count=32)


def digits_and_articles(text: str) -> str:
    words = []
    for written in text.lower().split():
        word = WORDS.get(written, written)
        if word not in ("a", "an", "the"):
            words.append(CONTRACTIONS.get(word, word))
    return " ".join(words)


def score(prediction: str, answers: list[str], *, gated: bool) -> float:
    prediction = clean(prediction)
    answers = [clean(answer) for answer in answers]
    if not gated or len(set(answers)) > 1:
        prediction = digits_and_articles(punctuation(prediction))
        answers = [digits_and_articles(punctuation(answer)) for answer in answers]
    accuracies = []
    for left_out in range(len(answers)):
        others = [answer for position, answer in enumerate(answers) if position != left_out]
        matching = [answer for answer in others if answer == prediction]
        accuracies.append(min(1.0, len(matching) / 3))
    return sum(accuracies) / len(accuracies)


def evaluate(predictions: list[str], references: list[list[str]], *, gated: bool = True) -> list[float]:
    return [score(p, answers, gated=gated) for p, answers in zip(predictions, references, strict=True)]
