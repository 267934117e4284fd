"""Keys and values of the beginning that all prompts share: computed once, and copied for no batch."""

from __future__ import annotations

from math import ceil
from typing import Any

import torch
from transformers.cache_utils import DynamicLayer

# Rows get more from batch to batch as prompts get shorter: room for some of that at once.
_GROWTH = 1.25


class SharedPrefix:
    """A cache that starts each batch behind the shared beginning.

    Each layer has room for a batch, with the beginning written in front for every row. A batch writes its own
    keys and values behind it, in place, and the next batch writes over them.

    Parameters
    ----------
    cache : DynamicCache
        What a forward pass of the beginning alone has filled, one row.
    """

    def __init__(self, cache: Any) -> None:
        self._layers = [_Layer(layer.keys, layer.values) for layer in cache.layers]
        self._cache = cache
        self._cache.layers = self._layers

    @staticmethod
    def fits(cache: Any) -> bool:
        """Whether all that the cache holds is keys and values of each position.

        A sliding window counts padding, and a recurrent state can't be cut.
        """
        return all(type(layer) is DynamicLayer for layer in cache.layers)

    def begin(self, rows: int, positions: int) -> Any:
        """The cache for a batch, with nothing in it but the beginning.

        Parameters
        ----------
        rows : int
        positions : int
            Tokens of the longest row at its end, beginning and new tokens included.

        Returns
        -------
        DynamicCache
            The same each time: of one batch at a time.
        """
        for layer in self._layers:
            layer.begin(rows, positions)
        return self._cache

    def release(self) -> None:
        """Give back the room; the next batch makes its own."""
        for layer in self._layers:
            layer.release()


class _Layer(DynamicLayer):  # type: ignore[no-untyped-call]
    """One layer: ``keys`` and ``values`` are views of its room, (rows, heads, positions so far, size)."""

    def __init__(self, keys: torch.Tensor, values: torch.Tensor) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.device = keys.device
        self._beginning = keys, values
        self._room: tuple[torch.Tensor, torch.Tensor] | None = None
        self.is_initialized = True
        self.release()

    def begin(self, rows: int, positions: int) -> None:
        keys = self._beginning[0]
        room = self._room
        if room is None or room[0].shape[0] < rows or room[0].shape[2] < positions:
            wanted = rows if room is None else ceil(rows * _GROWTH)
            # The old room goes first: both may not fit.
            room = self._room = None
            room = self._room = (
                _filled(self._beginning[0], wanted, positions),
                _filled(self._beginning[1], wanted, positions),
            )
        self.keys, self.values = (part[:rows, :, : keys.shape[2]] for part in room)

    def update(
        self, key_states: torch.Tensor, value_states: torch.Tensor, *args: Any, **kwargs: Any
    ) -> tuple[torch.Tensor, torch.Tensor]:
        if self._room is None or self.keys is None:
            raise RuntimeError("the shared beginning is not ready for a batch")
        rows, begin = len(key_states), self.keys.shape[2]
        end = begin + key_states.shape[2]
        for part, states in zip(self._room, (key_states, value_states), strict=True):
            part[:rows, :, begin:end] = states
        self.keys, self.values = (part[:rows, :, :end] for part in self._room)
        return self.keys, self.values

    def release(self) -> None:
        self._room = None
        self.keys, self.values = self._beginning


def _filled(beginning: torch.Tensor, rows: int, positions: int) -> torch.Tensor:
    _, heads, length, size = beginning.shape
    room = beginning.new_empty((rows, heads, positions, size))
    room[:, :, :length] = beginning
    return room
