"""Shades on the page."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from lookcheck.dataset_builders.core.processes import Track
from lookcheck.dataset_builders.display.items import Item, Picture, Question
from lookcheck.dataset_builders.display.media import Media
from lookcheck.dataset_builders.display.view import View
from lookcheck.dataset_builders.parquet.reader import (
    BuiltFolder,
    Choice,
    chosen_splits,
    count_items,
    read_rows,
)


def iterate_items(folder: BuiltFolder, media: Media, choice: Choice, track: Track) -> Iterator[Item]:
    """Yield an item for each row."""
    paths = [path for found in chosen_splits(folder, choice).values() for path in found]
    rows = read_rows(paths, ("id", "image", "question", "answer"))
    for row in islice(rows, choice.limit):
        picture = Picture("", *media.add(row["image"], row["id"]))
        asked = Question(row["question"], row["answer"])
        yield Item(row["id"], row["question"], row["answer"], (picture,), {}, (asked,))


VIEW = View("Shades", ("picture", "pictures"), "", (), {}, iterate_items, count_items)
