"""Ctrl-C, held back for the moments in which it would leave something behind."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def interrupts_held() -> Iterator[None]:
    """Hold Ctrl-C back inside the block; it takes effect at its end.

    For the moment in which a folder is made but not yet known to those who clean up, and for that in
    which a process is started: half-started it would complain with a traceback. The new process
    inherits the blocked signal and so is quiet until it ignores it by itself.
    """
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "pthread_sigmask"):
        yield
        return
    held: list[tuple[int, Any]] = []
    # The mask is not enough: another thread may take the signal and have the handler run in this one.
    handler = signal.signal(signal.SIGINT, lambda *arguments: held.append(arguments))
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        signal.signal(signal.SIGINT, handler)
    if held and callable(handler):
        handler(*held[0])
