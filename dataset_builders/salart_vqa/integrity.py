"""Every rule that a SalArt-VQA source must keep, looked at before anything is written."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from lookcheck.dataset_builders.core.errors import Fault, IntegrityError
from lookcheck.dataset_builders.core.images import exif_transpose, read_picture, reason
from lookcheck.dataset_builders.core.processes import Track, no_track, ordered_map
from lookcheck.dataset_builders.salart_vqa import constants
from lookcheck.dataset_builders.salart_vqa.records import SalArtRecord, parse_record
from lookcheck.dataset_builders.salart_vqa.rows import ChainJob, RowsJob

# Boxes are often rounded to a whole pixel.
BOX_TOLERANCE = 1.0


@dataclass(frozen=True)
class Inspection:
    """What is kept of an image: its faults, what the rules across images need, and how to make its rows."""

    id: str
    faults: tuple[Fault, ...]
    role: str = ""
    asked: tuple[str, ...] = ()
    picture: str = ""
    content: str = ""
    job: RowsJob | None = None


def inspect_job(job: ChainJob) -> Inspection:
    """Look at one image: its chain, its pictures, and the two together."""
    record, faults = parse_record(job.where, job.fields)
    id = record.id if record is not None else faults[0].id
    faults += [Fault(id, "image-file", problem) for problem in job.problems]
    pictures = {}
    for column, path in (("image", job.image), ("q3_overlay_image", job.overlay)):
        if path is None:
            continue
        try:
            pictures[column] = read_picture(path)
        except OSError as error:
            message = f"the picture {path.name!r} of {column} can't be read ({error.strerror})"
            faults.append(Fault(id, "image-file", message))
    if record is None or faults:
        return Inspection(id, tuple(faults))
    faults = check_pictures(record, pictures["image"], pictures.get("q3_overlay_image"))
    anew = (
        sum(exif_transpose(data, whole=False)[0] is not data for data in pictures.values())
        if not faults
        else 0
    )
    ready = None if job.image is None else RowsJob(record, job.image, job.overlay, anew)
    return replace(inspection(record, pictures["image"]), faults=tuple(faults), job=ready)


def inspection(record: SalArtRecord, image: bytes) -> Inspection:
    """What is kept of a record whose picture is known."""
    picture = hashlib.sha256(image).hexdigest()
    # The same photograph may be the reference of two artifacts, with other options each time.
    content = hashlib.sha256(
        repr((picture, record.role, record.prompts, record.options)).encode()
    ).hexdigest()
    return Inspection(record.id, (), record.role, record.asked, picture, content)


def check_pictures(record: SalArtRecord, image: bytes, overlay: bytes | None) -> list[Fault]:
    """A record against its picture and its overlay, as files."""
    sizes = {}
    faults = []
    for column, data in (("image", image), ("q3_overlay_image", overlay)):
        if data is None:
            continue
        try:
            _, _, sizes[column] = exif_transpose(data)
        except Exception as error:  # Pillow raises many kinds for a broken file
            faults.append(Fault(record.id, "image-decode", f"{column} can't be decoded ({reason(error)})"))
    if faults:
        return faults
    width, height = sizes["image"]
    if overlay is None and record.boxes is None:
        return [Fault(record.id, "overlay", "neither q3_overlay_image nor q3_boxes to draw it from")]
    if overlay is not None and sizes["q3_overlay_image"] != (width, height):
        found = sizes["q3_overlay_image"]
        message = f"the overlay is {found[0]} × {found[1]}, but the image {width} × {height}"
        faults.append(Fault(record.id, "overlay-size", message))
    if overlay is not None and overlay == image:
        faults.append(Fault(record.id, "overlay", "the overlay is the image itself, without boxes"))
    for letter, (x, y, w, h) in (record.boxes or {}).items():
        low, right, bottom = -BOX_TOLERANCE, width + BOX_TOLERANCE, height + BOX_TOLERANCE
        if x < low or y < low or x + w > right or y + h > bottom:
            message = f"box {letter} {[x, y, w, h]} leaves the image of {width} × {height}"
            faults.append(Fault(record.id, "box-outside", message))
    return faults


def across(
    rows: Sequence[Inspection], *, allow_partial: bool, declared: Mapping[str, Any] = constants.DECLARED
) -> list[Fault]:
    """Faults that only show when all images are seen together."""
    faults: list[Fault] = []
    ids: set[str] = set()
    contents: dict[str, str] = {}
    # From picture to an image that has an artifact, and to one that has none.
    sides: dict[tuple[str, bool], str] = {}
    for row in rows:
        if row.id in ids:
            faults.append(Fault(row.id, "duplicate-id", "this row_id stands twice"))
        ids.add(row.id)
        if not row.content:
            continue
        if contents.setdefault(row.content, row.id) != row.id:
            message = f"the same picture and questions as {contents[row.content]}"
            faults.append(Fault(row.id, "duplicate-example", message))
        artifact = row.role == constants.ARTIFACT
        sides.setdefault((row.picture, artifact), row.id)
        if (row.picture, not artifact) in sides:
            message = f"the same picture as {sides[row.picture, not artifact]}, and only one has an artifact"
            faults.append(Fault(row.id, "picture-roles", message))
    if not allow_partial:
        faults += _check_counts(rows, declared)
    return faults


def _check_counts(rows: Sequence[Inspection], declared: Mapping[str, Any]) -> Iterable[Fault]:
    pairs: list[tuple[str, int, int]] = [("images", len(rows), declared["images"])]
    # With broken rows the finer counts can't be known, and would only repeat the faults.
    if not any(row.faults for row in rows):
        roles: Mapping[str, int] = Counter(row.role for row in rows)
        questions = sum(len(row.asked) for row in rows)
        pairs.append(("questions", questions, declared["rows"]))
        pairs += [(f"{role} images", roles[role], count) for role, count in declared["image_role"].items()]
    for what, found, expected in pairs:
        if found != expected:
            message = f"{found} {what}, but {expected} are declared (--allow-partial builds what is there)"
            yield Fault(constants.NAME, "count", message)


def inspect_all(
    jobs: Sequence[ChainJob],
    *,
    allow_partial: bool = False,
    declared: Mapping[str, Any] = constants.DECLARED,
    num_proc: int = 1,
    track: Track = no_track,
) -> tuple[RowsJob, ...]:
    """Look at all images.

    Returns
    -------
    tuple of RowsJob
        In the order of `jobs`.

    Raises
    ------
    IntegrityError
        With every fault of every image.
    """
    step = track("checking", len(jobs))
    rows = []
    for row in ordered_map(inspect_job, jobs, min(num_proc, len(jobs))):
        rows.append(row)
        step()
    faults = [fault for row in rows for fault in row.faults]
    faults += across(rows, allow_partial=allow_partial, declared=declared)
    if faults:
        raise IntegrityError(constants.NAME, faults)
    return tuple(row.job for row in rows if row.job is not None)
