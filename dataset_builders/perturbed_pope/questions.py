"""POPE's question files in every layout that is about, and RePOPE's corrections."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from lookcheck.dataset_builders.errors import Fault, InputError, IntegrityError
from lookcheck.dataset_builders.jsonl import parse_json, read_text
from lookcheck.dataset_builders.perturbed_pope import constants

TEMPLATE = re.compile(r"Is there (a pair of|an|a) (.+) in the image\?")
_FIELDS = (
    {"question_id", "image", "text", "label"},
    {"image_id", "image_name", "target_object", "query", "label"},
)


@dataclass(frozen=True)
class Question:
    """One question.

    Attributes
    ----------
    split : str
    number : str
        ``question_id``; it stands in every split, so that an id must name the split as well.
    image : str
        The image's file name.
    text : str
        As the file has it, slips included.
    entity : str
        The asked object.
    label : str
        ``"yes"`` or ``"no"``.
    where : str
        File and line (or record), for messages.
    """

    split: str
    number: str
    image: str
    text: str
    entity: str
    label: str
    where: str

    @property
    def id(self) -> str:
        """Unique over the splits."""
        return f"{self.split}-{self.number}"


@dataclass(frozen=True)
class QuestionFile:
    """The questions of one split, and what was recognised."""

    split: str
    layout: str
    questions: tuple[Question, ...]
    repaired: int = 0


def article(name: str) -> str:
    """The right words before a category's name.

    Examples
    --------
    >>> [article(name) for name in ("orange", "traffic light", "skis", "hot dog")]
    ['an', 'a', 'a pair of', 'a']
    """
    if name in ("skis", "scissors"):
        return "a pair of"
    return "an" if name[0] in "aeiou" else "a"


def ask(name: str) -> str:
    """The question for a category, with the right article."""
    return f"Is there {article(name)} {name} in the image?"


def split_of(path: Path) -> str:
    """The split that a file's name says.

    Raises
    ------
    InputError
        If it names none or several.
    """
    found = [split for split in constants.SPLITS if split in path.name.lower()]
    if len(found) != 1:
        raise InputError(f"{path}: the file's name must hold one of {', '.join(constants.SPLITS)}")
    return found[0]


def read_questions(path: Path, *, repairs: Collection[str] = ()) -> QuestionFile:
    """Read one file of questions.

    Layouts: JSON Lines with LF or CRLF, a JSON array of the same records (SEEM's), and POPEv2's array.

    Parameters
    ----------
    path : Path
        The split is in its name.
    repairs : collection of str
        Names of `constants.REPAIRS` to apply; what needs one that is not named is refused.

    Raises
    ------
    IntegrityError
        With every bad record, by file and line.
    InputError
        If the file can't be read as a whole.
    """
    split = split_of(path)
    layout, records = _records(path)
    faults: list[Fault] = []
    questions: list[Question] = []
    repaired = 0
    seen: dict[str, str] = {}
    for where, record in records:
        question, message = _question(split, where, record, repairs)
        if question is None:
            faults.append(Fault(where, "question", message))
            continue
        repaired += message == "repaired"
        if question.number in seen:
            text = f"the question_id {question.number} stands twice (first at {seen[question.number]})"
            faults.append(Fault(where, "duplicate-id", text))
        seen.setdefault(question.number, where)
        questions.append(question)
    if faults:
        raise IntegrityError(str(path), faults)
    if split == "random" and len(questions) == constants.OLD_RANDOM_ROWS:
        layout += ", the old random file of 2,910 rows"
    return QuestionFile(split, layout, tuple(questions), repaired)


def _records(path: Path) -> tuple[str, Iterable[tuple[str, Any]]]:
    text = read_text(path)
    if text.lstrip().startswith("["):
        array = parse_json(text, str(path))
        named = [(f"{path.name} record {number}", record) for number, record in enumerate(array, start=1)]
        second = bool(array) and isinstance(array[0], dict) and "target_object" in array[0]
        return ("POPEv2 (JSON array)" if second else "JSON array"), named
    crlf = "\r\n" in text
    lines = [
        (f"{path.name}:{number}", parse_json(line, f"{path}:{number}"))
        for number, line in enumerate(text.split("\n"), start=1)
        if line.strip()
    ]
    if not lines:
        raise InputError(f"{path}: no questions")
    return ("JSON Lines, CRLF" if crlf else "JSON Lines, LF"), lines


def _question(split: str, where: str, record: Any, repairs: Collection[str]) -> tuple[Question | None, str]:
    if not isinstance(record, dict) or not any(fields <= set(record) for fields in _FIELDS):
        found = sorted(record) if isinstance(record, dict) else record
        return None, f"expected the fields question_id, image, text, label, found {found!r}"
    if "target_object" in record:
        # POPEv2 numbers images, not questions; with the object that is unique.
        number, image = f"{record['image_id']}-{record['target_object']}", record["image_name"]
        text, label = record["query"], record["label"]
    else:
        number, image, text, label = (record[key] for key in ("question_id", "image", "text", "label"))
    if isinstance(number, bool) or not isinstance(number, int | str) or not str(number).strip():
        return None, f"question_id must be an integer or a string, not {number!r}"
    if not isinstance(image, str) or not image or "/" in image or "\\" in image:
        return None, f"image must be a file's name, not {image!r}"
    if not isinstance(label, str) or label.lower() not in constants.ANSWERS:
        return None, f"label must be yes or no, not {label!r} (question {number})"
    if not isinstance(text, str):
        return None, f"the question's text must be a string, not {text!r} (question {number})"
    state = ""
    for name, (wrong, right) in constants.REPAIRS.items():
        if text.endswith(wrong):
            if name not in repairs:
                return None, f"the text {text!r} holds the known slip {name!r} (--repair {name} mends it)"
            text, state = text.removesuffix(wrong) + right, "repaired"
    found = TEMPLATE.fullmatch(text)
    if not found:
        return (
            None,
            f"the text {text!r} is not of the form 'Is there a/an X in the image?' (question {number})",
        )
    entity = found[2]
    target = record.get("target_object")
    if target is not None and target != entity:
        return None, f"target_object {target!r} is not what the text asks for: {text!r}"
    return Question(split, str(number), image, text, entity, label.lower(), where), state


def article_slips(questions: Iterable[Question]) -> Counter[str]:
    """Wrong articles as they stand in the texts, with their number, such as ``"an traffic light"``."""
    slips: Counter[str] = Counter()
    for question in questions:
        found = TEMPLATE.fullmatch(question.text)
        if found and found[1] != article(question.entity):
            slips[f"{found[1]} {question.entity}"] += 1
    return slips


def apply_repope(
    questions: Sequence[Question], corrected: Mapping[str, QuestionFile]
) -> tuple[tuple[Question, ...], dict[str, int]]:
    """Correct labels by RePOPE's files, and leave out what these leave out as ambiguous.

    Questions are joined by split, image and object, never by line or number.

    Parameters
    ----------
    questions : sequence of Question
    corrected : mapping
        From split to RePOPE's file; every split of `questions` needs one.

    Returns
    -------
    tuple of Question
    dict
        Counts ``changed``, ``left_out``.

    Raises
    ------
    InputError
        If a split has no file.
    IntegrityError
        If a correction belongs to no question.
    """
    if missing := sorted({question.split for question in questions} - corrected.keys()):
        raise InputError(f"no RePOPE file for the split {', '.join(missing)}; leave it out or give its file")
    labels = {
        (split, question.image, question.entity): question
        for split, file in corrected.items()
        for question in file.questions
    }
    kept, changed = [], 0
    used = set()
    for question in questions:
        key = (question.split, question.image, question.entity)
        if key in labels:
            used.add(key)
            changed += labels[key].label != question.label
            kept.append(replace(question, label=labels[key].label))
    stray = [labels[key] for key in labels.keys() - used]
    if stray:
        faults = [
            Fault(question.where, "repope", f"no question asks for {question.entity!r} in {question.image}")
            for question in sorted(stray, key=lambda question: question.where)
        ]
        raise IntegrityError("RePOPE", faults)
    return tuple(kept), {"changed": changed, "left_out": len(questions) - len(kept)}
