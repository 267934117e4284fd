"""The verdict file, read: a header line with all that affects a verdict, then one row a sample.

``lookcheck judge run`` writes it; whoever scores judged answers reads it here.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Required, TypeAlias, TypedDict

from lookcheck.dataset_builders.core.errors import InputError
from lookcheck.dataset_builders.core.jsonl import parse_json

HEADER_KEY = "lookcheck_judge"
FORMAT = 2
VERDICTS = ("yes", "no", "none")

DECIDED, UNDECIDED, FAILED, MISSING = STATUSES = ("decided", "undecided", "failed", "missing")
"""What became of a sample: a verdict yes or no; a reply that is neither; no reply, because the request
failed or the texts can't be asked about; no answer to judge."""

_FIGURES = ("probability", "margin", "mass")

Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"


class JudgeHeader(TypedDict):
    """The first line of a verdict file.

    Attributes
    ----------
    deciding : dict
        What affects a verdict; compared before a file is continued.
    known : dict
        What is only good to know.
    """

    deciding: Mapping[str, Json]
    known: Mapping[str, Json]


class VerdictRow(TypedDict, total=False):
    """One sample's verdict; the figures are those of `lookcheck.scripts.judge.decision.Judgement`.

    Attributes
    ----------
    id : str
    verdict : str
        ``yes``, ``no`` or ``none``.
    status : str
        One of `STATUSES`.
    method : str
        ``logprob`` or ``generate``; ``exact`` or ``unasked`` where no model was asked.
    raw : str or None
        What the model said.
    probability, margin, mass : float or None
    bounds : list of two (float or None), or None
    exact : bool
        Whether answer and reference are equal after normalisation.
    same_as : str or None
        The id whose verdict is repeated here: question, reference and answer are the same.
    batch : int or None
        How many rows were computed together; None where a server or no model was asked.
    reason : str or None
        Why the verdict is none.
    """

    id: Required[str]
    verdict: Required[str]
    status: str
    method: str
    raw: str | None
    probability: float | None
    margin: float | None
    bounds: list[float | None] | None
    mass: float | None
    exact: bool
    same_as: str | None
    batch: int | None
    reason: str | None


def parse_verdicts(data: bytes, path: Path) -> tuple[JudgeHeader, dict[str, VerdictRow]]:
    """Read the bytes of a verdict file that ends in a line break.

    Returns
    -------
    header : JudgeHeader
    rows : dict of str to VerdictRow
        By id, in the file's order.

    Raises
    ------
    InputError
        Naming file and line.
    """
    try:
        lines = data.decode().split("\n")
    except UnicodeDecodeError as error:
        broken = data.count(b"\n", 0, error.start) + 1
        raise InputError(f"{path}:{broken}: not UTF-8 text") from None
    header = _header(lines[0], f"{path}:1")
    rows: dict[str, VerdictRow] = {}
    for number, line in enumerate(lines[1:], start=2):
        if not line and number == len(lines):
            break
        where = f"{path}:{number}"
        row = _row(line, where)
        if row["id"] in rows:
            raise InputError(f"{where}: the id {row['id']!r} stands twice")
        rows[row["id"]] = row
    return header, rows


def read_verdicts(path: Path) -> tuple[JudgeHeader, dict[str, VerdictRow]]:
    """Read a finished verdict file: its header and its rows by id.

    Raises
    ------
    InputError
        Naming file and line; an unfinished last line is named, too.
    """
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    if not data.endswith(b"\n"):
        raise InputError(f"{path}: the last line is unfinished; run lookcheck judge run again to repair it")
    return parse_verdicts(data, path)


def is_verdict_file(path: Path) -> bool:
    """Whether the file begins as a verdict file does."""
    start = f'{{"{HEADER_KEY}"'.encode()
    try:
        with path.open("rb") as file:
            return file.read(len(start)) == start
    except OSError:
        return False


def status_of(row: VerdictRow) -> str:
    """What became of the sample; a file that doesn't say so has no failures: its none is undecided."""
    return row.get("status") or (UNDECIDED if row["verdict"] == "none" else DECIDED)


def near_ties(header: JudgeHeader, rows: Mapping[str, VerdictRow]) -> int:
    """Verdicts whose margin another batch size or another machine could turn around.

    Parameters
    ----------
    header : JudgeHeader
        Its judge says how far margins of its kind of numbers move (``noise``, in nats).
    rows : mapping of str to VerdictRow

    Returns
    -------
    int
        Verdicts yes and no whose margin, or the nearer end of its bounds, is at most that from 0.
    """
    noise = _judge(header).get("noise")
    if not isinstance(noise, int | float):
        return 0
    distances = [_distance(row) for row in rows.values() if row["verdict"] != "none"]
    return sum(distance is not None and distance <= noise for distance in distances)


def identity(header: JudgeHeader, rows: Mapping[str, VerdictRow]) -> str:
    """The judge in a few words without ``|``, for a score's signature: who, how, and the near ties."""
    told = _judge(header)
    version = told.get("revision") or told.get("weights")
    name = str(told.get("model")) + (f"@{str(version)[:12]}" if version else "")
    where = told.get("dtype") or told.get("backend")
    parts = [name, told.get("method"), f"prompt{told.get('prompt_version')}", where]
    if told.get("method") == "generate":
        parts.append(f"thinking:{told.get('thinking')}")
    parts.append(f"near-ties:{near_ties(header, rows)}/{len(rows)}")
    return ",".join(map(str, parts)).replace("|", "/")


def fingerprint(rows: Iterable[tuple[str, ...]]) -> str:
    """Hash of rows of text, whatever their order."""
    digest = hashlib.sha256()
    for row in sorted(rows):
        digest.update(json.dumps(row).encode() + b"\n")
    return digest.hexdigest()


def _judge(header: JudgeHeader) -> Mapping[str, Json]:
    judge = header["deciding"]["judge"]
    return judge if isinstance(judge, Mapping) else {}


def _distance(row: VerdictRow) -> float | None:
    margin = row.get("margin")
    if margin is not None:
        return abs(margin)
    return min((abs(end) for end in row.get("bounds") or [] if end is not None), default=None)


def _header(line: str, where: str) -> JudgeHeader:
    head = parse_json(line, where)
    header = head.get(HEADER_KEY) if isinstance(head, dict) else None
    if not isinstance(header, dict) or not isinstance(header.get("deciding"), dict):
        raise InputError(f"{where}: not a verdict file: the first line is no header of lookcheck judge")
    if header.get("format") != FORMAT:
        raise InputError(f"{where}: has the format {header.get('format')!r}; this version reads {FORMAT}")
    if not isinstance(header["deciding"].get("judge"), dict):
        raise InputError(f"{where}: the header names no judge")
    return JudgeHeader(deciding=header["deciding"], known=header.get("known", {}))


def _row(line: str, where: str) -> VerdictRow:
    row = parse_json(line, where)
    if not isinstance(row, dict) or not isinstance(row.get("id"), str):
        raise InputError(f"{where}: expected an object with an id")
    of = f"{where}: id {row['id']!r} has the"
    if row.get("verdict") not in VERDICTS:
        raise InputError(f"{of} verdict {row.get('verdict')!r}")
    status = row.get("status")
    if status is not None and (status not in STATUSES or (status == DECIDED) != (row["verdict"] != "none")):
        raise InputError(f"{of} verdict {row['verdict']!r} and the status {status!r}")
    bounds = row.get("bounds")
    if bounds is not None and not (isinstance(bounds, list) and len(bounds) == 2):
        raise InputError(f"{of} bounds {bounds!r}; expected two numbers")
    for name, value in (
        *((name, row.get(name)) for name in _FIGURES),
        *(("bounds", end) for end in bounds or []),
    ):
        if value is not None and (isinstance(value, bool) or not isinstance(value, int | float)):
            raise InputError(f"{of} {name} {value!r}; expected a number")
    made: VerdictRow = row  # type: ignore[assignment]
    return made
