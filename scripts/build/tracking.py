"""Progress of a build at the terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from lookcheck.dataset_builders.core.processes import Track
from lookcheck.scripts import console


@contextmanager
def tracking(*, quiet: bool = False) -> Iterator[Track]:
    """Show a bar for each stage; gives what `write_folder` takes as `track`."""
    with console.progress(quiet=quiet) as bars:

        def track(description: str, total: int) -> Callable[[], None]:
            task = bars.add_task(description, total=total)
            return lambda: bars.advance(task)

        yield track
