"""Conditions of an earlier build, so that one that is added later is the only one to be made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lookcheck.dataset_builders.core.errors import InputError
from lookcheck.dataset_builders.core.jsonl import read_json
from lookcheck.dataset_builders.parquet.card import digest_of
from lookcheck.dataset_builders.parquet.listing import MANIFEST
from lookcheck.dataset_builders.parquet.plan import Finished
from lookcheck.dataset_builders.parquet.reader import open_folder
from lookcheck.dataset_builders.perturbed_pope import constants
from lookcheck.dataset_builders.perturbed_pope.conditions import ORIGINAL
from lookcheck.dataset_builders.perturbed_pope.rows import stem_of


@dataclass(frozen=True)
class Earlier:
    """What an earlier build holds.

    Attributes
    ----------
    configs : mapping of str to mapping of str to sequence of Path
        From condition and split to shards.
    stored : mapping
        Of its manifest.
    large_rows : sequence of str
        Of its manifest.
    """

    configs: Mapping[str, Mapping[str, Sequence[Path]]]
    stored: Mapping[str, Any]
    large_rows: Sequence[str] = ()

    @property
    def original(self) -> str:
        """Digest of the shards of `original`."""
        return digest_of(path for paths in self.configs[ORIGINAL].values() for path in paths)

    def finished(self, condition: str) -> dict[str, Finished]:
        """The shards of a condition by stem; none if it was not built."""
        large = tuple(id for id in self.large_rows if id.endswith(f"-{condition}"))
        return {
            stem_of(condition, split): Finished(
                tuple(paths), int(self.stored[condition][split]["picture_bytes"]), large
            )
            for split, paths in self.configs.get(condition, {}).items()
        }


def read_earlier(path: Path, described: Mapping[str, Any], layout: str) -> Earlier:
    """Read an earlier build of the same source.

    Parameters
    ----------
    path : Path
    described : mapping
        The source of the build that is planned; that of the earlier one must be the same.
    layout : str
        One of `constants.LAYOUTS`.

    Raises
    ------
    InputError
        Naming what differs.
    """
    folder, manifest = open_folder(path), read_json(path / MANIFEST)
    pairs = [
        ("name", folder.name, constants.NAME),
        ("version", folder.version, constants.VERSION),
        ("layout", (manifest.get("options") or {}).get("layout"), layout),
        *(
            (key, folder.source.get(key), described.get(key))
            for key in dict.fromkeys([*folder.source, *described])
        ),
    ]
    for key, found, wanted in pairs:
        if found != wanted:
            raise InputError(
                f"{path}: built with {key} {found!r}, not {wanted!r}; its conditions can't be taken over"
            )
    if ORIGINAL not in folder.configs or not isinstance(manifest.get("stored"), dict):
        raise InputError(f"{path}: lacks {ORIGINAL}, with which it would be compared")
    return Earlier(folder.configs, manifest["stored"], manifest.get("large_rows", ()))
