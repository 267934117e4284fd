"""Where a model runs and with which numbers, its weights put there, and what else tells it from others."""

from __future__ import annotations

import hashlib
import importlib
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from lookcheck.dataset_builders.core.errors import InputError
from lookcheck.dataset_builders.core.verdict_file import Json
from lookcheck.scripts.models.processes import Processes
from lookcheck.scripts.models.settings import Place

# Files that change what a model in a folder says.
_WEIGHING = {".safetensors", ".json", ".jinja", ".model", ".txt"}

_ADAPTER_CONFIG, _ADAPTER_WEIGHTS = "adapter_config.json", "adapter_model.safetensors"

_MISFITS = "another shape of"


def device_of(place: Place) -> str:
    """The device that is asked for; ``auto`` is this process's own.

    Raises
    ------
    InputError
        If torch has no such device, or what is asked of the weights can't be had there or without a package.
    """
    device = _device(place)
    if place.quantization is not None:
        if not device.startswith("cuda"):
            raise InputError(f"--quantization {place.quantization}: needs a GPU, this would run on {device}")
        _need("bitsandbytes", f"--quantization {place.quantization}")
    if place.adapter is not None:
        _need("peft", f"--adapter {place.adapter}")
    return device


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
        If it can't be loaded, or the files lack some of its weights.
    """
    import torch

    given = {} if place.quantization is None else {"quantization_config": _quantization(place, dtype)}
    with loading(name):
        model, found = auto_class.from_pretrained(
            name,
            revision=revision,
            dtype=getattr(torch, dtype),
            device_map={"": device} if place.device_map is None else place.device_map,
            attn_implementation=place.attention,
            use_safetensors=True,
            trust_remote_code=False,
            output_loading_info=True,
            ignore_mismatched_sizes=True,
            **given,
        )
    # What is missing would be drawn at random, and the model would answer all the same. A checkpoint may hold
    # more than the model needs.
    _check(name, {"no weights for": found["missing_keys"], _MISFITS: found["mismatched_keys"]})
    if place.adapter is not None:
        _adapt(model, place.adapter)
    return model.eval()


@contextmanager
def loading(name: str) -> Iterator[None]:
    """Turn the many errors of loading the model `name` into one sentence, without a report beside it."""
    import torch
    from transformers.utils import logging

    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    before = logging.get_verbosity()
    logging.set_verbosity_error()  # type: ignore[no-untyped-call]
    try:
        yield
    except InputError:
        raise
    except (OSError, ValueError, ImportError, torch.OutOfMemoryError) as error:
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise InputError(f"{name}: can't be loaded ({reason})") from None
    finally:
        logging.set_verbosity(before)


def identity_of(name: str, config: Any, processes: Processes, place: Place | None = None) -> dict[str, Json]:
    """What tells a model from all others, whoever has it wherever.

    Parameters
    ----------
    name : str
        On the Hub, or a folder; a folder's files are read by one process only.
    config : transformers configuration
    processes : Processes
    place : Place, optional
        What is done to the weights, where anything may be.

    Returns
    -------
    dict
        ``model``, ``revision`` (the commit on the Hub, or None) and ``weights`` (of a folder the hash of
        its files, else None); with a place also ``quantization``, ``adapter`` and ``adapter_weights`` (the
        hash of its files), each None where there is none.

    Raises
    ------
    InputError
        If the adapter can't be found.
    """
    folder = Path(name)
    found: dict[str, Json] = {
        "model": _shown_name(name),
        "revision": getattr(config, "_commit_hash", None),
        "weights": processes.from_first(lambda: weights_hash(folder)) if folder.is_dir() else None,
    }
    if place is None:
        return found
    told: dict[str, Json] = {"quantization": place.quantization, "adapter": None, "adapter_weights": None}
    if (adapter := place.adapter) is not None:
        told["adapter"] = _shown_name(adapter)
        told["adapter_weights"] = processes.from_first(partial(_adapter_hash, adapter))
    return found | told


def _adapter_hash(name: str) -> str:
    return weights_hash(_adapter_folder(name))


def weights_hash(folder: Path) -> str:
    """Hash of the files of a model's folder that change what it says."""
    digest = hashlib.sha256()
    for path in sorted(folder.iterdir()):
        if path.is_file() and path.suffix in _WEIGHING:
            with path.open("rb") as file:
                digest.update(f"{path.name}\0{hashlib.file_digest(file, 'sha256').hexdigest()}\n".encode())
    return digest.hexdigest()[:16]


def _shown_name(name: str) -> str:
    """A folder's own name, which says nothing of the machine; a name on the Hub as it is."""
    return Path(name).resolve().name if Path(name).is_dir() else name


def _device(place: Place) -> str:
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


def _need(package: str, option: str) -> None:
    try:
        importlib.import_module(package)
    except ImportError:
        raise InputError(f"{option}: needs the package {package}: pip install {package}") from None


def _quantization(place: Place, dtype: str) -> Any:
    import torch
    from transformers import BitsAndBytesConfig

    if place.quantization == "8bit":
        return BitsAndBytesConfig(load_in_8bit=True)  # type: ignore[no-untyped-call]
    return BitsAndBytesConfig(  # type: ignore[no-untyped-call]
        load_in_4bit=True, bnb_4bit_quant_type="nf4", bnb_4bit_compute_dtype=getattr(torch, dtype)
    )


def _adapter_folder(name: str) -> Path:
    """The adapter's own folder, or its copy in the Hub's cache."""
    folder = Path(name)
    if not folder.is_dir():
        from huggingface_hub import snapshot_download

        with loading(name):
            folder = Path(snapshot_download(name, allow_patterns=[_ADAPTER_CONFIG, _ADAPTER_WEIGHTS]))
    for file in (_ADAPTER_CONFIG, _ADAPTER_WEIGHTS):
        if not (folder / file).is_file():
            raise InputError(f"--adapter {name}: no adapter, the file {file} is missing")
    return folder


def _adapt(model: Any, name: str) -> None:
    """Put the adapter's weights beside the model's; each of them has to have its place."""
    with loading(name):
        found = model.load_adapter(
            str(_adapter_folder(name)), use_safetensors=True, ignore_mismatched_sizes=True
        )
    wrong = {
        "no weights for": found.missing_keys,
        "no place in the model for": found.unexpected_keys,
        _MISFITS: found.mismatched_keys,
    }
    _check(f"--adapter {name}", wrong)


def _check(name: str, wrong: Mapping[str, Collection[Any]]) -> None:
    """Refuse a model that is not wholly that of its files; `wrong` has names of weights, by what is wrong."""
    for what, keys in wrong.items():
        if keys:
            # Misfits come with both shapes.
            first = min(key if isinstance(key, str) else key[0] for key in keys)
            raise InputError(f"{name}: can't be loaded ({what} {first}, {len(keys):,} in all)")
