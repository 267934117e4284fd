"""How VistaQA is asked, and how replies become answers and phrases of evidence."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from lookcheck.dataset_builders.core.errors import InputError
from lookcheck.dataset_builders.parquet.reader import BuiltFolder
from lookcheck.dataset_builders.requests.loader import filled
from lookcheck.dataset_builders.requests.pictures import read_with_pictures
from lookcheck.dataset_builders.requests.protocol import AskingProtocol
from lookcheck.dataset_builders.requests.replies import CUT_REPLY, budget, unread, unreadable
from lookcheck.dataset_builders.requests.request import Answer, Asked, Request
from lookcheck.dataset_builders.requests.task import Wish
from lookcheck.dataset_builders.vistaqa.replies import read_reply


class VistaQATask:
    """See `lookcheck.dataset_builders.requests.task.Task`."""

    def rows(self, folder: BuiltFolder, protocol: AskingProtocol, wish: Wish) -> Iterator[Asked]:
        """Yield the samples of the first configuration, which holds all of them."""
        if wish.conditions:
            raise InputError(f"--condition {wish.conditions[0]}: VistaQA has no conditions")
        for paths in folder.splits(next(iter(folder.configs))).values():
            for where, row in read_with_pictures(paths, ["id", "question"], ["image"]):
                picture = row["image"]
                if picture is None:
                    raise InputError(f"{where}: id {row['id']!r} has no picture; see lookcheck check")
                request = Request(
                    text=filled(protocol, row["question"]),
                    picture=None if wish.no_image else picture,
                    picture_first=protocol.picture_first,
                    max_new_tokens=budget(protocol, wish.thinking),
                    thinking=wish.thinking,
                )
                about = {"picture": picture, "questions": {"": row["question"]}}
                yield Asked(row["id"], {"": request}, picture.size, about)

    def fields(
        self, asked: Asked, answers: Mapping[str, Answer], protocol: AskingProtocol
    ) -> Mapping[str, Any]:
        """``answer``, and ``phrases`` for a segmenter, ``native`` words for an adapter, or empty ``masks``.

        An answer that can't be read is the empty text, and has no mask.
        """
        answer = answers[""]
        if (reason := unread(answer)) is not None:
            return {"answer": "", "masks": [], "problem": reason}
        text = answer.text or ""
        if protocol.parser == "native":
            if not answer.ended:
                return {"answer": text.strip(), "masks": [], "problem": CUT_REPLY}
            return {
                "answer": text.strip(),
                "native": text,
                "seen": answer.picture_size,
                "size": asked.size,
            }
        if protocol.parser == "text":
            return {"answer": text.strip(), "masks": []}
        reply = read_reply(text)
        if reply.problem is not None:
            problem = unreadable(text, reply.problem) if answer.ended else CUT_REPLY
            return {"answer": "", "masks": [], "problem": problem}
        return {"answer": reply.answer, "phrases": list(reply.phrases)}


TASK = VistaQATask()
