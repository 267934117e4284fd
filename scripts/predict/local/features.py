"""What the vision tower makes of a picture: computed once, used by every question on it."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

# Tensors that hold one picture behind the other, so that several can be encoded in one call.
_STACKED = {"pixel_values", "image_grid_thw"}


@dataclass(frozen=True)
class Features:
    """One picture's features.

    Attributes
    ----------
    pooled : torch.Tensor
        What the text model takes, behind the projector.
    deep : tuple of torch.Tensor
        Of models that feed several layers (DeepStack), for each of these; else empty.
    grid : torch.Tensor or None
        Shape (1, 3): time, rows and columns of patches, where positions are counted from it.
    """

    pooled: Any
    deep: tuple[Any, ...]
    grid: Any


class Encoder:
    """The vision tower and projector of a model.

    Parameters
    ----------
    model : transformers model
        In evaluation mode.

    Attributes
    ----------
    once : bool
        Whether the model takes features in place of pixels. If not, pixels go with every question.
    """

    def __init__(self, model: Any) -> None:
        self._model = model
        self._device = model.get_input_embeddings().weight.device
        encode = getattr(model.base_model, "get_image_features", None)
        self.once = encode is not None and "mm_encoder_outputs" in inspect.signature(model.forward).parameters
        self._takes = set(inspect.signature(encode).parameters) if self.once and encode is not None else set()
        self._kind: Any = None
        self._listed = True

    def encode(self, pictures: Sequence[Mapping[str, Any]]) -> list[Features]:
        """Features of pictures, from their tensors; one call where the model's tensors can be stacked."""
        keys = set(pictures[0]) & self._takes
        if len(pictures) > 1 and not keys <= _STACKED:
            return [self.encode([picture])[0] for picture in pictures]
        import torch

        tensors = {
            key: torch.cat([picture[key] for picture in pictures]).to(self._device)
            if len(pictures) > 1
            else pictures[0][key].to(self._device)
            for key in keys
        }
        out = self._model.base_model.get_image_features(**tensors, return_dict=True)
        self._kind = type(out)
        pooled = out.pooler_output
        self._listed = isinstance(pooled, list | tuple)
        if not self._listed:
            # Tiles of all pictures, one behind the other.
            pooled = torch.split(pooled, [len(picture["pixel_values"]) for picture in pictures])
        elif len(pictures) == 1 and len(pooled) != 1:
            raise RuntimeError(f"the vision tower returned features of {len(pooled)} pictures, not of one")
        deep = getattr(out, "deepstack_features", None) or ()
        grids: Any = tensors.get("image_grid_thw")
        return [
            Features(
                pooled[number],
                tuple(layer[number] for layer in deep),
                None if grids is None else grids[number : number + 1],
            )
            for number in range(len(pictures))
        ]

    def inputs(self, rows: Sequence[Features]) -> dict[str, Any]:
        """What a forward pass takes for rows with these pictures, in the rows' order; none: nothing."""
        import torch

        if not rows:
            return {}
        pooled: Any = [row.pooled for row in rows]
        made = self._kind(pooler_output=tuple(pooled) if self._listed else torch.cat(pooled))
        if rows[0].deep:
            made.deepstack_features = list(zip(*(row.deep for row in rows), strict=True))
        inputs: dict[str, Any] = {"mm_encoder_outputs": {"image": made}}
        if rows[0].grid is not None:
            inputs["image_grid_thw"] = torch.cat([row.grid for row in rows])
        return inputs

    def pixels(self, picture: Mapping[str, Any], rows: int) -> dict[str, Any]:
        """What a forward pass takes for rows that all show one picture, of a model that needs pixels."""
        return {
            key: tensor.to(self._device).repeat(rows, *[1] * (tensor.dim() - 1))
            for key, tensor in picture.items()
        }
