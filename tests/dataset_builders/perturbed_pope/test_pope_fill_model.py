"""`--fill`: a tiny random inpainting pipeline, made from a config, fills; run with ``pytest -m fill``."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from PIL import Image
from pycocotools import mask as coco

from lookcheck.dataset_builders.core.errors import InputError
from lookcheck.dataset_builders.dataset import Work
from lookcheck.dataset_builders.parquet.check import check_folder
from lookcheck.dataset_builders.parquet.writer import write_folder
from lookcheck.dataset_builders.perturbed_pope import fill_model
from lookcheck.dataset_builders.perturbed_pope.build import BuildOptions, find_source
from lookcheck.dataset_builders.perturbed_pope.fill_model import FillModel
from lookcheck.dataset_builders.perturbed_pope.plan import plan_source
from lookcheck.dataset_builders.registry import DATASETS

pytestmark = pytest.mark.fill


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a Stable Diffusion inpainting pipeline with random weights."""
    diffusers = pytest.importorskip("diffusers")
    import torch
    from transformers import CLIPTextConfig, CLIPTextModel, CLIPTokenizer

    folder = tmp_path_factory.mktemp("tiny_fill")
    letters = [chr(code) for code in range(97, 123)] + [","]
    words = [*letters, *(letter + "</w>" for letter in letters), "<|startoftext|>", "<|endoftext|>"]
    (folder / "vocab.json").write_text(json.dumps({word: number for number, word in enumerate(words)}))
    (folder / "merges.txt").write_text("#version: 0.2\n")
    torch.manual_seed(0)
    unet = diffusers.UNet2DConditionModel(
        sample_size=32, in_channels=9, out_channels=4, block_out_channels=(32, 64), layers_per_block=1,
        down_block_types=("DownBlock2D", "CrossAttnDownBlock2D"), up_block_types=("CrossAttnUpBlock2D", "UpBlock2D"),
        cross_attention_dim=32,
    )  # fmt: skip
    vae = diffusers.AutoencoderKL(
        block_out_channels=(32, 64), latent_channels=4, down_block_types=("DownEncoderBlock2D",) * 2,
        up_block_types=("UpDecoderBlock2D",) * 2,
    )  # fmt: skip
    text = CLIPTextModel(
        CLIPTextConfig(
            hidden_size=32,
            intermediate_size=37,
            num_attention_heads=4,
            num_hidden_layers=1,
            vocab_size=len(words),
            bos_token_id=len(words) - 2,
            eos_token_id=len(words) - 1,
            pad_token_id=len(words) - 1,
        )
    )
    tokenizer = CLIPTokenizer(str(folder / "vocab.json"), str(folder / "merges.txt"), model_max_length=77)
    pipeline = diffusers.StableDiffusionInpaintPipeline(
        vae=vae, text_encoder=text, tokenizer=tokenizer, unet=unet, scheduler=diffusers.DDIMScheduler(),
        safety_checker=None, feature_extractor=None, requires_safety_checker=False,
    )  # fmt: skip
    pipeline.save_pretrained(folder / "pipeline")
    return folder / "pipeline"


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fill_model, "LONGEST", 64)
    monkeypatch.setitem(fill_model.SETTINGS, "num_inference_steps", 2)


def test_only_the_region_changes_and_the_seed_decides(tiny: Path, tmp_path: Path) -> None:
    image = np.random.default_rng(1).integers(0, 256, (90, 130, 3), dtype=np.uint8)
    region = np.zeros((90, 130), bool)
    region[20:60, 30:70] = True
    model = FillModel(str(tiny), tmp_path)
    made = model.fill(image, region, 2**62 + 1)
    assert np.array_equal(made[~region], image[~region])
    assert (made[region] != image[region]).any(1).mean() > 0.9
    assert np.array_equal(FillModel(str(tiny), tmp_path).fill(image, region, 2**62 + 1), made)
    assert not np.array_equal(model.fill(image, region, 5), made)


def _build(files: Path, tiny: Path, folder: Path) -> dict[str, bytes]:
    folder.mkdir()
    (folder / "work").mkdir()
    options = BuildOptions(
        "pope", questions=[f"random={files / 'random.json'}"], images=files / "images",
        instances=files / "instances.json", fill=str(tiny),
    )  # fmt: skip
    source = find_source(options, Work(folder / "work"))
    manifest = write_folder(plan_source(source, ["entity_swap"]), folder / "out")
    found = manifest["source"]["fill"]
    assert (found["model"], found["pipeline"]) == ("pipeline", "StableDiffusionInpaintPipeline")
    assert (found["num_inference_steps"], found["device"], found["dtype"]) == (2, "cpu", "float32")
    assert found["packages"].keys() == {"diffusers", "torch"}
    (path,) = (folder / "out" / "data").glob("entity_swap-*")
    rows = pq.read_table(path, partitioning=None).to_pylist()
    for row in rows:
        original = np.asarray(Image.open(files / "images" / row["image_name"]))
        (folder / "row.webp").write_bytes(row["image"]["bytes"])
        made = np.asarray(Image.open(folder / "row.webp").convert("RGB"))
        changed = coco.decode(row["mask_rle"]).astype(bool)
        assert np.array_equal(made[~changed], original[~changed])
    assert check_folder(folder / "out", DATASETS).faults == []
    assert "the model `pipeline` has filled" in (folder / "out" / "README.md").read_text()
    return {row["id"]: hashlib.sha256(row["image"]["bytes"]).digest() for row in rows}


def test_a_model_fills_the_places_of_a_build(files: Path, tiny: Path, tmp_path: Path) -> None:
    made = _build(files, tiny, tmp_path / "one")
    assert len(made) == 6
    assert _build(files, tiny, tmp_path / "two") == made


def test_what_is_no_inpainting_pipeline_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no inpainting pipeline"):
        _ = FillModel(str(tmp_path), tmp_path).described
