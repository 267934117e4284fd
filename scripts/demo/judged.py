"""The oracle's answers, and the verdicts that a small language model gave on them, which ship here.

The verdicts were made with ``lookcheck judge run`` from the file that
``python -m lookcheck.scripts.demo.judged FOLDER FILE`` writes, and are read only if they are about the very
questions, references and answers of the sample.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lookcheck.dataset_builders.core.errors import InputError
from lookcheck.dataset_builders.core.verdict_file import identity, read_verdicts
from lookcheck.scripts.demo import policies
from lookcheck.scripts.judge.samples import fingerprint

VERDICTS = Path(__file__).parent / "vistaqa_verdicts.jsonl"


def oracle_answers(ids: list[str], answers: list[str]) -> dict[str, str]:
    """The oracle's answers in words, by id."""
    known = dict(zip(ids, answers, strict=True))
    return {id: policies.noisy_answer(id, known) for id in ids}


def shipped_verdicts(ids: list[str], questions: list[str], answers: list[str]) -> tuple[dict[str, str], str]:
    """The shipped verdicts by id, and who gave them.

    Raises
    ------
    InputError
        If they are about other questions, references or answers.
    """
    header, rows = read_verdicts(VERDICTS)
    given = oracle_answers(ids, answers)
    found = {
        "dataset": fingerprint(zip(ids, questions, answers, strict=True)),
        "answers": fingerprint(given.items()),
    }
    for name, digest in found.items():
        stated = header["deciding"].get(name)
        if not isinstance(stated, Mapping) or stated.get("sha256") != digest:
            raise InputError(f"{VERDICTS}: these verdicts are about another {name}; judge the sample anew")
    return {id: str(row["verdict"]) for id, row in rows.items()}, identity(header)


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
