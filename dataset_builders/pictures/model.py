"""What a picture is to the samples: pixels, instance masks, licence."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class Instance:
    """One thing in a picture.

    Attributes
    ----------
    category : str
        The category's name in COCO where one fits (``"cup"``, ``"sports ball"``), else a plain noun.
    mask : ndarray of bool, shape (H, W)
        Its visible pixels; at least one. The mask of a part (an eye) lies inside its whole's (a cat).
    label : str
        What tells it from others of its category (``"red"``, ``"2021"``); may be empty.
    """

    category: str
    mask: np.ndarray
    label: str = ""


@dataclass(frozen=True, eq=False)
class Picture:
    """A picture and the masks of what is in it.

    Attributes
    ----------
    name : str
        Unique among all pictures; the same in every build.
    image : ndarray of uint8, shape (H, W, 3)
        RGB, 0 to 255.
    instances : tuple of Instance
    license : str
        SPDX-like identifier or ``"public domain"``.
    credit : str
        Who made it.
    domain : str
        A domain of VistaQA: indoor, outdoor, driving, robotics, science or math.
    """

    name: str
    image: np.ndarray
    instances: tuple[Instance, ...]
    license: str
    credit: str
    domain: str

    def find(self, category: str, label: str | None = None) -> tuple[Instance, ...]:
        """Instances of a category, and of a label if one is given, in their order.

        Raises
        ------
        LookupError
            If there is none.
        """
        found = tuple(
            item for item in self.instances if item.category == category and label in (None, item.label)
        )
        if not found:
            wanted = category if label is None else f"{category} {label!r}"
            raise LookupError(f"{self.name}: no instance {wanted}")
        return found
