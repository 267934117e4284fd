"""Every rule that a VistaQA source must keep, looked at before anything is written."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lookcheck.dataset_builders.core.errors import Fault, InputError, IntegrityError
from lookcheck.dataset_builders.core.images import exif_transpose, read_picture, reason
from lookcheck.dataset_builders.core.jsonl import read_json
from lookcheck.dataset_builders.core.masks import rle_box
from lookcheck.dataset_builders.core.processes import Track, no_track, ordered_map
from lookcheck.dataset_builders.vistaqa import constants
from lookcheck.dataset_builders.vistaqa.records import VistaQARecord, parse_record
from lookcheck.dataset_builders.vistaqa.rows import RecordJob

# Boxes are often rounded to a whole pixel.
BOX_TOLERANCE = 1.0
# How far a side may lie from its mask's and still be meant as it: rounded, or from the centres of pixels.
MASK_TOLERANCE = 2.0
# A box drawn by hand is loose; one that shares less than this with its mask's box is another one's.
MASK_OVERLAP = 0.5


@dataclass(frozen=True)
class Inspection:
    """What is kept of a sample: its faults and what the rules across samples need."""

    id: str
    faults: tuple[Fault, ...]
    task: str = ""
    domain: str = ""
    has_evidence: bool = False
    content: str = ""
    # Whether the picture is written anew.
    anew: bool = False


def inspect_job(job: RecordJob) -> Inspection:
    """Look at one sample: its record, its image file, and the two together."""
    try:
        if not job.annotation.is_file():
            raise InputError(f"{job.annotation}: no regular file")
        raw = read_json(job.annotation)
    except InputError as error:
        return Inspection(job.id, (Fault(job.id, "json", str(error)),))
    record, faults = parse_record(job.id, raw)
    if record is None:
        return Inspection(job.id, tuple(faults))
    try:
        data = read_picture(job.images / record.file_name)
    except OSError as error:
        message = f"the image {record.file_name!r} can't be read ({error.strerror})"
        return Inspection(job.id, (Fault(job.id, "image-file", message),))
    return inspect_record(record, data)


def inspect_record(record: VistaQARecord, data: bytes) -> Inspection:
    """Look at a parsed record and the bytes of its image file."""
    try:
        shown, _, size = exif_transpose(data)
    except Exception as error:  # Pillow raises many kinds for a broken file
        message = f"the image {record.file_name!r} can't be decoded ({reason(error)})"
        return Inspection(record.id, (Fault(record.id, "image-decode", message),))
    return Inspection(
        record.id,
        tuple(check_sizes(record, *size)),
        record.task,
        record.domain,
        bool(record.instances),
        content_digest(data, record.question),
        shown is not data,
    )


def content_digest(image: bytes, question: str) -> str:
    """The same for two examples of one picture and one question, whatever its case and spacing."""
    digest = hashlib.sha256(image)
    digest.update(" ".join(question.lower().split()).encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


def check_sizes(record: VistaQARecord, width: int, height: int) -> Iterable[Fault]:
    """Masks and boxes against the EXIF-transposed image of `width` × `height` pixels."""
    for key, stated, real in (("width", record.width, width), ("height", record.height, height)):
        if stated is not None and stated != real:
            yield Fault(
                record.id, "image-size", f"{key} is {stated}, but the image as it is shown has {real}"
            )
    for number, item in enumerate(record.instances):
        if (size := item.rle["size"]) != [height, width]:
            message = f"mask {number} is {size[0]} × {size[1]}, but the image {height} × {width}"
            yield Fault(record.id, "mask-size", message)
        x, y, w, h = item.box
        low, right, bottom = -BOX_TOLERANCE, width + BOX_TOLERANCE, height + BOX_TOLERANCE
        if x < low or y < low or x + w > right or y + h > bottom:
            message = f"box {number} {list(item.box)} leaves the image of {width} × {height}"
            yield Fault(record.id, "box-outside", message)
        left, top, wide, high = rle_box(item.rle)
        if _is_another_box((x, y, w, h), (left, top, wide, high)):
            wanted = [left, top, wide, high]
            message = f"box {number} {list(item.box)} is not [x, y, w, h] of its mask, {wanted}"
            yield Fault(record.id, "box-mask", message)


def _is_another_box(box: tuple[float, ...], wanted: tuple[float, ...]) -> bool:
    """Whether a box is not that of its mask: it gives corners in place of a size, or lies elsewhere."""
    (x, y, w, h), (left, top, wide, high) = box, wanted

    def near(*sides: float) -> bool:
        return max(map(abs, sides)) <= MASK_TOLERANCE

    if near(x - left, y - top, w - wide, h - high):
        return False
    if near(x - left, y - top, w - left - wide, h - top - high):
        return True
    across = min(x + w, left + wide) - max(x, left)
    down = min(y + h, top + high) - max(y, top)
    shared = max(0.0, across) * max(0.0, down)
    return shared < MASK_OVERLAP * (w * h + wide * high - shared)


def across(
    rows: Sequence[Inspection], *, allow_partial: bool, declared: Mapping[str, Any] = constants.DECLARED
) -> list[Fault]:
    """Faults that only show when all samples are seen together; see `inspect_all`."""
    faults: list[Fault] = []
    ids: dict[str, str] = {}
    contents: dict[str, str] = {}
    for row in rows:
        number = row.id.lstrip("0") or "0"
        if number in ids:
            faults.append(Fault(row.id, "duplicate-id", f"the same id as {ids[number]}"))
        ids.setdefault(number, row.id)
        if row.content and row.content in contents:
            message = f"the same image and question as {contents[row.content]}"
            faults.append(Fault(row.id, "duplicate-example", message))
        if row.content:
            contents.setdefault(row.content, row.id)
    if not allow_partial:
        faults += _check_counts(rows, declared)
    return faults


def _check_counts(rows: Sequence[Inspection], declared: Mapping[str, Any]) -> Iterable[Fault]:
    tasks = Counter(row.task for row in rows)
    absent = sum(not row.has_evidence for row in rows)
    pairs: list[tuple[str, int, int]] = [("samples", len(rows), declared["rows"])]
    # With broken rows the finer counts can't be known, and would only repeat the faults.
    if not any(row.faults for row in rows):
        pairs.append(("samples without evidence", absent, declared["without_evidence"]))
        pairs += [(f"{task} samples", tasks[task], count) for task, count in declared["task"].items()]
    for what, found, expected in pairs:
        if found != expected:
            message = f"{found} {what}, but {expected} are declared (--allow-partial builds what is there)"
            yield Fault(constants.NAME, "count", message)


def gather_labels(faults: Iterable[Fault]) -> list[Fault]:
    """Unknown labels as one fault for each string, with the ids of its rows."""
    kept: list[Fault] = []
    unknown: dict[tuple[str, str], list[str]] = defaultdict(list)
    for fault in faults:
        if fault.rule in ("task", "domain") and fault.message.startswith("unknown "):
            unknown[fault.rule, fault.message].append(fault.id)
        else:
            kept.append(fault)
    for (rule, message), ids in unknown.items():
        known = ", ".join(constants.TASKS if rule == "task" else constants.DOMAINS)
        shown = ", ".join(ids[:5]) + (", …" if len(ids) > 5 else "")
        noun = "sample" if len(ids) == 1 else "samples"
        kept.append(Fault(ids[0], rule, f"{message} in {len(ids)} {noun} ({shown}); known: {known}"))
    return kept


def inspect_all(
    jobs: Sequence[RecordJob],
    *,
    allow_partial: bool = False,
    declared: Mapping[str, Any] = constants.DECLARED,
    num_proc: int = 1,
    track: Track = no_track,
) -> list[Inspection]:
    """Look at all samples.

    Parameters
    ----------
    jobs : sequence of RecordJob
    allow_partial : bool
        Whether other counts than the declared ones are accepted.
    declared : mapping
        Counts to be had, as in `constants.DECLARED`.
    num_proc : int
        Processes.
    track : Track
        Is told of each step.

    Returns
    -------
    list of Inspection
        In the order of `jobs`, none with a fault.

    Raises
    ------
    IntegrityError
        With every fault of every sample.
    """
    step = track("checking", len(jobs))
    rows = []
    for row in ordered_map(inspect_job, jobs, min(num_proc, len(jobs))):
        rows.append(row)
        step()
    faults = gather_labels(fault for row in rows for fault in row.faults)
    faults += across(rows, allow_partial=allow_partial, declared=declared)
    if faults:
        raise IntegrityError(constants.NAME, faults)
    return rows
