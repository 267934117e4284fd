"""Joins answers made elsewhere with the rows that were asked: by id, else by question and picture."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import PurePosixPath
from typing import NamedTuple

from lookcheck.dataset_builders.core.errors import Fault, IntegrityError
from lookcheck.dataset_builders.requests.request import Asked
from lookcheck.scripts.predict.importing.given import Given


class Place(NamedTuple):
    """A request: a row, and which part of it."""

    row: int
    part: str


class _Refused(Exception):
    """Why an answer has no place: `rule` and message."""

    def __init__(self, rule: str, message: str) -> None:
        super().__init__(message)
        self.rule = rule


# The picture of COCO, with and without its prefix, and the number alone.
_COCO = re.compile(r"(?:COCO_[a-z]+\d{4}_)?0*(\d+)", re.IGNORECASE)


def join(rows: Sequence[Asked], given: Iterable[Given], name: str) -> dict[Place, Given]:
    """Find the row of each answer; the place of a line in its file never counts.

    An id decides, then ``question_id`` and split, then question and picture; every other key that an answer
    has must agree with the row.

    Parameters
    ----------
    rows : sequence of Asked
    given : iterable of Given
    name : str
        Of the files, for the message.

    Raises
    ------
    IntegrityError
        If any answer fits no row or several, contradicts the row, or a row is answered twice: all of them,
        counted, with the first five.
    """
    index = _Index(rows)
    found: dict[Place, Given] = {}
    faults: list[Fault] = []
    for item in given:
        try:
            for place in index.places(item):
                if place in found:
                    raise _Refused(
                        "twice", f"{rows[place.row].id!r} is answered in {found[place].where!r}, too"
                    )
                found[place] = item
        except _Refused as refused:
            faults.append(Fault(item.where, refused.rule, str(refused)))
    if faults:
        raise IntegrityError(name, faults)
    return found


class _Index:
    def __init__(self, rows: Sequence[Asked]) -> None:
        self._rows = rows
        self._ids = {row.id: number for number, row in enumerate(rows)}
        self._numbers: dict[str, list[Place]] = {}
        self._questions: dict[str, list[Place]] = {}
        self._splits = {row.names.split for row in rows} - {None}
        self._pictures = [{_picture(name) for name in row.names.pictures} for row in rows]
        self._asked: dict[Place, str] = {}
        self._shown: dict[tuple[str, str], list[Place]] = {}
        for number, row in enumerate(rows):
            for part in row.requests:
                place = Place(number, part)
                question = _plain(row.about["questions"][part])
                self._asked[place] = question
                if row.names.question_id is not None:
                    self._numbers.setdefault(row.names.question_id, []).append(place)
                self._questions.setdefault(question, []).append(place)
                for picture in self._pictures[number]:
                    self._shown.setdefault((question, picture), []).append(place)
        self._lengths = sorted({len(question.split(" ")) for question in self._questions}, reverse=True)

    def places(self, item: Given) -> list[Place]:
        """One place, or one in each split that the answer names."""
        named, candidates = self._candidates(item)
        checks: Mapping[str, Callable[[Place], bool]] = {
            "part": lambda place: item.part in (None, place.part),
            "question": lambda place: self._agrees(item.question, place),
            "picture": lambda place: self._shows(item.pictures, place),
        }
        fitting = candidates
        for what, agrees in checks.items():
            left = [place for place in fitting if agrees(place)]
            if not left:
                raise _Refused(
                    "contradiction", f"{named} fits {self._told(fitting)}, but the {what} does not"
                )
            fitting = left
        if item.fields is not None and len({place.row for place in fitting}) == 1:
            return fitting[:1]
        if not item.splits or not self._splits:
            return [self._only(named, fitting)]
        if unknown := [split for split in item.splits if split not in self._splits]:
            raise _Refused("unknown", f"{named}: there is no split {unknown[0]!r}")
        found = []
        for split in dict.fromkeys(item.splits):
            own = [place for place in fitting if self._rows[place.row].names.split == split]
            found.append(self._only(f"{named} in the split {split!r}", own))
        return found

    def _candidates(self, item: Given) -> tuple[str, list[Place]]:
        for id in (*item.ids, item.number):
            if id is not None and (row := self._ids.get(id)) is not None:
                return f"the id {id!r}", [Place(row, part) for part in self._rows[row].requests]
        if item.number is not None and self._numbers:
            named = f"question_id {item.number!r}"
            if item.number not in self._numbers:
                raise _Refused("unknown", f"no row has the {named}")
            return named, self._numbers[item.number]
        if item.question is not None:
            named = f"the question {item.question[:80]!r}"
            words = _plain(item.question).split(" ")
            # Programs put their own words behind a question: the longest that is known decides.
            for length in self._lengths:
                if length <= len(words) and (key := " ".join(words[:length])) in self._questions:
                    for picture in map(_picture, item.pictures):
                        if (key, picture) in self._shown:
                            return named, self._shown[key, picture]
                    return named, self._questions[key]
            raise _Refused("unknown", f"no row asks {named}")
        names = [*item.ids, *([] if item.number is None else [item.number])]
        raise _Refused(
            "unknown", f"no row has the id {names[0]!r}" if names else "neither an id nor a question"
        )

    def _only(self, named: str, places: Sequence[Place]) -> Place:
        if not places:
            raise _Refused("unknown", f"{named}: no row")
        if len(places) > 1:
            raise _Refused("ambiguous", f"{named} fits {self._told(places)}")
        return places[0]

    def _agrees(self, question: str | None, place: Place) -> bool:
        return question is None or f"{_plain(question)} ".startswith(f"{self._asked[place]} ")

    def _shows(self, pictures: Sequence[str], place: Place) -> bool:
        known = self._pictures[place.row]
        return not pictures or not known or not known.isdisjoint(map(_picture, pictures))

    def _told(self, places: Sequence[Place]) -> str:
        ids = [self._rows[place.row].id + (f"/{place.part}" if place.part else "") for place in places]
        return f"{ids[0]!r}" if len(ids) == 1 else f"{len(ids)} rows, such as {ids[0]!r} and {ids[1]!r}"


def _plain(question: str) -> str:
    return " ".join(question.strip().removeprefix("<image>").split())


def _picture(name: str) -> str:
    """The name without folder and ending; COCO's number without what stands before it."""
    stem = PurePosixPath(name.replace("\\", "/")).name
    if "." in stem:
        stem = stem[: stem.rindex(".")]
    found = _COCO.fullmatch(stem)
    return found[1] if found else stem
