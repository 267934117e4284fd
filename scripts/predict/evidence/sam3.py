"""SAM 3: all instances of a phrase, from features of the picture that are computed once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from PIL import Image

from lookcheck.dataset_builders.core.verdict_file import Json
from lookcheck.scripts.models.processes import Processes
from lookcheck.scripts.predict.evidence.instances import Found, Instance, instance, merged, ordered, slices
from lookcheck.scripts.predict.evidence.loaded import Loaded
from lookcheck.scripts.predict.evidence.settings import SAM3, Looking

EMPTY_PHRASE, EMPTY_MASK = "empty phrase", "mask without a pixel"


class Sam3:
    """See `Segmenter`; several instances of a phrase stay apart."""

    def __init__(self, looking: Looking, processes: Processes) -> None:
        name = looking.segmenter or SAM3
        self._looking = looking
        self._loaded = Loaded(
            ("Sam3Model", "Sam3Processor"), name, looking.revision, looking.exact, processes
        )

    def describe(self) -> Mapping[str, Json]:
        """See `Segmenter`."""
        return {
            "segmenter": "sam3",
            **self._loaded.describe(),
            "score_threshold": self._looking.score,
            "mask_threshold": self._looking.mask,
            "merge_iou": self._looking.merge,
        }

    def segment(self, picture: Image.Image, phrases: Sequence[str]) -> Found:
        """See `Segmenter`; a phrase of more tokens than the model takes is a problem, not looked for."""
        import torch

        problems: Counter[str] = Counter()
        wanted = list(self._tokens(phrases, problems))
        if not wanted:
            return Found([], problems)
        model, device = self._loaded.model, self._loaded.device
        pixels = self._loaded.processor(images=picture, return_tensors="pt")["pixel_values"]
        instances: list[Instance] = []
        with torch.inference_mode():
            seen = model.get_vision_features(pixel_values=pixels.to(device, model.dtype))
            for phrase, tokens in wanted:
                answered = model(
                    vision_embeds=seen, **{name: value.to(device) for name, value in tokens.items()}
                )
                instances += ordered(self._instances(answered, picture, phrase, problems))
        return Found(merged(instances, self._looking.merge), +problems)

    def close(self) -> None:
        """See `Segmenter`."""
        self._loaded.close()

    def _tokens(self, phrases: Sequence[str], problems: Counter[str]) -> Iterator[tuple[str, Any]]:
        tokenizer = self._loaded.processor.tokenizer
        most = self._loaded.model.config.text_config.max_position_embeddings
        for phrase in dict.fromkeys(phrase.strip() for phrase in phrases):
            if not phrase:
                problems[EMPTY_PHRASE] += 1
                continue
            # What the model under test wrote is text, and no control token of this tokenizer.
            tokens = tokenizer(
                phrase, padding="max_length", max_length=most, split_special_tokens=True, return_tensors="pt"
            )
            if tokens["input_ids"].shape[1] > most:
                problems[f"phrase of more than {most} tokens"] += 1
                continue
            yield phrase, {name: tokens[name] for name in ("input_ids", "attention_mask")}

    def _instances(
        self, answered: Any, picture: Image.Image, phrase: str, problems: Counter[str]
    ) -> Iterator[Instance]:
        scores = answered.pred_logits.float().sigmoid() * answered.presence_logits.float().sigmoid()
        kept = (scores[0] > self._looking.score).nonzero()[:, 0]
        for part in slices(len(kept), *picture.size):
            chosen = kept[part]
            # 200 masks of a large picture are gigabytes: only those that count are made, a few at a time.
            fewer = type(answered)(
                pred_logits=answered.pred_logits[:, chosen].float(),
                pred_boxes=answered.pred_boxes[:, chosen].float(),
                pred_masks=answered.pred_masks[:, chosen].float(),
                presence_logits=answered.presence_logits.float(),
            )
            made = self._loaded.processor.post_process_instance_segmentation(
                fewer,
                threshold=self._looking.score,
                mask_threshold=self._looking.mask,
                target_sizes=[picture.size[::-1]],
            )[0]
            for mask, score in zip(made["masks"].bool().cpu().numpy(), made["scores"].tolist(), strict=True):
                problems[EMPTY_MASK] += not mask.any()
                yield instance(mask, score, phrase)
