"""How perturbed POPE is asked, and how replies become what its scorer reads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from lookcheck.dataset_builders.core.errors import InputError
from lookcheck.dataset_builders.parquet.reader import BuiltFolder
from lookcheck.dataset_builders.perturbed_pope.conditions import CONDITIONS
from lookcheck.dataset_builders.requests.loader import filled
from lookcheck.dataset_builders.requests.pictures import read_with_pictures
from lookcheck.dataset_builders.requests.protocol import AskingProtocol
from lookcheck.dataset_builders.requests.replies import budget, unread, unreadable
from lookcheck.dataset_builders.requests.request import Answer, Asked, Measure, Names, Request
from lookcheck.dataset_builders.requests.task import Wish
from lookcheck.metrics.perturbed_pope.parsing import ANSWERS, parse

_COLUMNS = ("id", "question", "entity")
# By what answers that were made elsewhere name a row; older folders lack them.
_NAMES = ("parent_id", "category", "image_id", "image_name")
_RANK = "rank"
_BOTH, _NEITHER = "several answers", "no answer"


class PerturbedPOPETask:
    """See `lookcheck.dataset_builders.requests.task.Task`."""

    def rows(self, folder: BuiltFolder, protocol: AskingProtocol, wish: Wish) -> Iterator[Asked]:
        """Yield the rows of the wished conditions in the data set's order; all where none is named."""
        for name in wish.conditions:
            folder.splits(name)
        for condition in folder.configs:
            if wish.conditions and condition not in wish.conditions:
                continue
            for split, paths in folder.splits(condition).items():
                for where, row in read_with_pictures(paths, _COLUMNS, ["image"], optional=_NAMES):
                    # `text_only` is the condition no_image: its rows have no picture, and none is made up.
                    if row["image"] is None and CONDITIONS[condition].has_picture:
                        raise InputError(f"{where}: id {row['id']!r} has no picture; see lookcheck check")
                    yield _asked(row, protocol, wish, split)

    def fields(
        self, asked: Asked, answers: Mapping[str, Answer], protocol: AskingProtocol
    ) -> Mapping[str, Any]:
        """``text`` and, where they were taken, the first token's figures."""
        answer = answers[""]
        fields: dict[str, Any] = {"text": answer.text or ""}
        first = answer.first
        if first is not None:
            fields |= {f"logp_{word}": first.logp.get(word) for word in protocol.words}
            if protocol.words:
                fields["mass"] = first.mass
            if asked.requests[""].measure is not None and (protocol.options or {}).get("entity"):
                fields |= {
                    "entity_rank": first.entity_rank,
                    "entity_prob": first.entity_prob,
                    "entity_form": first.entity_form,
                    "entity_whole": first.entity_whole,
                }
        problem = _problem(answer, protocol)
        return fields if problem is None else {**fields, "problem": problem}


TASK = PerturbedPOPETask()


def _asked(row: Mapping[str, Any], protocol: AskingProtocol, wish: Wish, split: str) -> Asked:
    picture = None if wish.no_image else row["image"]
    entity = row["entity"] if (protocol.options or {}).get("entity") else None
    measure = Measure(protocol.words, entity) if protocol.words or entity else None
    request = Request(
        text=filled(protocol, row["question"]),
        picture=picture,
        picture_first=protocol.picture_first,
        max_new_tokens=budget(protocol, wish.thinking),
        # The first token of a thinking model's reply is that of a thought.
        measure=None if wish.thinking == "on" else measure,
        thinking=wish.thinking,
    )
    size = None if row["image"] is None else row["image"].size
    return Asked(row["id"], {"": request}, size, {"questions": {"": row["question"]}}, _names(row, split))


def _names(row: Mapping[str, Any], split: str) -> Names:
    # A folder has one split with a column, or a split for each.
    split, parent = row["category"] or split, row["parent_id"]
    begin = f"{split}-"
    numbered = parent is not None and parent.startswith(begin)
    return Names(
        question_id=parent.removeprefix(begin) if numbered else None,
        split=split,
        pictures=tuple(str(row[key]) for key in ("image_id", "image_name") if row[key] is not None),
    )


def _problem(answer: Answer, protocol: AskingProtocol) -> str | None:
    if protocol.parser == _RANK:
        return None
    if (reason := unread(answer)) is not None:
        return reason
    text = answer.text or ""
    if parse(text, protocol.parser) is not None:
        return None
    words = "".join(character if character.isalnum() else " " for character in text.lower()).split()
    return _BOTH if set(ANSWERS) & set(words) else unreadable(text, _NEITHER)
