"""The back end `transformers`: requests in batches, each picture decoded and encoded once."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from lookcheck.dataset_builders.core.errors import InputError
from lookcheck.dataset_builders.core.verdict_file import Json
from lookcheck.dataset_builders.requests.pictures import PictureReader
from lookcheck.dataset_builders.requests.replies import told_apart
from lookcheck.dataset_builders.requests.request import Answer, Picture, Request
from lookcheck.scripts.models.batching import Batches
from lookcheck.scripts.models.processes import Processes, Share
from lookcheck.scripts.models.settings import Place
from lookcheck.scripts.predict.backend import Shown
from lookcheck.scripts.predict.local.batches import cut, weight
from lookcheck.scripts.predict.local.model import Checkpoint
from lookcheck.scripts.predict.local.pictures import PictureError, Prepared, Preparer
from lookcheck.scripts.predict.local.pipeline import Pipeline
from lookcheck.scripts.predict.local.prompts import Prompter, PromptError
from lookcheck.scripts.predict.local.settings import Limits

# A GPU with room for a model of 7 billion parameters has room for these, too.
_TOKENS = {"cuda": 32_768}

# Prompts encoded at a time, to learn their length.
_CHUNK = 1_024

NO_MEMORY = "out of memory, even alone"


class LocalBackend:
    """A model of transformers in this process; its weights are loaded when the first request is answered.

    Parameters
    ----------
    name : str
        On the Hub, or a folder.
    revision : str or None
    place : Place
    processes : Processes
    limits : Limits
    """

    def __init__(
        self,
        name: str,
        revision: str | None,
        place: Place,
        processes: Processes | None = None,
        limits: Limits | None = None,
    ) -> None:
        self._place, self._limits = place, limits or Limits()
        self._checkpoint = Checkpoint(name, revision, place, processes or Processes(), self._limits)
        self._name = name
        self._prompter = Prompter(self._checkpoint.processor, name)
        self._reader = PictureReader()
        self._preparer: Preparer | None = None
        if self._checkpoint.sees:
            self._preparer = Preparer(
                self._checkpoint.processor, self._prompter, self._reader, self._checkpoint.dtype
            )
        self._answerer: Any = None

    def describe(self) -> tuple[Mapping[str, Json], Mapping[str, Json]]:
        """What affects an answer, and what is only good to know; see :class:`Backend`."""
        deciding = {
            "backend": "transformers",
            **self._checkpoint.describe(),
            **self._prompter.describe(),
            "decoding": "greedy, from raw logits",
        }
        known: dict[str, Json] = {
            "requested_revision": self._checkpoint.revision,
            "batch_size": self._place.batch_size,
            "batch_tokens": self._limits.batch_tokens,
        }
        if self._checkpoint.device.startswith("cuda"):
            import torch

            known["device_name"] = torch.cuda.get_device_name()
        return deciding, known

    def show(self, request: Request) -> Shown:
        """What the request becomes; see :class:`Backend`.

        Raises
        ------
        InputError
            If it becomes nothing that could be asked.
        """
        request = self._seen(request)
        try:
            prompt = self._prompter.rendered(request)
            made = None
            if request.picture is not None and self._preparer is not None:
                made = self._preparer(request.picture, prompt)
            ids = self._prompter.encoded([prompt if made is None else made.expanded(prompt)])[0]
        except (PromptError, PictureError) as error:
            raise InputError(f"{self._name}: {error}") from None
        text = self._prompter.tokenizer.decode(
            ids, skip_special_tokens=False, clean_up_tokenization_spaces=False
        )
        return Shown(text, len(ids), None if made is None else made.size)

    def answer(
        self, requests: Sequence[Request], wanted: set[int], share: Share, say: Callable[[str], None]
    ) -> Iterator[list[tuple[int, Answer]]]:
        """Answer in batches of similar length, a picture's requests together; see :class:`Backend`.

        The batches are cut from all requests, whatever is wanted: a run that goes on after a break
        computes in the same company, and so the same figures to the last bit.
        """
        if any(request.picture is not None for request in requests) and not self._checkpoint.sees:
            say(f"{self._name} has no eyes: pictures are left out, and answers are its language prior")
        requests = [self._seen(request) for request in requests]
        weights, refused = self._weights(requests)
        yield [item for item in refused[share.rank :: share.world] if item[0] in wanted]
        kind = self._checkpoint.device.partition(":")[0]
        size = Batches(
            kind,
            rows=self._place.batch_size,
            tokens=self._limits.batch_tokens or _TOKENS.get(kind),
            say=say,
        )
        batches = cut(requests, weights, size.most, by_rows=self._place.batch_size > 0)
        pending = [batch for batch in batches if not wanted.isdisjoint(batch)][share.rank :: share.world]
        if not pending:
            return
        self._load()
        for word in self._answerer.reader.prepare(request.measure for request in requests):
            say(f"{self._name} has no single token for {word!r}: its log-probability is missing")
        # A batch's pictures, each with the prompt of one of its requests.
        jobs = [_first_of_each(batch, requests) for batch in pending]

        def prepare(index: int) -> Prepared:
            return self._prepare(requests[index])

        made = Pipeline(prepare).run(jobs)
        for batch, job, prepared in zip(pending, jobs, made, strict=True):
            pictures: dict[str, Prepared | PictureError] = {}
            for index, result in zip(job, prepared, strict=True):
                if not isinstance(result, Prepared | PictureError):
                    raise result
                pictures[_key(requests[index])] = result
            for answers in self._batch(batch, requests, weights, pictures, size):
                yield [item for item in answers if item[0] in wanted]
            # Let go of before the next batch is waited for.
            del prepared, pictures

    def close(self) -> None:
        """Give back memory and files; see :class:`Backend`."""
        self._reader.close()
        loaded, self._answerer = self._answerer is not None, None
        if loaded:
            gc.collect()
            if self._checkpoint.device.startswith("cuda"):
                import torch

                torch.cuda.empty_cache()

    def _seen(self, request: Request) -> Request:
        return request if self._checkpoint.sees else replace(request, picture=None)

    def _prepare(self, request: Request) -> Prepared:
        if self._preparer is None or request.picture is None:
            raise TypeError("a request without a picture has none to prepare")
        return self._preparer(request.picture, self._prompter.rendered(request))

    def _weights(self, requests: Sequence[Request]) -> tuple[dict[int, int], list[tuple[int, Answer]]]:
        weights: dict[int, int] = {}
        refused: list[tuple[int, Answer]] = []
        longest = self._checkpoint.longest()
        sizes: dict[tuple[int, int], int] = {}
        for begin in range(0, len(requests), _CHUNK):
            prompts: dict[int, str] = {}
            for index in range(begin, min(begin + _CHUNK, len(requests))):
                try:
                    prompts[index] = self._prompter.rendered(requests[index])
                except PromptError as error:
                    refused.append((index, Answer(failure=str(error))))
            for index, ids in zip(prompts, self._prompter.encoded(list(prompts.values())), strict=True):
                request = requests[index]
                tokens = len(ids)
                if request.picture is not None:
                    tokens += self._picture_tokens(request.picture, sizes)
                reason = self._prompter.refusal(request, ids)
                if reason is None and longest is not None and tokens >= longest:
                    reason = f"{tokens} tokens leave no room for a reply: the model takes {longest}"
                if reason is None:
                    weights[index] = weight(tokens, request)
                else:
                    refused.append((index, Answer(failure=reason)))
        return weights, refused

    def _picture_tokens(self, picture: Picture, known: dict[tuple[int, int], int]) -> int:
        """Tokens of a picture by its size; 0 where the processor can't say, which moves batches only."""
        if picture.size not in known:
            width, height = picture.size
            count = getattr(self._checkpoint.processor, "_get_num_multimodal_tokens", None)
            try:
                found = None if count is None else count(image_sizes=[(height, width)])
            except (ValueError, NotImplementedError):
                # Such as a picture that is too narrow: it fails when it is prepared.
                found = None
            known[picture.size] = 0 if found is None else int(found.num_image_tokens[0])
        return known[picture.size]

    def _load(self) -> None:
        if self._answerer is None:
            from lookcheck.scripts.predict.local.answering import Answerer

            checkpoint = self._checkpoint
            self._answerer = Answerer(
                checkpoint.load(),
                self._prompter,
                stop=checkpoint.stops(),
                pad=checkpoint.pad(),
                longest=checkpoint.longest(),
            )

    def _batch(
        self,
        batch: Sequence[int],
        requests: Sequence[Request],
        weights: Mapping[int, int],
        pictures: Mapping[str, Prepared | PictureError],
        size: Batches,
    ) -> Iterator[list[tuple[int, Answer]]]:
        whole: list[int] = []
        failed: list[tuple[int, Answer]] = []
        for index in batch:
            picture = pictures.get(_key(requests[index]))
            if isinstance(picture, PictureError):
                failed.append((index, Answer(failure=str(picture))))
            else:
                whole.append(index)
        yield failed
        shown = {key: picture for key, picture in pictures.items() if isinstance(picture, Prepared)}
        features: dict[str, Any] = {}

        def call(part: Sequence[int]) -> list[tuple[int, Answer]]:
            begin = time.perf_counter()
            asked = [requests[index] for index in part]
            keys = [_key(request) for request in asked]
            answers = self._answerer.answer(asked, keys, shown, features)
            seconds = (time.perf_counter() - begin) / len(part)
            return [
                (index, replace(_told_apart(answer), seconds=seconds))
                for index, answer in zip(part, answers, strict=True)
            ]

        begin = 0
        while begin < len(whole):
            try:
                for answers in size.run(whole[begin:], weights, call):
                    begin += len(answers)
                    yield answers
            except RuntimeError as error:
                if not _out_of_memory(error):
                    raise
                lost = whole[begin]
            else:
                return
            # Outside the except block: the error's traceback holds on to the tensors.
            yield [(lost, Answer(failure=NO_MEMORY))]
            begin += 1


def _first_of_each(batch: Sequence[int], requests: Sequence[Request]) -> list[int]:
    """For each picture of a batch one of its requests."""
    found: dict[str, int] = {}
    for index in batch:
        if requests[index].picture is not None:
            found.setdefault(_key(requests[index]), index)
    return list(found.values())


def _key(request: Request) -> str:
    return "" if request.picture is None else request.picture.sha256


def _told_apart(answer: Answer) -> Answer:
    if answer.raw is None:
        return answer
    text, reasoning = told_apart(answer.raw)
    return replace(answer, text=text, reasoning=reasoning)


def _out_of_memory(error: RuntimeError) -> bool:
    from accelerate.utils.memory import should_reduce_batch_size

    return bool(should_reduce_batch_size(error))
