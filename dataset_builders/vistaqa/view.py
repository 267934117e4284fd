"""VistaQA on the page: the picture, a mask for each instance, question and answer."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

from lookcheck.dataset_builders.core.processes import Track
from lookcheck.dataset_builders.display.items import Item, Picture, Question, facts_of
from lookcheck.dataset_builders.display.media import Media, mask_of
from lookcheck.dataset_builders.display.view import View
from lookcheck.dataset_builders.parquet.reader import (
    BuiltFolder,
    Choice,
    Row,
    chosen_splits,
    count_items,
    read_rows,
    track_rows,
)
from lookcheck.dataset_builders.vistaqa import constants

ORDERS = {
    "task": constants.TASKS,
    "domain": constants.DOMAINS,
    "evidence": ("with evidence", "without evidence"),
}
FACETS = ("split", "task", "domain", "evidence")
COLUMNS = (
    "id",
    "image",
    "question",
    "answer",
    "task",
    "domain",
    "task_raw",
    "domain_raw",
    "has_evidence",
    "masks_rle",
)


def iterate_items(folder: BuiltFolder, media: Media, choice: Choice, track: Track) -> Iterator[Item]:
    """Yield an item for each row."""
    step = track_rows(folder, choice, track)
    rows = (
        (name, row)
        for name, paths in chosen_splits(folder, choice).items()
        for row in read_rows(paths, COLUMNS, optional=("boxes",))
    )
    for name, row in islice(rows, choice.limit):
        yield make_item(row, name, media)
        step()


def make_item(row: Row, split: str, media: Media) -> Item:
    """Item of a row, as `read_rows` gives it."""
    where = f"{row['id']}: image"
    stored, thumb = media.add(row["image"] or {}, where)
    masks = [
        mask_of(rle, stored, f"{row['id']}: mask {number}") for number, rle in enumerate(row["masks_rle"])
    ]
    labels = [f"{number} · {100 * mask.mean():.2g} %" for number, mask in enumerate(masks, start=1)]
    picture = Picture(
        "",
        stored,
        thumb,
        media.add_marked(row["image"], masks, where) if masks else None,
        "" if masks else "No evidence: nothing in the picture shows the answer.",
        media.add_masks(masks, labels),
    )
    facets: dict[str, Any] = {
        "split": (split,),
        "task": (row["task"],),
        "domain": (row["domain"],),
        "evidence": ("with evidence" if row["has_evidence"] else "without evidence",),
    }
    return Item(
        row["id"],
        row["question"],
        row["answer"],
        (picture,),
        facets,
        (Question(row["question"], row["answer"]),),
        facts_of(
            ("id", row["id"]),
            ("task", _named(row["task"], row["task_raw"])),
            ("domain", _named(row["domain"], row["domain_raw"])),
            ("instances", len(masks)),
            ("size", f"{stored.width} × {stored.height} px"),
            ("boxes", [_box(box) for box in row["boxes"] or ()]),
            ("split", split),
        ),
    )


def _named(name: str, raw: str) -> str:
    return name if raw in (name, None, "") else f"{name} (upstream: {raw})"


def _box(box: list[float]) -> str:
    return "[" + ", ".join(f"{side:g}" for side in box) + "]"


VIEW = View(
    constants.PRETTY_NAME,
    ("row", "rows"),
    "Masks",
    FACETS,
    ORDERS,
    iterate_items,
    count_items,
    legend="Outlined: an instance of the evidence; what lies outside of all instances is dimmed.",
)
