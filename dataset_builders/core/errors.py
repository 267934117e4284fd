"""Errors that a person can act on.

A message names the place (file and line, or the row's id) and the value. The command line prints
it in one sentence and exits with 2; an :class:`IntegrityError` prints one line per fault.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


class InputError(ValueError):
    """Input that can't be used as it is; nothing was written."""


@dataclass(frozen=True)
class Fault:
    """One broken rule in one row of a data set.

    Attributes
    ----------
    id : str
        The row's id, or the file's name where a row has no readable id.
    rule : str
        Short name of the rule, for example ``"mask-size"``.
    message : str
        What is wrong, with the offending value.
    """

    id: str
    rule: str
    message: str

    def __str__(self) -> str:
        return f"{self.id}: {self.message} [{self.rule}]"


class IntegrityError(InputError):
    """Every fault found in a data set, in one report.

    Parameters
    ----------
    name : str
        The data set or folder that was checked.
    faults : sequence of Fault
        At least one.
    """

    def __init__(self, name: str, faults: Sequence[Fault]) -> None:
        self.name = name
        self.faults = tuple(faults)
        noun = "fault" if len(self.faults) == 1 else "faults"
        lines = [f"{name}: {len(self.faults)} {noun}, nothing was written", *map(str, self.faults)]
        super().__init__("\n".join(lines))
