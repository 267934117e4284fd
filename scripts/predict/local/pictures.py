"""One picture as a model's tensors: decoded, turned, resized and cut by the model's own image processor."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from PIL import Image

from lookcheck.dataset_builders.core.errors import InputError
from lookcheck.dataset_builders.requests.pictures import PictureReader, opened
from lookcheck.dataset_builders.requests.request import Picture
from lookcheck.scripts.predict.local.prompts import Prompter

# What a processor returns that belongs to the text.
_OF_TEXT = {"input_ids", "attention_mask", "mm_token_type_ids", "token_type_ids", "text_replacement_offsets"}


class PictureError(ValueError):
    """A picture that can't be shown to the model; the message says why."""


@dataclass(frozen=True)
class Prepared:
    """A picture as its model takes it.

    Attributes
    ----------
    tensors : mapping of str to torch.Tensor
        ``pixel_values`` and what goes with them.
    placeholder, expansion : str
        What the template writes for a picture, and what stands there in the end: as many tokens as the
        picture takes.
    size : tuple of (int, int) or None
        Width and height in pixels as the model sees the picture; None where it is cut into tiles.
    """

    tensors: Mapping[str, Any]
    placeholder: str
    expansion: str
    size: tuple[int, int] | None

    def expanded(self, prompt: str) -> str:
        """A rendered prompt with the picture's tokens in place of the placeholder.

        Raises
        ------
        PictureError
            If there is not exactly one placeholder.
        """
        if prompt.count(self.placeholder) != 1:
            raise PictureError(f"the prompt has {prompt.count(self.placeholder)} places for one picture")
        return prompt.replace(self.placeholder, self.expansion)


class Preparer:
    """Prepares pictures; several threads may ask.

    Parameters
    ----------
    processor : transformers processor
    prompter : Prompter
    reader : PictureReader
    dtype : str
        The model's numbers: pixels are cast to them, as the model itself would do.
    """

    def __init__(self, processor: Any, prompter: Prompter, reader: PictureReader, dtype: str) -> None:
        import torch

        self._processor, self._prompter, self._reader = processor, prompter, reader
        self._dtype: Any = getattr(torch, dtype)

    def __call__(self, picture: Picture, prompt: str) -> Prepared:
        """Prepare a picture for prompts such as the given one.

        Parameters
        ----------
        picture : Picture
        prompt : str
            Rendered, with one placeholder.

        Raises
        ------
        PictureError
            If the picture can't be decoded, or the model takes no picture of its shape.
        InputError
            If the picture can't be read from its file, or the processor's prompt is not the prompter's.
        """
        data = self._reader.read(picture)
        try:
            image = opened(data)
        except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
            raise PictureError(f"the picture can't be decoded ({error})") from None
        try:
            out: Any = self._processor(
                images=[image],
                text=[prompt],
                # The begin token is the prompter's business, and checked below.
                add_special_tokens=False,
                truncation=False,
                padding=False,
                return_text_replacement_offsets=True,
                return_tensors="pt",
            )
        except ValueError as error:
            raise PictureError(f"the picture can't be prepared ({_first_line(error)})") from None
        (place,) = out["text_replacement_offsets"][0]
        tensors = {
            key: value.to(self._dtype) if value.is_floating_point() else value
            for key, value in out.items()
            if key not in _OF_TEXT
        }
        made = Prepared(tensors, place["text"], place["replacement"], self._size(tensors))
        self._check(made, prompt, out["input_ids"][0].tolist())
        return made

    def _check(self, made: Prepared, prompt: str, theirs: list[int]) -> None:
        ours = self._prompter.encoded([made.expanded(prompt)])[0]
        # The begin token may be ours alone, as it is added by the tokenizer in some models.
        if ours not in (theirs, self._prompter.begin(prompt) + theirs):
            raise InputError("the model's processor encodes a prompt with a picture otherwise than expected")

    def _size(self, tensors: Mapping[str, Any]) -> tuple[int, int] | None:
        grid = tensors.get("image_grid_thw")
        if grid is not None:
            _, rows, columns = grid[0].tolist()
            side = int(self._processor.image_processor.patch_size)
            return columns * side, rows * side
        pixels = tensors["pixel_values"]
        if pixels.dim() == 4 and pixels.shape[0] == 1:
            return int(pixels.shape[3]), int(pixels.shape[2])
        return None


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
