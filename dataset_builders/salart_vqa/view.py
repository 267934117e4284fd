"""SalArt-VQA on the page: the picture with its boxes, and the chain of four questions."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

import numpy as np

from lookcheck.dataset_builders.core.errors import InputError
from lookcheck.dataset_builders.core.masks import Mask
from lookcheck.dataset_builders.core.processes import Track
from lookcheck.dataset_builders.display.items import Item, Overlay, Picture, Question, Stored, facts_of
from lookcheck.dataset_builders.display.media import Media
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
from lookcheck.dataset_builders.salart_vqa import constants

FACETS = ("split", "role", "question", "artifact type", "subset")
QUESTIONS = (("q1", "Presence"), ("q2", "Region"), ("q3", "Box"), ("q4", "Evidence"))
# Of `COLOURS`: the boxes are red, blue, cyan and orange.
GREEN = 2
OPTIONAL = ("q3_boxes", "artifact_type", "subset", "pair_id")
ORDERS = {
    "role": tuple(role.replace("_", " ") for role in constants.ROLES),
    "question": constants.QUESTIONS,
    "subset": tuple(constants.SUBSETS),
}
IMAGE_COLUMNS = (
    "row_id",
    "image_role",
    "image",
    "q3_overlay_image",
    *(f"{name}_prompt" for name, _ in QUESTIONS),
    "q2_options",
    "q4_options",
    *(f"{name}_answer" for name, _ in QUESTIONS),
)
QUESTION_COLUMNS = ("id", "row_id", "question_type", "image_role", "image", "prompt", "options", "answer")


def iterate_items(folder: BuiltFolder, media: Media, choice: Choice, track: Track) -> Iterator[Item]:
    """Yield an item for each row of `images` or of `questions`."""
    makers = {"images": (IMAGE_COLUMNS, image_item), "questions": (QUESTION_COLUMNS, question_item)}
    splits = chosen_splits(folder, choice)
    config = choice.config or next(iter(folder.configs))
    if config not in makers:
        raise InputError(f"{folder.path}: no view is known for the configuration {config!r} of SalArt-VQA")
    columns, make = makers[config]
    step = track_rows(folder, choice, track)
    optional = (*OPTIONAL, "system_prompt")
    rows = (
        (name, row) for name, paths in splits.items() for row in read_rows(paths, columns, optional=optional)
    )
    for name, row in islice(rows, choice.limit):
        yield make(row, name, media)
        step()


def image_item(row: Row, split: str, media: Media) -> Item:
    """Item of a row of `images`: the whole chain."""
    id = row["row_id"]
    stored, thumb = media.add(row["image"] or {}, f"{id}: image")
    overlays: tuple[Overlay, ...] = ()
    marked = None
    if row["q3_overlay_image"] is not None:
        where = f"{id}: q3_overlay_image"
        overlays = (Overlay("boxes A to D", media.add_layer(row["q3_overlay_image"], stored, where)),)
        box = (row["q3_boxes"] or {}).get(row["q3_answer"])
        right = [] if box is None else [_inside(box, stored)]
        overlays += media.add_masks(right, [f"right box: {row['q3_answer']}"] * len(right), GREEN)
        marked = media.add_marked(row["q3_overlay_image"], right, where, GREEN)
    questions = tuple(
        Question(
            row[f"{name}_prompt"] or "",
            row[f"{name}_answer"],
            f"{name.upper()} {heading}",
            _options(row.get(f"{name}_options")),
        )
        for name, heading in QUESTIONS
    )
    evidence = questions[3].options.get(row["q4_answer"] or "", "")
    return Item(
        id,
        evidence if row["image_role"] == "artifact" else "No artifact",
        _words(row["image_role"]),
        (Picture("", stored, thumb, marked, "", overlays),),
        _facets(row, split),
        questions,
        _facts(row, split, ("id", id), ("size", f"{stored.width} × {stored.height} px")),
        row["pair_id"] or "",
    )


def question_item(row: Row, split: str, media: Media) -> Item:
    """Item of a row of `questions`: one request to a model."""
    stored, thumb = media.add(row["image"] or {}, f"{row['id']}: image")
    heading = dict(QUESTIONS).get(row["question_type"], "")
    options = _options(row["options"])
    return Item(
        row["id"],
        row["prompt"],
        f"{row['question_type'].upper()} · {row['answer']}",
        (Picture("", stored, thumb),),
        _facets(row, split) | {"question": (row["question_type"],)},
        (
            Question(
                row["prompt"],
                row["answer"],
                f"{row['question_type'].upper()} {heading}",
                # The prompt has them already; the answer's own words are worth a line.
                {letter: text for letter, text in options.items() if letter == row["answer"]},
            ),
        ),
        _facts(row, split, ("id", row["id"]), ("image", row["row_id"])),
    )


def _facets(row: Row, split: str) -> dict[str, tuple[str, ...]]:
    named: dict[str, Any] = {
        "split": split,
        "role": _words(row["image_role"]),
        "artifact type": row["artifact_type"],
        "subset": row["subset"],
    }
    return {name: (value,) for name, value in named.items() if value is not None}


def _facts(row: Row, split: str, *first: tuple[str, Any]) -> tuple[tuple[str, str], ...]:
    return facts_of(
        *first,
        ("role", row["image_role"]),
        ("artifact type", row["artifact_type"]),
        ("subset", row["subset"]),
        ("pair", row["pair_id"]),
        ("split", split),
        ("system prompt", row["system_prompt"]),
    )


def _inside(box: Sequence[float], size: Stored) -> Mask:
    """The pixels of a box x, y, width, height that a picture of that size has."""
    x, y, width, height = box
    mask = np.zeros((size.height, size.width), bool)
    mask[max(0, math.floor(y)) : math.ceil(y + height), max(0, math.floor(x)) : math.ceil(x + width)] = True
    return mask


def _options(options: dict[str, str | None] | None) -> dict[str, str]:
    return {letter: text for letter, text in (options or {}).items() if text is not None}


def _words(name: str) -> str:
    return name.replace("_", " ")


VIEW = View(
    constants.PRETTY_NAME,
    ("row", "rows"),
    "Boxes",
    FACETS,
    ORDERS,
    iterate_items,
    count_items,
    legend="Boxes A to D are the options of question 3; where all else is dimmed, the light one is right.",
    explained={
        "role": {
            "artifact": "generated, with an artifact",
            "clean reference": "a photograph without one",
            "paired generated counterpart": "generated, before an artifact was painted in",
        },
        "question": {name: heading.lower() for name, heading in QUESTIONS},
    },
)
