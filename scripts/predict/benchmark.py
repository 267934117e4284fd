"""`lookcheck predict benchmark`: how fast a device answers with a model of Qwen2.5-VL-7B's shape.

The weights are random and made on the device: nothing is downloaded. The answers mean nothing; the passes are
those of a run: the vision tower once a picture, then the questions on it in batches.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import typer
from rich.table import Table

from lookcheck.scripts import console
from lookcheck.scripts.models.require import require
from lookcheck.scripts.models.speed import flops, named_device, peak_of, seconds_of

# config.json of Qwen/Qwen2.5-VL-7B-Instruct: 8.3 billion parameters.
TEXT: Mapping[str, Any] = {
    "vocab_size": 152_064,
    "hidden_size": 3_584,
    "intermediate_size": 18_944,
    "num_hidden_layers": 28,
    "num_attention_heads": 28,
    "num_key_value_heads": 4,
    "rope_parameters": {"rope_type": "default", "rope_theta": 1e6, "mrope_section": [16, 24, 24]},
}
VISION: Mapping[str, Any] = {
    "depth": 32,
    "hidden_size": 1_280,
    "intermediate_size": 3_420,
    "num_heads": 16,
    "patch_size": 14,
    "window_size": 112,
    "out_hidden_size": 3_584,
    "fullatt_block_indexes": [7, 15, 23, 31],
}
TINY_TEXT: Mapping[str, Any] = {
    "vocab_size": 1_000,
    "hidden_size": 48,
    "intermediate_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "rope_parameters": {"rope_type": "default", "rope_theta": 1e4, "mrope_section": [2, 2, 2]},
    "bos_token_id": 1,
    "eos_token_id": 2,
}
TINY_VISION: Mapping[str, Any] = {
    **VISION,
    "depth": 3,
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_heads": 2,
    "out_hidden_size": 48,
    "fullatt_block_indexes": [1, 2],
}
# Of 640 × 480 pixels, resized to 644 × 476; two by two patches are a token.
ROWS, COLUMNS = 34, 46
# Any ids that are not the others'.
IMAGE, BEGIN, END, FIRST_WORD = 5, 6, 7, 8


def benchmark(
    device: Annotated[str, typer.Option(help="cuda, cuda:1, cpu.")] = "cuda",
    pictures: Annotated[int, typer.Option(min=1, help="Pictures of one measurement.")] = 256,
    questions: Annotated[int, typer.Option(min=1, help="Questions on each picture.")] = 1,
    tokens: Annotated[int, typer.Option(min=1, help="Tokens of a question.")] = 40,
    new_tokens: Annotated[int, typer.Option(min=1, help="Of a reply; 1 measures the first token.")] = 1,
    batch_size: Annotated[list[int] | None, typer.Option(help="Pictures of a batch; repeatable.")] = None,
    peak: Annotated[float | None, typer.Option(help="Teraflops of bf16, where the device is new.")] = None,
    tiny: Annotated[
        bool, typer.Option("--tiny", help="A model of 0.2 M parameters, to try this out.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Measure rows a second with a model of Qwen2.5-VL-7B's shape and random weights.

    Pictures of 640 × 480 pixels (391 tokens) come ready for the model: files are not read.

    Example:

    \b
      lookcheck predict benchmark --json
    """
    require("torch", "torchvision", "transformers", "accelerate")
    import torch

    name = named_device(device)
    model = build(TINY_TEXT if tiny else TEXT, TINY_VISION if tiny else VISION, device)
    peak = peak_of(name) if peak is None else peak
    measured = [
        measure(model, size, pictures, questions, tokens, new_tokens, peak)
        for size in batch_size or [8, 16, 32]
    ]
    result = {
        "device": name,
        "dtype": str(model.dtype).removeprefix("torch."),
        "torch": torch.__version__,
        "parameters": sum(weight.numel() for weight in model.parameters()),
        "pictures": pictures,
        "questions": questions,
        "prompt_tokens": prompt_tokens(tokens),
        "new_tokens": new_tokens,
        "peak_teraflops": peak,
        "measurements": measured,
    }
    if as_json:
        print(console.to_json(result))
    else:
        _show(result)


def build(text: Mapping[str, Any], vision: Mapping[str, Any], device: str) -> Any:
    """A Qwen2.5-VL of random weights, made on its device; bfloat16 on a GPU, float32 on a CPU."""
    import torch
    from transformers import AutoModelForImageTextToText, Qwen2_5_VLConfig

    torch.manual_seed(0)
    made: Any = Qwen2_5_VLConfig
    config = made(
        text_config=dict(text),
        vision_config=dict(vision),
        image_token_id=IMAGE,
        vision_start_token_id=BEGIN,
        vision_end_token_id=END,
    )
    dtype = torch.bfloat16 if device.startswith("cuda") else torch.float32
    family: Any = AutoModelForImageTextToText
    with torch.device(device):
        model = family.from_config(config, dtype=dtype, attn_implementation="sdpa")
    return model.eval()


def prompt_tokens(tokens: int) -> int:
    """Tokens of a row: the picture's with a mark on either side, and the question's."""
    return ROWS * COLUMNS // 4 + 2 + tokens


def measure(
    model: Any, size: int, pictures: int, questions: int, tokens: int, new_tokens: int, peak: float | None
) -> dict[str, Any]:
    """Answer all rows once, after a batch to warm up.

    Returns
    -------
    dict
        ``rows_per_second``; ``tokens_per_second`` of the text model, the pictures' included;
        ``share_of_peak`` of what was computed; ``gigabytes`` at the peak, on a GPU.
    """
    import torch

    from lookcheck.scripts.predict.local.engine import Engine
    from lookcheck.scripts.predict.local.features import Encoder

    encoder, engine = Encoder(model), Engine(model, stop=[], pad=0)
    draw = torch.Generator().manual_seed(2605)
    patch = model.config.vision_config.patch_size**2 * 6
    pixels = torch.randn(ROWS * COLUMNS, patch, generator=draw).to(model.dtype)
    shown = {"pixel_values": pixels, "image_grid_thw": torch.tensor([[1, ROWS, COLUMNS]])}
    seen = [BEGIN, *[IMAGE] * (ROWS * COLUMNS // 4), END]
    kinds = [int(token == IMAGE) for token in seen] + [0] * tokens
    vocabulary = model.config.text_config.vocab_size

    def batch(count: int) -> None:
        with torch.inference_mode():
            features = encoder.encode([shown] * count)
        words = torch.randint(FIRST_WORD, vocabulary, (count * questions, tokens), generator=draw).tolist()
        engine.run(
            [seen + row for row in words],
            [new_tokens] * len(words),
            types={"mm_token_type_ids": [kinds] * len(words)},
            pictures=encoder.inputs([one for one in features for _ in range(questions)]),
        )

    def whole() -> None:
        for begin in range(0, pictures, size):
            batch(min(size, pictures - begin))

    cuda = model.device.type == "cuda"
    batch(min(size, pictures))
    if cuda:
        torch.cuda.reset_peak_memory_stats(model.device)
    seconds = seconds_of(whole, model.device if cuda else None)
    rows = pictures * questions
    lengths = [prompt_tokens(tokens)] * rows
    cost = flops(model.config.text_config, lengths, 0, new_tokens)
    cost += pictures * vision_flops(model.config.vision_config)
    return {
        "batch_size": size,
        "seconds": seconds,
        "rows_per_second": rows / seconds,
        "tokens_per_second": (sum(lengths) + rows * (new_tokens - 1)) / seconds,
        "share_of_peak": None if peak is None else cost / seconds / (peak * 1e12),
        "gigabytes": torch.cuda.max_memory_allocated(model.device) / 1e9 if cuda else None,
    }


def vision_flops(config: Any) -> float:
    """Floating-point operations of the vision tower for one picture: matrix products only.

    Most layers attend within windows, the others over the whole picture.
    """
    patches, hidden = ROWS * COLUMNS, int(config.hidden_size)
    weights = config.depth * (4 * hidden**2 + 3 * hidden * config.intermediate_size)
    weights += hidden * 6 * config.patch_size**2
    whole = len(config.fullatt_block_indexes)
    window = (config.window_size // config.patch_size) ** 2
    attended = whole * patches + (config.depth - whole) * min(window, patches)
    merged = 4 * hidden
    merger = (merged**2 + merged * config.out_hidden_size) * (patches // 4)
    return float(2 * weights * patches + 4 * hidden * patches * attended + 2 * merger)


def _show(result: Mapping[str, Any]) -> None:
    size = f"{result['parameters']:,}"
    title = (
        f"{result['device']}, {result['dtype']}, {size} parameters, {result['prompt_tokens']} tokens a prompt"
    )
    table = Table(title=title, title_justify="left")
    for column in ("pictures a batch", "rows/s", "tokens/s", "of bf16 peak", "GB"):
        table.add_column(column, justify="right")
    for row in result["measurements"]:
        share, memory = row["share_of_peak"], row["gigabytes"]
        table.add_row(
            str(row["batch_size"]),
            f"{row['rows_per_second']:,.1f}",
            f"{row['tokens_per_second']:,.0f}",
            "–" if share is None else f"{100 * share:.1f} %",
            "–" if memory is None else f"{memory:.1f}",
        )
    console.stdout.print(table)
