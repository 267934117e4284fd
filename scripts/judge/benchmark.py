"""`lookcheck judge benchmark`: how fast a device judges with a model of Qwen2.5-14B's shape.

The weights are random and made on the device: nothing is downloaded, and no copy passes through the
memory of the host. The verdicts mean nothing; the passes are those of a run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import typer
from rich.table import Table

from lookcheck.dataset_builders.core.errors import InputError
from lookcheck.scripts import console
from lookcheck.scripts.judge.decision import MAX_NEW_TOKENS
from lookcheck.scripts.models.batching import Batches
from lookcheck.scripts.models.require import require
from lookcheck.scripts.models.speed import flops, named_device, peak_of, seconds_of

# config.json of Qwen/Qwen2.5-14B-Instruct: 14.8 billion parameters.
SHAPE = {
    "vocab_size": 152_064,
    "hidden_size": 5_120,
    "intermediate_size": 13_824,
    "num_hidden_layers": 48,
    "num_attention_heads": 40,
    "num_key_value_heads": 8,
    "max_position_embeddings": 32_768,
    "tie_word_embeddings": False,
}
TINY = {
    **SHAPE,
    "vocab_size": 1_000,
    "hidden_size": 64,
    "intermediate_size": 128,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
}


@dataclass(frozen=True)
class Way:
    """One way to judge: its name, whether the prefix is shared, new tokens."""

    name: str
    share: bool
    new: int


WAYS = (
    Way("logprob, prefix", True, 1),
    Way("logprob", False, 1),
    Way("generate, prefix", True, MAX_NEW_TOKENS),
)


def benchmark(
    device: Annotated[str, typer.Option(help="cuda, cuda:1, cpu.")] = "cuda",
    rows: Annotated[int, typer.Option(min=1, help="Judgements of one measurement.")] = 1_024,
    tokens: Annotated[int, typer.Option(min=8, help="Length of a prompt, about.")] = 250,
    prefix: Annotated[int, typer.Option(min=1, help="How much of it all prompts share.")] = 190,
    batch_size: Annotated[list[int] | None, typer.Option(help="Repeatable.")] = None,
    peak: Annotated[float | None, typer.Option(help="Teraflops of bf16, where the device is new.")] = None,
    tiny: Annotated[
        bool, typer.Option("--tiny", help="A model of 0.2 M parameters, to try this out.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Measure judgements a second with a model of Qwen2.5-14B's shape and random weights.

    Example:

    \b
      lookcheck judge benchmark --json
    """
    require("torch", "transformers", "accelerate")
    import torch

    name = named_device(device)
    if prefix >= tokens - 1:
        raise InputError(f"--prefix {prefix}: has to be less than --tokens {tokens}")
    model = build(TINY if tiny else SHAPE, device)
    if peak is None:
        peak = peak_of(name)
    found = [
        measure(model, way, size, rows=rows, tokens=tokens, prefix=prefix, peak=peak)
        for way in WAYS
        for size in batch_size or [64, 128, 256]
    ]
    result = {
        "device": name,
        "dtype": str(model.dtype).removeprefix("torch."),
        "torch": torch.__version__,
        "parameters": sum(weight.numel() for weight in model.parameters()),
        "tokens": tokens,
        "prefix": prefix,
        "rows": rows,
        "peak_teraflops": peak,
        "measurements": found,
    }
    if as_json:
        print(console.to_json(result))
    else:
        _show(result)


def build(shape: dict[str, Any], device: str) -> Any:
    """A Qwen2 model of random weights, made on its device; bfloat16 on a GPU, float32 on a CPU."""
    import torch
    from transformers import AutoModelForCausalLM, Qwen2Config

    torch.manual_seed(0)
    dtype = torch.bfloat16 if device.startswith("cuda") else torch.float32
    options: dict[str, Any] = {"dtype": dtype, "attn_implementation": "sdpa"}
    with torch.device(device):
        model = AutoModelForCausalLM.from_config(Qwen2Config(**shape), **options)  # type: ignore[no-untyped-call]
    return model.eval()


def prompts(rows: int, tokens: int, prefix: int, vocabulary: int) -> list[list[int]]:
    """Token ids with one beginning; lengths vary by a quarter of what is not shared, longest first."""
    import numpy as np

    draw = np.random.default_rng(2605)
    shared = draw.integers(5, vocabulary, prefix).tolist()
    spread = (tokens - prefix) // 4
    lengths = sorted(
        draw.integers(tokens - prefix - spread, tokens - prefix + spread + 1, rows), reverse=True
    )
    return [shared + draw.integers(5, vocabulary, int(length)).tolist() for length in lengths]


def measure(
    model: Any, way: Way, size: int, *, rows: int, tokens: int, prefix: int, peak: float | None
) -> dict[str, Any]:
    """Judge all rows once, after a batch to warm up.

    Parameters
    ----------
    model : transformers model
    way : Way
    size : int
        Rows of a batch; halved where memory ends.
    rows, tokens, prefix : int
    peak : float or None
        Teraflops.

    Returns
    -------
    dict
        ``judgements_per_second``; ``prompt_tokens_per_second``, shared ones counted for every row;
        ``computed_tokens_per_second``; ``share_of_peak`` of what was computed; ``batch_size`` at the
        end; ``gigabytes`` at the peak, on a GPU.
    """
    import torch

    from lookcheck.scripts.judge.engine import Engine

    made = prompts(rows, tokens, prefix, model.config.vocab_size)
    batches = Batches(model.device.type, rows=size)
    lengths = {index: len(row) for index, row in enumerate(made)}

    def judge(engine: Engine, some: Sequence[list[int]]) -> int:
        if way.new == 1:
            engine.first(some)
        else:
            engine.generate(some, way.new)
        return len(some)

    def all_of(some: Sequence[list[int]]) -> None:
        engine = Engine(model, yes=[1, 2], no=[3, 4], pad=0, prefix=some[0][:prefix] if way.share else None)
        for batch in batches.cut({index: lengths[index] for index in range(len(some))}):
            for _ in batches.run(batch, lengths, lambda part: judge(engine, [some[index] for index in part])):
                pass

    cuda = model.device.type == "cuda"
    all_of(made[:size])
    if cuda:
        torch.cuda.reset_peak_memory_stats(model.device)
    seconds = seconds_of(lambda: all_of(made), model.device if cuda else None)
    cost = flops(model.config, [len(row) for row in made], prefix if way.share else 0, way.new)
    computed = sum(len(row) - (prefix if way.share else 0) + way.new - 1 for row in made)
    return {
        "way": way.name,
        "batch_size": batches.room,
        "seconds": seconds,
        "judgements_per_second": rows / seconds,
        "prompt_tokens_per_second": sum(map(len, made)) / seconds,
        "computed_tokens_per_second": computed / seconds,
        "share_of_peak": None if peak is None else cost / seconds / (peak * 1e12),
        "gigabytes": torch.cuda.max_memory_allocated(model.device) / 1e9 if cuda else None,
    }


def _show(result: dict[str, Any]) -> None:
    size = (
        f"{result['parameters'] / 1e9:.1f} B" if result["parameters"] > 1e8 else f"{result['parameters']:,}"
    )
    title = f"{result['device']}, {result['dtype']}, {size} parameters, {result['tokens']} tokens a prompt"
    table = Table(title=title, title_justify="left")
    table.add_column("way")
    for column in ("batch", "judgements/s", "prompt tokens/s", "of bf16 peak", "GB"):
        table.add_column(column, justify="right")
    for row in result["measurements"]:
        share, memory = row["share_of_peak"], row["gigabytes"]
        table.add_row(
            row["way"],
            str(row["batch_size"]),
            f"{row['judgements_per_second']:,.1f}",
            f"{row['prompt_tokens_per_second']:,.0f}",
            "–" if share is None else f"{100 * share:.1f} %",
            "–" if memory is None else f"{memory:.1f}",
        )
    console.stdout.print(table)


app = console.new_app("Measure the judge on a device.")
app.command()(benchmark)


if __name__ == "__main__":
    console.run(app)
