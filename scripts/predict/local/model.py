"""A checkpoint's parts: its configuration and processor at once, its weights when they are needed."""

from __future__ import annotations

import importlib.metadata
import json
from collections.abc import Mapping
from typing import Any

from lookcheck.dataset_builders.core.errors import InputError
from lookcheck.dataset_builders.core.verdict_file import Json
from lookcheck.scripts.models.loading import device_of, dtype_of, identity_of, load_model, loading
from lookcheck.scripts.models.processes import Processes
from lookcheck.scripts.models.require import require
from lookcheck.scripts.models.settings import Place
from lookcheck.scripts.predict.local.settings import Limits

# Of an image processor's settings, those that change no picture.
_IDLE = {"image_processor_type", "processor_class", "_processor_class", "return_tensors", "device"}


class Checkpoint:
    """A model of transformers by its name.

    Parameters
    ----------
    name : str
        On the Hub, or a folder.
    revision : str or None
    place : Place
    processes : Processes
    limits : Limits

    Attributes
    ----------
    config : transformers configuration
    processor : transformers processor, or tokenizer where `sees` is False
    sees : bool
        Whether it is a vision-language model.
    device, dtype : str

    Raises
    ------
    InputError
        If there is no such model, or it has no such limit of pixels.
    """

    def __init__(
        self, name: str, revision: str | None, place: Place, processes: Processes, limits: Limits
    ) -> None:
        require("torch", "transformers", "accelerate")
        from transformers import AutoConfig, AutoProcessor, AutoTokenizer
        from transformers.models.auto.modeling_auto import MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING

        self.name, self.revision = name, revision
        self._place, self._processes, self._asked = place, processes, limits
        self.device = device_of(place)
        self.dtype = dtype_of(place.dtype, self.device)
        options: dict[str, Any] = {"revision": revision, "trust_remote_code": False}
        with loading(name):
            self.config = AutoConfig.from_pretrained(name, **options)
            self.sees = type(self.config) in MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING
            if self.sees:
                require("torchvision")
                auto: Any = AutoProcessor
                self.processor: Any = auto.from_pretrained(name, **options, **self._limits())
                self._check_limits()
            else:
                self.processor = AutoTokenizer.from_pretrained(name, **options)
        self.tokenizer: Any = self.processor.tokenizer if self.sees else self.processor

    def describe(self) -> dict[str, Json]:
        """What tells this model from others, with all that is done to it and to pictures."""
        deciding: dict[str, Json] = {
            **identity_of(self.name, self.config, self._processes, self._place),
            "class": (self.config.architectures or [None])[0],
            "dtype": self.dtype,
            "device": self.device.partition(":")[0],
            "attention": self._place.attention,
            "stop": list(self.stops()),
            "pictures": "seen" if self.sees else "left out: a model without eyes, the language prior",
        }
        if self.sees:
            # It resizes: Pillow's values, and those of other versions, differ.
            deciding["torchvision"] = importlib.metadata.version("torchvision")
            deciding["image_processor"] = {
                "class": type(self.processor.image_processor).__name__,
                **_plain(self.processor.image_processor.to_dict()),
            }
        return deciding

    def stops(self) -> list[int]:
        """Token ids that end a reply: the generation settings' and the tokenizer's own."""
        from transformers import GenerationConfig

        try:
            auto: Any = GenerationConfig
            settings: Any = auto.from_pretrained(self.name, revision=self.revision)
        except OSError:
            settings = self.config.get_text_config()
        found = getattr(settings, "eos_token_id", None)
        several = found if isinstance(found, list) else [found]
        return sorted({token for token in (*several, self.tokenizer.eos_token_id) if token is not None})

    def pad(self) -> int:
        """A token to pad with."""
        pad: int | None = self.tokenizer.pad_token_id
        return pad if pad is not None else next(iter(self.stops()), 0)

    def longest(self) -> int | None:
        """Tokens that prompt and reply may have together; None where the model doesn't say."""
        most: int | None = getattr(self.config.get_text_config(), "max_position_embeddings", None)
        return most

    def load(self) -> Any:
        """The weights, in evaluation mode and read straight onto their device."""
        from transformers import AutoModelForCausalLM, AutoModelForImageTextToText

        auto = AutoModelForImageTextToText if self.sees else AutoModelForCausalLM
        return load_model(auto, self.name, self.revision, self._place, device=self.device, dtype=self.dtype)

    def _limits(self) -> dict[str, int]:
        asked = {"min_pixels": self._asked.min_pixels, "max_pixels": self._asked.max_pixels}
        return {key: value for key, value in asked.items() if value is not None}

    def _check_limits(self) -> None:
        size = self.processor.image_processor.to_dict().get("size") or {}
        heeded = {"min_pixels": size.get("shortest_edge"), "max_pixels": size.get("longest_edge")}
        for key, value in self._limits().items():
            if heeded[key] != value:
                option = "--" + key.replace("_", "-")
                raise InputError(f"{option} {value}: the pictures of {self.name} have no such limit")


def _plain(settings: Mapping[str, Any]) -> dict[str, Json]:
    kept = {key: value for key, value in settings.items() if key not in _IDLE and value is not None}
    plain: dict[str, Json] = json.loads(json.dumps(kept, default=str, sort_keys=True))
    return plain
