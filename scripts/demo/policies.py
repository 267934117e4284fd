"""Answers that need no model: what never looks, and an oracle that looks with noise."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

import numpy as np

from lookcheck.dataset_builders.core.masks import decode, encode

# The oracle answers right and finds an instance this often.
HIT_RATE = 0.8
# It draws a mask off by up to this share of the picture's sides.
SHIFT = 0.02


def _generator(*parts: str) -> np.random.Generator:
    """Chance from names alone, so that the same row always meets the same luck."""
    digest = sha256("/".join(parts).encode()).digest()
    return np.random.default_rng(int.from_bytes(digest[:8], "little"))


def noisy_masks(id: str, rles: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The reference masks as a good but imperfect model draws them: some missing, all a little off.

    Parameters
    ----------
    id : str
        The row's id, which is the seed.
    rles : list of dict
        Compressed COCO RLE with str counts.

    Returns
    -------
    list of dict
        Of the same form.
    """
    chance = _generator(id, "masks")
    found = []
    for rle in rles:
        height, width = rle["size"]
        seen = chance.random() < HIT_RATE
        dy, dx = (round(side * SHIFT * chance.uniform(-1, 1)) for side in (height, width))
        if not seen:
            continue
        mask = decode(rle)
        moved = np.zeros_like(mask)
        moved[max(0, dy) : height + min(0, dy), max(0, dx) : width + min(0, dx)] = mask[
            max(0, -dy) : height + min(0, -dy), max(0, -dx) : width + min(0, -dx)
        ]
        found.append(dict(encode(moved)))
    return found


def noisy_verdict(id: str) -> str:
    """Whether the oracle's answer to a row is right: ``"yes"`` or ``"no"``."""
    return "yes" if _generator(id, "answer").random() < HIT_RATE else "no"


def noisy_answer(id: str, answers: dict[str, str]) -> str:
    """The oracle's answer in words: the reference, or that of another row.

    Parameters
    ----------
    id : str
    answers : dict of str to str
        The reference answers of all rows.
    """
    if noisy_verdict(id) == "yes":
        return answers[id]
    others = sorted(set(answers.values()) - {answers[id]})
    return others[_generator(id, "words").integers(len(others))]


def noisy_chain(reference: dict[str, str], id: str) -> dict[str, str]:
    """The key of a SalArt-VQA chain with some answers replaced by another letter."""
    answers = {}
    for question in ("q1", "q2", "q3", "q4"):
        key = reference[question]
        chance = _generator(id, question)
        wrong = [letter for letter in (("yes", "no") if question == "q1" else "ABCDE") if letter != key]
        answers[question] = key if chance.random() < HIT_RATE else wrong[chance.integers(len(wrong))]
    return answers


def constant_chain() -> dict[str, str]:
    """ "no, E, E, E", which never looks."""
    return {"q1": "no", "q2": "E", "q3": "E", "q4": "E"}
