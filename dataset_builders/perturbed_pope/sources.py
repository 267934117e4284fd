"""Questions, photographs and instances brought together and checked, before any picture is made."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from lookcheck.dataset_builders.core.errors import Fault, InputError, IntegrityError
from lookcheck.dataset_builders.core.images import exif_transpose, read_picture, reason
from lookcheck.dataset_builders.core.processes import Track, no_track, ordered_map
from lookcheck.dataset_builders.dataset import Source
from lookcheck.dataset_builders.perturbed_pope import constants
from lookcheck.dataset_builders.perturbed_pope.detections import read_detections
from lookcheck.dataset_builders.perturbed_pope.edited import Edited, EditJob, Pair, inspect_edit, read_edited
from lookcheck.dataset_builders.perturbed_pope.generate import generate_questions
from lookcheck.dataset_builders.perturbed_pope.instances import CocoInstance, Instances, Photo, read_instances
from lookcheck.dataset_builders.perturbed_pope.questions import (
    Question,
    QuestionFile,
    article_slips,
    read_questions,
)
from lookcheck.dataset_builders.perturbed_pope.repope import apply_repope

if TYPE_CHECKING:
    from lookcheck.dataset_builders.perturbed_pope.fill_model import FillModel

MASK_RULES = ("all_instances", "largest_instance")


@dataclass(frozen=True)
class PopeSource(Source[Question]):
    """Everything that a build starts from; its jobs are the questions of all splits.

    Attributes
    ----------
    instances : Instances
    images : Path
        Folder of the photographs.
    mask_rule : str
        One of `MASK_RULES`, used where there are no detections.
    detections : mapping, optional
        The top detection by image id and category.
    edited : mapping, optional
        Externally edited pictures by file name and object.
    unchanged : frozenset of (str, str)
        Those of them that still show the object as it was.
    written_anew : int
        Photographs whose files can't be stored as they are.
    fill : FillModel, optional
        Fills the places of removed objects.
    """

    instances: Instances = field(kw_only=True)
    images: Path = field(kw_only=True)
    mask_rule: str = "all_instances"
    detections: Mapping[tuple[int, str], CocoInstance] | None = None
    edited: Mapping[Pair, Edited] | None = None
    unchanged: frozenset[Pair] = frozenset()
    written_anew: int = 0
    fill: FillModel | None = None

    def photo_of(self, image: str) -> Photo:
        """The photograph of an image's file name; its folder may be left out in the instances file."""
        photos = self.instances.photos
        return photos[image] if image in photos else photos[PurePosixPath(image).name]

    def masks_of(self, image: str, entity: str) -> tuple[CocoInstance, ...]:
        """The instances that stand for an object, by the rule in force."""
        photo = self.photo_of(image)
        if self.detections is not None:
            found = self.detections.get((photo.id, entity))
            return () if found is None else (found,)
        items = self.instances.of(photo.id, entity)
        if self.mask_rule == "largest_instance" and items:
            return (max(items, key=lambda item: (not item.crowd, item.area, -item.id)),)
        return items


def pope_source(
    questions: Sequence[tuple[str | None, Path]],
    images: Path,
    instances: Path,
    *,
    described: Mapping[str, Any],
    repope: Sequence[Path] = (),
    repairs: Sequence[str] = (),
    mask_rule: str = "all_instances",
    detections: Path | None = None,
    edited: tuple[Path, Path] | None = None,
    num_proc: int = 1,
    track: Track = no_track,
) -> PopeSource:
    """Bring the files of a user together.

    Parameters
    ----------
    questions : sequence of (str or None, Path)
        A file for each split, with the split's name where the file's doesn't tell. If there is none,
        questions are generated.
    images : Path
        Folder of the photographs.
    instances : Path
        COCO instances.
    described : mapping
        What is known of the source; what was recognised is added.
    repope : sequence of Path
        RePOPE's file for each split.
    repairs : sequence of str
        Known slips to mend, by name.
    mask_rule : str
        One of `MASK_RULES`.
    detections : Path, optional
        COCO results with scores; the top one stands for the object.
    edited : (Path, Path), optional
        Folder and manifest of externally edited pictures for `entity_swap`.
    num_proc : int
        Processes that check the photographs.
    track : callable
        Shows progress.

    Raises
    ------
    InputError, IntegrityError
        Naming file, line and id.
    """
    if mask_rule not in MASK_RULES:
        raise InputError(f"masks must be one of {', '.join(MASK_RULES)}, not {mask_rule!r}")
    if not images.is_dir():
        raise InputError(f"{images}: no such folder (images)")
    files = _read_all(questions, repairs)
    more: dict[str, Any] = {"masks": mask_rule if detections is None else "top_detection"}
    if repope:
        if not files:
            raise InputError("RePOPE corrects POPE's questions, but none are given")
        files, more["repope"] = apply_repope(files, [read_questions(path) for path in repope])
    if files:
        asked = {question.image for file in files for question in file.questions}
        known = read_instances(instances, asked | {PurePosixPath(name).name for name in asked})
    else:
        known = read_instances(instances)
        files = generate_questions(known)
    more["questions"] = {
        file.split: {
            "layout": file.layout,
            "rows": len(file.questions),
            "repaired": file.repaired,
            "asked_twice": file.asked_twice,
        }
        for file in files
    }
    everything = tuple(question for file in files for question in file.questions)
    more["article_slips"] = dict(sorted(article_slips(everything).items()))
    unknown = Counter(q.entity for q in everything if q.entity not in known.supercategories)
    more["unknown_objects"] = dict(sorted(unknown.items()))
    more["instances"] = _digest(known)
    if edited is not None:
        more["edited"] = True
    more["annotations_without_pixels"] = known.without_pixels
    found = None
    if detections is not None:
        found, more["detections_clipped"] = read_detections(detections, known)
    source = PopeSource(
        everything,
        {**described, **more},
        instances=known,
        images=images,
        mask_rule=mask_rule,
        detections=found,
        edited=None if edited is None else read_edited(*edited, known.supercategories),
    )
    unchanged, written_anew = check_source(source, num_proc=num_proc, track=track)
    return replace(source, unchanged=unchanged, written_anew=written_anew)


def _digest(known: Instances) -> str:
    """Digest of photographs and instances, whatever their order in the file: 16 hexadecimal digits."""
    whole = sha256()
    for photo in sorted(known.photos.values(), key=lambda photo: photo.id):
        masks = [
            (item.id, item.category, item.rle["counts"], item.crowd)
            for item in known.by_image.get(photo.id, ())
        ]
        whole.update(repr((photo, masks)).encode())
    return whole.hexdigest()[:16]


def _read_all(
    questions: Sequence[tuple[str | None, Path]], repairs: Sequence[str]
) -> tuple[QuestionFile, ...]:
    files: dict[str, QuestionFile] = {}
    for split, path in questions:
        file = read_questions(path, split, repairs=repairs)
        if file.split in files:
            raise InputError(f"{path}: a second file of questions for the split {file.split}")
        files[file.split] = file
    return tuple(files[split] for split in constants.in_order(files))


def check_source(
    source: PopeSource, *, num_proc: int = 1, track: Track = no_track
) -> tuple[frozenset[tuple[str, str]], int]:
    """Check questions, photographs, masks and edited pictures against each other.

    Returns
    -------
    frozenset of (str, str)
        File name and object of each edited picture that still shows the object as it was.
    int
        Photographs that are written anew.

    Raises
    ------
    IntegrityError
        With every fault, by file and line.
    """
    faults: list[Fault] = []
    ids: dict[str, str] = {}
    images: dict[str, Question] = {}
    masked = {question.image for question in source.jobs if question.label == "yes"}
    for question in source.jobs:
        if question.id in ids:
            message = f"the id {question.id} stands twice, first at {ids[question.id]}"
            faults.append(Fault(question.where, "duplicate-id", message))
        ids.setdefault(question.id, question.where)
        images.setdefault(question.image, question)
    step = track("checking photographs", len(images))
    jobs = [source.images / name for name in images]
    sizes: dict[str, tuple[int, int]] = {}
    written_anew = 0
    for (name, question), found in zip(images.items(), ordered_map(_size_of, jobs, num_proc), strict=True):
        try:
            photo = source.photo_of(name)
        except KeyError:
            found = "is not in the instances file"
        if isinstance(found, tuple):
            sizes[name], anew = found
            written_anew += anew
            # An edited picture of POPEv2 bears the name of its original; its masks are never used.
            if name in masked and sizes[name] != (photo.width, photo.height):
                stated = f"{photo.width} × {photo.height}"
                found = f"is {sizes[name][0]} × {sizes[name][1]}, but its instances are of {stated}"
        if isinstance(found, str):
            message = f"the image {name!r} {found} (question {question.number})"
            faults.append(Fault(question.where, "image", message))
        step()
    unchanged = _check_edited(source, sizes, faults, num_proc, track)
    if faults:
        raise IntegrityError(constants.NAME, faults)
    return unchanged, written_anew


def _check_edited(
    source: PopeSource, sizes: Collection[str], faults: list[Fault], num_proc: int, track: Track
) -> frozenset[Pair]:
    """Which of the edited pictures show the object as it was."""
    pairs: list[tuple[Pair, Edited]] = []
    for (image, entity), item in (source.edited or {}).items():
        if image in sizes:
            pairs.append(((image, entity), item))
        else:
            faults.append(Fault(item.where, "edited", f"no question is about {image!r} ({entity!r})"))
    step = track("checking edited pictures", len(pairs)) if pairs else None
    jobs = [
        EditJob(item.path, source.images / pair[0], tuple(mask.rle for mask in source.masks_of(*pair)))
        for pair, item in pairs
    ]
    unchanged = set()
    for (pair, item), found in zip(pairs, ordered_map(inspect_edit, jobs, num_proc), strict=True):
        if isinstance(found, str):
            faults.append(Fault(item.where, "edited", f"{item.path.name} {found}"))
        elif not found:
            unchanged.add(pair)
        if step is not None:
            step()
    return frozenset(unchanged)


def _size_of(path: Path) -> tuple[tuple[int, int], bool] | str:
    """Width and height of a photograph and whether it is written anew, or what is wrong with its file."""
    try:
        data = read_picture(path)
        shown, _, size = exif_transpose(data)
        return size, shown is not data
    except FileNotFoundError:
        return f"is missing in {path.parent}"
    except Exception as error:  # Pillow raises many kinds for a broken file
        return f"can't be decoded ({reason(error)})"
