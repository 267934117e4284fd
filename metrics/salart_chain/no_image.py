"""The control without the image: does Q4's answer need the picture at all?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .common import fraction, without_thoughts
from .parsing import parse
from .samples import ChainScore
from .validation import ROLES


def no_image_control(
    texts: Sequence[str],
    references: Sequence[Mapping[str, str]],
    rows: Sequence[ChainScore],
    parser: str,
    thinking: str = "keep",
) -> dict[str, Any]:
    """Score Q4 answers given without the image, where option F says "no image provided".

    Parameters
    ----------
    texts : sequence of str
        One for each image, "" where the answer is missing.
    references, rows : sequence
        The keys, and what `score_sample` made of the answers given with the image.
    parser : {"strict", "json"}
    thinking : {"strip", "keep"}

    Returns
    -------
    dict
        ``picks_f``, the share of the images for which F is chosen; of the other images ``accuracy``
        against the key and ``agreement`` with the answer given with the image (a missing or unparsed
        answer stays in the denominator: it is neither right nor in agreement); ``counts``;
        ``by_role``, the same for each role. A share of nothing is None.
    """
    read = [without_thoughts(text).text if thinking == "strip" else text for text in texts]
    answers = [parse(text, "q4", parser, no_image=True) for text in read]
    result = _part(range(len(texts)), texts, answers, references, rows)
    result["by_role"] = {
        role: _part(
            [index for index, reference in enumerate(references) if reference["role"] == role],
            texts,
            answers,
            references,
            rows,
        )
        for role in ROLES
    }
    return result


def _part(
    indices: Sequence[int],
    texts: Sequence[str],
    answers: Sequence[str | None],
    references: Sequence[Mapping[str, str]],
    rows: Sequence[ChainScore],
) -> dict[str, Any]:
    rest = [index for index in indices if answers[index] != "F"]
    given = [index for index in rest if answers[index] is not None]
    right = sum(answers[index] == references[index]["q4"] for index in given)
    same = sum(answers[index] == rows[index]["q4_answer"] for index in given)
    missing = sum(not texts[index].strip() for index in indices)
    picks = len(indices) - len(rest)
    return {
        "picks_f": fraction(picks, len(indices)),
        "accuracy": fraction(right, len(rest)),
        "agreement": fraction(same, len(rest)),
        "counts": {
            "n": len(indices),
            "picks_f": picks,
            "rest": len(rest),
            "right": right,
            "agree": same,
            "missing": missing,
            "unparsed": len(rest) - len(given) - missing,
        },
    }
