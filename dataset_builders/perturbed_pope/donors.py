"""What stands in for the object: a whole, well visible thing that the picture does not show."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from pycocotools import mask as coco

from lookcheck.dataset_builders.perturbed_pope.instances import Instance, Instances, Photo
from lookcheck.dataset_builders.perturbed_pope.perturbations import seed_of

MIN_AREA = 48 * 48
MIN_FILLED = 0.3
BORDER = 2


@dataclass(frozen=True)
class Donor:
    """An instance that can be cut out, with its photograph and box (x, y, width, height)."""

    instance: Instance
    photo: Photo
    box: tuple[float, float, float, float]
    supercategory: str


def gather_donors(instances: Instances) -> tuple[Donor, ...]:
    """Instances that make good cut-outs: no crowd, not cut by the border, large, and compact."""
    found = []
    for _, photo in sorted(instances.photos.items()):
        for item in instances.by_image.get(photo.id, []):
            if item.crowd or item.area < MIN_AREA:
                continue
            x, y, width, height = coco.toBbox(_bytes(item)).tolist()
            inside = x >= BORDER and y >= BORDER
            inside &= x + width <= photo.width - BORDER and y + height <= photo.height - BORDER
            if inside and item.area >= MIN_FILLED * width * height:
                kind = instances.supercategories.get(item.category, "")
                found.append(Donor(item, photo, (x, y, width, height), kind))
    return tuple(found)


def _bytes(item: Instance) -> dict[str, object]:
    return {"size": list(item.rle["size"]), "counts": item.rle["counts"].encode()}


def choose_donor(
    donors: Sequence[Donor],
    *,
    image_id: int,
    entity: str,
    box: tuple[float, float, float, float],
    supercategory: str,
    excluded: Collection[str],
) -> Donor | None:
    """Choose a donor of an unrelated category.

    Parameters
    ----------
    donors : sequence of Donor
    image_id, entity
        What is replaced; with the donor's id they decide, so that the choice has no other seed.
    box : (x, y, width, height)
        Where the donor will stand.
    supercategory : str
        Of the entity; a donor of the same kind is related.
    excluded : collection of str
        Categories that the picture shows or that are asked about it.

    Returns
    -------
    Donor or None
        None if every category is excluded. Donors that need no enlarging and have about the box's
        proportions go first.
    """
    able = [
        donor
        for donor in donors
        if donor.instance.category not in excluded
        and donor.instance.category != entity
        and donor.photo.id != image_id
        and (not supercategory or donor.supercategory != supercategory)
    ]
    if not able:
        return None
    width, height = box[2], box[3]

    def fits(donor: Donor, stretch: float, enlarge: float) -> bool:
        proportion = (donor.box[2] / donor.box[3]) / (width / height)
        scale = min(width / donor.box[2], height / donor.box[3])
        return 1 / stretch <= proportion <= stretch and scale <= enlarge

    for stretch, enlarge in ((1.6, 1.25), (2.5, 1.6), (4.0, 2.5), (float("inf"), float("inf"))):
        close = [donor for donor in able if fits(donor, stretch, enlarge)]
        if close:
            return min(
                close, key=lambda donor: (seed_of(image_id, entity, donor.instance.id), donor.instance.id)
            )
    return None
