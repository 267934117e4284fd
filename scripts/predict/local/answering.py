"""From requests and prepared pictures to answers: prompts put together, features shared, replies read."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any

import torch

from lookcheck.dataset_builders.requests.request import Answer, Request
from lookcheck.scripts.predict.local.engine import Engine, Replies
from lookcheck.scripts.predict.local.features import Encoder, Features
from lookcheck.scripts.predict.local.first_token import Reader
from lookcheck.scripts.predict.local.pictures import Prepared
from lookcheck.scripts.predict.local.prompts import Prompter

# By which names models want to know which tokens are a picture's.
_TYPES = ("mm_token_type_ids", "token_type_ids")


class Answerer:
    """A loaded model that answers batches.

    Parameters
    ----------
    model : transformers model
    prompter : Prompter
    stop : sequence of int
    pad : int
    longest : int, optional
        Tokens of prompt and reply together: where a protocol allows more, the reply is cut there.
    """

    def __init__(
        self, model: Any, prompter: Prompter, *, stop: Sequence[int], pad: int, longest: int | None = None
    ) -> None:
        self._prompter = prompter
        self._longest = sys.maxsize if longest is None else longest
        self.reader = Reader(prompter.tokenizer)
        self._engine = Engine(model, stop=stop, pad=pad)
        self._encoder = Encoder(model) if prompter.sees else None

    def answer(
        self,
        requests: Sequence[Request],
        keys: Sequence[str],
        pictures: Mapping[str, Prepared],
        features: dict[str, Features],
    ) -> list[Answer]:
        """Answer requests together.

        Parameters
        ----------
        requests : sequence of Request
        keys : sequence of str
            Of each request's picture; one that is not in `pictures` stands for none.
        pictures : mapping of str to Prepared
        features : dict of str to Features
            What was encoded before; new ones are added.
        """
        plain = [self._prompter.rendered(request) for request in requests]
        prompts = [
            pictures[key].expanded(prompt) if key in pictures else prompt
            for key, prompt in zip(keys, plain, strict=True)
        ]
        rows = self._prompter.encoded(prompts)
        budgets = [
            max(1, min(request.max_new_tokens, self._longest - len(row)))
            for request, row in zip(requests, rows, strict=True)
        ]
        if self._encoder is None or not any(key in pictures for key in keys):
            replies = self._engine.run(rows, budgets, types=self._types(rows))
            return self._read(requests, plain, rows, replies, pictures, keys)
        if self._encoder.once:
            self._encode(keys, pictures, features)
            shown = self._encoder.inputs([features[key] for key in keys if key in pictures])
            replies = self._engine.run(rows, budgets, types=self._types(rows), pictures=shown)
            return self._read(requests, plain, rows, replies, pictures, keys)
        return self._one_by_one(requests, plain, rows, budgets, keys, pictures)

    @torch.inference_mode()
    def _encode(
        self, keys: Sequence[str], pictures: Mapping[str, Prepared], features: dict[str, Features]
    ) -> None:
        new = [key for key in dict.fromkeys(keys) if key in pictures and key not in features]
        if new and self._encoder is not None:
            made = self._encoder.encode([pictures[key].tensors for key in new])
            features.update(zip(new, made, strict=True))

    def _one_by_one(
        self,
        requests: Sequence[Request],
        plain: Sequence[str],
        rows: Sequence[list[int]],
        budgets: Sequence[int],
        keys: Sequence[str],
        pictures: Mapping[str, Prepared],
    ) -> list[Answer]:
        """Picture by picture, for a model that takes no features in place of pixels."""
        answers: dict[int, Answer] = {}
        for key in dict.fromkeys(keys):
            here = [place for place, other in enumerate(keys) if other == key]
            some = [rows[place] for place in here]
            shown: Mapping[str, Any] = {}
            if key in pictures and self._encoder is not None:
                shown = self._encoder.pixels(pictures[key].tensors, len(here))
            replies = self._engine.run(
                some, [budgets[place] for place in here], types=self._types(some), pictures=shown
            )
            read = self._read(
                [requests[place] for place in here],
                [plain[place] for place in here],
                some,
                replies,
                pictures,
                [key] * len(here),
            )
            answers.update(zip(here, read, strict=True))
        return [answers[place] for place in range(len(requests))]

    def _types(self, rows: Sequence[list[int]]) -> dict[str, list[list[int]]]:
        if self._encoder is None:
            return {}
        made = self._prompter.types(rows)
        return dict.fromkeys(_TYPES, made)

    def _read(
        self,
        requests: Sequence[Request],
        plain: Sequence[str],
        rows: Sequence[list[int]],
        replies: Replies,
        pictures: Mapping[str, Prepared],
        keys: Sequence[str],
    ) -> list[Answer]:
        answers = []
        for place, request in enumerate(requests):
            raw = None
            if request.max_new_tokens > 0:
                # Special tokens stay: some models write boxes with them.
                raw = self._prompter.opened(plain[place]) + self._prompter.tokenizer.decode(
                    replies.tokens[place], skip_special_tokens=False, clean_up_tokenization_spaces=False
                )
            picture = pictures.get(keys[place])
            measure = request.measure
            answers.append(
                Answer(
                    raw=raw,
                    text=raw,
                    ended=replies.ended[place] or raw is None,
                    first=None if measure is None else self.reader.read(replies.logits[place], measure),
                    prompt_tokens=len(rows[place]),
                    new_tokens=len(replies.tokens[place]) if raw is not None else 0,
                    picture_size=None if picture is None else picture.size,
                )
            )
        return answers
