"""Errors that a person can act on.

A message names the place (file and line, or the row's id) and the value. The command line prints
it in one sentence and exits with 2; an :class:`IntegrityError` prints one line per fault.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
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
    hint : str
        Ends the first line.
    """

    def __init__(self, name: str, faults: Sequence[Fault], hint: str = "") -> None:
        self.name = name
        self.faults = tuple(faults)
        noun = "fault" if len(self.faults) == 1 else "faults"
        lines = [f"{name}: {len(self.faults)} {noun}, nothing was written{hint}", *fault_lines(self.faults)]
        super().__init__("\n".join(lines))


# Faults of one cause that are shown one by one.
MOST_SHOWN = 5


def fault_lines(faults: Iterable[Fault]) -> list[str]:
    """A line for each fault; more than five of one cause are one line with their number and the first five.

    Of one cause are faults of one rule whose messages differ in numbers and quoted values alone.

    Examples
    --------
    >>> fault_lines(Fault(f"a:{n}", "size", f"width is {n}, not 3") for n in range(10, 17))
    ['7 × width is 10, not 3 [size]: a:10, a:11, a:12, a:13, a:14, …']
    """
    causes: dict[tuple[str, str], list[Fault]] = {}
    for fault in faults:
        cause = re.sub(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|-?[0-9][0-9.,]*", "…", fault.message)
        causes.setdefault((fault.rule, cause), []).append(fault)
    lines: list[str] = []
    for found in causes.values():
        if len(found) <= MOST_SHOWN:
            lines += map(str, found)
        else:
            shown = ", ".join(fault.id for fault in found[:MOST_SHOWN])
            lines.append(f"{len(found):,} × {found[0].message} [{found[0].rule}]: {shown}, …")
    return lines
