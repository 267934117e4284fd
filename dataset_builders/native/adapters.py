"""Adapters by name: which form of evidence a model writes, in which coordinates, and where that is public."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from lookcheck.dataset_builders.core.errors import InputError
from lookcheck.dataset_builders.native.conventions import CONVENTIONS

Form = Literal["boxes", "points", "polygons", "masks", "qwen", "tags", "folder", "glamm"]


@dataclass(frozen=True)
class Adapter:
    """How one kind of output is read.

    Attributes
    ----------
    name : str
        As ``--evidence native:NAME`` takes it.
    title : str
    form : str
        What is looked for in the reply, or ``folder`` for PNG files beside it.
    convention : str or None
        Of `CONVENTIONS`; None where there are no coordinates.
    source : str
        Where the form is public, or what is not.
    """

    name: str
    title: str
    form: Form
    convention: str | None
    source: str


_OWN = "own: JSON with the key {key}, or the bare list, in a reply of any words"
_SEG = (
    "public code gives the words with a token [SEG], and masks as tensors, not text; no format of files is "
    "public: save each instance as a PNG"
)

_FORMS: Mapping[Form, tuple[str, str]] = {
    "boxes": ("Boxes [x1, y1, x2, y2]", _OWN.format(key="boxes")),
    "points": ("Points [x, y]", _OWN.format(key="points")),
    "polygons": ("Polygons [x, y, x, y …]", _OWN.format(key="polygons")),
    "tags": ("Boxes as <box>[x1, y1, x2, y2]</box> in the words", "own: a form that several models share"),
}

_MASKS: Mapping[str, tuple[str, str]] = {
    "png": ("Folder of PNG masks: ID/NAME.png, one an instance, 0 and 255", "own"),
    "lisa": (
        "LISA: folder of PNG masks",
        f"github.com/dvlab-research/LISA: {_SEG} (its chat.py shows masks as JPEG, which is not exact)",
    ),
    "sesame": (
        "SESAME: folder of PNG masks",
        f"github.com/see-say-segment/sesame (demo.py): {_SEG}, and none where "
        "the model says that the object is not there",
    ),
    "unipixel": (
        "UniPixel: folder of PNG masks",
        "its paper names a token <SEG> that a mask decoder answers; no format of files was found: save each "
        "instance as a PNG",
    ),
    "sa2va": (
        "Sa2VA: folder of PNG masks",
        "model card of ByteDance/Sa2VA: predict_forward returns the words (prediction) and masks as arrays; "
        "save each instance as a PNG",
    ),
    "vrt-rl": (
        "VRT-RL: folder of PNG masks",
        "arXiv 2512.05091: steps of reasoning with a mask each, and the answer with one; which of them the "
        "table of VistaQA counts is not public: save the ones that you report",
    ),
    "treevgr": (
        "TreeVGR: folder of PNG masks",
        "arXiv 2507.07999: boxes of evidence within the reasoning of a model made from Qwen2.5-VL; how they "
        "become masks, and how they are written, was not found: save masks, or take tags-… of the convention "
        "that you have checked",
    ),
}  # fmt: skip


def _table() -> dict[str, Adapter]:
    found = [
        Adapter(
            "qwen2.5-vl",
            'Qwen2.5-VL: JSON with "bbox_2d" or "point_2d"',
            "qwen",
            "resized",
            "model card and cookbooks of Qwen2.5-VL: pixels of the picture resized to multiples of 28",
        ),
        Adapter(
            "qwen3-vl",
            'Qwen3-VL: JSON with "bbox_2d" or "point_2d"',
            "qwen",
            "thousand",
            "cookbooks of Qwen3-VL: coordinates from 0 to 1000",
        ),
        Adapter(
            "glamm",
            "GLaMM: its own result in JSON, caption and pred_masks as COCO encodings",
            "glamm",
            None,
            "github.com/mbzuai-oryx/groundingLMM (eval/gcg/infer.py)",
        ),
        Adapter("rle", "COCO encodings of the original's size", "masks", None, _OWN.format(key="masks")),
    ]
    for form, (title, source) in _FORMS.items():
        for convention, counted in CONVENTIONS.items():
            found.append(Adapter(f"{form}-{convention}", f"{title}, {counted}", form, convention, source))
    for name, (title, source) in _MASKS.items():
        found.append(Adapter(name, title, "folder", None, source))
    return {adapter.name: adapter for adapter in found}


ADAPTERS: Mapping[str, Adapter] = _table()
"""All adapters by name."""


def adapter_of(name: str) -> Adapter:
    """The adapter of this name.

    Raises
    ------
    InputError
        With the names that there are.
    """
    if name not in ADAPTERS:
        raise InputError(f"--evidence native:{name}: there is no such adapter, only {', '.join(ADAPTERS)}")
    return ADAPTERS[name]
