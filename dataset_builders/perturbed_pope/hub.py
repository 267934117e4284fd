"""POPE's photographs and questions out of a copy on the Hub."""

from __future__ import annotations

import json
from pathlib import Path

from lookcheck.dataset_builders.core.errors import InputError
from lookcheck.dataset_builders.parquet.download import download
from lookcheck.dataset_builders.parquet.upstream import columns_of, iterate
from lookcheck.dataset_builders.perturbed_pope import constants

COLUMNS = ("question_id", "question", "answer", "image_source", "image", "category")


def hub_copy(repository: str, revision: str, workspace: Path) -> tuple[Path, list[tuple[str, Path]], str]:
    """Download a copy of POPE and unpack it.

    Returns
    -------
    Path
        Folder of the photographs.
    list of (str, Path)
        Split and file of questions.
    str
        The commit.

    Raises
    ------
    InputError
    """
    folder, commit = download(repository, revision)
    images, questions = unpack(folder, workspace, f"{repository} at {commit}")
    return images, questions, commit


def unpack(folder: Path, workspace: Path, name: str) -> tuple[Path, list[tuple[str, Path]]]:
    """Write each picture of Parquet files once, and each question of a split once.

    Parameters
    ----------
    folder : Path
        Holds Parquet with the columns `COLUMNS`; a row may stand in several configurations.
    workspace : Path
    name : str
        For messages.

    Raises
    ------
    InputError
        If there are no such columns, or two rows contradict each other.
    """
    target = workspace / "photographs"
    target.mkdir()
    rows: dict[tuple[str, str], dict[str, str]] = {}
    for table in sorted(folder.rglob("*.parquet")):
        if not set(COLUMNS) <= set(columns_of(table)):
            continue
        for row in iterate(table, COLUMNS):
            source, picture = row["image_source"], row["image"]
            data = picture.get("bytes") if isinstance(picture, dict) else None
            sound = isinstance(source, str) and source and Path(source).name == source and "\0" not in source
            if not sound or not isinstance(data, bytes) or not data:
                raise InputError(f"{name}: {table.name}: no picture for image_source {source!r}")
            path = target / f"{source.removesuffix('.jpg')}.jpg"
            _write(path, data, f"{name}: {table.name}: image_source {source!r}")
            key = (str(row["category"]), str(row["question_id"]))
            words = {"text": row["question"], "label": row["answer"]}
            record = {"question_id": key[1], "image": path.name, **words}
            if not all(isinstance(word, str) for word in words.values()):
                raise InputError(
                    f"{name}: {table.name}: {key[0]} question {key[1]} is {words}, expected texts"
                )
            if rows.setdefault(key, record) != record:
                raise InputError(f"{name}: {table.name}: two rows of {key[0]} question {key[1]} differ")
    if not rows:
        raise InputError(f"{name}: no Parquet with the columns {', '.join(COLUMNS)}")
    questions = []
    for split in constants.in_order({split for split, _ in rows}):
        path = workspace / f"hub_pope_{split}.json"
        lines = [json.dumps(record) for (other, _), record in rows.items() if other == split]
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        questions.append((split, path))
    return target, questions


def _write(path: Path, data: bytes, name: str) -> None:
    if not path.exists():
        path.write_bytes(data)
    elif path.read_bytes() != data:
        raise InputError(f"{name}: has two pictures")
