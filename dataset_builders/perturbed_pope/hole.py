"""The place of an object in a picture, and the picture without the object.

Pixels of other labelled objects stay as they are, unless they lie inside the object's own masks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import ndimage

from lookcheck.dataset_builders.core.images import Pixels
from lookcheck.dataset_builders.core.masks import Mask, extent
from lookcheck.dataset_builders.perturbed_pope.filling import Piece, lay
from lookcheck.dataset_builders.perturbed_pope.perturbations import union

# An outline drawn by hand leaves a rim of the object: this share of the root of its area, between so many
# pixels.
RIM, RIM_PIXELS = 0.06, (4, 12)
# How far its shadow is looked for, likewise; and how much darker than the fill a shadow is, of 255.
REACH, REACH_PIXELS = 0.2, (8, 48)
DARKER = 8.0
# Pixels over which the fill passes into the picture; a fringe of so many next to the object never shows.
FEATHER, FRINGE = 4, 2


@dataclass(frozen=True, eq=False)
class Hole:
    """What is known of the place of an object; all masks have shape (H, W).

    Attributes
    ----------
    own : ndarray of bool
        The object: the union of its masks.
    tight : ndarray of bool
        With the rim that an outline leaves.
    wide : ndarray of bool
        With the surroundings in which its shadow is looked for.
    kept : ndarray of bool
        Other labelled objects, outside `own`.
    barred : ndarray of bool
        Those of them that nothing is copied from: all but the surfaces that it stands on.
    """

    own: Mask
    tight: Mask
    wide: Mask
    kept: Mask
    barred: Mask


def hole_of(masks: Sequence[Mask], others: Sequence[Mask], supports: Sequence[Mask]) -> Hole:
    """The place of an object.

    Parameters
    ----------
    masks : sequence of ndarray of bool, shape (H, W)
        All of its instances; at least one.
    others : sequence of ndarray of bool, shape (H, W)
        Other labelled objects, but for supporting surfaces.
    supports : sequence of ndarray of bool, shape (H, W)
        Other labelled objects that are supporting surfaces.
    """
    shape = masks[0].shape
    own = union(masks, shape)
    near = grown(own, FRINGE)
    standing = _together([mask for mask in supports if (mask & near).any()], shape)
    kept = _together([*others, *supports], shape) & ~own
    barred = kept & ~(standing & ~_together(others, shape))
    tight, wide = own.copy(), own.copy()
    for mask in masks:
        side = float(np.sqrt(mask.sum()))
        tight |= grown(mask, float(np.clip(RIM * side, *RIM_PIXELS)))
        wide |= grown(mask, float(np.clip(REACH * side, *REACH_PIXELS)))
    return Hole(own, own | (tight & ~barred), own | (wide & ~barred), kept, barred)


def _together(masks: Sequence[Mask], shape: tuple[int, ...]) -> Mask:
    made: Mask = np.logical_or.reduce([np.zeros(shape, bool), *masks])
    return made


def grown(mask: Mask, radius: float) -> Mask:
    """A mask with all pixels up to so far from it."""
    made = mask.copy()
    if mask.any():
        reach = int(radius) + 1
        top, bottom, left, right = extent(mask)
        place = (slice(max(0, top - reach), bottom + reach), slice(max(0, left - reach), right + reach))
        made[place] = ndimage.distance_transform_edt(~mask[place]) <= radius
    return made


def contact(hole: Hole) -> float:
    """Share of an object's outline that other labelled objects touch."""
    rim = grown(hole.own, 1.5) & ~hole.own
    return float((rim & hole.kept).sum() / max(1, rim.sum()))


def clean(
    image: Pixels, hole: Hole, pieces: Sequence[Piece], filled: Pixels | None = None
) -> tuple[Pixels, Mask, float]:
    """The picture without the object and, where it may be changed, without its shadow.

    Parameters
    ----------
    image : ndarray of uint8, shape (H, W, 3)
    hole : Hole
    pieces : sequence of Piece
        For ``hole.wide``.
    filled : ndarray of uint8, shape (H, W, 3), optional
        The picture as a model filled ``hole.wide``, in place of pieces.

    Returns
    -------
    ndarray of uint8, shape (H, W, 3)
    ndarray of bool, shape (H, W)
        The filled pixels; all others are as they were.
    float
        Shadow that stays on other labelled objects, as a share of the object's pixels.
    """
    if filled is None:
        filled = lay(image, hole.wide, hole.barred, pieces)
        shadow = _shadow(image, filled, hole)
        region = (hole.tight | grown(shadow, FEATHER)) & hole.wide
    else:
        shadow, region = np.zeros_like(hole.own), hole.wide
    region = hole.own | (region & ~hole.kept)
    weight = np.minimum(1.0, ndimage.distance_transform_edt(region) / FEATHER)
    weight[grown(hole.own, FRINGE)] = 1
    mixed = weight[..., None] * filled + (1 - weight[..., None]) * image
    made = np.where(region[..., None], mixed.round(), image).astype(np.uint8)
    return made, region, float((shadow & hole.kept).sum() / hole.own.sum())


def _shadow(image: Pixels, filled: Pixels, hole: Hole) -> Mask:
    """Pixels around the object, and joined to it, that are darker than the fill."""
    darker = ndimage.gaussian_filter((filled.astype(float) - image).mean(2), 2)
    found = ndimage.binary_opening((darker > DARKER) & hole.wide & ~hole.own, np.ones((3, 3)))
    labels, _ = ndimage.label(found | hole.tight, np.ones((3, 3)))
    joined: Mask = found & np.isin(labels, np.unique(labels[hole.tight]))
    return joined
