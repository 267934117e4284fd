"""Cut-outs that can take the place of an object: whole, large and of an unrelated category."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import ndimage

from lookcheck.dataset_builders.perturbed_pope.instances import Instance, Instances, Photo, decode
from lookcheck.dataset_builders.perturbed_pope.perturbations import seed_of

# Sides below this are unrecognisable once they are scaled.
SMALLEST_SIDE = 48
SMALLEST_AREA = 60 * 60
# Pixels between a cut-out and the picture's border; nearer ones may be cut off.
MARGIN = 2
# Shares of the outline that may touch other instances, which may hide a part of it.
LARGEST_CONTACT = 0.25
SMALLEST_PIECE = 0.95
# Of its box; below it is a thin or a sprawling thing that is lost in another scene.
SMALLEST_FILL = 0.3
# Things on a table are part of what its mask leaves out; nobody knows the rest by its outline.
NEVER = ("dining table",)
# How many of the best fitting ones the seed chooses from.
CHOICE = 6


@dataclass(frozen=True)
class Donor:
    """A cut-out: the instance and the photograph that it lies in."""

    photo: Photo
    instance: Instance
    supercategory: str


def inspect_donor(job: tuple[Instance, Sequence[Instance]]) -> bool:
    """Whether an instance is a good cut-out; `job` holds it and the others of its photograph."""
    instance, others = job
    left, top, width, height = instance.box
    rows, columns = instance.rle["size"]
    if instance.crowd or instance.category in NEVER or instance.area < SMALLEST_AREA:
        return False
    if min(width, height) < SMALLEST_SIDE or instance.area < SMALLEST_FILL * width * height:
        return False
    if min(left, top) < MARGIN or left + width > columns - MARGIN or top + height > rows - MARGIN:
        return False
    mask = decode(instance.rle)
    labels, pieces = ndimage.label(mask)
    if pieces > 1 and np.bincount(labels.ravel())[1:].max() < SMALLEST_PIECE * instance.area:
        return False
    rim = ndimage.binary_dilation(mask, iterations=2) & ~mask
    touched = np.zeros_like(mask)
    for other in others:
        touched |= decode(other.rle)
    return bool((rim & touched).sum() <= LARGEST_CONTACT * rim.sum())


def donors_of(
    instances: Instances,
    names: Iterable[str],
    mapping: Callable[[Callable[[Any], bool], Sequence[Any]], Iterable[bool]] = map,
) -> tuple[Donor, ...]:
    """All good cut-outs of some photographs, in the order of photograph and id.

    Parameters
    ----------
    instances : Instances
    names : iterable of str
        File names of the photographs.
    mapping : callable
        A `map` that may work in several processes.
    """
    photos = [instances.photos[name] for name in sorted(set(names))]
    jobs, made = [], []
    for photo in photos:
        items = instances.by_image.get(photo.id, ())
        for item in items:
            jobs.append((item, tuple(other for other in items if other is not item)))
            made.append(Donor(photo, item, instances.supercategories.get(item.category, "")))
    return tuple(donor for donor, good in zip(made, mapping(inspect_donor, jobs), strict=True) if good)


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
        Of the object that is replaced.
    box : tuple of int
        Its box x, y, width, height.
    banned : collection of str
        Categories that the photograph holds or that a question names for it.
    seed : int
        Chooses among the cut-outs that fit best in shape and size, at most one of a category.

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
        cost = misfit(donor.instance.box, box)
        if category not in best or cost < best[category][0]:
            best[category] = (cost, donor)
    ranked = sorted(best.values(), key=lambda item: (item[0], item[1].instance.id))[:CHOICE]
    fitting = [donor for cost, donor in ranked if cost <= ranked[0][0] + 0.5]
    if not fitting:
        return None
    return min(fitting, key=lambda donor: seed_of(seed, donor.photo.file_name, donor.instance.id))


def misfit(donor: tuple[int, int, int, int], box: tuple[int, int, int, int]) -> float:
    """How badly a cut-out fits a box: difference in shape, and enlargement, both in octaves."""
    shape = abs(math.log2(donor[2] / donor[3]) - math.log2(box[2] / box[3]))
    enlarged = 0.5 * math.log2((box[2] * box[3]) / (donor[2] * donor[3]))
    return shape + max(0.0, enlarged)
