"""VistaQA's sample without a model: a noisy oracle, and four policies that never look.

The oracle's answers are in words, and a small language model judged them. Its verdicts ship here, are read
only if they are about the very questions, references and answers of the sample, and were made so, with
SmolLM2-135M-Instruct in the folder ``smollm2-135m-instruct-q4_1``::

    lookcheck build vistaqa --source sample --output vistaqa
    python -m lookcheck.dataset_builders.vistaqa.demonstration vistaqa answers.jsonl
    lookcheck judge run --dataset vistaqa --answers answers.jsonl --output demonstration_verdicts.jsonl \\
      --model smollm2-135m-instruct-q4_1 --device cpu --accept-exact --min-mass 0.2

So small a model puts a third of its probability on yes and no, less than the half that is asked for
unless told otherwise.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from lookcheck.dataset_builders.core.errors import InputError
from lookcheck.dataset_builders.core.masks import decode, encode
from lookcheck.dataset_builders.core.verdict_file import fingerprint, identity, read_verdicts
from lookcheck.dataset_builders.scores.demonstration import Demonstration, Policy, Trial, chance_of, hits

VERDICTS = Path(__file__).parent / "demonstration_verdicts.jsonl"
# The oracle draws a mask off by up to this share of the picture's sides.
SHIFT = 0.02
ORACLE = "noisy oracle"

Rle = dict[str, Any]


def noisy_masks(id: str, rles: Sequence[Rle]) -> list[Rle]:
    """The reference masks as a good but imperfect model draws them: some missing, all a little off.

    Parameters
    ----------
    id : str
        The row's id, which is the seed.
    rles : sequence of dict
        Compressed COCO RLE with str counts.

    Returns
    -------
    list of dict
        Of the same form.
    """
    chance = chance_of(id, "masks")
    found = []
    for rle in rles:
        height, width = rle["size"]
        seen = hits(chance)
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


def oracle_answers(ids: Sequence[str], answers: Sequence[str]) -> dict[str, str]:
    """The oracle's answers in words, by id: the reference, or that of another row."""
    given = {}
    for id, answer in zip(ids, answers, strict=True):
        others = sorted(set(answers) - {answer})
        right = hits(chance_of(id, "answer"))
        given[id] = answer if right else others[chance_of(id, "words").integers(len(others))]
    return given


def shipped_verdicts(
    ids: Sequence[str], questions: Sequence[str], answers: Sequence[str]
) -> tuple[dict[str, str], str]:
    """The shipped verdicts by id, and who gave them.

    Raises
    ------
    InputError
        If they are about other questions, references or answers.
    """
    header, rows = read_verdicts(VERDICTS)
    found = {
        "dataset": fingerprint(zip(ids, questions, answers, strict=True)),
        "answers": fingerprint(oracle_answers(ids, answers).items()),
    }
    for name, digest in found.items():
        stated = header["deciding"].get(name)
        if not isinstance(stated, Mapping) or stated.get("sha256") != digest:
            raise InputError(f"{VERDICTS}: these verdicts are about another {name}; judge the sample anew")
    return {id: str(row["verdict"]) for id, row in rows.items()}, identity(header, rows)


def _trial(rows: Sequence[Mapping[str, Any]]) -> Trial:
    ids, questions, answers = ([row[name] for row in rows] for name in ("id", "question", "answer"))
    verdicts, judge = shipped_verdicts(ids, questions, answers)
    policies: dict[str, Callable[[Mapping[str, Any]], Any]] = {
        ORACLE: lambda row: _said(verdicts[row["id"]] == "yes", noisy_masks(row["id"], row["masks_rle"])),
        "no mask, always right": lambda row: _said(True),
        "no mask, right without evidence": lambda row: _said(not row["has_evidence"]),
        "no mask, never right": lambda row: _said(False),
        "all wrong": lambda row: _said(False, [] if row["has_evidence"] else [_somewhere()]),
    }
    return Trial(
        ids,
        [{"masks": row["masks_rle"]} for row in rows],
        {
            # The others need no judge: it is known whether they are right.
            name: Policy([answer(row) for row in rows], {"judge": judge} if name == ORACLE else {})
            for name, answer in policies.items()
        },
    )


def _said(right: bool, masks: Sequence[Rle] = ()) -> dict[str, Any]:
    return {"verdict": "yes" if right else "no", "masks": list(masks)}


def _somewhere() -> Rle:
    return dict(encode(np.ones((8, 8), np.bool_)))


DEMONSTRATION = Demonstration(
    "grove",
    "default",
    ("id", "question", "answer", "masks_rle", "has_evidence"),
    {
        "Grove": "grove",
        "T": "answer_accuracy",
        "M": "mask_score",
        "evidence": "with_evidence.grove",
        "none": "without_evidence.grove",
    },
    _trial,
    "The oracle knows the key, answers right and finds an instance 8 times in 10, and draws its masks a "
    "little off. Its answers were judged by SmolLM2-135M-Instruct, which is far too small for a paper.",
)


def write_answers(folder: Path, output: Path) -> None:
    """Write the oracle's answers to the built sample in `folder`, for the judge."""
    import datasets

    data = datasets.load_dataset(str(folder), split="test").select_columns(["id", "answer"])[:]
    lines: list[dict[str, Any]] = [
        {"id": id, "prediction": text} for id, text in oracle_answers(data["id"], data["answer"]).items()
    ]
    output.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")


if __name__ == "__main__":
    write_answers(Path(sys.argv[1]), Path(sys.argv[2]))
