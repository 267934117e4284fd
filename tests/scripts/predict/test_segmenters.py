"""SAM 3, and Grounding DINO with SAM 2, as evidence: against the models' own documented calls, one at a time."""

from __future__ import annotations

import doctest
import gc
import json
import weakref
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from pycocotools import mask as coco

from lookcheck.dataset_builders.core.errors import InputError
from lookcheck.metrics.grove import compute
from lookcheck.scripts.models.processes import Processes
from lookcheck.scripts.models.settings import Place
from lookcheck.scripts.predict.evidence import instances as module
from lookcheck.scripts.predict.evidence.grounding import NO_BOX, GroundedSam2
from lookcheck.scripts.predict.evidence.instances import Instance, instance, merged, slices
from lookcheck.scripts.predict.evidence.loaded import Loaded
from lookcheck.scripts.predict.evidence.sam2 import Sam2
from lookcheck.scripts.predict.evidence.sam3 import EMPTY_PHRASE, Sam3
from lookcheck.scripts.predict.evidence.settings import Looking

PHRASES = ["a red cup", "two dogs"]
# Random weights are half sure: about half of the ten queries score above this.
SCORE = 0.24

Bits = npt.NDArray[np.bool_]
Folders = Callable[[str], Path]


def bits(found: Instance) -> Bits:
    decoded: Bits = coco.decode(found.rle).astype(bool)
    return decoded


def close_to(found: Bits, wanted: Bits) -> bool:
    """Whether masks agree but for pixels that lie on the threshold itself."""
    return found.shape == wanted.shape and int((found != wanted).sum()) <= found.size // 10_000


@pytest.fixture(scope="module")
def sam3(tiny_segmenters: Folders) -> Sam3:
    return Sam3(Looking(segmenter=str(tiny_segmenters("sam3")), score=SCORE, merge=1.0), Processes())


@pytest.fixture(scope="module")
def grounded(tiny_segmenters: Folders) -> GroundedSam2:
    return GroundedSam2(boxed(tiny_segmenters, "all"), Processes())


def boxed(folders: Folders, boxes: str) -> Looking:
    return Looking(
        segmenter=str(folders("sam2")), grounder=str(folders("grounding_dino")), boxes=boxes, merge=1.0
    )


def sam3_alone(folder: Path, picture: Image.Image, phrase: str) -> list[tuple[float, Bits]]:
    """The documented call for one picture and one phrase: all queries at once, at full size."""
    from transformers import Sam3Model, Sam3Processor

    model, processor = Sam3Model.from_pretrained(folder).eval(), Sam3Processor.from_pretrained(folder)
    inputs = processor(images=picture, text=phrase, return_tensors="pt")
    with torch.no_grad():
        answered = model(
            pixel_values=inputs["pixel_values"],
            input_ids=inputs["input_ids"],
            attention_mask=inputs["attention_mask"],
        )
    made = processor.post_process_instance_segmentation(
        answered, threshold=SCORE, mask_threshold=0.5, target_sizes=[picture.size[::-1]]
    )[0]
    pairs = zip(made["scores"].tolist(), made["masks"].numpy().astype(bool), strict=True)
    return sorted(pairs, key=lambda pair: -pair[0])


def test_sam3_features_once_equals_a_call_for_each_phrase(
    sam3: Sam3, tiny_segmenters: Folders, photographs: list[Image.Image]
) -> None:
    for picture in photographs:
        found = sam3.segment(picture, PHRASES).instances
        wanted = [
            (phrase, *pair)
            for phrase in PHRASES
            for pair in sam3_alone(tiny_segmenters("sam3"), picture, phrase)
        ]
        assert 2 < len(wanted) < 20
        assert [one.phrase for one in found] == [phrase for phrase, _, _ in wanted]
        assert [one.score for one in found] == pytest.approx([score for _, score, _ in wanted], abs=1e-5)
        assert all(close_to(bits(one), mask) for one, (_, _, mask) in zip(found, wanted, strict=True))


def test_sam3_sees_the_picture_and_reads_the_phrase(sam3: Sam3, photographs: list[Image.Image]) -> None:
    wide, tall = photographs
    cup, dogs = (sam3.segment(wide, [phrase]).instances for phrase in PHRASES)
    assert [one.score for one in cup] != pytest.approx([one.score for one in dogs], abs=1e-3)
    turned = sam3.segment(tall.resize(wide.size), [PHRASES[0]]).instances
    assert turned[0].rle["size"] == cup[0].rle["size"] == [wide.height, wide.width]
    ratio = (bits(turned[0]) != bits(cup[0])).mean()
    assert ratio > 0.05


def test_sam3_in_slices_is_sam3_at_once(
    sam3: Sam3, photographs: list[Image.Image], monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = sam3.segment(photographs[0], PHRASES)
    monkeypatch.setattr(module, "SLICE_PIXELS", 1)
    sliced = sam3.segment(photographs[0], PHRASES)
    assert [one.phrase for one in whole.instances] == [one.phrase for one in sliced.instances]
    pairs = zip(whole.instances, sliced.instances, strict=True)
    assert all(close_to(bits(a), bits(b)) for a, b in pairs)


@given(st.integers(0, 300), st.integers(1, 5000), st.integers(1, 5000))
def test_slices_hold_everything_once_and_never_more_than_their_pixels(
    count: int, width: int, height: int
) -> None:
    parts = [list(range(count))[part] for part in slices(count, width, height)]
    assert [index for part in parts for index in part] == list(range(count))
    assert all(len(part) == 1 or len(part) * width * height <= module.SLICE_PIXELS for part in parts)


def test_sam3_keeps_nothing_where_nothing_scores(
    tiny_segmenters: Folders, photographs: list[Image.Image]
) -> None:
    looking = Looking(segmenter=str(tiny_segmenters("sam3")), score=0.999)
    found = Sam3(looking, Processes()).segment(photographs[0], PHRASES)
    assert found.instances == []
    assert found.problems == {}


def test_sam3_takes_no_empty_and_no_long_phrase(sam3: Sam3, photographs: list[Image.Image]) -> None:
    found = sam3.segment(photographs[0], ["", "  ", "zqx" * 50, *PHRASES, " two dogs"])
    assert found.problems == {EMPTY_PHRASE: 1, "phrase of more than 32 tokens": 1}
    usual = sam3.segment(photographs[0], PHRASES)
    assert [one.rle for one in found.instances] == [one.rle for one in usual.instances]
    assert sam3.segment(photographs[0], []).instances == []


def test_a_control_token_in_a_phrase_is_text(
    sam3: Sam3, tiny_segmenters: Folders, photographs: list[Image.Image]
) -> None:
    """The documented call reads the mark as the mark: an end before the words."""
    phrase = "<|endoftext|><|endoftext|>cup"
    acted = [score for score, _ in sam3_alone(tiny_segmenters("sam3"), photographs[0], phrase)]
    found = [one.score for one in sam3.segment(photographs[0], [phrase]).instances]
    assert found != pytest.approx(acted, abs=1e-4)


def test_masks_are_what_the_metric_reads(sam3: Sam3, photographs: list[Image.Image]) -> None:
    found = sam3.segment(photographs[0], PHRASES).instances
    masks = json.loads(json.dumps([one.rle for one in found]))
    result = compute([{"verdict": "yes", "masks": masks}], [{"masks": masks}], ids=["1"])
    assert result["mask_score"] == 1.0


def sam2_alone(folder: Path, picture: Image.Image, prompt: dict[str, Any]) -> Bits:
    from transformers import Sam2Model, Sam2Processor

    model, processor = Sam2Model.from_pretrained(folder).eval(), Sam2Processor.from_pretrained(folder)
    inputs = processor(images=picture, return_tensors="pt", **prompt)
    with torch.no_grad():
        answered = model(**inputs, multimask_output=False)
    mask: Bits = processor.post_process_masks(answered.pred_masks, inputs["original_sizes"])[0][0, 0].numpy()
    return mask


def test_sam2_outlines_each_box_and_point_as_alone(
    tiny_segmenters: Folders, photographs: list[Image.Image], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tiny_segmenters("sam2")
    outliner = Sam2(Looking(segmenter=str(folder)), Processes())
    boxes = [(10.0, 20.0, 200.0, 220.0), (300.0, 100.0, 400.0, 300.0), (0.0, 0.0, 400.0, 400.0)]
    points = [(30.0, 40.0), (350.0, 200.0)]
    for pixels in (1 << 25, 1):
        monkeypatch.setattr(module, "SLICE_PIXELS", pixels)
        for picture in photographs:
            masks = outliner.outline_boxes(picture, boxes)
            alone = [sam2_alone(folder, picture, {"input_boxes": [[list(box)]]}) for box in boxes]
            assert all(map(close_to, masks, alone))
            assert not close_to(masks[0], masks[1])
            masks = outliner.outline_points(picture, points)
            alone = [
                sam2_alone(folder, picture, {"input_points": [[[list(at)]]], "input_labels": [[[1]]]})
                for at in points
            ]
            assert all(map(close_to, masks, alone))
            assert not close_to(masks[0], masks[1])
    first, second = (outliner.outline_boxes(one.resize((400, 400)), boxes[:1])[0] for one in photographs)
    assert (first != second).mean() > 0.02
    assert outliner.outline_boxes(photographs[0], []) == []


def dino_alone(folder: Path, picture: Image.Image, text: str) -> list[tuple[float, list[float]]]:
    from transformers import GroundingDinoForObjectDetection, GroundingDinoProcessor

    model = GroundingDinoForObjectDetection.from_pretrained(folder, attn_implementation="eager").eval()
    processor = GroundingDinoProcessor.from_pretrained(folder)
    inputs = processor(images=picture, text=text, return_tensors="pt")
    with torch.no_grad():
        answered = model(**inputs)
    made = processor.post_process_grounded_object_detection(
        answered, inputs["input_ids"], threshold=0.3, text_threshold=0.25, target_sizes=[picture.size[::-1]]
    )[0]
    return sorted(zip(made["scores"].tolist(), made["boxes"].tolist(), strict=True), reverse=True)


def test_grounding_outlines_the_boxes_of_a_phrase(
    grounded: GroundedSam2, tiny_segmenters: Folders, photographs: list[Image.Image]
) -> None:
    for picture in photographs:
        found = grounded.segment(picture, ["Red cup."]).instances
        wanted = dino_alone(tiny_segmenters("grounding_dino"), picture, "a red cup.")
        assert len(wanted) > 2
        assert [one.score for one in found] == pytest.approx([score for score, _ in wanted], abs=1e-4)
        alone = sam2_alone(tiny_segmenters("sam2"), picture, {"input_boxes": [[wanted[0][1]]]})
        assert close_to(bits(found[0]), alone)
    others = grounded.segment(photographs[0], ["two dogs"]).instances
    same = grounded.segment(photographs[0], ["red cup"]).instances
    assert [one.score for one in others][:3] != pytest.approx([one.score for one in same][:3], abs=1e-6)


def test_grounding_takes_the_top_box_only_where_asked(
    grounded: GroundedSam2, tiny_segmenters: Folders, photographs: list[Image.Image]
) -> None:
    top = GroundedSam2(boxed(tiny_segmenters, "top"), Processes()).segment(photographs[0], ["", PHRASES[0]])
    every = grounded.segment(photographs[0], PHRASES[:1]).instances
    assert top.problems == {EMPTY_PHRASE: 1}
    assert len(every) > 2
    best = every[:1]
    assert [one.score for one in top.instances] == pytest.approx([one.score for one in best], abs=1e-5)
    assert all(close_to(bits(a), bits(b)) for a, b in zip(top.instances, best, strict=True))


def test_grounding_without_a_box_has_no_mask(
    tiny_segmenters: Folders, photographs: list[Image.Image]
) -> None:
    looking = replace(boxed(tiny_segmenters, "top"), box=1.0)
    found = GroundedSam2(looking, Processes()).segment(photographs[0], [PHRASES[0], "cup " * 50])
    assert found.instances == []
    assert found.problems == {NO_BOX: 1, "phrase of more than 32 tokens": 1}


def columns(start: int, stop: int, score: float, phrase: str) -> Instance:
    mask = np.zeros((4, 30), dtype=bool)
    mask[:, start:stop] = True
    return instance(mask, score, phrase)


def test_the_same_instance_of_two_phrases_is_one() -> None:
    # IoU 8/10 and 7/10.
    first, near, far = columns(0, 10, 0.4, "cup"), columns(0, 8, 0.9, "mug"), columns(3, 10, 0.9, "mug")
    assert merged([first, near], 0.8) == [replace(near, also=("cup",))]
    assert merged([first, far], 0.8) == [first, far]
    assert merged([first, far], 0.7) == [replace(far, also=("cup",))]


def test_instances_of_one_phrase_stay_apart_and_each_is_merged_once() -> None:
    twice = [columns(0, 10, 0.9, "cup"), columns(0, 10, 0.8, "cup")]
    assert merged(twice, 0.8) == twice
    three = [columns(0, 10, 0.9, "mug"), *twice]
    assert merged(three, 0.8) == [replace(three[0], also=("cup",)), twice[1]]
    chain = [columns(0, 10, 0.9, "a"), columns(0, 10, 0.8, "b"), columns(0, 10, 0.7, "c")]
    assert merged(chain, 0.8) == [replace(chain[0], also=("b", "c"))]


masks = st.tuples(st.integers(0, 20), st.integers(1, 9), st.floats(0, 1), st.sampled_from("abc"))


@given(st.lists(masks, max_size=8), st.sampled_from([0.5, 0.8, 1.0]))
def test_merging_loses_no_instance_and_invents_none(
    drawn: list[tuple[int, int, float, str]], threshold: float
) -> None:
    given_ones = [columns(start, start + width, score, phrase) for start, width, score, phrase in drawn]
    kept = merged(given_ones, threshold)
    phrases = sorted(phrase for one in kept for phrase in (one.phrase, *one.also))
    assert phrases == sorted(one.phrase for one in given_ones)
    assert all(len({one.phrase, *one.also}) == 1 + len(one.also) for one in kept)
    bare = [replace(one, also=()) for one in kept]
    assert all(one in given_ones for one in bare)
    for one in kept:
        for phrase in one.also:
            same = [other.rle for other in given_ones if other.phrase == phrase]
            assert coco.iou([one.rle], same, [0] * len(same)).max() >= threshold


def test_settings_that_change_masks_are_described(tiny_segmenters: Folders) -> None:
    looking = Looking(segmenter=str(tiny_segmenters("sam3")))
    told = Sam3(looking, Processes()).describe()
    assert json.loads(json.dumps(told)) == told
    assert told["dtype"] == "float32"
    assert (told["score_threshold"], told["mask_threshold"], told["merge_iou"]) == (0.3, 0.5, 0.8)
    for change in ({"score": 0.4}, {"mask": 0.6}, {"merge": 0.9}):
        assert Sam3(replace(looking, **change), Processes()).describe() != told
    told = GroundedSam2(boxed(tiny_segmenters, "top"), Processes()).describe()
    assert json.loads(json.dumps(told)) == told
    assert told["prompt"] == "a {phrase}."
    assert (told["box_threshold"], told["text_threshold"], told["boxes"]) == (0.3, 0.25, "top")


def test_what_is_done_to_the_model_under_test_is_not_done_to_a_segmenter(tiny_segmenters: Folders) -> None:
    """It shares the place only: quantised weights can't be had on a CPU, and the adapter is none at all."""
    folder = str(tiny_segmenters("sam3"))
    told = []
    for place in (Place(device="cpu"), Place(device="cpu", quantization="4bit", adapter="no/such")):
        loaded = Loaded(("Sam3Model", "Sam3Processor"), folder, None, place, Processes())
        told.append(loaded.describe())
        assert not hasattr(loaded.model, "peft_config")
    assert told[0] == told[1]


def test_a_closed_segmenter_holds_no_weights(
    tiny_segmenters: Folders, photographs: list[Image.Image]
) -> None:
    segmenter = Sam3(Looking(segmenter=str(tiny_segmenters("sam3")), score=SCORE), Processes())
    before = segmenter.segment(photographs[0], PHRASES)
    held = weakref.ref(segmenter._loaded.model)
    segmenter.close()
    gc.collect()
    assert held() is None
    assert segmenter.segment(photographs[0], PHRASES) == before


@pytest.mark.parametrize("wrong", [{"score": 1.5}, {"merge": -0.1}, {"boxes": "best"}, {"box": float("nan")}])
def test_settings_out_of_range_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="expected"):
        Looking(**wrong)


def test_a_folder_without_a_model_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="can't be loaded"):
        Sam3(Looking(segmenter=str(tmp_path)), Processes())


def test_examples_of_instances() -> None:
    assert doctest.testmod(module).failed == 0
