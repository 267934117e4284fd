"""One row of the upstream files as a record, with every fault of it found at once."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lookcheck.dataset_builders.core.errors import Fault
from lookcheck.dataset_builders.salart_vqa import constants

# The id names pictures inside the built files: letters that every file system takes.
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,127}")
TRAITS = ("artifact_type", "subset", "pair_id")

Box = tuple[float, float, float, float]
Options = Mapping[str, str]


@dataclass(frozen=True)
class SalArtRecord:
    """One image and its chain of questions.

    Attributes
    ----------
    id : str
        The image's ``row_id``.
    role : str
        One of `constants.ROLES`.
    prompts : dict of str to str or None
        The text of each question as upstream has it; None where it is not asked.
    options : dict of str to dict
        Options A to E of q2 and of q4.
    answers : dict of str to str or None
        Keys of q1 to q4; None where the question is not asked.
    system_prompt : str or None
    boxes : dict of str to (x, y, width, height), or None
        The four boxes of q3 in pixels, where they are known.
    artifact_type, subset, pair_id : str or None
    """

    id: str
    role: str
    prompts: Mapping[str, str | None]
    options: Mapping[str, Options]
    answers: Mapping[str, str | None]
    system_prompt: str | None = None
    boxes: Mapping[str, Box] | None = None
    artifact_type: str | None = None
    subset: str | None = None
    pair_id: str | None = None

    @property
    def asked(self) -> tuple[str, ...]:
        """The questions that are asked of this image."""
        return tuple(question for question in constants.QUESTIONS if self.answers[question] is not None)


def as_sent(prompt: str, options: Options | None) -> str:
    """The text of a question as a model gets it: options follow as lines "A. …".

    This is what the authors' evaluation sends, blank line and heading included.

    A prompt that holds these lines already stays as it is.

    Examples
    --------
    >>> print(as_sent("Where?", {"A": "left", "B": "right", "C": "top", "D": "bottom", "E": "none"}))
    Where?
    <BLANKLINE>
    Options:
    A. left
    B. right
    C. top
    D. bottom
    E. none
    """
    if options is None:
        return prompt
    lines = "\n".join(f"{letter}. {options[letter]}" for letter in constants.LETTERS)
    return prompt if lines in prompt else f"{prompt}\n\nOptions:\n{lines}"


class _Faults(list[Fault]):
    def __init__(self, id: str) -> None:
        super().__init__()
        self.id = id

    def add(self, rule: str, message: str) -> None:
        self.append(Fault(self.id, rule, message))


def parse_record(where: str, fields: Mapping[str, Any]) -> tuple[SalArtRecord | None, list[Fault]]:
    """Parse one row; its pictures are looked at elsewhere.

    Parameters
    ----------
    where : str
        The row's place, which names it in faults if its id can't.
    fields : mapping
        Columns by their upstream names. ``role`` may stand for ``image_role``.

    Returns
    -------
    SalArtRecord or None
        None if there is a fault.
    list of Fault
        Everything that is wrong with the row by itself.
    """
    id = fields.get("row_id")
    sound = isinstance(id, str) and _ID.fullmatch(id) is not None
    faults = _Faults(id if sound and isinstance(id, str) else where)
    if not sound:
        faults.add("id", f"row_id must be letters, digits and _ . - only, not {id!r}")
    role = fields.get("role" if "role" in fields else "image_role")
    if not isinstance(role, str) or role not in constants.ROLES:
        faults.add("role", f"unknown role {role!r}; known: {', '.join(constants.ROLES)}")
        role = ""
    answers = {question: _answer(question, role, fields, faults) for question in constants.QUESTIONS}
    prompts = {
        question: _text(f"{question}_prompt", fields, faults, needed=answers[question] is not None)
        for question in constants.QUESTIONS
    }
    options = {question: _options(f"{question}_options", fields, faults) for question in ("q2", "q4")}
    boxes = _boxes(fields.get("q3_boxes"), faults)
    system_prompt = _text("system_prompt", fields, faults, needed=False)
    traits = {name: _text(name, fields, faults, needed=False) for name in TRAITS}
    if message := subset_fault(traits["subset"], role):
        faults.add("subset", message)
    if faults or not isinstance(id, str):
        return None, faults
    return SalArtRecord(id, role, prompts, options, answers, system_prompt, boxes, **traits), faults


def subset_fault(subset: str | None, role: str) -> str:
    """What is wrong with a subset, or ""."""
    if subset is None:
        return ""
    if subset not in constants.SUBSETS:
        return f"unknown subset {subset!r}; known: {', '.join(constants.SUBSETS)}"
    if role and constants.SUBSETS[subset] != role:
        return f"the subset {subset} is of the role {constants.SUBSETS[subset]}, not {role}"
    return ""


def _answer(question: str, role: str, fields: Mapping[str, Any], faults: _Faults) -> str | None:
    value = fields.get(f"{question}_answer")
    if not role:
        return value if isinstance(value, str) else None
    legal = constants.ANSWERS[role][question]
    if value not in legal or isinstance(value, list | dict):
        wanted = " or ".join("null" if answer is None else answer for answer in legal)
        faults.add(
            f"{question}-answer", f"{question}_answer of the role {role} must be {wanted}, not {value!r}"
        )
        return None
    return value if isinstance(value, str) else None


def _text(name: str, fields: Mapping[str, Any], faults: _Faults, *, needed: bool) -> str | None:
    value = fields.get(name)
    if value is None and not needed:
        return None
    rule = name.replace("_", "-")
    if not isinstance(value, str):
        faults.add(rule, f"{name} must be a string, not {value!r}")
    elif not value.strip():
        faults.add(rule, f"{name} is empty")
    elif not _is_unicode(value):
        faults.add(rule, f"{name} holds half of a surrogate pair: {value!r}")
    else:
        return value
    return None


def _options(name: str, fields: Mapping[str, Any], faults: _Faults) -> dict[str, str]:
    value, rule = fields.get(name), name.replace("_", "-")
    if not isinstance(value, dict):
        faults.add(rule, f"{name} must give the options A to E, not {value!r}")
        return {}
    if set(value) != set(constants.LETTERS):
        faults.add(rule, f"{name} must have the letters A to E, not {sorted(map(str, value))}")
        return {}
    for letter in constants.LETTERS:
        text = value[letter]
        if not isinstance(text, str) or not text.strip() or not _is_unicode(text):
            faults.add(rule, f"option {letter} of {name} must be a text, not {text!r}")
    return {letter: value[letter] for letter in constants.LETTERS}


def _boxes(value: Any, faults: _Faults) -> dict[str, Box] | None:
    if value is None:
        return None
    if not isinstance(value, dict) or set(value) != set(constants.BOX_LETTERS):
        faults.add("q3-boxes", f"q3_boxes must give the boxes A to D, not {value!r}")
        return None
    boxes: dict[str, Box] = {}
    for letter in constants.BOX_LETTERS:
        box = value[letter]
        if not isinstance(box, list | tuple) or len(box) != 4 or not all(map(_is_finite, box)):
            faults.add("q3-boxes", f"box {letter} must be [x, y, width, height], not {box!r}")
        elif box[2] <= 0 or box[3] <= 0:
            faults.add("q3-boxes", f"box {letter} has no area: {box!r}")
        else:
            x, y, width, height = map(float, box)
            boxes[letter] = (x, y, width, height)
    return boxes


def _is_finite(value: Any) -> bool:
    # An integer of JSON may be too large for a float.
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 2**31


def _is_unicode(text: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in text)
