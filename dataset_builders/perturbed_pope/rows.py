"""From a picture to the rows that show it: what the processes of a build run."""

from __future__ import annotations

import io
from dataclasses import dataclass
from pathlib import Path

from PIL import Image

from lookcheck.dataset_builders.core.images import Pixels, exif_transpose, load
from lookcheck.dataset_builders.core.masks import Rle, decode, encode
from lookcheck.dataset_builders.parquet.plan import Row
from lookcheck.dataset_builders.perturbed_pope import constants
from lookcheck.dataset_builders.perturbed_pope.conditions import CONDITIONS, ORIGINAL, Given
from lookcheck.dataset_builders.perturbed_pope.edited import Edited
from lookcheck.dataset_builders.perturbed_pope.filling import Piece
from lookcheck.dataset_builders.perturbed_pope.instances import Photo
from lookcheck.dataset_builders.perturbed_pope.perturbations import image_key
from lookcheck.dataset_builders.perturbed_pope.questions import Question
from lookcheck.dataset_builders.perturbed_pope.swap import Swap, cut_out
from lookcheck.dataset_builders.perturbed_pope.swap_rules import Scene

# The longest side that WebP can hold, in pixels.
LONGEST_WEBP = 16383


@dataclass(frozen=True)
class CutOut:
    """What is pasted in an object's place: a mask in a photograph, and whose it is."""

    path: Path
    rle: Rle
    category: str
    image: str
    instance: int


@dataclass(frozen=True)
class SwapOf:
    """How an object is replaced: see `swap.Swap`; `filled` is the file of a picture that a model filled."""

    scene: Scene
    pieces: tuple[Piece, ...]
    cut_out: CutOut
    box: tuple[int, int, int, int]
    filled: Path | None = None

    def ready(self) -> Swap:
        """With all masks and the cut-out decoded."""
        piece = cut_out(load(self.cut_out.path), decode(self.cut_out.rle))
        filled = None if self.filled is None else load(self.filled)
        return Swap(self.scene.hole(), self.pieces, piece, self.box, filled)


@dataclass(frozen=True)
class PictureJob:
    """One distinct picture.

    Attributes
    ----------
    condition : str
    path : Path
        The photograph.
    seed : int or None
        Of noise and of the choice of a cut-out.
    masks : tuple of RLE
        Of the asked object; empty for conditions of the whole picture.
    swap : SwapOf or None
    edited : Edited or None
    """

    condition: str
    path: Path
    seed: int | None = None
    masks: tuple[Rle, ...] = ()
    swap: SwapOf | None = None
    edited: Edited | None = None


@dataclass(frozen=True)
class Made:
    """A picture and what is known of it after it is made.

    Attributes
    ----------
    data : bytes or None
        An image file; None without a picture.
    suffix : str
        Ending of its name.
    mask : RLE or None
        Pixels that a condition of an object may have replaced.
    fraction : float or None
        Their share of the picture; for a condition of the whole picture the share that it replaces.
    box : tuple of int or None
        Of the cut-out that was pasted: x, y, width, height.
    """

    data: bytes | None
    suffix: str = ""
    mask: Rle | None = None
    fraction: float | None = None
    box: tuple[int, int, int, int] | None = None


@dataclass(frozen=True)
class Asked:
    """A question with what its masks say.

    Attributes
    ----------
    question : Question
    no_instance : bool
        Answered yes, but the object has no mask.
    tiny : bool
        Answered yes, and the masks have under 32 × 32 pixels together.
    """

    question: Question
    no_instance: bool
    tiny: bool


@dataclass(frozen=True)
class RowsJob:
    """A picture, its photograph and all questions, of any split, that are asked about it."""

    picture: PictureJob
    photo: Photo
    asked: tuple[Asked, ...]


def stem_of(condition: str, split: str) -> str:
    """Start of the names of the files for a condition and split."""
    return f"{condition}-{split}"


def row_id(question: Question, condition: str) -> str:
    """Id of a row: its parent's in `original`, with the condition behind it elsewhere."""
    return question.id if condition == ORIGINAL else f"{question.id}-{condition}"


def make_rows(job: RowsJob, layout: str = "category") -> dict[str, list[Row]]:
    """Make the picture of a job once, and the rows that show it: from stem to rows."""
    made = make_picture(job.picture)
    rows: dict[str, list[Row]] = {}
    for asked in job.asked:
        split = asked.question.split if layout == "splits" else constants.ONE_SPLIT
        stem = stem_of(job.picture.condition, split)
        rows.setdefault(stem, []).append(_row(job, asked, made))
    return rows


def _row(job: RowsJob, asked: Asked, made: Made) -> Row:
    question, condition, photo = asked.question, CONDITIONS[job.picture.condition], job.photo
    swap, edited = job.picture.swap, job.picture.edited
    piece = swap.cut_out if swap else None
    name = image_key(question.image)
    if condition.needs_masks:
        name += "-" + question.entity.replace(" ", "_")
    if condition.name != ORIGINAL:
        name += "-" + condition.name
    return {
        "id": row_id(question, condition.name),
        "parent_id": question.id,
        "category": question.split,
        "image": None if made.data is None else {"bytes": made.data, "path": name + made.suffix},
        "question": question.text,
        "question_unknown_option": constants.UNKNOWN_OPTION.format(question=question.text),
        "question_open_ended": constants.OPEN_ENDED,
        # What was asked for has been taken away and something else put there.
        "answer": "no" if condition.removes else question.label,
        "answer_upstream": question.corrected_from or question.label,
        "entity": question.entity,
        "condition": condition.name,
        "strength": condition.strength,
        "seed": job.picture.seed,
        "mask_rle": made.mask,
        "masked_fraction": made.fraction,
        "no_instance": asked.no_instance,
        "tiny_entity": asked.tiny,
        "donor": piece.category if piece else edited.donor if edited else None,
        "donor_box": None if made.box is None else list(map(float, made.box)),
        "donor_image": piece.image if piece else None,
        "donor_instance": piece.instance if piece else None,
        "image_id": photo.id,
        "image_name": question.image,
        "license": photo.license,
        "license_url": photo.license_url,
        "credit": photo.credit,
        "source_url": photo.source_url,
    }


def encode_picture(pixels: Pixels) -> tuple[bytes, str]:
    """An image file that holds the pixels (uint8, shape (H, W, 3)) exactly, and the ending of its name.

    Lossless WebP in its fastest form: half the time and four fifths of the bytes of PNG. What is too
    long for it becomes PNG.
    """
    stream = io.BytesIO()
    image = Image.fromarray(pixels)
    if max(image.size) <= LONGEST_WEBP:
        image.save(stream, "WEBP", lossless=True, quality=0, method=0)
        return stream.getvalue(), ".webp"
    image.save(stream, "PNG", compress_level=1)
    return stream.getvalue(), ".png"


def make_picture(job: PictureJob) -> Made:
    """Make the picture of one job."""
    condition = CONDITIONS[job.condition]
    if not condition.has_picture:
        return Made(None)
    if job.condition == ORIGINAL:
        data, suffix, _ = exif_transpose(job.path.read_bytes(), whole=False)
        return Made(data, suffix, fraction=0.0)
    image = load(job.path)
    if job.edited is not None:
        data, suffix, _ = exif_transpose(job.edited.path.read_bytes(), whole=False)
        changed = (load(job.edited.path) != image).any(2)
        return Made(data, suffix, encode(changed), float(changed.mean()))
    swap = None if job.swap is None else job.swap.ready()
    made = condition.apply(image, Given([decode(rle) for rle in job.masks], job.seed, swap))
    mask = None if made.changed is None else encode(made.changed)
    return Made(*encode_picture(made.pixels), mask, made.fraction, made.box)
