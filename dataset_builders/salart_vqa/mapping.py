"""Artifact types, subsets and pair ids that the user knows and upstream's Parquet does not carry."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from lookcheck.dataset_builders.core.errors import Fault, IntegrityError
from lookcheck.dataset_builders.core.jsonl import read_jsonl
from lookcheck.dataset_builders.salart_vqa import constants
from lookcheck.dataset_builders.salart_vqa.records import TRAITS, subset_fault
from lookcheck.dataset_builders.salart_vqa.sources import SalArtSource


def apply_mapping(source: SalArtSource, path: Path, *, allow_partial: bool = False) -> SalArtSource:
    """Add artifact type, subset and pair id from a file of the user.

    Nothing is inferred: an image that the file leaves out keeps null.

    Parameters
    ----------
    source : SalArtSource
    path : Path
        JSON Lines: ``row_id`` and one or more of ``artifact_type``, ``subset``, ``pair_id``; null is the
        same as leaving a field out.
    allow_partial : bool
        Whether ids that are not in the source and pairs without both sides are accepted.

    Raises
    ------
    IntegrityError
        With every fault of the file: unknown or repeated ids, unknown fields, a subset that does not go
        with the role, a value that differs from the source's, a pair without artifact or reference.
    """
    roles = {
        job.fields["row_id"]: job.role for job in source.jobs if isinstance(job.fields.get("row_id"), str)
    }
    stated: dict[str, dict[str, str]] = {}
    faults: list[Fault] = []
    for number, record in read_jsonl(path):
        where = f"{path.name}:{number}"
        id = record.get("row_id")
        if not isinstance(id, str):
            faults.append(Fault(where, "mapping", f"row_id must be a string, not {id!r}"))
        elif id in stated:
            faults.append(Fault(where, "mapping", f"the row_id {id} stands twice"))
        elif id not in roles and not allow_partial:
            faults.append(Fault(where, "mapping", f"the row_id {id!r} is not in the source"))
        else:
            stated[id] = {}
            for message in _read(record, roles.get(id, ""), stated[id]):
                faults.append(Fault(where, "mapping", f"{id}: {message}"))
    jobs = []
    for job in source.jobs:
        id = job.fields.get("row_id")
        given = stated.get(id, {}) if isinstance(id, str) else {}
        for trait, value in given.items():
            own = job.fields.get(trait)
            if own is not None and own != value:
                message = f"{id}: {trait} is {value!r}, but the source says {own!r}"
                faults.append(Fault(path.name, "mapping", message))
        jobs.append(replace(job, fields={**job.fields, **given}))
    if not allow_partial:
        faults += _check_pairs(path.name, stated, roles)
    if faults:
        raise IntegrityError(f"{constants.NAME}, {path}", faults)
    return replace(source, jobs=tuple(jobs), described={**source.described, "mapping": path.name})


def _read(record: dict[str, Any], role: str, into: dict[str, str]) -> Iterable[str]:
    if odd := sorted(set(record) - {"row_id", *TRAITS}):
        yield f"unknown fields {odd}; expected {', '.join(TRAITS)}"
    given = {trait: record[trait] for trait in TRAITS if record.get(trait) is not None}
    if not given and not odd:
        yield f"none of {', '.join(TRAITS)}"
    for trait, value in given.items():
        if not isinstance(value, str) or not value.strip() or not value.isprintable():
            yield f"{trait} must be a text, not {value!r}"
        elif trait == "subset" and (message := subset_fault(value, role)):
            yield message
        else:
            into[trait] = value


def _check_pairs(name: str, stated: dict[str, dict[str, str]], roles: dict[str, str]) -> Iterable[Fault]:
    pairs = defaultdict(list)
    for id, given in stated.items():
        if "pair_id" in given:
            pairs[given["pair_id"]].append(roles.get(id, ""))
    for pair, found in pairs.items():
        artifacts = found.count(constants.ARTIFACT)
        if not 0 < artifacts < len(found):
            message = (
                f"the pair {pair} has {artifacts} artifact images and {len(found) - artifacts} references"
            )
            yield Fault(name, "mapping", f"{message}; it needs both")
