"""SAM 2: the outline of what a box or a point shows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from PIL import Image

from lookcheck.dataset_builders.core.masks import Mask
from lookcheck.dataset_builders.core.verdict_file import Json
from lookcheck.scripts.models.processes import Processes
from lookcheck.scripts.predict.evidence.instances import slices
from lookcheck.scripts.predict.evidence.loaded import Loaded
from lookcheck.scripts.predict.evidence.settings import SAM2, Looking


class Sam2:
    """Outlines boxes and points of one picture, each for itself."""

    def __init__(self, looking: Looking, processes: Processes) -> None:
        name = looking.segmenter or SAM2
        self._loaded = Loaded(
            ("Sam2Model", "Sam2Processor"), name, looking.revision, looking.exact, processes
        )

    def describe(self) -> Mapping[str, Json]:
        """All that affects an outline."""
        return {"segmenter": "sam2", **self._loaded.describe(), "multimask": False}

    def outline_boxes(
        self, picture: Image.Image, boxes: Sequence[tuple[float, float, float, float]]
    ) -> list[Mask]:
        """Masks of shape (h, w), one a box x1, y1, x2, y2 in pixels of the picture."""
        return list(self._outline(picture, {"input_boxes": [list(box) for box in boxes]}, len(boxes)))

    def outline_points(self, picture: Image.Image, points: Sequence[tuple[float, float]]) -> list[Mask]:
        """Masks of shape (h, w), one a point x, y in pixels of the picture."""
        prompts: dict[str, list[Any]] = {
            "input_points": [[list(point)] for point in points],
            "input_labels": [[1] for _ in points],
        }
        return list(self._outline(picture, prompts, len(points)))

    def close(self) -> None:
        """Give back memory."""
        self._loaded.close()

    def _outline(self, picture: Image.Image, prompts: dict[str, list[Any]], count: int) -> Iterator[Mask]:
        if not count:
            return
        import torch

        model, processor, device = self._loaded.model, self._loaded.processor, self._loaded.device
        made = processor(
            images=picture,
            return_tensors="pt",
            **{name: [prompt] for name, prompt in prompts.items()},
        )
        with torch.inference_mode():
            seen = model.get_image_embeddings(made["pixel_values"].to(device, model.dtype))
            for part in slices(count, *picture.size):
                given = {name: made[name][:, part].to(device) for name in prompts}
                answered = model(image_embeddings=seen, multimask_output=False, **given)
                masks = processor.post_process_masks(
                    answered.pred_masks.float().cpu(), made["original_sizes"]
                )[0]
                yield from masks[:, 0].numpy()
