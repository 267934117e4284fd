"""Where the samples come from: a source gives jobs and says what it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lookcheck.dataset_builders.core.errors import InputError
from lookcheck.dataset_builders.dataset import Source
from lookcheck.dataset_builders.vistaqa import constants
from lookcheck.dataset_builders.vistaqa.rows import RecordJob


@dataclass(frozen=True)
class VistaQASource(Source[RecordJob]):
    """Samples sorted by id; the declared counts are those of the whole VistaQA if not given."""

    declared: Mapping[str, Any] = field(default_factory=lambda: constants.DECLARED)


def folder_source(annotations: Path, images: Path) -> VistaQASource:
    """Samples of a local copy in the upstream layout: one JSON file each, and a folder of images.

    Raises
    ------
    InputError
        If a folder is missing or there is no annotation.
    """
    return VistaQASource(jobs_of(annotations, images), {"kind": "folder"})


def jobs_of(annotations: Path, images: Path) -> tuple[RecordJob, ...]:
    """Jobs of the ``*.json`` files of a folder, sorted by integer id; odd names come last."""
    for name, folder in (("annotations", annotations), ("images", images)):
        if not folder.is_dir():
            raise InputError(f"{folder}: no such folder ({name})")
    paths = [path for path in annotations.glob("*.json") if not path.name.startswith(".")]
    if not paths:
        raise InputError(f"{annotations}: no annotation (*.json) in this folder")

    def order(path: Path) -> tuple[int, int, str]:
        integer = path.stem.isascii() and path.stem.isdigit()
        return (0, int(path.stem), path.stem) if integer else (1, 0, path.stem)

    return tuple(RecordJob(path, images) for path in sorted(paths, key=order))
