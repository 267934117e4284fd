"""Cut-outs that can take the place of an object: whole, large and of an unrelated category."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

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
SMALLEST_PIECE = 0.95
# Share of its convex hull; what has less sprawls, or others stand before it.
SMALLEST_SOLIDITY = 0.55
# Share of the outline that may touch other instances, which may hide a part of it.
LARGEST_CONTACT = 0.3
# A table's outline leaves out what stands on it: the rest is a board with holes.
NEVER = ("dining table",)
# How many of the best fitting categories the seed chooses from, and how much worse the last may be.
CHOICE = 6
CHOICE_SPAN = 1.0


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
        In [0, 1]. Neighbours of the same category count in full, for an outline among them is often a
        part of a whole; others count half, for the instance may be the one in front.
    """
    instance, others = job
    left, top, width, height = instance.box
    rows, columns = instance.rle["size"]
    if instance.crowd or instance.category in NEVER or instance.area < SMALLEST_AREA:
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
    rim = ndimage.binary_dilation(mask, iterations=2) & ~mask
    weight = np.zeros(mask.shape, np.float32)
    for other in others:
        near = decode(other.rle) & rim
        weight[near] = np.maximum(weight[near], 1.0 if other.category == instance.category else 0.5)
    contact = float(weight.sum() / rim.sum())
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


def choose_donor(
    donors: Sequence[Donor],
    entity: str,
    supercategory: str,
    box: tuple[int, int, int, int],
    banned: Collection[str],
    seed: int,
) -> Donor | None:
    """The cut-out for one object.

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
        Chooses among the categories whose best cut-out fits best.

    Returns
    -------
    Donor or None
        None if no category is left.
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
    ranked = sorted(best.values(), key=lambda item: (item[0], item[1].instance.category))[:CHOICE]
    fitting = [donor for cost, donor in ranked if cost <= ranked[0][0] + CHOICE_SPAN]
    if not fitting:
        return None
    return min(fitting, key=lambda donor: seed_of(seed, donor.instance.category))


def misfit(donor: Donor, box: tuple[int, int, int, int]) -> float:
    """How badly a cut-out fits a box: octaves of shape, enlargement and want of size, and contact."""
    width, height = donor.instance.box[2:]
    shape = abs(math.log2(width / height) - math.log2(box[2] / box[3]))
    enlarged = 0.5 * math.log2((box[2] * box[3]) / (width * height))
    small = 0.5 * math.log2(LARGE * LARGE / (width * height))
    return shape + max(0.0, enlarged) + max(0.0, small) + 5 * donor.contact
