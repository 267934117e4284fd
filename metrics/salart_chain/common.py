"""What all metrics share: checked input, the form of a result, its signature, records from text.

This file stands in every metric's folder, byte for byte the same, because a folder has to work alone: as a
Space, and where `evaluate` loads it. Change one and copy it to the others; a test compares them.
Every complaint is a ValueError naming the row and the value.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from math import fsum
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, NamedTuple, NotRequired, TypedDict, TypeVar

if TYPE_CHECKING:
    from evaluate import Metric as _Module
else:
    # Without `evaluate`: only a metric's main file needs it.
    _Module = object

Id = str | int
"""The name of a row, a group or a type; compared by its text, as files quote numbers or don't."""


class Sample(TypedDict):
    """What a row of ``per_sample`` has in every metric; each adds its own keys.

    ``score`` is the row's own figure in [0, 1], None where an option leaves the row out; ``group`` is None
    where no groups were given.
    """

    id: Id
    group: Id | None
    score: float | None


Row = TypeVar("Row", bound=Sample)


class Result(TypedDict, Generic[Row]):
    """What a result has in every metric, beside the figures.

    ``counts`` are numbers of rows, ``n`` among them; ``baselines`` are names of policies that never look
    with the figures that they reach on the same rows. ``intervals`` is there where a confidence was given.
    """

    counts: dict[str, Any]
    baselines: dict[str, dict[str, Any]]
    per_sample: list[Row]
    signature: str
    intervals: NotRequired[dict[str, Any]]


class Index(int):
    """The place of a row that has no name yet, from 0."""


def place(row: Id) -> str:
    """How a complaint names a row: by its id, or by its place where the id is not known.

    Examples
    --------
    >>> place("q7"), place(Index(7))
    ("id 'q7'", 'index 7')
    """
    return f"index {int(row)}" if isinstance(row, Index) else f"id {row!r}"


def check_choice(name: str, value: object, allowed: Sequence[str]) -> None:
    """Refuse an option that is not one of `allowed`."""
    if not isinstance(value, str) or value not in allowed:
        raise ValueError(f"{name} is {value!r}; expected one of {', '.join(allowed)}")


def listed(name: str, values: Any, n: int | None = None, other: str = "predictions") -> list[Any]:
    """Return `values` as a list of Python's own values.

    Parameters
    ----------
    name : str
        What to call the values in a complaint.
    values : sequence, array or iterator
    n : int, optional
        The length that it must have, that of `other`; without it the list must not be empty.
    other : str

    Raises
    ------
    ValueError
        For a string, a mapping, a set (it has no order), an array without a dimension or with masked
        values, something that is no sequence, and another length.

    Examples
    --------
    >>> listed("predictions", (2, 3))
    [2, 3]
    >>> listed("predictions", {2, 3})
    Traceback (most recent call last):
    ValueError: predictions is {2, 3}; expected a list with one item for each sample
    """
    refused = isinstance(values, str | bytes | bytearray | Mapping | Set) or getattr(values, "ndim", 1) == 0
    # Of a masked array a plain list would keep None or what lies under the mask.
    refused = refused or any(base.__module__.startswith("numpy.ma") for base in type(values).__mro__)
    try:
        # numpy, pandas and torch hand out their own scalars; tolist gives Python's.
        items = [] if refused else list(values.tolist() if hasattr(values, "tolist") else values)
    except TypeError:
        refused = True
    if refused:
        shown = " ".join(repr(values).split())
        raise ValueError(f"{name} is {shown:.80}; expected a list with one item for each sample")
    if n is None and not items:
        raise ValueError(f"{name} is empty; there is nothing to score")
    if n is not None and len(items) != n:
        raise ValueError(f"{name} has {len(items)} items, but there are {n} {other}")
    return items


def as_id(value: Any) -> Id | None:
    """A non-empty string or an integer (numpy's too) as Python's own; None for anything else.

    Examples
    --------
    >>> as_id("7"), as_id(7), as_id(True), as_id(""), as_id(7.0)
    ('7', 7, None, None, None)
    """
    if isinstance(value, str):
        return str(value) or None
    return int(value) if isinstance(value, Integral) and not isinstance(value, bool) else None


def checked_ids(ids: Any, n: int) -> list[Id]:
    """Return the ids of `n` rows, 0 to n-1 where `ids` is None.

    Raises
    ------
    ValueError
        If an id is neither a non-empty string nor an integer, or stands twice: 7 and "7" are one id.
    """
    if ids is None:
        return list(range(n))
    items = listed("ids", ids, n)
    # One look in C at the usual case; the rows are gone through only where it does not hold.
    if set(map(type, items)) not in ({str}, {int}) or "" in items:
        for index, item in enumerate(items):
            if as_id(item) is None:
                raise ValueError(f"index {index}: the id is {item!r}; expected a string or an integer")
        items = list(map(as_id, items))
    if len(set(map(str, items))) != n:
        first: dict[str, int] = {}
        for index, item in enumerate(items):
            if str(item) in first:
                raise ValueError(
                    f"index {index}: the id {item!r} stands twice (first at index {first[str(item)]})"
                )
            first[str(item)] = index
    return items


def checked_labels(name: str, values: Any, ids: Sequence[Id]) -> list[Id] | None:
    """Return the names of groups, tasks or types, one for each row; None stays None.

    Raises
    ------
    ValueError
        If the length differs, or a name is neither a non-empty string nor an integer.
    """
    if values is None:
        return None
    items = listed(name, values, len(ids))
    if set(map(type, items)) != {str} or "" in items:
        for row, item in zip(ids, items, strict=True):
            if as_id(item) is None:
                raise ValueError(
                    f"{place(row)}: {name} holds {item!r}; expected a non-empty string or an integer"
                )
        items = list(map(as_id, items))
    return items


def check_fields(kind: str, value: Any, fields: Sequence[str], row: Id) -> None:
    """Refuse a row that is no dict of exactly these fields."""
    if not isinstance(value, dict):
        raise ValueError(f"{place(row)}: the {kind} is {value!r:.80}; expected a dict of {', '.join(fields)}")
    if len(value) != len(fields) or not all(field in value for field in fields):
        raise ValueError(
            f"{place(row)}: the {kind} has the fields {sorted(map(str, value))}; expected {', '.join(fields)}"
        )


_THINKING = re.compile(r"<(/?)(?:think|thinking|thought|reasoning)>|\u25c1(/?)think\u25b7", re.IGNORECASE)
THINKING = ("strip", "keep")
"""Whether a trace of thoughts is taken off before an answer is read."""


class Answer(NamedTuple):
    """An answer apart from the thoughts before it."""

    text: str
    thought: bool
    """Whether there are tags of thinking in the text."""
    cut: bool
    """Whether a trace of thoughts is opened and not closed: there is no answer, and `text` is empty."""


def without_thoughts(text: str) -> Answer:
    """What follows the last closing tag of a trace of thoughts (``<think>`` and its kind).

    Examples
    --------
    >>> without_thoughts("<think>No dog at first sight, but</think>Yes")
    Answer(text='Yes', thought=True, cut=False)
    >>> without_thoughts("<think>No dog at first sight, but").cut
    True
    """
    tags = list(_THINKING.finditer(text))
    if not tags:
        return Answer(text, False, False)
    # Chat templates may write the opening tag themselves, so a closing one can stand alone.
    if not (tags[-1][1] or tags[-1][2]):
        return Answer("", True, True)
    return Answer(text[tags[-1].end() :], True, False)


def with_tags(texts: Iterable[str]) -> list[str]:
    """The texts that may hold tags of thinking: a quick look before :func:`without_thoughts`.

    Examples
    --------
    >>> with_tags(["Yes", "<think>No</think>Yes"])
    ['<think>No</think>Yes']
    """
    return [text for text in texts if "<" in text or "\u25c1" in text]


def checked_thinking(thinking: str | None, otherwise: str) -> str:
    """Return the rule for traces of thoughts; `otherwise` where none is named."""
    if thinking is None:
        return otherwise
    check_choice("thinking", thinking, THINKING)
    return thinking


def fraction(count: int, total: int) -> float | None:
    """count / total; None, not 0, where there is nothing to divide by.

    Examples
    --------
    >>> fraction(1, 4), fraction(0, 0)
    (0.25, None)
    """
    return count / total if total else None


def mean(values: Sequence[float]) -> float | None:
    """The mean; None where there is no value.

    Examples
    --------
    >>> mean([0.1] * 10), mean([])
    (0.1, None)
    """
    # fsum is exact, so the order of the rows can't change the last digit.
    return fsum(values) / len(values) if values else None


def places_by_label(labels: Iterable[Id]) -> dict[str, list[int]]:
    """The rows of each label, by the label's text; numbers in their order, then the rest by alphabet.

    Examples
    --------
    >>> places_by_label(["b", 10, 9, "10", "a"])
    {'9': [2], '10': [1, 3], 'a': [4], 'b': [0]}
    """
    found: dict[str, list[int]] = {}
    for index, label in enumerate(labels):
        found.setdefault(str(label), []).append(index)
    return {
        label: found[label]
        for label in sorted(found, key=lambda text: (int(text) if text.isdecimal() else float("inf"), text))
    }


def signature(metric: str, version: str, **parts: object) -> str:
    """What was computed, in one line: the metric, every option and count in the order given, the version.

    Examples
    --------
    >>> signature("grove", "1.0.0", epsilon=0.1, n=3)
    'metric:grove|epsilon:0.1|n:3|version:1.0.0'
    """
    items = {"metric": metric, **parts, "version": version}
    return "|".join(f"{name}:{value}" for name, value in items.items())


class Records(dict[str, dict[str, Any]]):
    """Records by the text of their id, and where each stands."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name
        self.places: dict[str, str] = {}

    def where(self, key: str) -> str:
        """The name of the records and the line of one."""
        return f"{self.name}, {self.places[key]}"


def read_records(name: str, text: str, upload: str | None = None, keys: Sequence[str] = ("id",)) -> Records:
    """Records by the text of their id, from a JSON array or JSON Lines.

    Parameters
    ----------
    name : str
        What to call the records in a complaint.
    text : str
    upload : str, optional
        Path of a file that is read instead of `text`.
    keys : sequence of str
        Fields that may hold the id; the first that a record has does.

    Raises
    ------
    ValueError
        Naming the line, counted from 1; in an array also the place among the records, for several may
        stand on one line.

    Examples
    --------
    >>> read_records("references", '{"id": 7}')
    {'7': {'id': 7}}
    >>> read_records("references", '{"id": 7}\\n\\n{"id": "7"}')
    Traceback (most recent call last):
    ValueError: references, line 3: the id '7' stands twice (first at line 1)
    """
    if upload:
        try:
            text = Path(upload).read_text(encoding="utf-8-sig")
        except UnicodeDecodeError:
            raise ValueError(f"{name}: the file is not UTF-8 text") from None
    is_array = text.lstrip().startswith("[")
    found = Records(name)
    line, place = 1, "line 1"
    try:
        # Not str.splitlines(): U+2028 and friends are legal inside a JSON string.
        parts = _items(text) if is_array else enumerate(text.split("\n"), start=1)
        for number, (line, part) in enumerate(parts, start=1):
            if not part.strip():
                continue
            place = f"line {line}, record {number}" if is_array else f"line {line}"
            record = json.loads(part, **_STRICT)
            holder = next((key for key in keys if isinstance(record, dict) and key in record), None)
            id = None if holder is None else as_id(record[holder])
            if id is None:
                raise ValueError(f"{name}, {place} has no {' or '.join(keys)}: {str(record)[:80]}")
            key = str(id)
            if key in found:
                raise ValueError(
                    f"{name}, {place}: the id {key!r} stands twice (first at {found.places[key]})"
                )
            found[key], found.places[key] = record, place
    except json.JSONDecodeError as error:
        line = error.lineno if is_array else line
        raise ValueError(f"{name}, line {line}: not valid JSON ({error.msg}, column {error.colno})") from None
    except (RecursionError, _NotJson) as error:
        raise ValueError(f"{name}, {place}: not valid JSON ({error})") from None
    if not found:
        raise ValueError(f"{name}: no records")
    return found


def _items(text: str) -> Iterator[tuple[int, str]]:
    """The line on which each item of a JSON array begins, and its text."""
    # Read as a whole first: a fault outside the items has its line, and below nothing can go wrong.
    json.loads(text)
    decoder, line, begin = json.JSONDecoder(), 1, 0
    at = text.index("[") + 1
    while text[at := at + len(_GAP.match(text, at)[0])] != "]":  # type: ignore[index]  # it matches nothing, too
        line, begin = line + text.count("\n", begin, at), at
        at = decoder.raw_decode(text, at)[1]
        yield line, text[begin:at]


_GAP = re.compile(r"[\s,]*")


class _NotJson(Exception):
    """What Python's reader lets through and JSON does not allow, or what a record can't mean."""


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    record = dict(pairs)
    if len(record) != len(pairs):
        raise _NotJson("a key stands twice in one record")
    return record


def _refuse(constant: str) -> None:
    raise _NotJson(f"{constant} is no JSON")


_STRICT: dict[str, Any] = {"object_pairs_hook": _distinct, "parse_constant": _refuse}


class CheckedRows(_Module):
    """The part of an `evaluate` module that all metrics share: rows are checked before evaluate sees them.

    Unchecked, it would turn a number into a string, and drop what its columns do not have.
    """

    per_row: ClassVar[tuple[str, ...]]
    """Keywords of ``compute`` with one item for each row."""

    _ids: Any = None

    def check_rows(self, predictions: Sequence[Any], references: Sequence[Any], ids: Sequence[Id]) -> None:
        """Refuse rows that can't be scored, or that evaluate would change."""
        raise NotImplementedError

    def compute(self, *, predictions: Any = None, references: Any = None, **options: Any) -> Any:
        """Score the rows given here, or those added before."""
        given = [name for name in self.per_row if options.get(name) is not None]
        if self.num_process > 1 and given:
            raise ValueError(
                f"{', '.join(given)}: with num_process={self.num_process} these can't be joined to the rows "
                "of the other processes; gather the rows and score them in one process"
            )
        self._ids = options.get("ids")
        try:
            return super().compute(predictions=predictions, references=references, **options)
        finally:
            self._ids = None

    def add_batch(self, *, predictions: Any = None, references: Any = None, **others: Any) -> None:
        """Check rows and keep them."""
        given = listed("predictions", predictions)
        wanted = listed("references", references, len(given))
        places = range(len(self), len(self) + len(given))
        names = list(map(Index, places)) if self._ids is None else checked_ids(self._ids, len(given))
        self.check_rows(given, wanted, names)
        super().add_batch(predictions=given, references=wanted, **others)

    def add(self, *, prediction: Any = None, reference: Any = None, **others: Any) -> None:
        """Check one row and keep it; `evaluate.combine` names its two parts in the plural."""
        prediction = others.pop("predictions", prediction)
        reference = others.pop("references", reference)
        self.check_rows([prediction], [reference], [Index(len(self))])
        super().add(prediction=prediction, reference=reference, **others)
