"""A model of `transformers` for segmenting with its processor: described without, loaded when first used."""

from __future__ import annotations

import gc
from collections.abc import Mapping
from typing import Any

from lookcheck.dataset_builders.core.verdict_file import Json
from lookcheck.scripts.models.loading import device_of, dtype_of, identity_of, load_model, loading
from lookcheck.scripts.models.processes import Processes
from lookcheck.scripts.models.require import require
from lookcheck.scripts.models.settings import Place


class Loaded:
    """A model, its processor, and what tells both from others.

    Parameters
    ----------
    classes : tuple of (str, str)
        Names of the model's and the processor's class in ``transformers``.
    name : str
        On the Hub, or a folder.
    revision : str or None
    place : Place
    processes : Processes

    Attributes
    ----------
    processor : transformers processor
    device : str
    """

    def __init__(
        self, classes: tuple[str, str], name: str, revision: str | None, place: Place, processes: Processes
    ) -> None:
        require("torch", "torchvision", "transformers", "accelerate")
        import transformers

        # Quantised weights and adapters are asked for the model under test.
        place = place.bare
        self._model_class = getattr(transformers, classes[0])
        self._name, self._revision, self._place = name, revision, place
        self.device = device_of(place)
        self._dtype = dtype_of(place.dtype, self.device)
        with loading(name):
            self.processor = getattr(transformers, classes[1]).from_pretrained(name, revision=revision)
            self._config = transformers.AutoConfig.from_pretrained(
                name, revision=revision, trust_remote_code=False
            )
        self._identity = identity_of(name, self._config, processes)
        self._model: Any = None

    def describe(self) -> Mapping[str, Json]:
        """Model, revision, weights, dtype, kind of device, attention and class of the image processor."""
        return {
            **self._identity,
            "dtype": self._dtype,
            "device": self.device.partition(":")[0],
            "attention": self._place.attention,
            "image_processor": type(self.processor.image_processor).__name__,
        }

    @property
    def model(self) -> Any:
        """The model in evaluation mode on its device."""
        if self._model is None:
            self._model = load_model(
                self._model_class,
                self._name,
                self._revision,
                self._place,
                device=self.device,
                dtype=self._dtype,
            )
        return self._model

    def close(self) -> None:
        """Free the model."""
        if self._model is None:
            return
        import torch

        self._model = None
        gc.collect()
        if torch.cuda.is_available():
            torch.cuda.empty_cache()
