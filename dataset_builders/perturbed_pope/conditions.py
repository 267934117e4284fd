"""The conditions of perturbed POPE: each is one object that says all of itself, and one configuration.

A condition is added by one entry of `CONDITIONS`, in whose order conditions are built and shown.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final

import numpy as np

from lookcheck.dataset_builders.core.images import Pixels
from lookcheck.dataset_builders.core.masks import Mask
from lookcheck.dataset_builders.perturbed_pope import perturbations

if TYPE_CHECKING:
    from lookcheck.dataset_builders.perturbed_pope.swap import Swap

Box = tuple[int, int, int, int]


@dataclass(frozen=True)
class Given:
    """What a condition may use besides the picture.

    Attributes
    ----------
    masks : sequence of ndarray of bool, shape (H, W)
        Of the asked object.
    seed : int or None
    swap : Swap or None
        What is pasted, and what fills the rest.
    """

    masks: Sequence[Mask] = ()
    seed: int | None = None
    swap: Swap | None = None


@dataclass(frozen=True)
class Perturbed:
    """A perturbed picture.

    Attributes
    ----------
    pixels : ndarray of uint8, shape (H, W, 3)
    fraction : float
        Share of the picture that is replaced.
    changed : ndarray of bool, shape (H, W), or None
        Pixels that may have changed, of a condition that needs masks.
    box : tuple of int or None
        Of the cut-out that was pasted: x, y, width, height.
    """

    pixels: Pixels
    fraction: float = 1.0
    changed: Mask | None = None
    box: Box | None = None


@dataclass(frozen=True)
class Condition(ABC):
    """One way to perturb a picture.

    Attributes
    ----------
    name : str
        Of the configuration.
    about : str
        What is shown, for cards and pages.
    strength : float or None
        Ratio of `Black`, alpha of `Noise` and of `Blur`.
    needs_masks : bool
        Whether it takes the asked object's masks; then it holds rows answered yes only.
    removes : bool
        Whether another thing stands in the object's place, so that the right answer becomes no.
    seeded : bool
        Whether it draws by chance, from a seed of names.
    pastes : bool
        Whether it needs a cut-out of another photograph.
    has_picture : bool
    """

    name: str
    about: str
    strength: float | None = None

    needs_masks: ClassVar[bool] = False
    removes: ClassVar[bool] = False
    seeded: ClassVar[bool] = False
    pastes: ClassVar[bool] = False
    has_picture: ClassVar[bool] = True

    @abstractmethod
    def apply(self, image: Pixels, given: Given) -> Perturbed:
        """Perturb a picture (uint8, shape (H, W, 3)), which stays as it is."""

    def again(self, original: Pixels, given: Given) -> Perturbed:
        """What `apply` made, from the original and the pixels that it may have changed as the only mask."""
        return self.apply(original, given)

    def differs(self, original: Pixels, made: Pixels, given: Given) -> Iterator[str]:
        """What is wrong with a picture that is said to be made of `original`.

        Parameters
        ----------
        original, made : ndarray of uint8, shape (H, W, 3)
        given : Given
            As `again` takes it.
        """
        if wrong := int((made != self.again(original, given).pixels).any(2).sum()):
            yield f"{wrong:,} pixels are not those that {self.name} makes of the original"


class Original(Condition):
    """The picture as it is; its file keeps its bytes."""

    def apply(self, image: Pixels, given: Given) -> Perturbed:
        return Perturbed(image, 0.0)


class NoImage(Condition):
    """The question alone (the paper's "no image", text only)."""

    has_picture = False

    def apply(self, image: Pixels, given: Given) -> Perturbed:
        raise ValueError(f"{self.name} has no picture")


class BlackImage(Condition):
    """A black picture of the same size."""

    def apply(self, image: Pixels, given: Given) -> Perturbed:
        return Perturbed(perturbations.black_image(image))


class Black(Condition):
    """A share of the picture black."""

    def apply(self, image: Pixels, given: Given) -> Perturbed:
        ratio = self.strength or 0.0
        kept = float(perturbations.black(np.ones_like(image), ratio)[..., 0].mean())
        return Perturbed(perturbations.black(image, ratio), 1 - kept)


class Noise(Condition):
    """The picture mixed with uniform noise."""

    seeded = True

    def apply(self, image: Pixels, given: Given) -> Perturbed:
        if given.seed is None:
            raise ValueError(f"{self.name} needs a seed")
        return Perturbed(perturbations.noise(image, self.strength or 0.0, given.seed))


class Blur(Condition):
    """The picture blurred."""

    def apply(self, image: Pixels, given: Given) -> Perturbed:
        return Perturbed(perturbations.gaussian_blur(image, self.strength or 0.0))


class BlackMask(Condition):
    """The pixels of the asked object black."""

    needs_masks = True

    def apply(self, image: Pixels, given: Given) -> Perturbed:
        changed = perturbations.union(given.masks, image.shape[:2])
        return Perturbed(perturbations.black_mask(image, [changed]), float(changed.mean()), changed)


class BlackBox(Condition):
    """The bounding boxes of the asked object's masks black."""

    needs_masks = True

    def apply(self, image: Pixels, given: Given) -> Perturbed:
        changed = perturbations.boxes(given.masks, image.shape[:2])
        return Perturbed(perturbations.black_mask(image, [changed]), float(changed.mean()), changed)

    def again(self, original: Pixels, given: Given) -> Perturbed:
        # The mask holds the boxes by now; a box around all of them would be another one.
        (changed,) = given.masks
        return Perturbed(perturbations.black_mask(original, [changed]), float(changed.mean()), changed)


class EntitySwap(Condition):
    """Another thing in place of the asked object."""

    needs_masks = True
    removes = True
    seeded = True
    pastes = True

    def apply(self, image: Pixels, given: Given) -> Perturbed:
        # skimage and its parts take a second to import.
        from lookcheck.dataset_builders.perturbed_pope.swap import entity_swap

        if given.swap is None:
            raise ValueError(f"{self.name} needs a cut-out")
        made, changed = entity_swap(image, given.swap)
        return Perturbed(made, float(changed.mean()), changed, given.swap.box)

    def again(self, original: Pixels, given: Given) -> Perturbed:
        """The original: without its cut-out a swap can't be made again."""
        (changed,) = given.masks
        return Perturbed(original, float(changed.mean()), changed)

    def differs(self, original: Pixels, made: Pixels, given: Given) -> Iterator[str]:
        (changed,) = given.masks
        new = (made != original).any(2)
        if wrong := int((new & ~changed).sum()):
            yield f"{wrong:,} pixels outside the mask are not those of the original"
        if not new.any():
            yield "the picture is its original"


CONDITIONS: Final[dict[str, Condition]] = {
    condition.name: condition
    for condition in (
        Original("original", "the picture as it is"),
        NoImage("no_image", "no picture at all"),
        BlackImage("black_image", "a black picture of the same size", 1.0),
        Black("black_50", "the upper half black", 0.5),
        Black("black_75", "the upper half and the lower left quarter black", 0.75),
        Noise("noise_50", "half the picture, half uniform noise", 0.5),
        Noise("noise_75", "a quarter the picture, three quarters uniform noise", 0.75),
        Blur("blur_50", "Gaussian blur of radius 5", 0.5),
        Blur("blur_75", "Gaussian blur of radius 7.5", 0.75),
        BlackMask("black_mask", "the pixels of the asked object black"),
        BlackBox("black_box", "the bounding boxes of the asked object black"),
        EntitySwap("entity_swap", "another thing in place of the asked object"),
    )
}
ORIGINAL: Final = "original"
