"""Grounding DINO and SAM 2: boxes that a phrase names, and their outlines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from PIL import Image

from lookcheck.dataset_builders.core.verdict_file import Json
from lookcheck.scripts.models.neutral import Markup, neutral
from lookcheck.scripts.models.processes import Processes
from lookcheck.scripts.predict.evidence.instances import Found, instance, merged
from lookcheck.scripts.predict.evidence.loaded import Loaded
from lookcheck.scripts.predict.evidence.sam2 import Sam2
from lookcheck.scripts.predict.evidence.sam3 import EMPTY_MASK, EMPTY_PHRASE
from lookcheck.scripts.predict.evidence.settings import Looking

PROMPT = "a {phrase}."
"""Of arXiv 2605.22903."""

NO_BOX = "phrase without a box"

Box = tuple[float, float, float, float]


class GroundedSam2:
    """See `Segmenter`: of each phrase the box with the highest score, or each box, outlined by SAM 2."""

    def __init__(self, looking: Looking, processes: Processes) -> None:
        self._looking = looking
        self._outliner = Sam2(looking, processes)
        # Its attention over sampled points has one implementation only.
        place = replace(looking.exact, attention="eager")
        classes = ("GroundingDinoForObjectDetection", "GroundingDinoProcessor")
        self._loaded = Loaded(classes, looking.grounder, looking.grounder_revision, place, processes)

    def describe(self) -> Mapping[str, Json]:
        """See `Segmenter`."""
        return {
            "segmenter": "grounding-dino+sam2",
            "grounder": dict(self._loaded.describe()),
            "outliner": dict(self._outliner.describe()),
            "prompt": PROMPT,
            "box_threshold": self._looking.box,
            "text_threshold": self._looking.text,
            "boxes": self._looking.boxes,
            "merge_iou": self._looking.merge,
        }

    def segment(self, picture: Image.Image, phrases: Sequence[str]) -> Found:
        """See `Segmenter`."""
        problems: Counter[str] = Counter()
        boxes: list[tuple[str, float, Box]] = []
        for phrase in dict.fromkeys(phrase.strip() for phrase in phrases):
            if not phrase:
                problems[EMPTY_PHRASE] += 1
                continue
            boxes += [(phrase, *found) for found in self._boxes(picture, phrase, problems)]
        masks = self._outliner.outline_boxes(picture, [box for _, _, box in boxes])
        problems[EMPTY_MASK] += sum(not mask.any() for mask in masks)
        instances = [
            instance(mask, score, phrase) for mask, (phrase, score, _) in zip(masks, boxes, strict=True)
        ]
        return Found(merged(instances, self._looking.merge), +problems)

    def close(self) -> None:
        """See `Segmenter`."""
        self._loaded.close()
        self._outliner.close()

    def _boxes(self, picture: Image.Image, phrase: str, problems: Counter[str]) -> list[tuple[float, Box]]:
        import torch

        model, processor, device = self._loaded.model, self._loaded.processor, self._loaded.device
        text = PROMPT.format(phrase=neutral(phrase.lower(), Markup(processor.tokenizer).tokens).rstrip(" ."))
        most = model.config.max_text_len
        if len(processor.tokenizer(text)["input_ids"]) > most:
            problems[f"phrase of more than {most} tokens"] += 1
            return []
        made = processor(images=picture, text=text, return_tensors="pt").to(device)
        with torch.inference_mode():
            answered = model(**made)
        found = processor.post_process_grounded_object_detection(
            answered,
            made["input_ids"],
            threshold=self._looking.box,
            text_threshold=self._looking.text,
            target_sizes=[picture.size[::-1]],
        )[0]
        pairs = [
            (score, (x1, y1, x2, y2))
            for score, (x1, y1, x2, y2) in zip(found["scores"].tolist(), found["boxes"].tolist(), strict=True)
        ]
        if not pairs:
            problems[NO_BOX] += 1
        pairs.sort(key=lambda pair: -pair[0])
        return pairs[:1] if self._looking.boxes == "top" else pairs
