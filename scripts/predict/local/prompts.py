"""Requests as token ids, by a model's own chat template; what stands in a question can't act."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

from lookcheck.dataset_builders.core.errors import InputError
from lookcheck.dataset_builders.core.verdict_file import Json
from lookcheck.dataset_builders.requests.request import Picture, Request
from lookcheck.scripts.models.neutral import Markup, neutral_tokens

# Templates that write today's date are told one; the others are not told at all.
_DATE = {"date_string": "01 Jan 2026"}
_THINKING = "enable_thinking"
_OPENING = "<think>"

_SYSTEM, _USER = "7d0b", "e4c2"


class PromptError(ValueError):
    """A request that the template can't carry as it is."""


class Prompter:
    """Renders and encodes requests.

    Parameters
    ----------
    processor : transformers processor, or tokenizer of a model without eyes
    name : str
        The model's name, for messages.

    Attributes
    ----------
    sees : bool
        Whether pictures go into the prompt.
    system_apart : bool
        Whether the template has a turn for the system's text; else it opens the user's turn.

    Raises
    ------
    InputError
        If there is no chat template, or it carries no text or no picture.
    """

    def __init__(self, processor: Any, name: str) -> None:
        self._processor, self._name = processor, name
        self.sees = hasattr(processor, "image_processor")
        self.tokenizer: Any = processor.tokenizer if self.sees else processor
        self._template = _template(processor) or _template(self.tokenizer)
        if not self._template:
            raise InputError(f"{name}: no chat template; the model has to be an instruct model")
        self.markup = Markup(self.tokenizer)
        self._structures: dict[tuple[object, ...], list[int]] = {}
        self.system_apart = True
        self.system_apart = self._has_system_turn()
        self._probe()

    def describe(self) -> dict[str, Json]:
        """What affects a prompt beside the request."""
        return {
            "chat_template": hashlib.sha256(self._template.encode()).hexdigest()[:16],
            "system": "a turn of its own" if self.system_apart else "before the text of the user's turn",
            "thinking_switch": _THINKING in self._template,
            "picture_order": self._order() if self.sees else None,
        }

    def rendered(self, request: Request) -> str:
        """The prompt as text, the picture as the template's one placeholder.

        Raises
        ------
        PromptError
            If the template changes the text or leaves it out.
        """
        text = neutral_tokens(request.text, self.markup.tokens)
        system = None if request.system is None else neutral_tokens(request.system, self.markup.tokens)
        if system is not None and not self.system_apart:
            text, system = f"{system}\n\n{text}", None
        prompt = self._apply(replace(request, text=text, system=system))
        for part in (text, system):
            if part is not None and part.strip() not in prompt:
                raise PromptError("the chat template doesn't carry the text as it is")
        return prompt

    def encoded(self, prompts: Sequence[str]) -> list[list[int]]:
        """Token ids of rendered prompts, with the begin token that the model wants, once."""
        ids = self.tokenizer(list(prompts), add_special_tokens=False, truncation=False)["input_ids"]
        # As ids, not as text: a text behind a control token may be cut into other tokens than one alone.
        return [self.begin(prompt) + row for prompt, row in zip(prompts, ids, strict=True)]

    def begin(self, prompt: str) -> list[int]:
        """What is put before a prompt: the begin token, unless the template has written it."""
        begin, text = self._front
        return [] if text and prompt.startswith(text) else begin

    def types(self, rows: Sequence[list[int]]) -> list[list[int]]:
        """For each token of whole prompts whether it is a picture's: 1, else 0."""
        made: list[list[int]] = self._processor.create_mm_token_type_ids([list(row) for row in rows])
        return made

    def refusal(self, request: Request, ids: Sequence[int]) -> str | None:
        """Why the ids of a rendered prompt are not those of its template; None if they are."""
        shape = request.system is None, request.picture is None, request.picture_first, request.thinking
        if shape not in self._structures:
            probe = replace(request, text="a", system=None if request.system is None else "b")
            self._structures[shape] = self.markup.of(self.encoded([self.rendered(probe)])[0])
        if self.markup.of(ids) != self._structures[shape]:
            return "the text brings control tokens into the prompt"
        return None

    def opened(self, prompt: str) -> str:
        """The tag with which the template opens the model's thoughts, or nothing."""
        return _OPENING if prompt.rstrip().endswith(_OPENING) else ""

    @cached_property
    def _front(self) -> tuple[list[int], str]:
        """What the processor puts before a prompt that doesn't begin so: the begin token, in most models."""
        if not self.sees:
            # The tokenizer's own chat method adds nothing to what the template writes.
            return [], ""
        ids: list[int] = self._processor(text=["a"])["input_ids"][0]
        bare = self.tokenizer("a", add_special_tokens=False)["input_ids"]
        if ids[len(ids) - len(bare) :] != bare:
            raise InputError(f"{self._name}: its processor encodes a text otherwise than its tokenizer")
        begin = ids[: len(ids) - len(bare)]
        return begin, self.tokenizer.decode(begin, skip_special_tokens=False)

    def _apply(self, request: Request) -> str:
        options: dict[str, object] = {key: value for key, value in _DATE.items() if key in self._template}
        if request.thinking is not None and _THINKING in self._template:
            options[_THINKING] = request.thinking == "on"
        text: str = self._processor.apply_chat_template(
            self._conversation(request), tokenize=False, add_generation_prompt=True, **options
        )
        return text

    def _conversation(self, request: Request) -> list[dict[str, object]]:
        if not self.sees:
            turns: list[dict[str, object]] = [{"role": "user", "content": request.text}]
            if request.system is not None:
                turns.insert(0, {"role": "system", "content": request.system})
            return turns
        content: list[dict[str, str]] = [{"type": "text", "text": request.text}]
        if request.picture is not None:
            content.insert(0 if request.picture_first else 1, {"type": "image"})
        turns = [{"role": "user", "content": content}]
        if request.system is not None:
            turns.insert(0, {"role": "system", "content": [{"type": "text", "text": request.system}]})
        return turns

    def _has_system_turn(self) -> bool:
        try:
            prompt = self._apply(Request(_USER, system=_SYSTEM))
        except Exception:
            # Templates refuse by an exception of their own; without the system's text they have to do.
            return False
        return _SYSTEM in prompt and _USER in prompt

    def _probe(self) -> None:
        try:
            plain = self.rendered(Request(_USER))
            seen = self._apply(Request(_USER, picture=_NO_PICTURE)) if self.sees else ""
        except Exception as error:
            reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
            raise InputError(f"{self._name}: the chat template can't render a request ({reason})") from None
        if self.sees and plain == seen:
            raise InputError(f"{self._name}: the chat template has no place for a picture")

    def _order(self) -> str:
        """Whether the picture stands where the request wants it."""
        first, last = (
            self._apply(Request(_USER, picture=_NO_PICTURE, picture_first=asked)) for asked in (True, False)
        )
        if first != last:
            return "as asked"
        # What the picture adds stands on one side of the text.
        without = self._apply(Request(_USER))
        return "picture first" if first.index(_USER) > without.index(_USER) else "text first"


def _template(owner: Any) -> str:
    found = getattr(owner, "chat_template", None)
    if isinstance(found, dict):
        found = found.get("default")
    return found if isinstance(found, str) else ""


# Any will do: a template writes one placeholder for each.
_NO_PICTURE = Picture(Path(), None, "", "", (0, 0))
