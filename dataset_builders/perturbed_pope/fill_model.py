"""A model of diffusers that fills the places of removed objects (``--fill MODEL``)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

import numpy as np
from PIL import Image

from lookcheck.dataset_builders.core.errors import InputError
from lookcheck.dataset_builders.core.images import Pixels, load
from lookcheck.dataset_builders.core.masks import Mask
from lookcheck.dataset_builders.perturbed_pope.perturbations import seed_of
from lookcheck.dataset_builders.perturbed_pope.swap_rules import SwapJob

# Longest side in pixels at which a model fills, and what its sides must be divisible by.
LONGEST, MULTIPLE = 512, 64
SETTINGS: Final = {
    "prompt": "empty background, nothing else",
    "num_inference_steps": 30,
    "guidance_scale": 7.5,
    "strength": 1.0,
}


class FillModel:
    """An inpainting pipeline, loaded when the first place is filled.

    Parameters
    ----------
    model : str
        A folder, or a repository of the Hub.
    folder : Path
        Where filled pictures are kept until the data set is written.

    Raises
    ------
    InputError
        If diffusers is missing, or the model can't be loaded.
    """

    def __init__(self, model: str, folder: Path) -> None:
        self._model = model
        self._folder = folder
        self._number = 0

    @cached_property
    def _pipeline(self) -> Any:
        try:
            from diffusers import AutoPipelineForInpainting
        except ImportError:
            raise InputError("--fill needs the package diffusers: pip install 'lookcheck[fill]'") from None
        find: Any = AutoPipelineForInpainting
        try:
            pipeline = find.from_pretrained(self._model)
        except Exception as error:  # diffusers raises many kinds
            message = str(error).splitlines()[0][:200]
            raise InputError(f"--fill {self._model}: no inpainting pipeline ({message})") from None
        import torch

        pipeline.set_progress_bar_config(disable=True)
        return pipeline.to("cuda" if torch.cuda.is_available() else "cpu")

    @cached_property
    def described(self) -> Mapping[str, Any]:
        """What a fill rests on, for ``lookcheck.json``."""
        return {
            "model": Path(self._model).name if Path(self._model).is_dir() else self._model,
            "pipeline": type(self._pipeline).__name__,
            "device": self._pipeline.device.type,
            "dtype": str(self._pipeline.dtype).removeprefix("torch."),
            "longest_side": LONGEST,
            "packages": {name: version(name) for name in ("diffusers", "torch")},
            **SETTINGS,
        }

    def picture(self, job: SwapJob, *names: str) -> Path:
        """Fill the place of an object; the seed follows from the names of photograph and object."""
        hole = job.scene.hole()
        region = hole.own | (hole.wide & ~hole.kept)
        self._number += 1
        path = self._folder / f"filled-{self._number}.png"
        Image.fromarray(self.fill(load(job.path), region, seed_of(*names))).save(path)
        return path

    def fill(self, image: Pixels, region: Mask, seed: int) -> Pixels:
        """A picture whose region the model has filled; all other pixels stay.

        Parameters
        ----------
        image : ndarray of uint8, shape (H, W, 3)
        region : ndarray of bool, shape (H, W)
        seed : int
        """
        import torch

        height, width = region.shape
        scale = LONGEST / max(height, width)
        across, down = (max(MULTIPLE, round(side * scale / MULTIPLE) * MULTIPLE) for side in (width, height))
        made = self._pipeline(
            image=Image.fromarray(image).resize((across, down)),
            mask_image=Image.fromarray(region).convert("L").resize((across, down)),
            height=down,
            width=across,
            generator=torch.Generator("cpu").manual_seed(seed),
            **SETTINGS,
        ).images[0]
        filled = np.asarray(made.convert("RGB").resize((width, height), Image.Resampling.LANCZOS))
        return np.where(region[..., None], filled, image).astype(np.uint8)
