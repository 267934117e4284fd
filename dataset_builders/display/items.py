"""What the page shows of a row, whatever the data set."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Stored:
    """A picture file of the page.

    Attributes
    ----------
    path : str
        Relative to index.html.
    width, height : int
        In pixels.
    """

    path: str
    width: int
    height: int


@dataclass(frozen=True)
class Overlay:
    """Something drawn over a picture, with a button of its own.

    Attributes
    ----------
    label : str
    path : str
        A picture of the same size, transparent where nothing is to be seen.
    light : str
        A picture of the same size: white where the picture stays as it is, grey where it is dimmed.
        Where several are shown, the lightest counts.
    colour : str
        ``#rrggbb`` of the button's mark; empty for a picture of many colours.
    shown : bool
        Whether it can be seen at first.
    """

    label: str
    path: str
    light: str = ""
    colour: str = ""
    shown: bool = True


@dataclass(frozen=True)
class Question:
    """One question with its options and answer; `answer` is None where it is not asked.

    `answer_name` says what the answer is, where it is not simply that.
    """

    text: str
    answer: str | None
    heading: str = ""
    options: Mapping[str, str] = field(default_factory=dict)
    answer_name: str = ""


@dataclass(frozen=True)
class Picture:
    """One picture, or the reason why there is none.

    Attributes
    ----------
    label : str
        Short name; empty if an item has only one picture.
    stored : Stored or None
    thumb : Stored or None
        Small copy.
    marked : Stored or None
        Small copy with its overlays drawn in.
    about : str
        A sentence beside it, or in its place.
    overlays : tuple of Overlay
    questions : tuple of Question
        Asked about this picture; the item's own stand for all of its pictures.
    facts : tuple of (str, str)
    note : str
        In place of the item's, where this picture is the one that is shown.
    facets : mapping of str to tuple of str
        Values to filter by that are this picture's and not the whole item's.
    """

    label: str
    stored: Stored | None
    thumb: Stored | None = None
    marked: Stored | None = None
    about: str = ""
    overlays: tuple[Overlay, ...] = ()
    questions: tuple[Question, ...] = ()
    facts: tuple[tuple[str, str], ...] = ()
    note: str = ""
    facets: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class Item:
    """What stands together on the page: a row, or the rows of one parent.

    Attributes
    ----------
    id : str
        Unique on the page; its address.
    caption : str
        Under the thumbnail.
    note : str
        A few words beside the caption: the answer, the role.
    pictures : tuple of Picture
        If there are several, the first stays and the others are put beside it in turn.
    facets : mapping of str to tuple of str
        Values to filter by, those of all pictures among them.
    questions : tuple of Question
    facts : tuple of (str, str)
    group : str
        Items of one group name each other; empty for none.
    """

    id: str
    caption: str
    note: str
    pictures: tuple[Picture, ...]
    facets: Mapping[str, tuple[str, ...]]
    questions: tuple[Question, ...] = ()
    facts: tuple[tuple[str, str], ...] = ()
    group: str = ""

    def to_json(self) -> dict[str, Any]:
        """Plain values for the page, with nothing that is empty."""
        plain: dict[str, Any] = _plain(self)
        return plain


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _plain(item) for name, item in value.items()}
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    if hasattr(value, "__dataclass_fields__"):
        named = {name: _plain(getattr(value, name)) for name in value.__dataclass_fields__}
        # False has a meaning (an overlay that is not shown at first); the rest is undefined in the page.
        return {name: item for name, item in named.items() if item not in (None, "", [], {}) or item is False}
    return value


def facts_of(*pairs: tuple[str, Any]) -> tuple[tuple[str, str], ...]:
    """Pairs that have a value, as text.

    Examples
    --------
    >>> facts_of(("size", "3 × 4"), ("pair", None), ("seed", 7), ("empty", ""))
    (('size', '3 × 4'), ('seed', '7'))
    """
    return tuple((name, _text(value)) for name, value in pairs if value not in (None, "", []))


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, list | tuple):
        return ", ".join(map(_text, value))
    return str(value)
