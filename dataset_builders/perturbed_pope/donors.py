"""Cut-outs that can take the place of an object: whole, large and of an unrelated category."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from scipy import ndimage
from skimage.morphology import convex_hull_image

from lookcheck.dataset_builders.core.masks import Mask, decode
from lookcheck.dataset_builders.perturbed_pope.instances import CocoInstance, Instances, Photo
from lookcheck.dataset_builders.perturbed_pope.perturbations import seed_of

# Sides and areas below these, in pixels, are unrecognisable once they are scaled.
SMALLEST_SIDE = 40
SMALLEST_AREA = 48 * 48
# Side from which on a cut-out is as good as a larger one.
LARGE = 160
# Pixels between a cut-out and the picture's border; nearer ones may be cut off.
MARGIN = 2
# Share of an instance that its largest connected piece must have.
SMALLEST_PIECE = 0.98
# Share of its convex hull; what has less sprawls, or others stand before it.
SMALLEST_SOLIDITY = 0.55
# Share of the outline that may touch other instances, which may hide a part of it.
LARGEST_CONTACT = 0.08
# Things that others stand, lie or sit on: their outline leaves these out, and the rest is a board with holes.
SUPPORTS: Final = frozenset(
    {"bed", "bench", "chair", "couch", "dining table", "desk", "shelf", "sofa", "table"}
)
# How many of the best fitting categories the seed chooses from, and how much worse the last may be.
CHOICE = 6
CHOICE_SPAN = 1.0
# Cut-outs that are tried, one of each category.
TRIED = 8


@dataclass(frozen=True)
class Donor:
    """A cut-out.

    Attributes
    ----------
    photo : Photo
        The photograph that it lies in.
    instance : CocoInstance
    supercategory : str
    contact : float
        From `inspect_donor`.
    """

    photo: Photo
    instance: CocoInstance
    supercategory: str
    contact: float = 0.0


def inspect_donor(job: tuple[CocoInstance, Sequence[CocoInstance]]) -> float | None:
    """How much of an instance's outline touches others; None if it is no good cut-out.

    Parameters
    ----------
    job : tuple
        The instance and the others of its photograph.

    Returns
    -------
    float or None
        In [0, 1].
    """
    instance, others = job
    left, top, width, height = instance.box
    rows, columns = instance.rle["size"]
    if instance.crowd or instance.category in SUPPORTS or instance.area < SMALLEST_AREA:
        return None
    if min(width, height) < SMALLEST_SIDE:
        return None
    if min(left, top) < MARGIN or left + width > columns - MARGIN or top + height > rows - MARGIN:
        return None
    mask = decode(instance.rle)
    labels, pieces = ndimage.label(mask)
    if pieces > 1 and np.bincount(labels.ravel())[1:].max() < SMALLEST_PIECE * instance.area:
        return None
    hull: Mask = convex_hull_image(mask[top : top + height, left : left + width])  # type: ignore[no-untyped-call]
    if instance.area < SMALLEST_SOLIDITY * hull.sum():
        return None
    around: Mask = np.logical_or.reduce([mask, *(decode(other.rle) for other in others)]) & ~mask
    rim = ndimage.binary_dilation(mask, iterations=2) & ~mask
    contact = float((rim & around).sum() / rim.sum())
    return contact if contact <= LARGEST_CONTACT else None


def donors_of(
    instances: Instances,
    names: Iterable[str],
    mapping: Callable[[Callable[[Any], float | None], Sequence[Any]], Iterable[float | None]] = map,
) -> tuple[Donor, ...]:
    """All good cut-outs of some photographs, in the order of file name and id.

    Parameters
    ----------
    instances : Instances
    names : iterable of str
        File names of the photographs.
    mapping : callable
        A `map` that may work in several processes.
    """
    found, jobs = [], []
    for photo in (instances.photos[name] for name in sorted(set(names))):
        items = instances.by_image.get(photo.id, ())
        for item in items:
            jobs.append((item, tuple(other for other in items if other is not item)))
            found.append((photo, item, instances.supercategories.get(item.category, "")))
    return tuple(
        Donor(*parts, contact)
        for parts, contact in zip(found, mapping(inspect_donor, jobs), strict=True)
        if contact is not None
    )


def rank_donors(
    donors: Sequence[Donor],
    entity: str,
    supercategory: str,
    box: tuple[int, int, int, int],
    banned: Collection[str],
    seed: int,
) -> list[Donor]:
    """The cut-outs for one object, the best of each category, in the order in which they are tried.

    Parameters
    ----------
    donors : sequence of Donor
    entity, supercategory : str
        Of the object that is replaced; no cut-out has its supercategory.
    box : tuple of int
        Its box x, y, width, height.
    banned : collection of str
        Categories that the photograph holds or that a question names for it.
    seed : int
        Orders the categories whose best cut-outs fit best; the others follow as they fit.
    """
    best: dict[str, tuple[float, Donor]] = {}
    for donor in donors:
        category = donor.instance.category
        related = category == entity or (supercategory and donor.supercategory == supercategory)
        if related or category in banned:
            continue
        cost = misfit(donor, box)
        if category not in best or cost < best[category][0]:
            best[category] = (cost, donor)
    ranked = sorted(best.values(), key=lambda item: (item[0], item[1].instance.category))[:TRIED]
    fitting = [donor for cost, donor in ranked[:CHOICE] if cost <= ranked[0][0] + CHOICE_SPAN]
    fitting.sort(key=lambda donor: seed_of(seed, donor.instance.category))
    return fitting + [donor for _, donor in ranked[len(fitting) :]]


def misfit(donor: Donor, box: tuple[int, int, int, int]) -> float:
    """How badly a cut-out fits a box: octaves of shape, enlargement and want of size, and contact."""
    width, height = donor.instance.box[2:]
    shape = abs(math.log2(width / height) - math.log2(box[2] / box[3]))
    enlarged = 0.5 * math.log2((box[2] * box[3]) / (width * height))
    small = 0.5 * math.log2(LARGE * LARGE / (width * height))
    return shape + max(0.0, enlarged) + max(0.0, small) + 5 * donor.contact
