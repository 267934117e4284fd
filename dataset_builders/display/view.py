"""How a data set is shown: what its rows are called, what they can be filtered by, and the items."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from lookcheck.dataset_builders.core.processes import Track
from lookcheck.dataset_builders.display.items import Item
from lookcheck.dataset_builders.display.media import Media
from lookcheck.dataset_builders.parquet.reader import BuiltFolder, Choice


@dataclass(frozen=True)
class View:
    """How the rows of a data set are shown.

    Attributes
    ----------
    title : str
    nouns : (str, str)
        What one item is called, and several.
    marks : str
        What is drawn over a picture.
    facets : sequence of str
        What items can be filtered by, in the order of the page.
    orders : mapping
        From facet to its values in their order, where that is not the alphabet's.
    items : callable
        Yields an item for each row of the choice, or for each group of rows that stand together.
    count : callable
        How many items there are without the limit.
    picture_facet : str or None
        The facet whose values are the pictures of an item.
    legend : str
        What the marks in a picture mean.
    explained : mapping
        From facet to value to a few words on it.
    """

    title: str
    nouns: tuple[str, str]
    marks: str
    facets: Sequence[str]
    orders: Mapping[str, Sequence[str]]
    items: Callable[[BuiltFolder, Media, Choice, Track], Iterator[Item]]
    count: Callable[[BuiltFolder, Choice], int]
    picture_facet: str | None = None
    legend: str = ""
    explained: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
