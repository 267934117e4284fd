"""What a run asks: a data set's rows by a protocol, equal requests once."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lookcheck.dataset_builders.core.errors import InputError
from lookcheck.dataset_builders.core.jsonl import read_text
from lookcheck.dataset_builders.dataset import DataSet
from lookcheck.dataset_builders.parquet.listing import MANIFEST
from lookcheck.dataset_builders.parquet.reader import BuiltFolder, open_folder
from lookcheck.dataset_builders.registry import data_set
from lookcheck.dataset_builders.requests.protocol import AskingProtocol
from lookcheck.dataset_builders.requests.request import Asked, Request
from lookcheck.dataset_builders.requests.task import Task, Wish
from lookcheck.scripts.predict.settings import Asking

EVIDENCE = "evidence"
"""Option of a protocol: how evidence is segmented."""


@dataclass(frozen=True)
class Opened:
    """A data set on the disk.

    Attributes
    ----------
    folder : BuiltFolder
    data_set : DataSet
    task : Task
    commit : str or None
        Of the Hub.
    """

    folder: BuiltFolder
    data_set: DataSet
    task: Task
    commit: str | None = None

    @property
    def manifest(self) -> str:
        """SHA-256 of ``lookcheck.json``: source, options and counts of the build, not the rows themselves."""
        return hashlib.sha256((self.folder.path / MANIFEST).read_bytes()).hexdigest()


@dataclass(frozen=True)
class Plan:
    """The work of a run, the same for every process of it.

    Attributes
    ----------
    opened : Opened
    protocol : AskingProtocol
    wish : Wish
    rows : list of Asked
        In the data set's order.
    total : int
        Rows before ``--ids`` and ``--limit``.
    requests : list of Request
        Distinct ones, those on one picture together.
    places : mapping of (id, part) to int
        Which request a part of a row is.
    names : list of str
        What each request is called in the file of replies.
    """

    opened: Opened
    protocol: AskingProtocol
    wish: Wish
    rows: Sequence[Asked]
    total: int
    requests: Sequence[Request]
    places: Mapping[tuple[str, str], int]
    names: Sequence[str]

    @property
    def fingerprint(self) -> str:
        """Hash of all that is asked: ids, parts and what each request is made of, in order."""
        digest = hashlib.sha256()
        for row in self.rows:
            for part, request in row.requests.items():
                digest.update(json.dumps([row.id, part, request.key]).encode() + b"\n")
        return digest.hexdigest()


def open_data_set(dataset: str, revision: str | None = None) -> Opened:
    """Open a built folder, or fetch one from the Hub.

    Raises
    ------
    InputError
        If there is none, or models can't be run on it.
    """
    path, commit = Path(dataset), None
    if not path.is_dir():
        path, commit = _fetched(dataset, revision)
    folder = open_folder(path)
    found = data_set(folder.name, path)
    task = found.task()
    if task is None:
        raise InputError(f"{path}: no model can be run on {found.title}")
    return Opened(folder, found, task, commit)


def chosen_protocol(opened: Opened, name: str | None, evidence: str | None) -> AskingProtocol:
    """The protocol of this name, or the one that goes with the evidence, or the data set's first.

    Raises
    ------
    InputError
        If there is none, or it has other evidence.
    """
    found = opened.data_set.protocols()
    kind = None if evidence is None else evidence.partition(":")[0]
    if name is None:
        fitting = [
            item for item in found.values() if kind is None or (item.options or {}).get(EVIDENCE) == kind
        ]
        if not fitting:
            known = dict.fromkeys(
                str((item.options or {})[EVIDENCE])
                for item in found.values()
                if EVIDENCE in (item.options or {})
            )
            named = f"only {', '.join(known)}" if known else "no evidence is asked for"
            raise InputError(f"--evidence {evidence}: {opened.data_set.title} has none such, {named}")
        return fitting[0]
    if name not in found:
        raise InputError(f"--protocol {name}: {opened.data_set.title} has {', '.join(found)}")
    own = (found[name].options or {}).get(EVIDENCE)
    if kind is not None and own != kind:
        raise InputError(f"--evidence {evidence}: the protocol {name} has {own or 'none'}")
    return found[name]


def make_plan(asking: Asking, *, by_row: bool = False) -> Plan:
    """Read the rows, and find the distinct requests.

    Parameters
    ----------
    asking : Asking
    by_row : bool
        Ask every row, equal or not: for a function, which is told the row's id.

    Raises
    ------
    InputError
        Naming row and value, or an id that is not there.
    """
    opened = open_data_set(asking.dataset, asking.dataset_revision)
    protocol = chosen_protocol(opened, asking.protocol, asking.evidence)
    wish = Wish(tuple(asking.condition or ()), asking.no_image, asking.thinking)
    found = list(opened.task.rows(opened.folder, protocol, wish))
    known = {row.id for row in found}
    if len(known) < len(found):
        raise InputError(f"{asking.dataset}: an id stands twice; see lookcheck check")
    wanted = _ids(asking.ids)
    for id in wanted or ():
        if id not in known:
            raise InputError(f"--ids: {asking.dataset} has no row {id!r} that is asked")
    rows = [row for row in found if wanted is None or row.id in wanted][: asking.limit]
    return _plan(opened, protocol, wish, rows, len(found), by_row=by_row)


def narrowed(plan: Plan, ids: Collection[str]) -> Plan:
    """The same plan of these rows alone, each asked for itself."""
    rows = [row for row in plan.rows if row.id in ids]
    return _plan(plan.opened, plan.protocol, plan.wish, rows, plan.total, by_row=True)


def _plan(
    opened: Opened, protocol: AskingProtocol, wish: Wish, rows: list[Asked], total: int, *, by_row: bool
) -> Plan:
    distinct: dict[str, Request] = {}
    wanted: dict[tuple[str, str], str] = {}
    first: dict[str, int] = {}
    for row in rows:
        for part, request in row.requests.items():
            name = f"{row.id}/{part}" if by_row else request.key
            wanted[row.id, part] = name
            distinct.setdefault(name, request)
            first.setdefault(_picture_of(request, name), len(first))
    names = sorted(distinct, key=lambda name: first[_picture_of(distinct[name], name)])
    index = {name: place for place, name in enumerate(names)}
    return Plan(
        opened,
        protocol,
        wish,
        rows,
        total,
        [distinct[name] for name in names],
        {key: index[name] for key, name in wanted.items()},
        names,
    )


def _picture_of(request: Request, name: str) -> str:
    """What stands together: requests on one picture; without one, each for itself."""
    return name if request.picture is None else request.picture.sha256


def _ids(given: Sequence[str] | None) -> set[str] | None:
    if not given:
        return None
    found: set[str] = set()
    for item in given:
        if item.startswith("@"):
            found |= {line.strip() for line in read_text(Path(item[1:])).split("\n") if line.strip()}
        else:
            found.add(item)
    return found


def _fetched(dataset: str, revision: str | None) -> tuple[Path, str]:
    if dataset.count("/") != 1 or dataset.startswith((".", "/")):
        raise InputError(f"{dataset}: no such folder, and not a name like ORG/NAME")
    import huggingface_hub

    try:
        path = Path(huggingface_hub.snapshot_download(dataset, repo_type="dataset", revision=revision))
    except Exception as error:
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise InputError(f"{dataset}: can't be fetched from the Hub ({reason})") from None
    return path, path.resolve().name
