"""Which swaps are made: none that a person would see through, or might still answer with "yes".

The rules, in this order; `REASONS` says in words what each leaves out:

1. `support`: the object is a supporting surface (`SUPPORTS`). What stands on it stays, and "no" is arguable.
2. `large`: its pixels are more than `LARGEST_HOLE` of the picture.
3. `touched`: other labelled objects touch more than `LARGEST_CONTACT` of its outline, and would keep its
   shape.
4. `no_fill`: no piece of the picture goes on in the hole as its surroundings do (mismatch up to `WORST`). A
   model that fills is not asked for this.
5. `shadow`: its shadow lies on another labelled object, whose pixels stay (more than `LARGEST_SHADOW` of the
   object's own area).
6. `no_donor`: no cut-out is unrelated, whole and large enough.
7. `no_place`: none of those that fit best can be shown whole and large enough in its place.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from lookcheck.dataset_builders.core.images import load
from lookcheck.dataset_builders.core.masks import Rle, decode
from lookcheck.dataset_builders.perturbed_pope.donors import SUPPORTS, Donor
from lookcheck.dataset_builders.perturbed_pope.filling import Piece, find_pieces, worst
from lookcheck.dataset_builders.perturbed_pope.hole import Hole, clean, contact, hole_of
from lookcheck.dataset_builders.perturbed_pope.swap import Box, find_place

# Share of the picture.
LARGEST_HOLE = 0.3
# Share of the outline.
LARGEST_CONTACT = 0.35
# Root mean square of differences, of 255; see `filling.Piece`.
WORST = 30.0
# Share of the object's pixels.
LARGEST_SHADOW = 0.1

# Of the pictures and objects that are left out.
REASONS: Final = {
    "support": 'that others stand, lie or sit on: these would stay, and "no" would be arguable',
    "large": f"over {LARGEST_HOLE:.0%} of the picture",
    "touched": "whose shape would be kept by the labelled objects that touch them",
    "no_fill": "whose place no other piece of the picture fills well",
    "shadow": "whose shadow lies on another labelled object, and would stay",
    "no_donor": "without anything unrelated to paste",
    "no_place": "in whose place nothing unrelated can be shown whole",
}


@dataclass(frozen=True)
class Scene:
    """An object in its photograph.

    Attributes
    ----------
    masks : tuple of RLE
        All of its instances.
    others, supports : tuple of RLE
        Other labelled objects, and those of them that are supporting surfaces.
    """

    masks: tuple[Rle, ...]
    others: tuple[Rle, ...] = ()
    supports: tuple[Rle, ...] = ()

    def hole(self) -> Hole:
        """Its place."""
        return hole_of(
            *([decode(rle) for rle in group] for group in (self.masks, self.others, self.supports))
        )


@dataclass(frozen=True)
class SwapJob:
    """A swap that may be made.

    Attributes
    ----------
    path : Path
        The photograph.
    entity : str
    scene : Scene
    donors : tuple of Donor
        The first that fits is taken.
    modelled : bool
        Whether a model fills.
    """

    path: Path
    entity: str
    scene: Scene
    donors: tuple[Donor, ...]
    modelled: bool = False


@dataclass(frozen=True)
class SwapPlan:
    """How a swap is made: what fills the hole, which cut-out, and where (x, y, width, height)."""

    pieces: tuple[Piece, ...]
    donor: Donor
    box: Box


def plan_swap(job: SwapJob) -> SwapPlan | str:
    """How a swap is made, or the reason of `REASONS` for which it is not."""
    if job.entity in SUPPORTS:
        return "support"
    hole = job.scene.hole()
    if hole.own.mean() > LARGEST_HOLE:
        return "large"
    if contact(hole) > LARGEST_CONTACT:
        return "touched"
    pieces: tuple[Piece, ...] = ()
    region = hole.own | (hole.wide & ~hole.kept)
    if not job.modelled:
        image = load(job.path)
        found = find_pieces(image, hole.wide, hole.barred)
        if found is None or worst(found) > WORST:
            return "no_fill"
        pieces = found
        _, region, shadow = clean(image, hole, pieces)
        if shadow > LARGEST_SHADOW:
            return "shadow"
    if not job.donors:
        return "no_donor"
    for donor in job.donors:
        box = find_place(hole, region, decode(donor.instance.rle))
        if box is not None:
            return SwapPlan(pieces, donor, box)
    return "no_place"
