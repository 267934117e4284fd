"""The shared beginning's cache: written once, the same figures whatever batches came before."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from transformers import DynamicCache, LlamaConfig, LlamaForCausalLM, MistralConfig

from lookcheck.scripts.models.shared_prefix import SharedPrefix

PREFIX, SIZE = 40, 8


@pytest.fixture(scope="module")
def model() -> Any:
    torch.manual_seed(1)
    config = LlamaConfig(
        vocab_size=100,
        hidden_size=32,
        intermediate_size=48,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        initializer_range=0.4,
    )
    return LlamaForCausalLM(config).eval()


@pytest.fixture
def shared(model: Any) -> SharedPrefix:
    cache = DynamicCache(config=model.config)
    with torch.inference_mode():
        model(beginning(), cache=cache)
    return SharedPrefix(cache)


def beginning() -> torch.Tensor:
    return torch.arange(PREFIX)[None] + 3


def ends(rows: int, width: int, seed: int) -> torch.Tensor:
    return torch.randint(0, 100, (rows, width), generator=torch.Generator().manual_seed(seed))


@torch.inference_mode()
def behind(model: Any, shared: SharedPrefix, batch: torch.Tensor, new: int = 1) -> Any:
    """Logits of every new position, by steps of one token after the first."""
    rows, width = batch.shape
    cache = shared.begin(rows, PREFIX + width)
    first = width - new + 1
    found = [model(batch[:, :first], cache=cache).logits]
    found += [model(batch[:, [place]], cache=cache).logits for place in range(first, width)]
    return torch.cat(found, dim=1)


@torch.inference_mode()
def whole(model: Any, batch: torch.Tensor) -> Any:
    """The same without any cache."""
    return model(torch.cat([beginning().expand(len(batch), -1), batch], dim=1)).logits[:, PREFIX:]


def test_batches_of_all_sizes_one_after_another(model: Any, shared: SharedPrefix) -> None:
    """Nothing of an earlier, larger batch is seen by a later one, and no room is too small."""
    for seed, (rows, width, new) in enumerate(
        [(4, 9, 1), (2, 3, 1), (7, 5, 4), (1, 1, 1), (3, 20, 1), (9, 2, 2)]
    ):
        batch = ends(rows, width, seed)
        expected = whole(model, batch)
        assert torch.allclose(behind(model, shared, batch, new), expected, atol=1e-4)
        # The rows differ by far more, so a row that saw another's keys would not pass.
        assert rows == 1 or (expected[0, -1] - expected[1, -1]).abs().max() > 0.1


class Written(TorchDispatchMode):
    """Counts elements of what is repeated, joined or copied inside the block."""

    def __init__(self) -> None:
        super().__init__()
        self.shapes: list[tuple[int, ...]] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        if func.overloadpacket in {torch.ops.aten.cat, torch.ops.aten.copy_, torch.ops.aten.clone}:
            self.shapes.append(tuple(result.shape))
        return result


def test_a_batch_writes_its_own_positions_only(model: Any, shared: SharedPrefix) -> None:
    behind(model, shared, ends(6, 5, 0))
    layer = shared._layers[0]
    with torch.inference_mode(), Written() as seen:
        shared.begin(5, PREFIX + 4)
        states = torch.ones(5, 2, 4, SIZE)
        keys, _ = layer.update(states, states)
    assert keys.shape == (5, 2, PREFIX + 4, SIZE)
    assert seen.shapes == [(5, 2, 4, SIZE)] * 2


def test_after_release_it_goes_on(model: Any, shared: SharedPrefix) -> None:
    batch = ends(3, 4, 5)
    before = behind(model, shared, batch)
    shared.release()
    assert torch.equal(behind(model, shared, batch), before)


def test_windows_can_t_be_shared() -> None:
    config = MistralConfig(num_hidden_layers=2, sliding_window=16)
    assert not SharedPrefix.fits(DynamicCache(config=config))
    assert SharedPrefix.fits(DynamicCache(config=LlamaConfig(num_hidden_layers=2)))
