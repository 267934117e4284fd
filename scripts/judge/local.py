"""The back end `transformers`: a local model on a CPU, one GPU, or several."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from lookcheck.dataset_builders.core.errors import InputError
from lookcheck.dataset_builders.core.verdict_file import Json
from lookcheck.scripts.judge.backend import Share, Triple, require
from lookcheck.scripts.judge.decision import (
    CUT,
    NO_FORMS,
    NOISE,
    YES_FORMS,
    Judgement,
    decide,
    failure,
    from_reply,
    measured,
)
from lookcheck.scripts.judge.render import Renderer, StructureError, single_tokens
from lookcheck.scripts.judge.settings import Asking, Place

# Files that change what a model in a folder says.
_WEIGHING = {".safetensors", ".json", ".jinja", ".model", ".txt"}


class LocalJudge:
    """A model of `transformers` in this process; loaded when the first triple is judged."""

    def __init__(self, asking: Asking, place: Place) -> None:
        require("torch", "transformers", "accelerate")
        from transformers import AutoConfig, AutoTokenizer

        self._asking, self._place = asking, place
        self._device = _device(place)
        self._dtype = _dtype(place.dtype, self._device)
        with _loading(asking.model):
            options = {"revision": asking.revision, "trust_remote_code": False}
            self._config = AutoConfig.from_pretrained(asking.model, **options)
            self._tokenizer = AutoTokenizer.from_pretrained(asking.model, **options)
        self._renderer = Renderer(self._tokenizer, asking.model)
        self._forms = [single_tokens(self._tokenizer, forms) for forms in (YES_FORMS, NO_FORMS)]
        for word, found in zip(("yes", "no"), self._forms, strict=True):
            if not found:
                raise InputError(f"{asking.model}: its tokenizer has no single token for {word!r}")
        self._engine: Any = None

    def describe(self) -> tuple[dict[str, Json], dict[str, Json]]:
        """What affects a verdict, and what is only good to know; see :class:`Backend`."""
        import torch

        folder = Path(self._asking.model)
        deciding: dict[str, Json] = {
            "backend": "transformers",
            "model": folder.resolve().name if folder.is_dir() else self._asking.model,
            "revision": getattr(self._config, "_commit_hash", None),
            "weights": _weights_hash(folder) if folder.is_dir() else None,
            "dtype": self._dtype,
            "device": self._device.partition(":")[0],
            "attention": self._place.attention,
            "prefix_cache": self._place.prefix_cache,
            "max_new_tokens": self._asking.budget,
            "noise": NOISE[self._dtype],
            "prompt": self._renderer.fingerprint(),
            "forms": [form for forms in self._forms for form in forms],
        }
        known: dict[str, Json] = {
            "requested_revision": self._asking.revision,
            "batch_size": self._place.batch_size,
        }
        if self._device.startswith("cuda"):
            known["device_name"] = torch.cuda.get_device_name()
        return deciding, known

    def judge(
        self, triples: Sequence[Triple], wanted: set[int], share: Share, say: Callable[[str], None]
    ) -> Iterator[list[tuple[int, Judgement]]]:
        """Judge in batches of similar length, the longest first; see :class:`Backend`.

        The batches are cut from all triples, whatever is wanted: a run that goes on after a break
        computes in the same company, and so the same figures to the last bit.
        """
        import torch

        from lookcheck.scripts.judge.engine import DEFAULT_BATCH, DEFAULT_BATCH_CPU, shrinking

        rows: dict[int, list[int]] = {}
        refused: list[tuple[int, Judgement]] = []
        for index, ids in enumerate(self._renderer.ids(triples)):
            reason = self._refusal(ids)
            if reason is None and isinstance(ids, list):
                rows[index] = ids
            else:
                refused.append((index, failure(reason or "no prompt")))
        yield [item for item in refused[share.rank :: share.world] if item[0] in wanted]
        order = sorted(rows, key=lambda index: (-len(rows[index]), index))
        kind = torch.device(self._device).type
        size = self._place.batch_size or DEFAULT_BATCH.get(kind, DEFAULT_BATCH_CPU)
        batches = [order[begin : begin + size] for begin in range(0, len(order), size)]
        pending = [batch for batch in batches if not wanted.isdisjoint(batch)][share.rank :: share.world]
        if not pending:
            return
        self._load()
        largest = size

        def told(smaller: int) -> None:
            nonlocal largest
            largest = smaller
            say(f"out of memory: batches of {smaller} from here on")

        for batch in pending:
            for begin in range(0, len(batch), largest):
                part = batch[begin : begin + largest]
                for judged in shrinking(part, lambda indices: self._batch(indices, rows), told):
                    yield [item for item in judged if item[0] in wanted]

    def _batch(self, indices: Sequence[int], rows: dict[int, list[int]]) -> list[tuple[int, Judgement]]:
        ids = [rows[index] for index in indices]
        if self._asking.method == "logprob":
            first = self._engine.first(ids)
            texts = self._tokenizer.batch_decode([[token] for token in first.top])
            judged = [
                decide(text, yes, no, mass, self._asking.min_mass)
                for text, yes, no, mass in zip(texts, first.yes, first.no, first.mass, strict=True)
            ]
        else:
            replies, first, ended = self._engine.generate(ids, self._asking.budget)
            texts = self._tokenizer.batch_decode(replies)
            figures = zip(texts, first.yes, first.no, first.mass, strict=True)
            judged = [
                from_reply(measured(*figure), figure[0], None if end else CUT, self._asking.thinking)
                for figure, end in zip(figures, ended, strict=True)
            ]
        return [
            (index, replace(judgement, batch=len(indices)))
            for index, judgement in zip(indices, judged, strict=True)
        ]

    def _refusal(self, ids: list[int] | StructureError) -> str | None:
        if isinstance(ids, StructureError):
            return str(ids)
        most = getattr(self._config.get_text_config(), "max_position_embeddings", None)
        if most is not None and len(ids) + self._asking.budget > most:
            return f"the prompt has {len(ids):,} tokens, the model takes {most:,}"
        return None

    def _load(self) -> None:
        if self._engine is not None:
            return
        import torch
        from transformers import AutoModelForCausalLM
        from transformers.utils.logging import disable_progress_bar

        from lookcheck.scripts.judge.engine import Engine

        disable_progress_bar()  # type: ignore[no-untyped-call]
        with _loading(self._asking.model):
            model: Any = AutoModelForCausalLM.from_pretrained(
                self._asking.model,
                revision=self._asking.revision,
                dtype=getattr(torch, self._dtype),
                device_map=self._place.device_map,
                attn_implementation=self._place.attention,
                use_safetensors=True,
                trust_remote_code=False,
            )
        if self._place.device_map is None:
            model = model.to(self._device)
        model.eval()
        stop = model.generation_config.eos_token_id
        stops = set(stop if isinstance(stop, list) else [stop]) | {self._tokenizer.eos_token_id}
        self._engine = Engine(
            model,
            yes=list(self._forms[0].values()),
            no=list(self._forms[1].values()),
            pad=self._tokenizer.eos_token_id or 0,
            stop=[token for token in stops if token is not None],
            prefix=self._renderer.prefix if self._place.prefix_cache else None,
        )


def _device(place: Place) -> str:
    import torch

    if place.device != "auto":
        try:
            kind = torch.device(place.device).type
        except RuntimeError as error:
            raise InputError(f"--device {place.device}: {str(error).splitlines()[0]}") from None
        if kind == "cuda" and not torch.cuda.is_available():
            raise InputError(f"--device {place.device}: no GPU that torch can use")
        return place.device
    from accelerate import PartialState

    return str(PartialState().device)


def _dtype(asked: str, device: str) -> str:
    if asked != "auto":
        return asked
    return "bfloat16" if device.startswith("cuda") else "float32"


def _weights_hash(folder: Path) -> str:
    digest = hashlib.sha256()
    for path in sorted(folder.iterdir()):
        if path.is_file() and path.suffix in _WEIGHING:
            with path.open("rb") as file:
                digest.update(f"{path.name}\0{hashlib.file_digest(file, 'sha256').hexdigest()}\n".encode())
    return digest.hexdigest()[:16]


class _loading:
    """Turns the many errors of loading a model into one sentence."""

    def __init__(self, model: str) -> None:
        self._model = model

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if isinstance(error, OSError | ValueError | ImportError) and not isinstance(error, InputError):
            reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
            raise InputError(f"{self._model}: can't be loaded ({reason})") from None
