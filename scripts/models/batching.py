"""Batches: rows of similar length, as many as fit into memory; fewer while it is short."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

K = TypeVar("K")
R = TypeVar("R")

TokenIds = list[int]

DEFAULT_TOKENS = {"cuda": 16_384}
"""Tokens of a batch, padding included, by kind of device."""
DEFAULT_TOKENS_CPU = 2_048

# Batches that have to pass before twice as much is tried again; twice as many after each time that it failed.
_PATIENCE = 64


class Batches:
    """Cuts rows into batches, and each batch into parts while memory is short.

    The size of a batch is its tokens, padding included: rows × the longest of them. Where people have
    said how many rows a batch is to have, it is its rows.

    Parameters
    ----------
    kind : str
        Kind of device, ``"cuda"``, ``"cpu"`` …
    rows : int
        Rows of a batch; 0 goes by tokens.
    tokens : int, optional
        Tokens of a batch; by device if not given.
    say : callable
        Is told, in one line, when batches become smaller or larger.
    """

    def __init__(
        self,
        kind: str,
        *,
        rows: int = 0,
        tokens: int | None = None,
        say: Callable[[str], None] = lambda line: None,
    ) -> None:
        self._by_rows = rows > 0
        self.most = rows or tokens or DEFAULT_TOKENS.get(kind, DEFAULT_TOKENS_CPU)
        self._room, self._say = self.most, say
        self._passed, self._patience, self._regained = 0, _PATIENCE, False

    @property
    def room(self) -> int:
        """How large a batch may be at present, in tokens or rows."""
        return self._room

    def cut(self, lengths: Mapping[K, int]) -> list[list[K]]:
        """Batches of similar length, the longest rows first: memory that ends ends in the first batch.

        Depends on nothing but `lengths` and how this was made, so that a run that goes on after a break
        computes in the same company, and so the same figures to the last bit.

        Parameters
        ----------
        lengths : mapping of key to int
            Tokens of each row, at least 1.

        Examples
        --------
        >>> Batches("cpu", tokens=12).cut({"a": 3, "b": 20, "c": 4, "d": 4, "e": 4})
        [['b'], ['c', 'd', 'e'], ['a']]
        """
        order = {key: place for place, key in enumerate(lengths)}
        rest = sorted(lengths, key=lambda key: (-lengths[key], order[key]))
        return list(_parts(rest, self._weight(lengths), self.most))

    def run(
        self, batch: Sequence[K], lengths: Mapping[K, int], call: Callable[[Sequence[K]], R]
    ) -> Iterator[R]:
        """Results of `call` on a batch: on the whole of it, or on parts while memory is short.

        Parameters
        ----------
        batch : sequence of key
            The longest row first.
        lengths : mapping of key to int
        call : callable
            Works on a part.

        Raises
        ------
        RuntimeError
            The out-of-memory error itself, where even one row doesn't fit.
        """
        from accelerate.utils.memory import clear_device_cache, should_reduce_batch_size

        weight = self._weight(lengths)
        begin = 0
        while begin < len(batch):
            part = next(_parts(batch[begin:], weight, self._room))
            try:
                result: tuple[R] | None = (call(part),)
            except RuntimeError as error:
                if len(part) == 1 or not should_reduce_batch_size(error):
                    raise
                result = None
            if result is None:
                # Outside the except block: the error's traceback holds on to the tensors.
                clear_device_cache(garbage_collection=True)
                self._shrink(len(part) * weight(part[0]))
                continue
            yield result[0]
            begin += len(part)
            self._regain()

    def _weight(self, lengths: Mapping[K, int]) -> Callable[[K], int]:
        return (lambda key: 1) if self._by_rows else lengths.__getitem__

    def _shrink(self, failed: int) -> None:
        if self._regained:
            # What was tried again did not fit after all.
            self._patience, self._regained = 2 * self._patience, False
        self._room, self._passed = (failed + 1) // 2, 0
        self._say(f"out of memory: batches of {self._told()} from here on")

    def _regain(self) -> None:
        if self._room >= self.most:
            return
        self._passed += 1
        if self._passed >= self._patience:
            self._room, self._passed, self._regained = min(self.most, 2 * self._room), 0, True
            self._say(f"memory held: batches of {self._told()} from here on")

    def _told(self) -> str:
        return f"{self._room:,}" if self._by_rows else f"{self._room:,} tokens"


def _parts(rows: Sequence[K], weight: Callable[[K], int], room: int) -> Iterator[list[K]]:
    """As many rows at a time as have room, each counted like the first, at least one."""
    begin = 0
    while begin < len(rows):
        end = begin + max(1, room // weight(rows[begin]))
        yield list(rows[begin:end])
        begin = end


def left_padded(rows: Sequence[TokenIds], pad: int) -> tuple[Any, Any]:
    """Rows as one array that ends where every row ends.

    Returns
    -------
    ids, mask : int64 tensors of shape (rows, longest)
        The mask is 0 on padding.
    """
    import torch

    width = max(len(row) for row in rows)
    ids = torch.full((len(rows), width), pad)
    mask = torch.zeros((len(rows), width), dtype=torch.long)
    for index, row in enumerate(rows):
        ids[index, width - len(row) :] = torch.tensor(row)
        mask[index, width - len(row) :] = 1
    return ids, mask
