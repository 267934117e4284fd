"""Several processes on one run, as `accelerate launch` starts them; one process needs nothing of this."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, TypeVar

from lookcheck.scripts import console

# The slowest process may come this much later than the first.
_PATIENCE = timedelta(days=1)


T = TypeVar("T")


@dataclass(frozen=True)
class Share:
    """Which of several processes this is."""

    rank: int = 0
    world: int = 1


class Processes:
    """The processes of a run; ``many`` is False unless a launcher has started several.

    Parameters
    ----------
    cpu : bool
        Talk over the CPU even where there are GPUs.
    """

    def __init__(self, *, cpu: bool = False) -> None:
        self.share = Share()
        self._state: Any = None
        if int(os.environ.get("WORLD_SIZE", "1")) > 1:
            from accelerate import PartialState

            self._state = PartialState(cpu=cpu, timeout=_PATIENCE)
            self.share = Share(self._state.process_index, self._state.num_processes)

    @property
    def many(self) -> bool:
        """Whether there is more than one."""
        return self.share.world > 1

    @property
    def first(self) -> bool:
        """Whether this is the one that writes the final file."""
        return self.share.rank == 0

    def agree(self, failed: bool) -> None:
        """Wait for the first process; where it has failed, end the others without a word."""
        if self._state is None:
            return
        from accelerate.utils import broadcast_object_list

        said = [failed]
        broadcast_object_list(said, from_process=0)
        if said[0] and not self.first:
            raise SystemExit(console.EXIT_INPUT)

    def in_first(self, make: Callable[[], T]) -> T | None:
        """What the first process makes, None in the others; where it fails, these end without a word."""
        made: T | None = None
        failure: Exception | None = None
        if self.first:
            try:
                made = make()
            except Exception as error:
                # Raised below: the other processes wait to hear of it.
                failure = error
        self.agree(failure is not None)
        if failure is not None:
            raise failure
        return made

    def from_first(self, make: Callable[[], T]) -> T:
        """What the first process makes, in all of them; where it fails, the others end without a word.

        Parameters
        ----------
        make : callable
            Called in the first process only. What it returns is pickled.
        """
        if self._state is None:
            return make()
        from accelerate.utils import broadcast_object_list

        made: list[Any] = [self.in_first(make)]
        broadcast_object_list(made, from_process=0)
        result: T = made[0]
        return result

    def wait(self) -> None:
        """Wait until all have come here."""
        if self._state is not None:
            self._state.wait_for_everyone()

    def close(self) -> None:
        """Leave the group, so that the interpreter ends without a warning."""
        if self._state is not None:
            self._state.destroy_process_group()
