"""How fast a device computes, held against what it could: for the benchmarks."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

from lookcheck.dataset_builders.core.errors import InputError

# Dense bfloat16, in teraflops, from the makers' data sheets; the first name that fits counts.
PEAKS = {"B200": 2_250.0, "H200": 989.4, "H100 PCIe": 756.0, "H100": 989.4, "A100": 312.0, "L40S": 362.0}


def named_device(device: str) -> str:
    """What the device is called by its maker; the word itself where it is no GPU.

    Raises
    ------
    InputError
        If it is a GPU that torch can't use.
    """
    import torch

    if not device.startswith("cuda"):
        return device
    if not torch.cuda.is_available():
        raise InputError(f"--device {device}: no GPU that torch can use; --device cpu --tiny tries it out")
    return torch.cuda.get_device_name(device)


def peak_of(device: str) -> float | None:
    """Teraflops of dense bfloat16 of a device, by its name; None where it isn't known."""
    return next((value for part, value in PEAKS.items() if part in device), None)


def flops(config: Any, lengths: Sequence[int], prefix: int, new: int) -> float:
    """Floating-point operations that judging needs: matrix products only, padding not counted.

    Parameters
    ----------
    config : transformers configuration
    lengths : sequence of int
        Tokens of each prompt.
    prefix : int
        Of which computed once.
    new : int
        Tokens read off, 1 for ``logprob``; the output layer is applied to these only.

    Returns
    -------
    float
    """
    hidden: int = config.hidden_size
    layers: int = config.num_hidden_layers
    head = hidden // config.num_attention_heads
    projections = hidden * head * (2 * config.num_attention_heads + 2 * config.num_key_value_heads)
    layer = projections + 3 * hidden * config.intermediate_size
    total = 0.0
    for begin, end in [(0, prefix), *((prefix, length + new - 1) for length in lengths)]:
        total += 2 * layers * layer * (end - begin)
        # Each token attends to itself and to all before it: once for the scores, once for the values.
        total += 4 * layers * hidden * (end * (end + 1) - begin * (begin + 1)) / 2
    return total + 2.0 * hidden * int(config.vocab_size) * new * len(lengths)


def seconds_of(call: Callable[[], None], device: Any) -> float:
    """Seconds of a call on a GPU, its queue emptied before and after; `device` is None for a CPU."""
    import torch

    if device is not None:
        torch.cuda.synchronize(device)
    start = time.perf_counter()
    call()
    if device is not None:
        torch.cuda.synchronize(device)
    return time.perf_counter() - start
