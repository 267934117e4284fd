"""Where a model runs and with which numbers, its weights put there, and what else tells it from others."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from lookcheck.dataset_builders.core.errors import InputError
from lookcheck.dataset_builders.core.verdict_file import Json
from lookcheck.scripts.models.processes import Processes
from lookcheck.scripts.models.settings import Place

# Files that change what a model in a folder says.
_WEIGHING = {".safetensors", ".json", ".jinja", ".model", ".txt"}


def device_of(place: Place) -> str:
    """The device that is asked for; ``auto`` is this process's own.

    Raises
    ------
    InputError
        If torch has no such device.
    """
    import torch

    if place.device != "auto":
        try:
            kind = torch.device(place.device).type
        except RuntimeError as error:
            raise InputError(f"--device {place.device}: {str(error).splitlines()[0]}") from None
        if kind == "cuda" and not torch.cuda.is_available():
            raise InputError(f"--device {place.device}: no GPU that torch can use")
        return place.device
    from accelerate import PartialState

    return str(PartialState().device)


def dtype_of(asked: str, device: str) -> str:
    """The numbers to compute with; ``auto`` is bfloat16 on a GPU and float32 elsewhere."""
    if asked != "auto":
        return asked
    return "bfloat16" if device.startswith("cuda") else "float32"


def load_model(
    auto_class: Any, name: str, revision: str | None, place: Place, *, device: str, dtype: str
) -> Any:
    """A model in evaluation mode, its weights read straight onto their device.

    Eight processes that each read 14 billion weights into the host's memory first would need 236 GB of it.

    Parameters
    ----------
    auto_class : type
        Of transformers, such as ``AutoModelForCausalLM``.
    name : str
        On the Hub, or a folder.
    revision : str or None
    place : Place
    device, dtype : str
        From :func:`device_of` and :func:`dtype_of`. ``--device-map`` goes before the device.

    Returns
    -------
    transformers model

    Raises
    ------
    InputError
        If it can't be loaded.
    """
    import torch
    from transformers.utils.logging import disable_progress_bar

    disable_progress_bar()  # type: ignore[no-untyped-call]
    with loading(name):
        model: Any = auto_class.from_pretrained(
            name,
            revision=revision,
            dtype=getattr(torch, dtype),
            device_map={"": device} if place.device_map is None else place.device_map,
            attn_implementation=place.attention,
            use_safetensors=True,
            trust_remote_code=False,
        )
    return model.eval()


@contextmanager
def loading(name: str) -> Iterator[None]:
    """Turn the many errors of loading the model `name` into one sentence."""
    try:
        yield
    except InputError:
        raise
    except (OSError, ValueError, ImportError) as error:
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise InputError(f"{name}: can't be loaded ({reason})") from None


def identity_of(name: str, config: Any, processes: Processes) -> dict[str, Json]:
    """What tells a model from all others, whoever has it wherever.

    Parameters
    ----------
    name : str
        On the Hub, or a folder; a folder's files are read by one process only.
    config : transformers configuration
    processes : Processes

    Returns
    -------
    dict
        ``model``, ``revision`` (the commit on the Hub, or None) and ``weights`` (of a folder the hash of
        its files, else None).
    """
    folder = Path(name)
    local = folder.is_dir()
    return {
        "model": folder.resolve().name if local else name,
        "revision": getattr(config, "_commit_hash", None),
        "weights": processes.from_first(lambda: weights_hash(folder)) if local else None,
    }


def weights_hash(folder: Path) -> str:
    """Hash of the files of a model's folder that change what it says."""
    digest = hashlib.sha256()
    for path in sorted(folder.iterdir()):
        if path.is_file() and path.suffix in _WEIGHING:
            with path.open("rb") as file:
                digest.update(f"{path.name}\0{hashlib.file_digest(file, 'sha256').hexdigest()}\n".encode())
    return digest.hexdigest()[:16]
