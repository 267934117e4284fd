"""How SalArt-VQA is asked, and how replies become what its scorer reads."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from lookcheck.dataset_builders.core.errors import InputError
from lookcheck.dataset_builders.parquet.reader import BuiltFolder
from lookcheck.dataset_builders.requests.loader import filled
from lookcheck.dataset_builders.requests.pictures import read_with_pictures
from lookcheck.dataset_builders.requests.protocol import AskingProtocol
from lookcheck.dataset_builders.requests.replies import CUT_REPLY, budget, unread, unreadable
from lookcheck.dataset_builders.requests.request import Answer, Asked, Picture, Request
from lookcheck.dataset_builders.requests.task import Wish
from lookcheck.dataset_builders.salart_vqa.constants import BOXED, LETTERS, QUESTIONS
from lookcheck.dataset_builders.salart_vqa.records import as_sent
from lookcheck.metrics.salart_chain.parsing import last_answer, parse

_CONFIG = "images"
_CONTROL = "q4"
_NONE = "F"
_COLUMNS = (
    "row_id",
    *(f"{question}_{what}" for question in QUESTIONS for what in ("prompt", "answer")),
    "q2_options",
    "q4_options",
)


class SalArtVQATask:
    """See `lookcheck.dataset_builders.requests.task.Task`."""

    def rows(self, folder: BuiltFolder, protocol: AskingProtocol, wish: Wish) -> Iterator[Asked]:
        """Yield the chains: up to four requests a picture, or Q4 alone without it.

        Raises
        ------
        InputError
            Also where a row asks for JSON and the protocol reads bare options, or the reverse.
        """
        if wish.conditions:
            raise InputError(f"--condition {wish.conditions[0]}: SalArt-VQA has no conditions")
        for paths in folder.splits(_CONFIG).values():
            found = read_with_pictures(
                paths, _COLUMNS, ["image", "q3_overlay_image"], optional=["system_prompt"]
            )
            for where, row in found:
                _check(where, row, protocol)
                yield _asked(where, row, protocol, wish)

    def fields(
        self, asked: Asked, answers: Mapping[str, Answer], protocol: AskingProtocol
    ) -> Mapping[str, Any]:
        """``q1`` … ``q4``: the words of each reply, which the scorer parses; ``problem`` names the parts."""
        fields: dict[str, Any] = {part: answer.text or "" for part, answer in answers.items()}
        problems = {part: _problem(part, answers[part], protocol, asked) for part in answers}
        said = [f"{part}: {problem}" for part, problem in problems.items() if problem is not None]
        return {**fields, "problem": "; ".join(said)} if said else fields


TASK = SalArtVQATask()


def _check(where: str, row: Mapping[str, Any], protocol: AskingProtocol) -> None:
    asked = [row["system_prompt"], *(row[f"{question}_prompt"] for question in QUESTIONS)]
    wants_json = any(re.search(r"\bJSON\b", text) for text in asked if text)
    if wants_json != (protocol.parser == "json"):
        other = "salart-chain-json" if wants_json else "salart-chain"
        what = "asks for JSON" if wants_json else "does not ask for JSON"
        raise InputError(
            f"{where}: row_id {row['row_id']!r} {what}, but {protocol.name} reads "
            f"{protocol.parser}; use --protocol {other}"
        )


def _asked(where: str, row: Mapping[str, Any], protocol: AskingProtocol, wish: Wish) -> Asked:
    picture: Picture | None = row["image"]
    if picture is None or row["q3_overlay_image"] is None:
        raise InputError(f"{where}: row_id {row['row_id']!r} lacks a picture; see lookcheck check")
    requests = {}
    for question in QUESTIONS:
        if row[f"{question}_answer"] is None or (wish.no_image and question != _CONTROL):
            continue
        prompt = row[f"{question}_prompt"]
        if not prompt:
            raise InputError(f"{where}: row_id {row['row_id']!r} has no {question}_prompt")
        shown = row["q3_overlay_image"] if question == BOXED else picture
        options = row[f"{question}_options"] if question in ("q2", "q4") else None
        text = as_sent(prompt, options)
        if wish.no_image and options is not None:
            last = f"{LETTERS[-1]}. {options[LETTERS[-1]]}"
            before, _, after = text.rpartition(last)
            text = f"{before}{last}\n{_NONE}. {(protocol.options or {})['no_image_option']}{after}"
        requests[question] = Request(
            text=filled(protocol, text),
            system=row["system_prompt"] or None,
            picture=None if wish.no_image else shown,
            picture_first=protocol.picture_first,
            max_new_tokens=budget(protocol, wish.thinking),
            thinking=wish.thinking,
        )
    questions = {question: row[f"{question}_prompt"] for question in requests}
    about = {"no_image": wish.no_image, "questions": questions}
    return Asked(row["row_id"], requests, picture.size, about)


def _problem(part: str, answer: Answer, protocol: AskingProtocol, asked: Asked) -> str | None:
    if (reason := unread(answer)) is not None:
        return reason
    text = answer.text or ""
    if parse(text, part, protocol.parser, no_image=bool(asked.about["no_image"])) is not None:
        return None
    if not answer.ended:
        return CUT_REPLY
    if protocol.parser == "json" and last_answer(text) is None:
        return unreadable(text, "no JSON with answer")
    return unreadable(text, "not one option")
