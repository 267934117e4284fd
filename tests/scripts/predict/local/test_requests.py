"""What a request may hold: text that tries to act, thoughts, broken pictures, too much for the model."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image

from lookcheck.dataset_builders.core.errors import InputError
from lookcheck.dataset_builders.requests.pictures import picture_of_file
from lookcheck.dataset_builders.requests.request import Measure, Request
from lookcheck.scripts.models.settings import Place
from lookcheck.scripts.predict.local.backend import NO_MEMORY, LocalBackend

FAMILIES = ["llava", "qwen2_5_vl", "qwen3_vl", "internvl", "gemma3", "molmo2"]
MEASURE = Measure(("yes", "no"))


@pytest.mark.parametrize("family", FAMILIES)
def test_text_cannot_act(family: str, backend_of: Any, pictures: Any, ask: Any) -> None:
    """All control tokens and placeholders of the tokenizer, in question and system, as plain text."""
    backend = backend_of(family)
    tokens = sorted(backend._prompter.markup.tokens)
    assert any("im" in token.lower() for token in tokens)
    for picture in (pictures[0], None):
        for token in tokens:
            hostile = Request(
                f"dog{token}dog", system=f"a{token}", picture=picture, max_new_tokens=0, measure=MEASURE
            )
            tame = replace(hostile, text="dogdog", system="a")
            shown, plain = (backend.show(request).prompt for request in (hostile, tame))
            ids = [
                backend._prompter.tokenizer.encode(text, add_special_tokens=False) for text in (shown, plain)
            ]
            assert backend._prompter.markup.of(ids[0]) == backend._prompter.markup.of(ids[1])
        requests = [
            Request("".join(tokens), picture=picture, max_new_tokens=0, measure=MEASURE),
            Request("dog", picture=picture, max_new_tokens=0, measure=MEASURE),
        ]
        hostile_answer, answer = ask(backend, requests)
        assert hostile_answer.failure is None
        assert answer.first.logp == pytest.approx(ask(backend, requests[1:])[0].first.logp, abs=1e-4)


def test_honest_markup_stays(backend_of: Any) -> None:
    """What is no token of this model is left as it is, to the letter."""
    text = "Answer in <answer></answer>, [INST] and <|user|>: is x < 5?"
    assert text in backend_of("qwen2_5_vl").show(Request(text)).prompt


@pytest.mark.parametrize("family", FAMILIES)
def test_system_text_is_in_the_prompt(family: str, backend_of: Any) -> None:
    """Also of a model whose template has no turn for it."""
    backend = backend_of(family)
    prompt = backend.show(Request("dog", system="Only no")).prompt
    assert prompt.index("Only no") < prompt.index("dog")
    told = backend.describe()[0]["system"]
    assert told == ("before the text of the user's turn" if family == "gemma3" else "a turn of its own")


def test_picture_order(backend_of: Any, pictures: Any) -> None:
    """As asked, and told where the template has an order of its own."""
    backend = backend_of("qwen2_5_vl")
    first, last = (
        backend.show(Request("dog", picture=pictures[0], picture_first=asked)).prompt
        for asked in (True, False)
    )
    assert first.index("<|image_pad|>") < first.index("dog")
    assert last.index("dog") < last.index("<|image_pad|>")
    assert backend.describe()[0]["picture_order"] == "as asked"
    assert backend_of("llava").describe()[0]["picture_order"] == "picture first"


@pytest.mark.parametrize(
    ("written", "opened", "raw", "text", "reasoning", "ended"),
    [
        ("<think>a dog</think>no</s>", "", "<think>a dog</think>no", "no", "<think>a dog</think>", True),
        ("<think>a dog", "", "<think>a dog", None, "<think>a dog", False),
        ("a dog</think>no</s>", "<think>\n", "<think>a dog</think>no", "no", "<think>a dog</think>", True),
        ("a dog", "<think>\n", "<think>a dog", None, "<think>a dog", False),
        ("no</s>", "", "no", "no", None, True),
        ("</s>", "", "", "", None, True),
    ],
)
def test_thoughts(
    written: str, opened: str, raw: str, text: str | None, reasoning: str | None, ended: bool,
    vlm_folder: Any, pictures: Any, ask: Any, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """Kept apart also where the template opens them; a cut trace leaves no text."""
    backend = LocalBackend(str(vlm_folder("llava")), None, Place(device="cpu"))
    backend._prompter._processor.chat_template += opened
    request = Request("dog", picture=pictures[0], max_new_tokens=0)
    ask(backend, [request])
    tokens = backend._prompter.tokenizer.encode(written, add_special_tokens=False)
    grow(backend._answerer._engine, monkeypatch, tokens)
    (answer,) = ask(backend, [replace(request, max_new_tokens=len(tokens))])
    assert (answer.raw, answer.text, answer.reasoning, answer.ended) == (raw, text, reasoning, ended)


def grow(engine: Any, monkeypatch: pytest.MonkeyPatch, tokens: list[int]) -> None:
    """Let the model's logits lead to these tokens, one after the other."""
    model, step = engine._model, iter(tokens)
    forward = model.forward

    def led(*arguments: Any, **options: Any) -> Any:
        out = forward(*arguments, **options)
        out.logits = torch.zeros_like(out.logits)
        out.logits[..., next(step)] = 9
        return out

    # generate looks at the signature.
    led.__signature__ = __import__("inspect").signature(forward)  # type: ignore[attr-defined]
    monkeypatch.setattr(model, "forward", led)


def test_budgets_of_one_batch_are_each_row_s_own(backend_of: Any, pictures: Any, ask: Any) -> None:
    backend = backend_of("qwen2_5_vl")
    requests = [Request("dog", picture=pictures[0], max_new_tokens=new) for new in (7, 2, 0)]
    long, short, none = ask(backend, requests)
    assert (long.new_tokens, short.new_tokens, none.new_tokens) == (7, 2, 0)
    ids = [
        backend._prompter.tokenizer.encode(answer.raw, add_special_tokens=False) for answer in (long, short)
    ]
    assert long.raw.startswith(short.raw[:1]), ids
    assert (long.ended, short.ended) == (False, False)
    assert none.raw is None


@pytest.mark.parametrize(
    ("family", "sizes"),
    [
        # smart_resize of 130×90: factor 28, at most 12,544 pixels.
        ("qwen2_5_vl", [(140, 84), (56, 56), (84, 140)]),
        ("qwen3_vl", [(128, 96), (64, 64), (96, 128)]),
        ("llava", [(56, 56)] * 3),
        ("gemma3", [(56, 56)] * 3),
        ("internvl", [None, None, None]),
    ],
)
def test_picture_size_is_the_model_s(
    family: str, sizes: Any, backend_of: Any, pictures: Any, ask: Any
) -> None:
    backend = backend_of(family)
    requests = [Request("dog", picture=picture, max_new_tokens=0) for picture in pictures]
    if family == "internvl":
        # The small square is one tile, the others are several.
        sizes = [backend.show(request).picture_size for request in requests]
        assert sizes[0] is None
    assert [answer.picture_size for answer in ask(backend, requests)] == sizes
    assert [backend.show(request).picture_size for request in requests] == sizes


def test_picture_as_people_see_it(tmp_path: Path, backend_of: Any, ask: Any) -> None:
    """Turned by its EXIF orientation, and grey or with transparency, in the same colours as plain RGB."""
    upright = Image.fromarray(np.random.default_rng(5).integers(0, 255, (60, 90, 3), dtype=np.uint8))
    upright.save(tmp_path / "plain.png")
    exif = Image.Exif()
    exif[0x0112] = 6
    # Orientation 6 is shown turned clockwise by a quarter.
    upright.transpose(Image.Transpose.ROTATE_90).save(tmp_path / "turned.png", exif=exif)
    upright.convert("RGBA").save(tmp_path / "alpha.png")
    files = [picture_of_file(tmp_path / f"{name}.png") for name in ("plain", "turned", "alpha")]
    requests = [Request("dog", picture=picture, max_new_tokens=0, measure=MEASURE) for picture in files]
    plain, *others = ask(backend_of("llava"), requests)
    for other in others:
        assert other.first.logp == pytest.approx(plain.first.logp, abs=1e-4)


def test_broken_picture_fails_alone(tmp_path: Path, backend_of: Any, pictures: Any, ask: Any) -> None:
    whole = io.BytesIO()
    pixels = np.random.default_rng(6).integers(0, 255, (200, 300, 3), dtype=np.uint8)
    Image.fromarray(pixels).save(whole, "JPEG")
    (tmp_path / "cut.jpg").write_bytes(whole.getvalue()[: len(whole.getvalue()) // 2])
    cut = picture_of_file(tmp_path / "cut.jpg")
    requests = [
        Request("dog", picture=pictures[0], max_new_tokens=0, measure=MEASURE),
        Request("dog", picture=cut, max_new_tokens=0, measure=MEASURE),
        Request("no", picture=cut, max_new_tokens=0, measure=MEASURE),
    ]
    sound, *failed = ask(backend_of("llava"), requests)
    assert sound.failure is None
    assert sound.first is not None
    for answer in failed:
        assert "can't be decoded" in answer.failure
        assert answer.first is None


def test_changed_picture_ends_the_run(tmp_path: Path, backend_of: Any, pictures: Any, ask: Any) -> None:
    path = tmp_path / "a.png"
    path.write_bytes(Path(pictures[0].file).read_bytes())
    picture = picture_of_file(path)
    path.write_bytes(Path(pictures[1].file).read_bytes())
    with pytest.raises(InputError, match="has changed"):
        ask(backend_of("llava"), [Request("dog", picture=picture)])


def test_too_narrow_a_picture(tmp_path: Path, backend_of: Any, ask: Any) -> None:
    """Qwen's resizing takes no picture that is more than 200 times as wide as high."""
    Image.new("RGB", (4_100, 20), "red").save(tmp_path / "a.png")
    (answer,) = ask(backend_of("qwen2_5_vl"), [Request("dog", picture=picture_of_file(tmp_path / "a.png"))])
    assert "can't be prepared" in answer.failure
    assert "200" in answer.failure


def test_too_long_a_prompt(backend_of: Any, pictures: Any, ask: Any) -> None:
    """A reply is cut where the model's positions end; a prompt that fills them fails."""
    requests = [
        Request("dog " * times, picture=pictures[0], max_new_tokens=60) for times in (2_100, 1_990, 1)
    ]
    long, full, short = ask(backend_of("llava"), requests)
    assert "the model takes 2048" in long.failure
    assert full.prompt_tokens < 2_048
    assert full.prompt_tokens + full.new_tokens == 2_048
    assert not full.ended
    assert short.new_tokens == 60


def test_memory_that_ends(vlm_folder: Any, pictures: Any, ask: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Halves until it fits, the same answers; a row that doesn't fit even alone fails alone."""
    backend = LocalBackend(str(vlm_folder("llava")), None, Place(device="cpu"))
    requests = [
        Request("dog" + " dog" * number, picture=picture, max_new_tokens=3, measure=MEASURE)
        for picture in pictures
        for number in range(3)
    ]
    plain = ask(backend, requests)
    sizes: list[int] = []
    run = backend._answerer._engine.run

    def short(rows: Any, *arguments: Any, **options: Any) -> Any:
        sizes.append(len(rows))
        if len(rows) > 2:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2 GiB")
        return run(rows, *arguments, **options)

    monkeypatch.setattr(backend._answerer._engine, "run", short)
    said: list[str] = []
    halved = ask(backend, requests, said=said)
    assert max(sizes) == 9
    assert any("out of memory" in line for line in said)
    for one, other in zip(plain, halved, strict=True):
        assert one.raw == other.raw
        assert one.first.logp == pytest.approx(other.first.logp, abs=1e-4)

    longest = max(answer.prompt_tokens for answer in plain)

    def none(rows: Any, *arguments: Any, **options: Any) -> Any:
        if max(map(len, rows)) == longest:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2 GiB")
        return run(rows, *arguments, **options)

    monkeypatch.setattr(backend._answerer._engine, "run", none)
    reasons = [answer.failure for answer in ask(backend, requests)]
    assert reasons == [NO_MEMORY if answer.prompt_tokens == longest else None for answer in plain]
    assert set(reasons) == {None, NO_MEMORY}


def test_other_errors_are_not_swallowed(vlm_folder: Any, ask: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    backend = LocalBackend(str(vlm_folder("llava")), None, Place(device="cpu"))
    ask(backend, [Request("dog", max_new_tokens=0)])

    def broken(*arguments: Any, **options: Any) -> Any:
        raise RuntimeError("mat1 and mat2 shapes cannot be multiplied")

    monkeypatch.setattr(backend._answerer._engine, "run", broken)
    with pytest.raises(RuntimeError, match="mat1"):
        ask(backend, [Request("dog")])


def test_resumed_is_undisturbed_to_the_bit(vlm_folder: Any, pictures: Any, ask: Any) -> None:
    """Whichever rows are wanted, they are computed in the same company."""
    backend = LocalBackend(str(vlm_folder("qwen2_5_vl")), None, Place(device="cpu", batch_size=4))
    requests = [
        Request("dog" + " dog" * number, picture=picture, max_new_tokens=3, measure=MEASURE)
        for picture in pictures
        for number in range(5)
    ]
    whole = ask(backend, requests)
    for wanted in ({0}, {3, 7, 14}, set(range(8, 15))):
        resumed = ask(backend, requests, wanted)
        assert [replace(answer, seconds=None) for answer in resumed] == [
            replace(whole[index], seconds=None) for index in sorted(wanted)
        ]


def test_two_processes_share_all(vlm_folder: Any, pictures: Any) -> None:
    from lookcheck.scripts.models.processes import Share

    backend = LocalBackend(str(vlm_folder("llava")), None, Place(device="cpu", batch_size=2))
    requests = [Request(f"dog{n}", picture=pictures[n % 3], max_new_tokens=0) for n in range(9)]
    shares = [
        {
            index
            for part in backend.answer(requests, set(range(9)), Share(rank, 2), print)
            for index, _ in part
        }
        for rank in range(2)
    ]
    assert shares[0] | shares[1] == set(range(9))
    assert not shares[0] & shares[1]
    assert all(shares)


def test_close_gives_memory_back(vlm_folder: Any, ask: Any) -> None:
    import gc
    import weakref

    backend = LocalBackend(str(vlm_folder("llava")), None, Place(device="cpu"))
    ask(backend, [Request("dog", max_new_tokens=0)])
    model = weakref.ref(backend._answerer._engine._model)
    backend.close()
    gc.collect()
    assert model() is None
