"""From a model's own words to the shapes that it claims as evidence; nothing is raised and nothing mended."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from functools import partial
from typing import Any, NoReturn

from lookcheck.dataset_builders.native.adapters import Adapter
from lookcheck.dataset_builders.native.conventions import Unreadable, scales
from lookcheck.dataset_builders.native.shapes import (
    Scale,
    Shape,
    box,
    checked,
    encoded,
    point,
    polygon,
)

NO_JSON, TOO_MANY, NO_CLAIM = "no JSON", "too many brackets", "JSON without evidence"
BAD_TAG = "bad <box> tag"

# A reply that nests or repeats brackets without end is read no further: each costs a look at the rest.
MOST_OPENINGS = 1000

_TAG = re.compile(r"<box>([^<]{0,200})(</box>)?")
_FENCE = re.compile(r"```[a-z]*")


@dataclass(frozen=True)
class Claimed:
    """What a reply claims.

    Attributes
    ----------
    answer : str
        The ``answer`` of the JSON, else the words around it; all of the reply if there are none.
    shapes : tuple of Shape
        In the reply's order.
    problem : str or None
        Why no evidence could be read at all.
    """

    answer: str
    shapes: tuple[Shape, ...] = ()
    problem: str | None = None

    @property
    def problems(self) -> Mapping[str, int]:
        """How often what was wrong with a shape."""
        return Counter(shape.problem for shape in self.shapes if shape.problem is not None)

    @property
    def clipped(self) -> int:
        """Shapes that reached outside the picture."""
        return sum(shape.clipped for shape in self.shapes)


@dataclass
class _Reader:
    """The shapes of values of one form."""

    form: str
    scale: Scale
    size: tuple[int, int]
    answer: str | None = None
    found: list[Shape] = field(default_factory=list)
    claims: bool = False

    def value(self, value: object) -> bool:
        """Read a value of JSON; whether it is of this form, or an answer."""
        key = "caption" if self.form == "glamm" else "answer"
        answers = isinstance(value, Mapping) and isinstance(value.get(key), str)
        if isinstance(value, Mapping) and answers:
            self.answer = value[key]
        claims = self._qwen(value) if self.form == "qwen" else self._own(value)
        self.claims |= claims
        return claims or answers

    def _own(self, value: object) -> bool:
        key = "pred_masks" if self.form == "glamm" else self.form
        items = value.get(key) if isinstance(value, Mapping) else value
        if not isinstance(items, list):
            return False
        if not isinstance(value, Mapping) and not all(isinstance(item, list | dict) for item in items):
            # Such as the [1] of a footnote.
            return False
        for item in items:
            self._add(item, "")
        return True

    def _qwen(self, value: object) -> bool:
        claims = value == []
        waiting = [value]
        while waiting:
            item = waiting.pop()
            if isinstance(item, list):
                waiting += reversed(item)
            elif isinstance(item, Mapping):
                label = item.get("label")
                for key, form in (("bbox_2d", "boxes"), ("point_2d", "points")):
                    if key in item:
                        claims = True
                        self._add(item[key], label if isinstance(label, str) else "", form)
                waiting += reversed([inner for inner in item.values() if isinstance(inner, list | dict)])
        return claims

    def _add(self, item: object, label: str, form: str | None = None) -> None:
        if (form or self.form) in {"masks", "glamm"}:
            self.found.append(encoded(item, label, self.size))
            return
        make = {"boxes": box, "points": point, "polygons": polygon}[form or self.form]
        self.found.append(checked(partial(make, item, label, self.scale, self.size), label))


def read_native(
    adapter: Adapter, text: str, *, size: tuple[int, int], seen: tuple[int, int] | None
) -> Claimed:
    """Read a reply by an adapter whose form is in the words.

    Parameters
    ----------
    adapter : Adapter
    text : str
        Without a trace of thoughts.
    size, seen : tuple of (int, int)
        Width and height in pixels of the original, and of the picture as the model saw it, if known.

    Examples
    --------
    >>> from lookcheck.dataset_builders.native.adapters import ADAPTERS
    >>> claimed = read_native(
    ...     ADAPTERS["boxes-thousand"], 'Two. {"boxes": [[0, 0, 500, 1000]]}', size=(4, 2), seen=None
    ... )
    >>> claimed.answer, claimed.shapes[0].drawn((4, 2)).astype(int).tolist()
    ('Two.', [[1, 1, 0, 0], [1, 1, 0, 0]])
    """
    said = text.strip()
    try:
        scale = scales(adapter.convention or "original", size, seen)
    except Unreadable as error:
        return Claimed(said, problem=str(error))
    reader = _Reader(adapter.form, scale, size)
    if adapter.form == "tags":
        return _tagged(said, reader)
    words: list[str] = []
    end = 0
    any_json = False
    try:
        for begin, stop, value in _values(text):
            any_json = True
            if reader.value(value):
                words.append(text[end:begin])
                end = stop
    except Unreadable as error:
        return Claimed(said, problem=str(error))
    words.append(text[end:])
    around = _FENCE.sub("", "".join(words)).strip()
    answer = (reader.answer or "").strip() or around or said
    if not reader.claims:
        return Claimed(answer, problem=NO_CLAIM if any_json else NO_JSON)
    return Claimed(answer, tuple(reader.found))


def _tagged(said: str, reader: _Reader) -> Claimed:
    for tag in _TAG.finditer(said):
        try:
            value = _DECODER.decode(tag[1])
        except (ValueError, RecursionError):
            value = None
        if tag[2] is None or not isinstance(value, list):
            reader.found.append(Shape(problem=BAD_TAG))
        else:
            reader._add(value, "", "boxes")
    return Claimed(_TAG.sub("", said).strip() or said, tuple(reader.found))


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


_DECODER = json.JSONDecoder(parse_float=Decimal, parse_constant=_no_constant)
_OPENING = re.compile(r"[\[{]")


def _values(text: str) -> Iterator[tuple[int, int, Any]]:
    """Begin, end and value of each list and object of JSON that lies in no other.

    Raises
    ------
    Unreadable
        If too many brackets open none.
    """
    failed = 0
    opening = _OPENING.search(text)
    while opening is not None:
        begin = opening.start()
        try:
            value, end = _DECODER.raw_decode(text, begin)
        except (ValueError, ArithmeticError, RecursionError):
            failed += 1
            if failed > MOST_OPENINGS:
                raise Unreadable(TOO_MANY) from None
            end = begin + 1
        else:
            yield begin, end, value
        opening = _OPENING.search(text, end)
