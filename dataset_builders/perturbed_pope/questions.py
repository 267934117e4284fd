"""POPE's question files in every layout that is about."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any

from lookcheck.dataset_builders.core.errors import Fault, InputError, IntegrityError
from lookcheck.dataset_builders.core.jsonl import parse_json, read_text
from lookcheck.dataset_builders.perturbed_pope import constants

TEMPLATE = re.compile(r"Is there (a pair of|an|a) (.+) in the image\?")
FIELDS = ("question_id", "image", "text", "label")
SECOND_FIELDS = ("image_id", "image_name", "target_object", "query", "label")


@dataclass(frozen=True)
class Question:
    """One question.

    Attributes
    ----------
    split : str
    number : str
        ``question_id``; it stands in every split, so that an id must name the split as well.
    image : str
        The image's file name, below the folder of images.
    text : str
        As the file has it, wrong articles included.
    entity : str
        The asked object.
    label : str
        ``"yes"`` or ``"no"``.
    where : str
        File and line (or record), for messages.
    corrected_from : str or None
        The label of the question file, where RePOPE has another one.
    """

    split: str
    number: str
    image: str
    text: str
    entity: str
    label: str
    where: str
    corrected_from: str | None = None

    @property
    def id(self) -> str:
        """Unique over the splits."""
        return f"{self.split}-{self.number}"


@dataclass(frozen=True)
class QuestionFile:
    """The questions of one split, and what was recognised.

    Attributes
    ----------
    split, layout : str
    questions : tuple of Question
    repaired : int
        Texts that a named repair has changed.
    asked_twice : int
        Questions that ask for the same object of the same image as an earlier one; they stay, under
        their own ids.
    """

    split: str
    layout: str
    questions: tuple[Question, ...]
    repaired: int = 0
    asked_twice: int = 0

    @property
    def is_old_random(self) -> bool:
        """Whether it is the old random file of 2,910 rows, which numbers its questions otherwise."""
        return self.split == "random" and len(self.questions) == constants.OLD_RANDOM_ROWS


def article(name: str) -> str:
    """The right words before a category's name.

    Examples
    --------
    >>> [article(name) for name in ("orange", "traffic light", "skis", "hot dog")]
    ['an', 'a', 'a pair of', 'a']
    """
    if name in constants.PAIRS:
        return "a pair of"
    return "an" if name[0].lower() in "aeiou" else "a"


def ask(name: str) -> str:
    """The question for a category, with the right article.

    Examples
    --------
    >>> ask("umbrella")
    'Is there an umbrella in the image?'
    """
    return f"Is there {article(name)} {name} in the image?"


def article_slips(questions: Iterable[Question]) -> Counter[str]:
    """Wrong articles as they stand in the texts, with their number: ``{"an traffic light": 1}``."""
    slips: Counter[str] = Counter()
    for question in questions:
        found = TEMPLATE.fullmatch(question.text)
        if found and found[1] != article(question.entity):
            slips[f"{found[1]} {question.entity}"] += 1
    return slips


def read_questions(path: Path, split: str | None = None, *, repairs: Collection[str] = ()) -> QuestionFile:
    """Read one file of questions.

    Recognised are JSON Lines with LF or CRLF, a JSON array of the same records, and POPEv2's array.

    Parameters
    ----------
    path : Path
    split : str, optional
        Taken from the file's name if not given; of POPEv2 it is ``"popev2"``.
    repairs : collection of str
        Names of `constants.REPAIRS` to apply; a text that needs another one is refused.

    Raises
    ------
    IntegrityError
        With every bad record, by file and line.
    InputError
        If the file can't be read as a whole.
    """
    if unknown := set(repairs) - constants.REPAIRS.keys():
        raise InputError(f"unknown repair {sorted(unknown)[0]!r}; known: {', '.join(constants.REPAIRS)}")
    layout, records = _records(path)
    if split is None:
        split = constants.SECOND_SPLIT if layout.startswith("POPEv2") else _split_of(path)
    if not re.fullmatch(r"[A-Za-z0-9_]+", split):
        raise InputError(f"{path}: a split's name holds letters, digits and _, not {split!r}")
    faults: list[Fault] = []
    questions: list[Question] = []
    repaired = 0
    numbers: dict[str, str] = {}
    for where, record in records:
        try:
            question, mended = _question(split, where, record, repairs)
        except ValueError as error:
            faults.append(Fault(where, "question", str(error)))
            continue
        repaired += mended
        if question.number in numbers:
            message = f"question {question.number} stands twice, first at {numbers[question.number]}"
            faults.append(Fault(where, "duplicate-id", message))
        numbers.setdefault(question.number, where)
        questions.append(question)
    if faults:
        raise IntegrityError(str(path), faults)
    # The files of A-OKVQA and GQA hold a few questions twice.
    twice = len(questions) - len({(question.image, question.entity) for question in questions})
    file = QuestionFile(split, layout, tuple(questions), repaired, twice)
    known = [name for start, name in constants.OTHER_SOURCES.items() if path.name.lower().startswith(start)]
    known += ["the old random file of 2,910 rows"] if file.is_old_random else []
    return replace(file, layout=", ".join([layout, *known]))


def _split_of(path: Path) -> str:
    found = [split for split in constants.SPLITS if split in path.name.lower()]
    if len(found) != 1:
        names = ", ".join(constants.SPLITS)
        raise InputError(f"{path}: the file's name must hold one of {names}; or give SPLIT=FILE")
    return found[0]


def _records(path: Path) -> tuple[str, list[tuple[str, Any]]]:
    text = read_text(path)
    if text.lstrip().startswith("["):
        array = parse_json(text, str(path))
        second = bool(array) and isinstance(array[0], dict) and "target_object" in array[0]
        layout = "POPEv2, JSON array" if second else "JSON array"
        records = [(f"{path.name} record {number}", record) for number, record in enumerate(array, start=1)]
    else:
        layout = "JSON Lines, CRLF" if "\r\n" in text else "JSON Lines, LF"
        records = [
            (f"{path.name}:{number}", parse_json(line, f"{path}:{number}"))
            for number, line in enumerate(text.split("\n"), start=1)
            if line.strip()
        ]
    if not records:
        raise InputError(f"{path}: no questions")
    return layout, records


def _question(split: str, where: str, record: Any, repairs: Collection[str]) -> tuple[Question, bool]:
    if not isinstance(record, dict):
        raise ValueError(f"expected a JSON object, found {str(record)[:80]}")
    second = "target_object" in record
    if missing := [name for name in (SECOND_FIELDS if second else FIELDS) if name not in record]:
        raise ValueError(f"lacks {', '.join(missing)}: {str(record)[:120]}")
    image = record["image_name" if second else "image"]
    label, text = record["label"], record["query" if second else "text"]
    number = record["image_id" if second else "question_id"]
    if isinstance(number, bool) or not isinstance(number, int | str) or not str(number).strip():
        raise ValueError(f"the id must be an integer or a string, not {number!r}")
    for name, value in (("image", image), ("text", text), ("label", label)):
        if not isinstance(value, str) or not value.isprintable():
            raise ValueError(f"{name} must be a string, not {value!r} (question {number})")
    # POPEv2 writes its paths with a leading stroke.
    image = image.removeprefix("/") if second else image
    if not image or "\\" in image or ".." in PurePosixPath(image).parts or image.startswith("/"):
        raise ValueError(
            f"image must be a file below the folder of images, not {image!r} (question {number})"
        )
    if label.lower() not in constants.ANSWERS:
        raise ValueError(f"label must be yes or no, not {label!r} (question {number})")
    mended = False
    for name, (wrong, right) in constants.REPAIRS.items():
        if text.endswith(wrong):
            if name not in repairs:
                raise ValueError(f"{text!r} has the known slip {name!r}; --repair {name} mends it")
            text, mended = text.removesuffix(wrong) + right, True
    found = TEMPLATE.fullmatch(text)
    if not found:
        raise ValueError(f"{text!r} is not 'Is there a/an X in the image?' (question {number})")
    entity = found[2]
    if second:
        if record["target_object"] != entity:
            raise ValueError(f"target_object is {record['target_object']!r}, but the query is {text!r}")
        # An edited picture and its original have one image_id: the path tells them apart.
        number = f"{image.rsplit('.', 1)[0].replace('/', '_')}-{entity.replace(' ', '_')}"
    return Question(split, str(number), image, text, entity, label.lower(), where), mended
