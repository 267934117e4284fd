"""Questions, photographs and instances brought together and checked, before any picture is made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from PIL import Image

from lookcheck.dataset_builders.errors import Fault, InputError, IntegrityError
from lookcheck.dataset_builders.folder.mapping import Track, no_track
from lookcheck.dataset_builders.folder.upright import upright
from lookcheck.dataset_builders.jsonl import read_jsonl
from lookcheck.dataset_builders.perturbed_pope import constants
from lookcheck.dataset_builders.perturbed_pope.generate import generate
from lookcheck.dataset_builders.perturbed_pope.instances import (
    Instance,
    Instances,
    read_detections,
    read_instances,
)
from lookcheck.dataset_builders.perturbed_pope.questions import (
    Question,
    apply_repope,
    article_slips,
    read_questions,
)

MASK_RULES = ("all_instances", "largest_instance")


@dataclass(frozen=True)
class Edited:
    """One picture made by an external editor."""

    path: Path
    donor: str | None


@dataclass(frozen=True)
class Source:
    """Everything that a build starts from.

    Attributes
    ----------
    questions : tuple of Question
    instances : Instances
    images : Path
        Folder of the photographs.
    detections : mapping or None
        Top detection by image id and category.
    edited : mapping or None
        Externally edited pictures by image's file name and entity.
    mask_rule : str
    described : mapping
        Goes into ``lookcheck.json`` and the card.
    """

    questions: tuple[Question, ...]
    instances: Instances
    images: Path
    described: Mapping[str, Any]
    mask_rule: str = "all_instances"
    detections: Mapping[tuple[int, str], Instance] | None = None
    edited: Mapping[tuple[str, str], Edited] | None = field(default=None)

    def masks_of(self, question: Question) -> tuple[Instance, ...]:
        """The instances that stand for the asked object, by the rule in force."""
        photo = self.instances.photos[question.image]
        if self.detections is not None:
            found = self.detections.get((photo.id, question.entity))
            return () if found is None else (found,)
        items = self.instances.of(photo.id, question.entity)
        if self.mask_rule == "largest_instance" and items:
            return (max(items, key=lambda item: (item.area, -item.id)),)
        return tuple(items)


def pope_source(
    questions: Sequence[Path],
    images: Path,
    instances: Path,
    *,
    kind: str = "pope",
    repope: Sequence[Path] = (),
    repairs: Sequence[str] = (),
    mask_rule: str = "all_instances",
    detections: Path | None = None,
    edited: tuple[Path, Path] | None = None,
    seed: int = 0,
    track: Track = no_track,
) -> Source:
    """Bring the files of a user together.

    Parameters
    ----------
    questions : sequence of Path
        One file for each split; if there is none, questions are generated.
    images : Path
        Folder of the photographs.
    instances : Path
        COCO instances.
    kind : str
        ``"pope"`` or ``"coco-like"``, recorded.
    repope : sequence of Path
        RePOPE's files, one for each split.
    repairs : sequence of str
        Known slips to mend, by name.
    mask_rule : str
        One of `MASK_RULES`.
    detections : Path, optional
        COCO results with scores; the top one stands for the object.
    edited : (Path, Path), optional
        Folder and manifest of externally edited pictures for entity_swap.
    seed : int
        For generated questions.

    Raises
    ------
    InputError, IntegrityError
    """
    if mask_rule not in MASK_RULES:
        raise InputError(f"masks must be one of {', '.join(MASK_RULES)}, not {mask_rule!r}")
    if not images.is_dir():
        raise InputError(f"{images}: no such folder (images)")
    files = [read_questions(path, repairs=repairs) for path in questions]
    splits = [file.split for file in files]
    if len(set(splits)) != len(splits):
        raise InputError(f"two files of questions for one split: {', '.join(map(str, questions))}")
    files.sort(key=lambda file: constants.SPLITS.index(file.split))
    asked = tuple(question for file in files for question in file.questions)
    described: dict[str, Any] = {"kind": kind, "masks": mask_rule}
    if files:
        described["questions"] = {file.split: file.layout for file in files}
        described["repaired"] = sum(file.repaired for file in files)
    if repope:
        corrected = {file.split: file for file in (read_questions(path) for path in repope)}
        asked, described["repope"] = apply_repope(asked, corrected)
    known = read_instances(instances, {question.image for question in asked} if files else None)
    if not files:
        described["questions"] = f"generated, seed {seed}"
        asked = generate(known, seed=seed)
    described["article_slips"] = dict(sorted(article_slips(asked).items()))
    if detections is not None:
        described["masks"] = "top_detection"
    source = Source(
        asked,
        known,
        images,
        described,
        mask_rule,
        None if detections is None else read_detections(detections, known),
        None if edited is None else read_edited(*edited),
    )
    check_source(source, track)
    return source


def read_edited(folder: Path, manifest: Path) -> dict[tuple[str, str], Edited]:
    """Externally edited pictures: JSON Lines ``{image, entity, file, donor?}`` and the folder of files.

    Raises
    ------
    InputError
        Naming file and line.
    """
    found: dict[tuple[str, str], Edited] = {}
    for number, record in read_jsonl(manifest):
        where = f"{manifest}:{number}"
        image, entity, name = (record.get(key) for key in ("image", "entity", "file"))
        if not all(isinstance(value, str) and value for value in (image, entity, name)):
            raise InputError(f"{where}: needs image, entity and file as strings, not {record!r}")
        path = (folder / str(name)).resolve()
        if not path.is_relative_to(folder.resolve()) or not path.is_file():
            raise InputError(f"{where}: no picture {name!r} in {folder}")
        key = (str(image), str(entity))
        if key in found:
            raise InputError(f"{where}: {entity!r} of {image} stands twice")
        donor = record.get("donor")
        found[key] = Edited(path, donor if isinstance(donor, str) else None)
    return found


def check_source(source: Source, track: Track = no_track) -> None:
    """Check questions, photographs and masks against each other.

    Raises
    ------
    IntegrityError
        With every fault, by file and line or by image.
    """
    faults: list[Fault] = []
    ids: dict[str, str] = {}
    names: dict[str, str] = {}
    for question in source.questions:
        if question.id in ids:
            faults.append(Fault(question.where, "duplicate-id", f"the id {question.id} stands twice"))
        ids.setdefault(question.id, question.where)
        names.setdefault(question.image, question.where)
        if question.entity not in source.instances.supercategories:
            message = f"unknown category {question.entity!r} (question {question.number})"
            faults.append(Fault(question.where, "category", message))
    step = track("checking photographs", len(names))
    sizes: dict[str, tuple[int, int]] = {}
    for name, where in names.items():
        message = _check_photo(source, name, sizes)
        if message:
            faults.append(Fault(where, "image", message))
        step()
    for (name, entity), edited in (source.edited or {}).items():
        if name not in sizes:
            faults.append(Fault(f"{name}/{entity}", "edited", "no question is about this picture"))
            continue
        try:
            _, _, size = upright(edited.path.read_bytes())
        except Exception as error:  # Pillow raises many kinds for a broken file
            faults.append(
                Fault(f"{name}/{entity}", "edited", f"{edited.path.name} can't be decoded ({error})")
            )
            continue
        if size != sizes[name]:
            message = f"{edited.path.name} is {size[0]} × {size[1]}, but the photograph {sizes[name]}"
            faults.append(Fault(f"{name}/{entity}", "edited", message))
    if not source.questions:
        faults.append(Fault(constants.NAME, "questions", "no question"))
    if faults:
        raise IntegrityError(constants.NAME, faults)


def _check_photo(source: Source, name: str, sizes: dict[str, tuple[int, int]]) -> str:
    photo = source.instances.photos.get(name)
    if photo is None:
        return f"the image {name!r} is not in the instances file"
    path = source.images / name
    try:
        _, _, size = upright(path.read_bytes())
    except FileNotFoundError:
        return f"the image {name!r} is missing in {source.images}"
    except (OSError, ValueError, Image.DecompressionBombError) as error:
        return f"the image {name!r} can't be decoded ({error})"
    sizes[name] = size
    if size != (photo.width, photo.height):
        stated = f"{photo.width} × {photo.height}"
        return f"the image {name!r} is {size[0]} × {size[1]}, but its instances are of {stated}"
    return ""
