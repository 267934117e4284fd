"""Writes SalArt-VQA in upstream's layouts, with small made-up pictures."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from PIL import Image

SYSTEM = "Answer with a JSON object."
WIDTH, HEIGHT = 24, 16


def png(number: int, *, boxes: bool = False, size: tuple[int, int] = (WIDTH, HEIGHT)) -> bytes:
    """A picture that no other number has; with `boxes` one that differs from it."""
    pixels = np.random.default_rng(number).integers(0, 256, (size[1], size[0], 3), dtype=np.uint8)
    if boxes:
        pixels[2:6, 2:6] = (255, 0, 0)
    stream = io.BytesIO()
    Image.fromarray(pixels).save(stream, "PNG", compress_level=1)
    return stream.getvalue()


def row(number: int, label: dict[str, Any], *, system: bool = False) -> dict[str, Any]:
    """One row of upstream's Parquet for a label {row_id, image_role, q1_answer, …}."""
    made: dict[str, Any] = {
        "row_id": label["row_id"],
        "image_role": label["image_role"],
        "image": {"bytes": png(number), "path": None},
        "q3_overlay_image": {"bytes": png(number, boxes=True), "path": None},
        "q1_prompt": "Is there an artifact? Answer yes or no." if label["q1_answer"] is not None else None,
        "q2_prompt": f"Where is it? ({number})",
        "q3_prompt": "In which box? E if in none.",
        "q4_prompt": "What shows it?",
        "q2_options": {letter: f"region {letter}" for letter in "ABCDE"},
        "q4_options": {letter: f"evidence {letter}" for letter in "ABCDE"},
        **{f"q{n}_answer": label[f"q{n}_answer"] for n in range(1, 5)},
    }
    if system:
        made["system_prompt"] = SYSTEM
    return made


def schema_of(names: Sequence[str], *, large: bool = False, described: bool = False) -> pa.Schema:
    """Arrow schema of upstream's columns; `described` adds what `datasets` writes into it."""
    text = pa.large_string() if large else pa.string()
    picture = pa.struct({"bytes": pa.large_binary() if large else pa.binary(), "path": text})
    options = pa.struct(dict.fromkeys("ABCDE", text))
    kinds = {"image": picture, "q3_overlay_image": picture, "q2_options": options, "q4_options": options}
    kinds["q3_boxes"] = pa.struct(dict.fromkeys("ABCD", pa.list_(pa.float64())))
    schema = pa.schema([(name, kinds.get(name, text)) for name in names])
    if not described:
        return schema
    value = {"dtype": "string", "_type": "Value"}
    known: dict[str, Any] = dict.fromkeys(names, value)
    known |= {name: {"_type": "Image"} for name in ("image", "q3_overlay_image")}
    known |= dict.fromkeys(("q2_options", "q4_options"), dict.fromkeys("ABCDE", value))
    return schema.with_metadata({"huggingface": json.dumps({"info": {"features": known}})})


def write_parquet(
    folder: Path,
    rows: Sequence[dict[str, Any]],
    shards: int = 5,
    *,
    large: bool = False,
    described: bool = False,
) -> Path:
    """Upstream's ``data/test-0000N-of-0000M.parquet``, the rows in their order."""
    (folder / "data").mkdir(parents=True, exist_ok=True)
    schema = schema_of(list(rows[0]), large=large, described=described)
    length = -(-len(rows) // shards)
    for shard in range(shards):
        part = list(rows[shard * length : (shard + 1) * length])
        path = folder / "data" / f"test-{shard:05d}-of-{shards:05d}.parquet"
        pq.write_table(pa.Table.from_pylist(part, schema), path, row_group_size=100)
    return folder


def write_jsonl(folder: Path, rows: Sequence[dict[str, Any]], extra: Sequence[dict[str, Any]]) -> Path:
    """The older layout: ``data/test.jsonl`` beside ``images/…``."""
    (folder / "data").mkdir(parents=True, exist_ok=True)
    lines = []
    for made, more in zip(rows, extra, strict=True):
        record = {**made, **more}
        for column, place in (("image", "clean"), ("q3_overlay_image", "q3_overlay")):
            data = record.pop(column)["bytes"]
            path = folder / "images" / place / f"{made['row_id']}.png"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
            record[f"{column}_path"] = path.relative_to(folder).as_posix()
        lines.append(json.dumps(record))
    (folder / "data" / "test.jsonl").write_text("\n".join(lines) + "\n")
    return folder


def label(number: int, role: str = "artifact") -> dict[str, Any]:
    """A made-up label."""
    first = {"artifact": "yes", "clean_reference": "no", "paired_generated_counterpart": None}[role]
    letter = "ABCD"[number % 4] if role == "artifact" else "E"
    return {
        "row_id": f"salart_{number:012x}",
        "image_role": role,
        "q1_answer": first,
        **{f"q{n}_answer": letter for n in (2, 3, 4)},
    }
