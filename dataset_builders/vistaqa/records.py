"""One annotation file as a record, with every fault of it found at once."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from lookcheck.dataset_builders.core.errors import Fault
from lookcheck.dataset_builders.core.masks import Rle, encode, parse_counts
from lookcheck.dataset_builders.vistaqa import constants
from lookcheck.metrics.grove.rle import MOST_PIXELS


@dataclass(frozen=True)
class EvidenceMask:
    """One instance of the evidence: its mask and its box [x, y, w, h] in pixels."""

    rle: Rle
    box: tuple[float, float, float, float]


@dataclass(frozen=True)
class VistaQARecord:
    """One sample. `width` and `height` are None where the record does not state them."""

    id: str
    file_name: str
    width: int | None
    height: int | None
    question: str
    answer: str
    task: str
    domain: str
    task_raw: str
    domain_raw: str
    instances: tuple[EvidenceMask, ...]


class _Faults(list[Fault]):
    def __init__(self, id: str) -> None:
        super().__init__()
        self.id = id

    def add(self, rule: str, message: str) -> None:
        self.append(Fault(self.id, rule, message))


def canonical(raw: str, kind: str) -> str | None:
    """Canonical name of a task's or domain's label, or None if it is unknown.

    Examples
    --------
    >>> canonical("Spatial_Relation", "task"), canonical("Mathematics/Geometry", "domain")
    ('spatial', 'math')
    """
    table = constants.TASK_SPELLINGS if kind == "task" else constants.DOMAIN_SPELLINGS
    words = " ".join(re.split(r"[\s_\-/&]+", raw.strip().lower()))
    return next((name for name, others in table.items() if words == name or words in others), None)


def parse_record(stem: str, record: Any) -> tuple[VistaQARecord | None, list[Fault]]:
    """Parse one upstream record.

    Parameters
    ----------
    stem : str
        Name of the file without its ending: the sample's id, an integer.
    record : object
        The parsed JSON.

    Returns
    -------
    VistaQARecord or None
        None if there is a fault.
    list of Fault
        Everything that is wrong with the record by itself.
    """
    faults = _Faults(stem)
    if not re.fullmatch(r"[0-9]{1,18}", stem):
        faults.add("id", f"the file's name must be an integer id, not {stem!r}")
    if not isinstance(record, dict):
        faults.add("record", f"expected a JSON object, found {type(record).__name__}")
        return None, faults
    question = _text(record, "question", faults)
    answer = _text(record, "answer", faults)
    task_raw = _text(record, "task_type", faults, "task")
    domain_raw = _text(record, "task_domain", faults, "domain")
    task = _label(task_raw, "task", faults)
    domain = _label(domain_raw, "domain", faults)
    file_name, width, height = _image(record.get("image"), faults)
    instances = _instances(record, faults)
    if faults:
        return None, faults
    parsed = VistaQARecord(
        stem, file_name, width, height, question, answer, task, domain, task_raw, domain_raw, instances
    )
    return parsed, faults


def _text(record: dict[str, Any], key: str, faults: _Faults, rule: str | None = None) -> str:
    value = record.get(key)
    if not isinstance(value, str):
        faults.add(rule or key, f"{key} must be a string, not {value!r}")
    elif not value.strip():
        faults.add(rule or key, f"{key} is empty")
    elif not _is_unicode(value):
        faults.add(rule or key, f"{key} holds half of a surrogate pair: {value!r}")
    else:
        return value
    return ""


def _label(raw: str, kind: str, faults: _Faults) -> str:
    name = canonical(raw, kind) if raw else ""
    if name is None:
        faults.add(kind, f"unknown {kind} {raw!r}")
    return name or ""


def _image(image: Any, faults: _Faults) -> tuple[str, int | None, int | None]:
    if not isinstance(image, dict):
        faults.add("image", f"image must be an object, not {image!r}")
        return "", None, None
    name = image.get("file_name")
    if not isinstance(name, str) or not name or "\0" in name or "\\" in name or not _is_unicode(name):
        faults.add("image-name", f"file_name must be a file's name, not {name!r}")
        name = ""
    elif PurePosixPath(name).is_absolute() or ".." in PurePosixPath(name).parts:
        faults.add("image-name", f"file_name leaves the folder of images: {name!r}")
    sizes: list[int | None] = []
    for key in ("width", "height"):
        value = image.get(key)
        if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 1):
            faults.add("image-size", f"{key} must be a positive integer, not {value!r}")
            value = None
        sizes.append(value)
    return name, sizes[0], sizes[1]


def _instances(record: dict[str, Any], faults: _Faults) -> tuple[EvidenceMask, ...]:
    annotations = record.get("annotations")
    if annotations is None:
        annotations = []
    if not isinstance(annotations, list):
        faults.add("annotations", f"annotations must be a list, not {type(annotations).__name__}")
        return ()
    before = len(faults)
    found = [_instance(number, item, faults) for number, item in enumerate(annotations)]
    if len(faults) > before:
        return ()
    present = tuple(item for item in found if item is not None)
    _check_evidence(record, len(annotations), len(present), faults)
    return present


def _check_evidence(record: dict[str, Any], stated: int, present: int, faults: _Faults) -> None:
    absent = record.get("hallucination")
    if absent not in (0, 1) or isinstance(absent, float):
        faults.add("hallucination", f"hallucination must be 0 or 1, not {absent!r}")
        return
    number = record.get("num_instances")
    if isinstance(number, bool) or not isinstance(number, int) or number < 0:
        faults.add("num-instances", f"num_instances must be an integer from 0 on, not {number!r}")
    elif number != present and not (absent and number == stated):
        faults.add("instance-count", f"num_instances is {number}, but there are {present} masks")
    if absent and present:
        faults.add("evidence", f"hallucination is 1, but there are {present} masks")
    elif not absent and not present:
        faults.add("evidence", "hallucination is 0, but there is no mask")
    elif not absent and stated != present:
        faults.add("mask-empty", f"{stated - present} of {stated} masks have no pixel")


def _instance(number: int, item: Any, faults: _Faults) -> EvidenceMask | None:
    """The instance; None if it is broken or, as an empty evidence set is written, without a pixel."""
    if not isinstance(item, dict):
        faults.add("annotation", f"annotation {number} must be an object, not {item!r}")
        return None
    rle = item.get("segmentation")
    if not isinstance(rle, dict) or "size" not in rle or "counts" not in rle:
        kind = type(rle).__name__
        faults.add("segmentation", f"mask {number} must be an RLE with size and counts, not {kind}")
        return None
    size = rle["size"]
    if not isinstance(size, list) or len(size) != 2 or not all(_is_length(value) for value in size):
        faults.add("rle-size", f"the size of mask {number} must be [height, width], not {size!r}")
        return None
    try:
        runs = parse_counts(rle["counts"])
    except ValueError as error:
        faults.add("rle-counts", f"mask {number}: {error}")
        return None
    if size[0] * size[1] > MOST_PIXELS:
        faults.add("rle-size", f"mask {number} of {size[0]} × {size[1]} has more than {MOST_PIXELS} pixels")
        return None
    if sum(runs) != size[0] * size[1]:
        faults.add("rle-sum", f"the counts of mask {number} sum to {sum(runs)}, not {size[0]} × {size[1]}")
        return None
    if not sum(runs[1::2]):
        return None
    box = item.get("bbox")
    if not isinstance(box, list) or len(box) != 4 or not all(_is_finite(value) for value in box):
        faults.add("box", f"box {number} must be [x, y, w, h], not {box!r}")
        return None
    if box[2] <= 0 or box[3] <= 0:
        faults.add("box", f"box {number} has no area: {box!r}")
        return None
    x, y, w, h = map(float, box)
    return EvidenceMask(encode({"size": size, "counts": runs}), (x, y, w, h))


def _is_unicode(text: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in text)


def _is_length(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 < value < 1_000_000


def _is_finite(value: Any) -> bool:
    # An integer of JSON may be too large for a float.
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 2**31
