"""How far a run is: a bar at a terminal, a line now and then in a log."""

from __future__ import annotations

import time
from types import TracebackType
from typing import Any

from lookcheck.scripts import console

_SECONDS_BETWEEN_LINES = 15.0


class Watch:
    """Shows count, rate and time left on stderr; a context manager.

    Parameters
    ----------
    quiet : bool
        Show nothing.
    title : str
    """

    def __init__(self, *, quiet: bool = False, title: str = "judging") -> None:
        self._quiet, self._title = quiet, title
        self._bar = console.progress(quiet=quiet)
        self._task: Any = None
        self._total = self._done = 0
        self._begin = self._last = time.monotonic()

    def __enter__(self) -> Watch:
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.stop()

    def start(self, total: int) -> None:
        """Say how many rows are to come; the clock of the rate starts here."""
        self._total, self._begin = total, time.monotonic()
        self._last = self._begin
        self._task = self._bar.add_task(self._title, total=total)

    def advance(self, count: int) -> None:
        """Count rows that have come."""
        self._done += count
        if self._task is not None:
            self._bar.advance(self._task, count)
        now = time.monotonic()
        if self._bar.disable and not self._quiet and now - self._last >= _SECONDS_BETWEEN_LINES:
            self._last = now
            rate = self._done / (now - self._begin)
            left = (self._total - self._done) / rate
            self.say(f"{self._title}: {self._done:,} of {self._total:,}, {rate:,.1f}/s, {left:,.0f} s left")

    def say(self, line: str) -> None:
        """Print a line beside the bar."""
        if not self._quiet:
            console.stderr.print(line, markup=False, highlight=False)
