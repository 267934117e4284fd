"""COCO-style instances: photographs, masks and categories."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, TypeGuard

from lookcheck.dataset_builders.core.errors import Fault, InputError, IntegrityError
from lookcheck.dataset_builders.core.jsonl import read_json
from lookcheck.dataset_builders.core.masks import Rle, box_of, decode_segmentation, encode


@dataclass(frozen=True)
class Photo:
    """One photograph and what is known of it; sizes in pixels."""

    id: int
    file_name: str
    width: int
    height: int
    license: str | None = None
    license_url: str | None = None
    credit: str | None = None
    source_url: str | None = None


@dataclass(frozen=True)
class CocoInstance:
    """One instance with its mask.

    Attributes
    ----------
    id, image_id : int
    category : str
    rle : dict
        ``{"size": [H, W], "counts": str}``.
    area : int
        Pixels of the mask, at least one.
    box : tuple of int
        x, y, width, height of the mask.
    crowd : bool
    """

    id: int
    image_id: int
    category: str
    rle: Rle
    area: int
    box: tuple[int, int, int, int]
    crowd: bool = False


@dataclass(frozen=True)
class Instances:
    """All that an instances file holds of some photographs.

    Attributes
    ----------
    photos : dict of str to Photo
        By file name.
    by_image : dict of int to tuple of CocoInstance
        By the photograph's id; in the order of their ids.
    categories : dict of int to str
    supercategories : dict of str to str
        Of every category, "" where the file gives none.
    without_pixels : int
        Annotations whose mask has no pixel; they are no instances.
    """

    photos: Mapping[str, Photo]
    by_image: Mapping[int, tuple[CocoInstance, ...]]
    categories: Mapping[int, str]
    supercategories: Mapping[str, str]
    without_pixels: int = 0

    def of(self, image_id: int, category: str) -> tuple[CocoInstance, ...]:
        """The instances of a category in a photograph."""
        return tuple(item for item in self.by_image.get(image_id, ()) if item.category == category)


def read_instances(path: Path, wanted: set[str] | None = None) -> Instances:
    """Read a COCO instances file.

    Parameters
    ----------
    path : Path
    wanted : set of str, optional
        File names of photographs to keep; all if not given.

    Raises
    ------
    IntegrityError
        With every bad image and annotation, by its id.
    InputError
        If the file is not of COCO's form.
    """
    content = read_json(path)
    parts = {}
    for key in ("images", "annotations", "categories"):
        value = content.get(key) if isinstance(content, dict) else None
        if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
            raise InputError(f"{path}: needs a list of objects under {key!r}")
        parts[key] = value
    faults: list[Fault] = []
    categories = _categories(parts["categories"], path, faults)
    photos = _photos(parts["images"], content.get("licenses"), wanted, path, faults)
    by_id = {photo.id: photo for photo in photos.values()}
    # An annotation of a photograph that isn't wanted is passed over; one of no photograph is a fault.
    known = {item["id"] for item in parts["images"] if _is_integer(item.get("id"))}
    found: dict[int, list[CocoInstance]] = defaultdict(list)
    seen: set[int] = set()
    without_pixels = 0
    for item in parts["annotations"]:
        id, image_id = item.get("id"), item.get("image_id")
        name = f"{path.name} annotation {id}"
        if not _is_integer(image_id) or image_id not in by_id:
            if not _is_integer(image_id) or image_id not in known:
                faults.append(Fault(name, "annotation", f"image_id {image_id!r} is no image of the file"))
            continue
        if not _is_integer(id):
            faults.append(Fault(name, "annotation", f"id must be an integer, not {id!r}"))
        elif id in seen:
            faults.append(Fault(name, "duplicate-id", "this annotation id stands twice"))
        else:
            seen.add(id)
        try:
            instance = make_instance(item, by_id[image_id], categories)
        except ValueError as error:
            faults.append(Fault(name, "annotation", str(error)))
            continue
        if instance is None:
            without_pixels += 1
        else:
            found[instance.image_id].append(instance)
    if faults:
        raise IntegrityError(str(path), faults)
    by_image = {id: tuple(sorted(items, key=lambda item: item.id)) for id, items in found.items()}
    supers = {categories[item["id"]]: item.get("supercategory") or "" for item in parts["categories"]}
    return Instances(photos, by_image, categories, supers, without_pixels)


def _categories(items: list[dict[str, Any]], path: Path, faults: list[Fault]) -> dict[int, str]:
    names: dict[int, str] = {}
    for item in items:
        id, name = item.get("id"), item.get("name")
        where = f"{path.name} category {id}"
        kind = item.get("supercategory")
        if not _is_integer(id) or not isinstance(name, str) or not name.strip():
            faults.append(Fault(where, "category", f"needs an integer id and a name: {item!r}"))
        elif kind is not None and not isinstance(kind, str):
            faults.append(Fault(where, "category", f"supercategory must be a string, not {kind!r}"))
        elif id in names or name in names.values():
            faults.append(Fault(where, "duplicate-id", f"the id or the name {name!r} stands twice"))
        else:
            names[id] = name
    return names


def _photos(
    items: list[dict[str, Any]], licenses: Any, wanted: set[str] | None, path: Path, faults: list[Fault]
) -> dict[str, Photo]:
    terms = _licenses(licenses, path, faults)
    photos: dict[str, Photo] = {}
    ids: set[int] = set()
    for item in items:
        id, name = item.get("id"), item.get("file_name")
        if wanted is not None and isinstance(name, str) and name not in wanted:
            continue
        where, width, height = f"{path.name} image {id}", item.get("width"), item.get("height")
        about = [item.get(key) for key in ("credit", "flickr_url", "coco_url")]
        if not _is_integer(id) or not isinstance(name, str) or not name.strip():
            faults.append(Fault(where, "image", f"needs an integer id and a file_name, not {id!r}, {name!r}"))
        elif PurePosixPath(name).is_absolute() or ".." in PurePosixPath(name).parts:
            faults.append(Fault(where, "image", f"file_name leaves the folder of images: {name!r}"))
        elif not _is_side(width) or not _is_side(height):
            message = f"width and height must be positive integers, not {width!r}, {height!r}"
            faults.append(Fault(where, "image", message))
        elif not all(value is None or isinstance(value, str) for value in about):
            message = f"credit, flickr_url and coco_url must be strings, not {about!r}"
            faults.append(Fault(where, "image", message))
        elif not isinstance(item.get("license"), int | str | None):
            faults.append(Fault(where, "image", f"license must be an id, not {item['license']!r}"))
        elif id in ids or name in photos:
            faults.append(Fault(where, "duplicate-id", f"the id or the file {name!r} stands twice"))
        else:
            ids.add(id)
            credit, flickr, coco = about
            terms_name, terms_url = terms.get(item.get("license"), (None, None))
            photos[name] = Photo(id, name, width, height, terms_name, terms_url, credit, flickr or coco)
    return photos


def _licenses(
    items: Any, path: Path, faults: list[Fault]
) -> dict[int | str | None, tuple[str | None, str | None]]:
    """Name and address of each licence."""
    found: dict[int | str | None, tuple[str | None, str | None]] = {}
    for item in items if isinstance(items, list) else []:
        id, name, url = map(item.get, ("id", "name", "url")) if isinstance(item, dict) else (None, None, None)
        if isinstance(id, int | str) and isinstance(name, str | None) and isinstance(url, str | None):
            found[id] = (name, url)
        else:
            faults.append(Fault(f"{path.name} licenses", "license", f"needs id, name and url, not {item!r}"))
    return found


def _is_integer(value: Any) -> TypeGuard[int]:
    """Whether a value is an integer that an int64 column holds."""
    return isinstance(value, int) and not isinstance(value, bool) and -(2**63) <= value < 2**63


def _is_side(value: Any) -> TypeGuard[int]:
    return _is_integer(value) and 0 < value < 100_000


def make_instance(
    item: Mapping[str, Any], photo: Photo, categories: Mapping[int, str]
) -> CocoInstance | None:
    """The instance of one annotation; None if its mask has no pixel.

    Raises
    ------
    ValueError
        Saying what is wrong with it.
    """
    number, crowd = item.get("category_id"), item.get("iscrowd", 0)
    category = categories.get(number) if _is_integer(number) else None
    if category is None:
        raise ValueError(f"unknown category_id {number!r}")
    if crowd not in (0, 1):
        raise ValueError(f"iscrowd must be 0 or 1, not {crowd!r}")
    try:
        mask = decode_segmentation(item.get("segmentation"), photo.height, photo.width)
    except ValueError as error:
        raise ValueError(f"{error} ({photo.file_name})") from None
    if not mask.any():
        return None
    id, area = item.get("id", 0), int(mask.sum())
    return CocoInstance(id, photo.id, category, encode(mask), area, box_of(mask), crowd=bool(crowd))
