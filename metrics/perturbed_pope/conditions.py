"""The conditions' names, and the order in which conditions and splits are reported."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

ORIGINAL = "original"
# The only condition that makes another label right.
SWAPPED = "entity_swap"
# The configurations of the data set, mildest first. Others are allowed and come after these.
CONDITIONS = (
    *(ORIGINAL, "no_image", "black_image", "black_50", "black_75", "noise_50", "noise_75"),
    *("blur_50", "blur_75", "black_mask", "black_box", SWAPPED),
)
# Where the asked object can't be seen any more: taken out, replaced, or gone with the whole picture.
# Half a black picture may still show it, so a changed answer there need not be one that has looked.
REMOVED = ("no_image", "black_image", "black_mask", "black_box", SWAPPED)
SPLITS = ("random", "popular", "adversarial")


def ordered(names: Iterable[str], known: Sequence[str]) -> list[str]:
    """Distinct names: the known ones in their order, then the others by alphabet.

    Examples
    --------
    >>> ordered(["mine", "black_mask", "original", "mine"], CONDITIONS)
    ['original', 'black_mask', 'mine']
    """
    found = set(names)
    return [name for name in known if name in found] + sorted(found.difference(known))
