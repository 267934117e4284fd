"""The forward passes: left padding, raw logits of the first token, greedy replies."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from lookcheck.scripts.models.batching import TokenIds, left_padded


@dataclass(frozen=True)
class Replies:
    """What a batch brought.

    Attributes
    ----------
    logits : torch.Tensor
        Raw logits of the first new token, float32, shape (rows, vocabulary).
    tokens : list of list of int
        Without the token that ends a reply.
    ended : list of bool
        Whether the reply came to its end before its tokens did.
    """

    logits: Any
    tokens: list[TokenIds]
    ended: list[bool]


class Engine:
    """Greedy replies of a model, whatever its checkpoint's own generation settings say.

    Parameters
    ----------
    model : transformers model
        In evaluation mode, on its device. Its generation settings are replaced: sampling, penalties and
        forced or suppressed tokens would change what is measured and written.
    stop : sequence of int
        Token ids that end a reply.
    pad : int
        Any valid token id; what stands there is never attended to.
    """

    def __init__(self, model: Any, *, stop: Sequence[int], pad: int) -> None:
        self._model, self._stop, self._pad = model, frozenset(stop), pad
        self._device = model.get_input_embeddings().weight.device
        self._types = set(inspect.signature(model.forward).parameters)
        model.generation_config = self._settings(1)

    @torch.inference_mode()
    def run(
        self,
        rows: Sequence[TokenIds],
        budgets: Sequence[int],
        *,
        types: Mapping[str, Sequence[TokenIds]] | None = None,
        pictures: Mapping[str, Any] | None = None,
    ) -> Replies:
        """Reply to a batch.

        Parameters
        ----------
        rows : sequence of list of int
            Prompts, a picture's tokens included.
        budgets : sequence of int
            New tokens of each row at most, at least 1.
        types : mapping of str to sequence of list of int
            Per token what it belongs to, by the model's own name for it, as long as the prompts.
        pictures : mapping
            What the model takes for the rows' pictures.
        """
        from transformers import LogitsProcessorList

        ids, mask = left_padded(rows, self._pad)
        inputs = {"input_ids": ids.to(self._device), "attention_mask": mask.to(self._device)}
        for name, values in (types or {}).items():
            if name in self._types:
                inputs[name] = left_padded(values, 0)[0].to(self._device)
        seen = _First()
        written = self._model.generate(
            **inputs,
            **(pictures or {}),
            generation_config=self._settings(max(budgets)),
            logits_processor=LogitsProcessorList([seen]),
        )
        tokens: list[TokenIds] = []
        ended: list[bool] = []
        for row, budget in zip(written[:, ids.shape[1] :].tolist(), budgets, strict=True):
            end = next((place for place, token in enumerate(row[:budget]) if token in self._stop), None)
            tokens.append(row[: budget if end is None else end])
            ended.append(end is not None)
        return Replies(seen.logits, tokens, ended)

    def _settings(self, most: int) -> Any:
        import transformers

        made: Any = transformers.GenerationConfig
        return made(
            max_new_tokens=most,
            do_sample=False,
            num_beams=1,
            # A cache is of no use to one token.
            use_cache=most > 1,
            eos_token_id=sorted(self._stop),
            pad_token_id=self._pad,
        )


class _First:
    """Keeps the logits of the first step; they are raw, as nothing else touches them."""

    def __init__(self) -> None:
        self.logits: Any = None

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        if self.logits is None:
            self.logits = scores.float().clone()
        return scores
