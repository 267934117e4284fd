"""The forward passes: left padding, and the shared beginning computed once.

Works on token ids alone, so that the benchmark can run it on a model without a tokenizer.
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

from lookcheck.scripts.models.batching import TokenIds, left_padded
from lookcheck.scripts.models.shared_prefix import SharedPrefix


@dataclass(frozen=True)
class First:
    """What the first new token could have been, for each row of a batch.

    Attributes
    ----------
    yes, no : list of float
        Log of the summed probability of the forms.
    mass : list of float
        Their summed probability, in [0, 1].
    top : list of int
        The likeliest token.
    """

    yes: list[float]
    no: list[float]
    mass: list[float]
    top: list[int]


class Engine:
    """A causal language model that says how likely yes and no are.

    Parameters
    ----------
    model : transformers model
        In evaluation mode, on its device.
    yes, no : sequence of int
        Token ids of the forms.
    pad : int
        Any valid token id; what stands there is never attended to.
    stop : sequence of int
        Token ids that end a reply.
    prefix : list of int
        Ids that all rows begin with; empty to compute every row whole.
    """

    def __init__(
        self,
        model: Any,
        *,
        yes: Sequence[int],
        no: Sequence[int],
        pad: int,
        stop: Sequence[int] = (),
        prefix: TokenIds | None = None,
    ) -> None:
        self._model = model
        self._device = model.get_input_embeddings().weight.device
        self._yes = torch.tensor(yes, device=self._device)
        self._no = torch.tensor(no, device=self._device)
        self._pad = pad
        self._stop = frozenset(stop)
        parameters = inspect.signature(model.forward).parameters
        # The keyword was renamed within transformers 5.
        self._cache_key = "cache" if "cache" in parameters else "past_key_values"
        self._cuts = "logits_to_keep" in parameters
        self._prefix: TokenIds = []
        self._shared: SharedPrefix | None = None
        if prefix and "position_ids" in parameters:
            self._share(prefix)

    @property
    def prefix_length(self) -> int:
        """Tokens that are computed once, 0 where the model can't share them."""
        return len(self._prefix)

    @torch.inference_mode()
    def first(self, rows: Sequence[TokenIds]) -> First:
        """Judge a batch by one forward pass.

        Parameters
        ----------
        rows : sequence of list of int
            Whole prompts, prefix included.
        """
        logits, _, _ = self._start(rows)
        return self._read(logits)

    @torch.inference_mode()
    def generate(self, rows: Sequence[TokenIds], most: int) -> tuple[list[TokenIds], First, list[bool]]:
        """Reply greedily to a batch.

        Not ``model.generate``: that mixes in sampling and penalties from the model's own settings.

        Parameters
        ----------
        rows : sequence of list of int
        most : int
            New tokens at most.

        Returns
        -------
        replies : list of list of int
            Without the token that ends a reply.
        first : First
        ended : list of bool
            Whether the reply came to its end before the tokens did.
        """
        logits, mask, cache = self._start(rows, most)
        first = self._read(logits)
        replies: list[TokenIds] = [[] for _ in rows]
        running = set(range(len(rows)))
        for step in range(most):
            chosen = logits.argmax(dim=-1)
            for index, token in enumerate(chosen.tolist()):
                if index in running and token in self._stop:
                    running.discard(index)
                elif index in running:
                    replies[index].append(token)
            if not running or step == most - 1:
                break
            mask = torch.cat([mask, mask.new_ones((len(rows), 1))], dim=1)
            logits = self._forward(chosen[:, None], mask, cache)
        return replies, first, [index not in running for index in range(len(rows))]

    def _start(self, rows: Sequence[TokenIds], new: int = 1) -> tuple[Any, Any, Any]:
        skip = len(self._prefix)
        rests = [row[skip:] for row in rows]
        ids, mask = left_padded(rests, self._pad)
        ids, mask = ids.to(self._device), mask.to(self._device)
        if self._shared is None:
            cache = self._new_cache() if new > 1 else None
            return self._forward(ids, mask, cache), mask, cache
        mask = torch.cat([mask.new_ones((len(rows), skip)), mask], dim=1)
        try:
            cache = self._shared.begin(len(rows), skip + ids.shape[1] + new - 1)
            return self._forward(ids, mask, cache), mask, cache
        except RuntimeError:
            # Where memory ended, a smaller batch needs a smaller room.
            self._shared.release()
            raise

    def _forward(self, ids: Any, mask: Any, cache: Any) -> Any:
        """Logits of the last position, float32, shape (rows, vocabulary)."""
        # Positions count the tokens that are there, so that padding doesn't move a text.
        positions = (mask.cumsum(dim=1) - 1).clamp(min=0)[:, -ids.shape[1] :]
        options: dict[str, Any] = {"use_cache": cache is not None}
        if cache is not None:
            options[self._cache_key] = cache
        if self._cuts:
            options["logits_to_keep"] = 1
        out = self._model(input_ids=ids, attention_mask=mask, position_ids=positions, **options)
        return out.logits[:, -1].float()

    def _read(self, logits: Any) -> First:
        whole = logits.logsumexp(dim=-1)
        yes = logits[:, self._yes].logsumexp(dim=-1) - whole
        no = logits[:, self._no].logsumexp(dim=-1) - whole
        mass = (yes.exp() + no.exp()).clamp(max=1)
        return First(yes.tolist(), no.tolist(), mass.tolist(), logits.argmax(dim=-1).tolist())

    def _new_cache(self) -> Any:
        from transformers import DynamicCache

        return DynamicCache(config=self._model.config)

    @torch.inference_mode()
    def _share(self, prefix: TokenIds) -> None:
        cache = self._new_cache()
        if not SharedPrefix.fits(cache):
            return
        ids = torch.tensor([prefix], device=self._device)
        self._forward(ids, torch.ones_like(ids), cache)
        self._prefix, self._shared = list(prefix), SharedPrefix(cache)
