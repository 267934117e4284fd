"""A Python function as a model: it is given a row, and gives an answer."""

from __future__ import annotations

import hashlib
import importlib
import inspect
import json
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from lookcheck.dataset_builders.core.errors import InputError
from lookcheck.dataset_builders.core.verdict_file import Json
from lookcheck.dataset_builders.requests.pictures import PictureReader, opened
from lookcheck.dataset_builders.requests.replies import told_apart
from lookcheck.dataset_builders.requests.request import Answer, Request
from lookcheck.scripts.models.processes import Share
from lookcheck.scripts.predict.backend import Shown
from lookcheck.scripts.predict.plan import Plan

# Seconds.
_TOGETHER = 0.1


class FunctionBackend:
    """Calls ``module:function`` once for each part of each row.

    The function is given a dict: ``id``, ``part`` (empty where a row is one request, else such as ``q3``),
    ``question``, ``text`` (all that the protocol asks), ``system`` and ``picture`` (a PIL picture in RGB, or
    None). It returns the words of its reply, which are read as any model's, or a dict of the fields that the
    scorer reads (masks as run-length encodings or as boolean arrays of shape (height, width)).

    Parameters
    ----------
    name : str
    plan : Plan

    Raises
    ------
    InputError
        If there is no such function.
    """

    def __init__(self, name: str, plan: Plan) -> None:
        self._name = name
        self._function = _found(name)
        self._pictures = PictureReader()
        self._rows: dict[int, Mapping[str, Any]] = {
            plan.places[row.id, part]: {
                "id": row.id,
                "part": part,
                "question": row.about["questions"][part],
                "text": request.text,
                "system": request.system,
            }
            for row in plan.rows
            for part, request in row.requests.items()
        }

    def describe(self) -> tuple[Mapping[str, Json], Mapping[str, Json]]:
        """The function's name and the hash of its module's file."""
        file = inspect.getsourcefile(inspect.unwrap(self._function))
        digest = None if file is None else hashlib.sha256(Path(file).read_bytes()).hexdigest()
        return {"backend": "function", "model": self._name, "source": digest}, {}

    def answer(
        self, requests: Sequence[Request], wanted: set[int], share: Share, say: Callable[[str], None]
    ) -> Iterator[list[tuple[int, Answer]]]:
        """Answer one by one; what the function raises is the failure of that request.

        Answers of a tenth of a second are given together: seeing each to the disk would take longer.
        """
        found: list[tuple[int, Answer]] = []
        begin = time.monotonic()
        for index in sorted(wanted)[share.rank :: share.world]:
            found.append((index, self._call(index, requests[index])))
            if time.monotonic() - begin >= _TOGETHER:
                yield found
                found, begin = [], time.monotonic()
        if found:
            yield found

    def show(self, request: Request) -> Shown:
        """The text, as it is."""
        return Shown(request.text, None, None if request.picture is None else request.picture.size)

    def close(self) -> None:
        """Close the pictures' files."""
        self._pictures.close()

    def _call(self, index: int, request: Request) -> Answer:
        image = None if request.picture is None else opened(self._pictures.read(request.picture))
        begin = time.monotonic()
        try:
            said = self._function({**self._rows[index], "picture": image})
        except Exception as error:
            return Answer(failure=f"{type(error).__name__}: {error}")
        return self._answer(index, said, time.monotonic() - begin)

    def _answer(self, index: int, said: object, seconds: float) -> Answer:
        row = self._rows[index]
        if isinstance(said, str):
            text, reasoning = told_apart(said)
            return Answer(raw=said, text=text, reasoning=reasoning, seconds=seconds)
        if not isinstance(said, Mapping):
            raise InputError(
                f"{self._name}: gave {type(said).__name__} for id {row['id']!r}; expected a text or a dict"
            )
        fields = {str(key): _plain(value) for key, value in said.items()}
        try:
            json.dumps(fields, allow_nan=False)
        except (TypeError, ValueError) as error:
            raise InputError(f"{self._name}: for id {row['id']!r}: {error}") from None
        if taken := fields.keys() & {"id", "failure", "problem"}:
            raise InputError(
                f"{self._name}: gave the field {min(taken)!r} for id {row['id']!r}, which is ours"
            )
        return Answer(fields=fields, seconds=seconds)


def _found(name: str) -> Callable[[Mapping[str, Any]], object]:
    module, _, attribute = name.partition(":")
    if not module or not attribute:
        raise InputError(f"--model {name}: expected module:function")
    # As `python -m` does, and unlike a console command.
    if "" not in sys.path and str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))
    try:
        found = getattr(importlib.import_module(module), attribute)
    except Exception as error:
        raise InputError(f"--model {name}: {type(error).__name__}: {error}") from None
    if not callable(found):
        raise InputError(f"--model {name}: is {type(found).__name__}, no function")
    function: Callable[[Mapping[str, Any]], object] = found
    return function


def _plain(value: object) -> Any:
    """Python's own values; a boolean array of two dimensions becomes its run-length encoding."""
    from lookcheck.dataset_builders.core.masks import encode

    if isinstance(value, np.ndarray):
        return encode(value) if value.ndim == 2 and value.dtype == np.bool_ else value.tolist()
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value
