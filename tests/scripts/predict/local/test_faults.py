"""Each known way to get silently wrong figures, put into the back end: the figures must show it."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from lookcheck.dataset_builders.core.errors import InputError
from lookcheck.dataset_builders.requests.request import Measure, Request
from lookcheck.scripts.models.settings import Place
from lookcheck.scripts.predict.local import engine
from lookcheck.scripts.predict.local.backend import LocalBackend
from lookcheck.scripts.predict.local.pictures import Preparer
from lookcheck.scripts.predict.local.prompts import Prompter

WORDS = (
    "yes",
    "no",
    "dog",
    "light",
    "picture",
    "is",
    "there",
    "a",
    "in",
    "the",
    "answer",
    "or",
    "only",
    "traffic",
)
MEASURE = Measure(WORDS)


@pytest.fixture
def moved(backend_of: Any, pictures: Any, ask: Any) -> Any:
    """How far a short row's log-probabilities are from those of the row alone, in a batch with a long one."""

    def by(family: str, fault: Any) -> float:
        backend = backend_of(family)
        short = Request("dog", picture=pictures[1], max_new_tokens=0, measure=MEASURE)
        long = Request(
            "Is there a dog in the picture? " * 3, picture=pictures[0], max_new_tokens=0, measure=MEASURE
        )
        (alone,) = ask(backend, [short])
        sound, _ = ask(backend, [short, long])
        assert sound.first.logp == pytest.approx(alone.first.logp, abs=1e-4)
        fault()
        faulty, _ = ask(backend, [short, long])
        return max(abs(faulty.first.logp[word] - alone.first.logp[word]) for word in WORDS)

    return by


@pytest.mark.parametrize("family", ["llava", "qwen2_5_vl", "qwen3_vl", "internvl", "gemma3", "molmo2"])
def test_right_padding_shows(family: str, moved: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def right(rows: Any, pad: int) -> tuple[Any, Any]:
        width = max(map(len, rows))
        ids = torch.tensor([[*row, *[pad] * (width - len(row))] for row in rows])
        return ids, torch.tensor([[1] * len(row) + [0] * (width - len(row)) for row in rows])

    assert moved(family, lambda: monkeypatch.setattr(engine, "left_padded", right)) > 0.1


@pytest.mark.parametrize("family", ["llava", "qwen2_5_vl", "qwen3_vl", "internvl", "gemma3", "molmo2"])
def test_lost_mask_shows(family: str, moved: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    sound = engine.left_padded

    def full(rows: Any, pad: int) -> tuple[Any, Any]:
        ids, mask = sound(rows, pad)
        return ids, torch.ones_like(mask)

    assert moved(family, lambda: monkeypatch.setattr(engine, "left_padded", full)) > 0.1


@pytest.mark.parametrize("family", ["qwen2_5_vl", "gemma3", "molmo2"])
def test_lost_token_types_show(family: str, moved: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def none(self: Prompter, rows: Any) -> list[list[int]]:
        return [[0] * len(row) for row in rows]

    assert moved(family, lambda: monkeypatch.setattr(Prompter, "types", none)) > 0.1


@pytest.mark.parametrize("family", ["llava", "gemma3"])
def test_second_begin_token_shows(family: str, moved: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    sound = Prompter.encoded

    def twice(self: Prompter, prompts: Any) -> list[list[int]]:
        return [[row[0], *row] for row in sound(self, prompts)]

    def fault() -> None:
        monkeypatch.setattr(Prompter, "encoded", twice)
        # The two guards that refuse it.
        monkeypatch.setattr(Preparer, "_check", lambda *arguments: None)
        monkeypatch.setattr(Prompter, "refusal", lambda *arguments: None)

    assert moved(family, fault) > 0.1


@pytest.mark.parametrize("family", ["llava", "gemma3"])
def test_second_begin_token_is_refused(
    family: str, vlm_folder: Any, pictures: Any, ask: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each picture's prompt is compared with that of the model's own processor."""
    sound = Prompter.encoded
    monkeypatch.setattr(
        Prompter, "encoded", lambda self, prompts: [[row[0], *row] for row in sound(self, prompts)]
    )
    with pytest.raises(InputError, match="otherwise than expected"):
        ask(
            LocalBackend(str(vlm_folder(family)), None, Place(device="cpu")),
            [Request("dog", picture=pictures[0])],
        )


@pytest.mark.parametrize("family", ["llava", "gemma3"])
def test_a_prompt_begins_once(family: str, backend_of: Any, pictures: Any) -> None:
    """Both by a template that writes the begin token and by one that leaves it to the processor."""
    for picture in (pictures[0], None):
        prompt = backend_of(family).show(Request("dog", picture=picture)).prompt
        assert prompt.startswith("<s>")
        assert prompt.count("<s>") == 1
