"""Masks that a model's own code has saved: a folder for each row, in it one PNG an instance."""

from __future__ import annotations

from pathlib import Path

from PIL import Image

from lookcheck.dataset_builders.core.errors import InputError
from lookcheck.dataset_builders.core.masks import encode
from lookcheck.dataset_builders.native.shapes import BAD_MASK, NO_PIXEL, OTHER_SIZE, Shape


def read_folder(folder: Path, id: str, size: tuple[int, int]) -> tuple[Shape, ...]:
    """The masks ``folder/ID/*.png`` of a row, by name.

    Parameters
    ----------
    folder : Path
    id : str
    size : tuple of (int, int)
        Width and height of the original picture, to which masks refer.

    Returns
    -------
    tuple of Shape
        None for an empty folder: the model claims no evidence. A picture of another size, or one that is
        no mask (mode ``1`` or ``L``, 0 and 1 or 0 and 255), is a shape with its problem.

    Raises
    ------
    InputError
        If the row has no folder, which says nothing, or there is something else in it.
    """
    here = folder / id
    if here.parent != folder or id in {"", ".", ".."}:
        raise InputError(f"{folder}: the id {id!r} can't name a folder")
    if not here.is_dir():
        raise InputError(f"{here}: no such folder; an empty one says that there is no evidence")
    files = sorted(here.iterdir())
    for file in files:
        if file.suffix.lower() != ".png":
            raise InputError(f"{file}: expected PNG files only")
    return tuple(_shape(file, size) for file in files)


def _shape(file: Path, size: tuple[int, int]) -> Shape:
    try:
        with Image.open(file, formats=["PNG"]) as image:
            if image.size != size:
                return Shape(file.stem, problem=OTHER_SIZE)
            rle = encode(image)
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError):
        return Shape(file.stem, problem=BAD_MASK)
    made = Shape(file.stem, mask=rle)
    return made if made.drawn(size).any() else Shape(file.stem, problem=NO_PIXEL)
