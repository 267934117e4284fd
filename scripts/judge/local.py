"""The back end `transformers`: a local model on a CPU, one GPU, or several."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from lookcheck.dataset_builders.core.errors import InputError
from lookcheck.dataset_builders.core.verdict_file import Json
from lookcheck.scripts.judge.backend import Triple
from lookcheck.scripts.judge.decision import (
    NO_FORMS,
    NOISE,
    YES_FORMS,
    Judgement,
    decide,
    failure,
    from_reply,
    measured,
)
from lookcheck.scripts.judge.render import Renderer, StructureError
from lookcheck.scripts.judge.settings import Asking
from lookcheck.scripts.models.batching import Batches
from lookcheck.scripts.models.forms import single_tokens
from lookcheck.scripts.models.loading import device_of, dtype_of, identity_of, load_model, loading
from lookcheck.scripts.models.processes import Processes, Share
from lookcheck.scripts.models.reply import CUT
from lookcheck.scripts.models.require import require
from lookcheck.scripts.models.settings import Place


class LocalJudge:
    """A model of `transformers` in this process; loaded when the first triple is judged."""

    def __init__(self, asking: Asking, place: Place, processes: Processes) -> None:
        require("torch", "transformers", "accelerate")
        from transformers import AutoConfig, AutoTokenizer

        self._asking, self._place, self._processes = asking, place, processes
        self._device = device_of(place)
        self._dtype = dtype_of(place.dtype, self._device)
        with loading(asking.model):
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

        deciding: dict[str, Json] = {
            "backend": "transformers",
            **identity_of(self._asking.model, self._config, self._processes, self._place),
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

        rows: dict[int, list[int]] = {}
        refused: list[tuple[int, Judgement]] = []
        for index, ids in enumerate(self._renderer.ids(triples)):
            reason = self._refusal(ids)
            if reason is None and isinstance(ids, list):
                rows[index] = ids
            else:
                refused.append((index, failure(reason or "no prompt")))
        yield [item for item in refused[share.rank :: share.world] if item[0] in wanted]
        lengths = {index: len(ids) for index, ids in rows.items()}
        batches = Batches(torch.device(self._device).type, rows=self._place.batch_size, say=say)
        pending = [batch for batch in batches.cut(lengths) if not wanted.isdisjoint(batch)]
        for batch in pending[share.rank :: share.world]:
            self._load()
            for judged in batches.run(batch, lengths, lambda indices: self._batch(indices, rows)):
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
        from transformers import AutoModelForCausalLM

        from lookcheck.scripts.judge.engine import Engine

        model = load_model(
            AutoModelForCausalLM,
            self._asking.model,
            self._asking.revision,
            self._place,
            device=self._device,
            dtype=self._dtype,
        )
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
