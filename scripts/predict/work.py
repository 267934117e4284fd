"""From requests to replies, and from replies to lines of predictions."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lookcheck.dataset_builders.core.errors import InputError
from lookcheck.dataset_builders.requests.request import Answer, Asked
from lookcheck.scripts.models.processes import Share
from lookcheck.scripts.predict.backend import Backend
from lookcheck.scripts.predict.plan import Plan
from lookcheck.scripts.predict.run_folder import Line, answer_of_line, line_of_answer

FAILURE = "failure"


@dataclass(frozen=True)
class Replying:
    """Replies to a plan's requests; see :class:`~lookcheck.scripts.models.resumable.Work`.

    Attributes
    ----------
    plan : Plan
    backend : Backend
    timings : Path
        Seconds go there, a line a reply: they differ from run to run.
    told : callable
        Is given the lines as they come.
    """

    plan: Plan
    backend: Backend
    timings: Path
    told: Callable[[list[Line]], None]

    @property
    def order(self) -> Sequence[str]:
        """Names of the requests."""
        return self.plan.names

    def ready(self, done: Mapping[str, Line]) -> list[Line]:
        """Nothing: every reply takes a model."""
        return []

    def failed(self, row: Line) -> bool:
        """Whether the request failed."""
        return row[FAILURE] is not None

    def left(self, done: Mapping[str, Line]) -> int:
        """How many requests have no reply."""
        return sum(name not in done for name in self.plan.names)

    def make(
        self, done: Mapping[str, Line], share: Share, say: Callable[[str], None]
    ) -> Iterator[list[Line]]:
        """Lines as the back end answers."""
        # What an earlier start left: the rows that were complete but not written.
        self.told(list(done.values()))
        names = self.plan.names
        wanted = {index for index, name in enumerate(names) if name not in done}
        if not wanted:
            return
        with self.timings.open("a", encoding="ascii") as timings:
            for answered in self.backend.answer(self.plan.requests, wanted, share, say):
                lines = [line_of_answer(names[index], answer) for index, answer in answered]
                yield lines
                for index, answer in answered:
                    if answer.seconds is not None:
                        told = {"id": names[index], "seconds": round(answer.seconds, 6)}
                        timings.write(json.dumps(told) + "\n")
                timings.flush()
                self.told(lines)


class Assembly:
    """Makes a row's line of predictions once all its replies are there.

    Parameters
    ----------
    plan : Plan
    """

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._replies: dict[str, Line] = {}
        self._waiting: dict[str, list[Asked]] = {}
        for row in plan.rows:
            for name in self._names(row).values():
                self._waiting.setdefault(name, []).append(row)

    def add(self, replies: Sequence[Line]) -> list[tuple[Asked, Line]]:
        """Take replies; the rows that are complete by them, in the data set's order within each reply.

        A failed request's row has only its ``id`` and ``failure``.
        """
        found: list[tuple[Asked, Line]] = []
        for reply in replies:
            self._replies[reply["id"]] = reply
            for row in self._waiting.pop(reply["id"], []):
                names = self._names(row)
                if all(name in self._replies for name in names.values()):
                    answers = {part: answer_of_line(self._replies[name]) for part, name in names.items()}
                    found.append((row, self._line(row, answers)))
        return found

    def _names(self, row: Asked) -> dict[str, str]:
        return {part: self._plan.names[self._plan.places[row.id, part]] for part in row.requests}

    def _line(self, row: Asked, answers: Mapping[str, Answer]) -> Line:
        failures = {part: answer.failure for part, answer in answers.items() if answer.failure is not None}
        if failures:
            said = [f"{part}: {why}" if part else str(why) for part, why in failures.items()]
            return {"id": row.id, FAILURE: "; ".join(said)}
        given = {part: answer for part, answer in answers.items() if answer.fields is not None}
        fields: dict[str, Any] = {}
        if read := {part: answer for part, answer in answers.items() if part not in given}:
            fields |= self._plan.opened.task.fields(row, read, self._plan.protocol)
        for answer in given.values():
            fields |= answer.fields or {}
        if taken := fields.keys() & {"id", FAILURE, *_BESIDE}:
            raise InputError(f"id {row.id!r}: the field {min(taken)!r} is ours")
        return {"id": row.id, **fields, **{name: _by_part(answers, name) for name in _BESIDE}}


_BESIDE = ("raw", "reasoning", "prompt_tokens", "new_tokens")


def _by_part(answers: Mapping[str, Answer], name: str) -> Any:
    found = {part: getattr(answer, name) for part, answer in answers.items()}
    return found[""] if list(found) == [""] else found
