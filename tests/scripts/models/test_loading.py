"""Weights: where they are put, what is refused, and what stands in a header; adapters against peft's own."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

from lookcheck.dataset_builders.core.errors import InputError
from lookcheck.scripts.models.loading import device_of, dtype_of, identity_of, load_model, weights_hash
from lookcheck.scripts.models.processes import Processes
from lookcheck.scripts.models.settings import Place

IDS = torch.arange(20)[None]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, repository: Path) -> Path:
    """A random Llama of two layers."""
    path = repository / "tests" / "scripts" / "judge" / "tiny.py"
    spec = importlib.util.spec_from_file_location("models_tiny", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    made: Path = module.save(tmp_path_factory.mktemp("model") / "tiny")
    return made


@pytest.fixture(scope="module")
def adapter(folder: Path) -> tuple[Path, torch.Tensor]:
    """A LoRA adapter for it, and peft's own logits with the adapter merged into the weights."""
    peft = pytest.importorskip("peft")
    from transformers import AutoModelForCausalLM

    torch.manual_seed(4)
    settings = peft.LoraConfig(r=2, target_modules=["q_proj", "v_proj"], init_lora_weights=False)
    model = peft.get_peft_model(AutoModelForCausalLM.from_pretrained(folder), settings)
    model.save_pretrained(folder.parent / "adapter")
    with torch.inference_mode():
        return folder.parent / "adapter", model.merge_and_unload()(IDS).logits


def load(name: Path | str, **place: Any) -> Any:
    from transformers import AutoModelForCausalLM

    return load_model(AutoModelForCausalLM, str(name), None, Place(**place), device="cpu", dtype="float32")


@torch.inference_mode()
def logits(model: Any) -> torch.Tensor:
    found: torch.Tensor = model(IDS).logits
    return found


def test_weights_go_straight_to_their_device(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from transformers import AutoModelForCausalLM

    model = load(folder)
    assert not model.training

    def moved(*arguments: Any, **options: Any) -> None:
        raise AssertionError("the weights were somewhere else first")

    # Any device that is not the host's: torch's own without memory.
    monkeypatch.setattr(torch.nn.Module, "to", moved)
    away = load_model(AutoModelForCausalLM, str(folder), None, Place(), device="meta", dtype="float32")
    assert {weight.device.type for weight in away.parameters()} == {"meta"}
    half = load_model(AutoModelForCausalLM, str(folder), None, Place(), device="cpu", dtype="bfloat16")
    assert {weight.dtype for weight in half.parameters()} == {torch.bfloat16}


def changed(source: Path, target: Path, change: Callable[[dict[str, Any]], dict[str, Any]]) -> Path:
    """A copy of a folder with other weights."""
    shutil.copytree(source, target)
    (file,) = target.glob("*.safetensors")
    save_file(change(load_file(file)), file, metadata={"format": "pt"})
    return target


def without(part: str) -> Callable[[dict[str, Any]], dict[str, Any]]:
    return lambda weights: {name: value for name, value in weights.items() if part not in name}


def smaller(part: str) -> Callable[[dict[str, Any]], dict[str, Any]]:
    return lambda weights: {name: value[:1] if part in name else value for name, value in weights.items()}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (without("layers.1.mlp"), "no weights for model.layers.1.mlp.down_proj.weight, 3 in all"),
        (smaller("layers.0.mlp.up"), "another shape of model.layers.0.mlp.up_proj.weight, 1 in all"),
    ],
)
def test_weights_are_never_drawn_at_random(
    folder: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str], change: Any, said: str
) -> None:
    """The library only warns of them, and the model answers all the same."""
    broken = changed(folder, tmp_path / "broken", change)
    capfd.readouterr()
    with pytest.raises(InputError) as caught:
        load(broken)
    assert str(caught.value) == f"{broken}: can't be loaded ({said})"
    assert capfd.readouterr().err == ""


def test_what_is_no_model_is_refused_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        load(tmp_path)
    assert str(caught.value).startswith(f"{tmp_path}: can't be loaded (")
    assert "\n" not in str(caught.value)


def test_an_adapter_gives_what_peft_gives(folder: Path, adapter: tuple[Path, torch.Tensor]) -> None:
    path, expected = adapter
    found = logits(load(folder, adapter=str(path)))
    assert torch.allclose(found, expected, atol=1e-3)
    assert (logits(load(folder)) - expected).abs().max() > 1


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (without("layers.0.self_attn.q_proj.lora_B"), "no weights for model.layers.0.self_attn.q_proj.lora_B."),
        (
            lambda weights: {**weights, **{name.replace("layers.0", "layers.7"): value.clone() for name, value in weights.items()}},
            "no place in the model for model.layers.7.self_attn.",
        ),
        (smaller("layers.1.self_attn.v_proj.lora_A"), "another shape of model.layers.1.self_attn.v_proj.lora_A."),
    ],
)  # fmt: skip
def test_an_adapter_of_another_model_is_refused(
    folder: Path, adapter: tuple[Path, torch.Tensor], tmp_path: Path, change: Any, said: str
) -> None:
    other = changed(adapter[0], tmp_path / "other", change)
    with pytest.raises(InputError) as caught:
        load(folder, adapter=str(other))
    assert str(caught.value).startswith(f"--adapter {other}: can't be loaded ({said}")


def test_what_is_no_adapter_is_refused(folder: Path) -> None:
    pytest.importorskip("peft")
    with pytest.raises(InputError) as caught:
        load(folder, adapter=str(folder))
    assert str(caught.value) == f"--adapter {folder}: no adapter, the file adapter_config.json is missing"


def test_what_can_t_be_had_is_refused_before_anything_is_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError) as caught:
        device_of(Place(device="cpu", quantization="4bit"))
    assert str(caught.value) == "--quantization 4bit: needs a GPU, this would run on cpu"
    monkeypatch.setitem(sys.modules, "peft", None)
    with pytest.raises(InputError) as caught:
        device_of(Place(device="cpu", adapter="org/lora"))
    assert str(caught.value) == "--adapter org/lora: needs the package peft: pip install peft"
    # As on a machine with a GPU and without the package.
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setitem(sys.modules, "bitsandbytes", None)
    with pytest.raises(InputError) as caught:
        device_of(Place(device="cuda", quantization="8bit"))
    assert (
        str(caught.value) == "--quantization 8bit: needs the package bitsandbytes: pip install bitsandbytes"
    )


@pytest.mark.parametrize(
    ("asked", "said"),
    [("cuda:0", "no GPU that torch can use"), ("none", "Expected one of cpu, cuda")],
)
def test_devices_that_are_not_there(asked: str, said: str) -> None:
    if asked.startswith("cuda") and torch.cuda.is_available():
        pytest.skip("there is a GPU")
    with pytest.raises(InputError, match=f"--device {asked}: {said}"):
        device_of(Place(device=asked))


def test_numbers_follow_the_device() -> None:
    assert [dtype_of("auto", device) for device in ("cuda:1", "cpu")] == ["bfloat16", "float32"]


def test_the_identity_follows_what_the_model_says(
    folder: Path, adapter: tuple[Path, Any], tmp_path: Path
) -> None:
    def told(name: Path, **place: Any) -> dict[str, Any]:
        return identity_of(str(name), None, Processes(), Place(**place))

    plain = told(folder)
    assert plain == {
        "model": "tiny",
        "revision": None,
        "weights": weights_hash(folder),
        "quantization": None,
        "adapter": None,
        "adapter_weights": None,
    }
    assert identity_of("org/name", None, Processes()) == {
        "model": "org/name",
        "revision": None,
        "weights": None,
    }
    moved = shutil.copytree(folder, tmp_path / "elsewhere" / "tiny")
    assert told(moved) == plain
    settings = json.loads((moved / "config.json").read_text())
    (moved / "config.json").write_text(json.dumps({**settings, "rms_norm_eps": 1e-3}))
    assert told(moved)["weights"] != plain["weights"]
    adapted = told(folder, adapter=str(adapter[0]), quantization="4bit")
    assert (adapted["adapter"], adapted["quantization"]) == ("adapter", "4bit")
    other = changed(adapter[0], tmp_path / "adapter", lambda weights: {k: v + 1 for k, v in weights.items()})
    assert told(folder, adapter=str(other), quantization="4bit") != adapted


PROGRAM = """
import sys
from pathlib import Path
from lookcheck.scripts.models.processes import Processes

def make():
    with Path(sys.argv[1]).open("a") as file:
        file.write("made\\n")
    if len(sys.argv) > 2:
        raise OSError("no such disk")
    return {"weights": "abc"}

processes = Processes(cpu=True)
told = processes.from_first(make)
Path(f"{sys.argv[1]}.{processes.share.rank}").write_text(str(told))
processes.close()
"""


@pytest.mark.parametrize("fails", [False, True])
def test_one_process_reads_and_tells_the_others(tmp_path: Path, fails: bool) -> None:
    script, log = tmp_path / "program.py", tmp_path / "log"
    script.write_text(PROGRAM)
    launch = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "3"]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    command = [*launch, str(script), str(log), *(["fail"] if fails else [])]
    run = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600)
    assert log.read_text() == "made\n"
    if fails:
        assert run.returncode != 0
        assert "OSError: no such disk" in run.stderr
        assert not list(tmp_path.glob("log.*"))
    else:
        assert run.returncode == 0, run.stderr
        told = {path.name: path.read_text() for path in tmp_path.glob("log.*")}
        assert told == {f"log.{rank}": "{'weights': 'abc'}" for rank in range(3)}
