"""Forward passes: padding and the shared beginning; checked against plain forward passes."""

from __future__ import annotations

import random
from types import ModuleType
from typing import Any

import pytest
import torch

from lookcheck.scripts.judge.decision import MARGIN_TOLERANCE
from lookcheck.scripts.judge.engine import Engine, First

YES, NO, STOP = [10, 11], [20, 21], [2]
PREFIX = list(range(30, 80))


@pytest.fixture(scope="module")
def model(tiny: ModuleType) -> Any:
    return tiny.model(300, seed=3)


@pytest.fixture(scope="module")
def rows() -> list[list[int]]:
    """Prompts of 51 to 90 tokens with one beginning."""
    draw = random.Random(5)
    return [PREFIX + [draw.randrange(3, 300) for _ in range(draw.randrange(1, 40))] for _ in range(40)]


def engine(model: Any, prefix: list[int] | None = None) -> Engine:
    return Engine(model, yes=YES, no=NO, pad=0, stop=STOP, prefix=prefix)


@torch.inference_mode()
def plain(model: Any, row: list[int]) -> tuple[float, float]:
    """One prompt, no padding, no cache, no log-sum-exp of ours."""
    probabilities = model(torch.tensor([row])).logits[0, -1].double().softmax(0)
    return probabilities[YES].sum().log().item(), probabilities[NO].sum().log().item()


def margins(first: First) -> list[float]:
    return [yes - no for yes, no in zip(first.yes, first.no, strict=True)]


@pytest.mark.parametrize("prefix", [None, PREFIX])
def test_any_batch_gives_what_a_plain_pass_gives(
    model: Any, rows: list[list[int]], prefix: list[int] | None
) -> None:
    found = engine(model, prefix).first(rows)
    for index, row in enumerate(rows):
        yes, no = plain(model, row)
        assert found.yes[index] == pytest.approx(yes, abs=MARGIN_TOLERANCE)
        assert found.no[index] == pytest.approx(no, abs=MARGIN_TOLERANCE)
        assert found.mass[index] == pytest.approx(
            torch.tensor([yes, no]).exp().sum().item(), abs=MARGIN_TOLERANCE
        )
    # The rows differ by far more than that, so the agreement means something.
    assert max(margins(found)) - min(margins(found)) > 1


def test_right_padding_would_not(model: Any, rows: list[list[int]]) -> None:
    """The same passes with the padding on the other side fail the test above by orders of magnitude."""
    width = max(map(len, rows))
    ids = torch.tensor([row + [0] * (width - len(row)) for row in rows])
    mask = torch.tensor([[1] * len(row) + [0] * (width - len(row)) for row in rows])
    with torch.inference_mode():
        logs = model(input_ids=ids, attention_mask=mask).logits[:, -1].log_softmax(-1)
    wrong = (logs[:, YES].logsumexp(-1) - logs[:, NO].logsumexp(-1)).tolist()
    right = [yes - no for yes, no in (plain(model, row) for row in rows)]
    off = [abs(one - other) for one, other, row in zip(wrong, right, rows, strict=True) if len(row) < width]
    assert sorted(off)[len(off) // 2] > 0.1


def test_what_stands_on_padding_does_not_matter(model: Any, rows: list[list[int]]) -> None:
    one = Engine(model, yes=YES, no=NO, pad=0).first(rows)
    other = Engine(model, yes=YES, no=NO, pad=123).first(rows)
    assert margins(one) == pytest.approx(margins(other), abs=MARGIN_TOLERANCE)


@pytest.mark.parametrize("prefix", [None, PREFIX])
def test_replies_are_those_of_the_library_s_greedy_search(
    model: Any, rows: list[list[int]], prefix: list[int] | None
) -> None:
    from transformers import GenerationConfig

    replies, first, ended = engine(model, prefix).generate(rows, 4)
    assert margins(first) == pytest.approx(margins(engine(model, prefix).first(rows)), abs=MARGIN_TOLERANCE)
    greedy = GenerationConfig(do_sample=False, max_new_tokens=4, eos_token_id=STOP, pad_token_id=0)
    for row, reply in zip(rows, replies, strict=True):
        ids = torch.tensor([row])
        made = model.generate(ids, attention_mask=torch.ones_like(ids), generation_config=greedy)
        expected = made[0, len(row) :].tolist()
        assert reply == [token for token in expected if token not in STOP]
    assert ended == [len(reply) < 4 for reply in replies]


def test_the_model_s_own_sampling_settings_are_not_taken(tiny: ModuleType, rows: list[list[int]]) -> None:
    """Qwen ships a repetition penalty and a temperature; a judge that used them would not be greedy."""
    model = tiny.model(300, seed=3)
    before = engine(model).generate(rows, 4)[0]
    model.generation_config.update(do_sample=True, temperature=5.0, repetition_penalty=3.0)
    assert engine(model).generate(rows, 4)[0] == before


def test_a_reply_ends_at_the_stop_token(model: Any, rows: list[list[int]]) -> None:
    free = Engine(model, yes=YES, no=NO, pad=0).generate(rows[:8], 4)[0]
    assert all(len(reply) == 4 for reply in free)
    stop = free[0][2]
    replies, _, ended = Engine(model, yes=YES, no=NO, pad=0, stop=[stop]).generate(rows[:8], 4)
    for whole, reply in zip(free, replies, strict=True):
        assert reply == (whole[: whole.index(stop)] if stop in whole else whole)
    # A reply may be as long as it is allowed to be and yet not be at its end.
    assert ended == [stop in whole for whole in free]
    assert {True, False} == set(ended)


def test_the_prefix_is_computed_once(model: Any, rows: list[list[int]]) -> None:
    widths: list[int] = []
    handle = model.get_input_embeddings().register_forward_hook(
        lambda module, given, result: widths.append(given[0].shape[1])
    )
    try:
        shared = engine(model, PREFIX)
        shared.first(rows[:5])
        shared.first(rows[5:9])
    finally:
        handle.remove()
    longest = [max(len(row) - len(PREFIX) for row in part) for part in (rows[:5], rows[5:9])]
    assert widths == [len(PREFIX), *longest]
    assert shared.prefix_length == len(PREFIX)


def test_sliding_windows_are_not_shared(rows: list[list[int]]) -> None:
    """Their windows would count the padding between prefix and text."""
    from transformers import MistralConfig, MistralForCausalLM

    torch.manual_seed(0)
    config = MistralConfig(
        vocab_size=300,
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        sliding_window=16,
        initializer_range=0.4,
    )
    windowed = MistralForCausalLM(config).eval()
    found = engine(windowed, PREFIX)
    assert found.prefix_length == 0
    got = margins(found.first(rows))
    assert got == pytest.approx(
        [yes - no for yes, no in (plain(windowed, row) for row in rows)], abs=MARGIN_TOLERANCE
    )
