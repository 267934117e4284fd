"""The prompt as token ids through a model's chat template, with its structure checked on the ids."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Any

from lookcheck.dataset_builders.core.errors import InputError
from lookcheck.scripts.judge.prompt import messages
from lookcheck.scripts.models.neutral import Markup

# Texts that begin and end differently, so that what their prompts share is the same for all texts.
_PROBES = (("a", "b", "c"), ("Ω", "7", "("), ("\n", " ", "é?"), ("", "", ""))

# How far a text can reach across its quotation mark when tokens are merged.
_MERGED = 2

# Templates write today's date, or let a model think first, unless they are told otherwise.
_TEMPLATE_OPTIONS = {"date_string": "01 Jan 2026", "enable_thinking": False}


class StructureError(ValueError):
    """A prompt whose fixed parts, or whose special tokens, are not those of the template."""


class Renderer:
    """Renders prompts with one tokenizer.

    Parameters
    ----------
    tokenizer : transformers tokenizer
        With a chat template.
    name : str
        The model's name, for messages.

    Attributes
    ----------
    prefix : list of int
        Token ids that all prompts begin with, whatever the texts.
    suffix : list of int
        Token ids that all prompts end with: the closing question and the assistant's header.
    has_system : bool
        Whether the template takes a system message.

    Raises
    ------
    InputError
        If there is no chat template, or it can't render the conversation.
    """

    def __init__(self, tokenizer: Any, name: str) -> None:
        self._tokenizer = tokenizer
        if not tokenizer.chat_template:
            raise InputError(f"{name}: no chat template; the judge has to be an instruct model")
        self._markup = Markup(tokenizer)
        self.has_system = True
        try:
            self._text("a", "b", "c")
        except Exception as first:
            self.has_system = False
            try:
                self._text("a", "b", "c")
            except Exception:
                raise InputError(
                    f"{name}: the chat template can't render the prompt ({_first_line(first)})"
                ) from None
        probes = self._encode([self._text(*probe) for probe in _PROBES])
        self.prefix = _shared(probes)[:-_MERGED]
        self.suffix = _shared([ids[::-1] for ids in probes])[:-_MERGED][::-1]
        self._structure = self._markup.of(probes[0])
        if not self.prefix or not self.suffix:
            raise InputError(f"{name}: the chat template doesn't keep the prompt's order")

    def fingerprint(self) -> str:
        """Hash of a rendered prompt's ids: changes with the text, the template and the tokenizer."""
        ids = self._encode([self._text(*_PROBES[0])])[0]
        return hashlib.sha256(json.dumps(ids).encode()).hexdigest()[:16]

    def ids(self, triples: Sequence[tuple[str, str, str]]) -> list[list[int] | StructureError]:
        """Token ids of the prompts for (question, reference, candidate).

        Returns
        -------
        list
            For each triple its ids, or the error that names what is broken.
        """
        if not triples:
            return []
        encoded = self._encode([self._text(*triple) for triple in triples])
        return [self._checked(ids) for ids in encoded]

    def _checked(self, ids: list[int]) -> list[int] | StructureError:
        if ids[: len(self.prefix)] != self.prefix:
            return StructureError("the texts change the prompt's fixed beginning")
        if ids[-len(self.suffix) :] != self.suffix:
            return StructureError("the texts change the prompt's fixed end")
        if self._markup.of(ids) != self._structure:
            return StructureError("the texts bring special tokens into the prompt")
        return ids

    def _text(self, question: str, reference: str, candidate: str) -> str:
        conversation = messages(question, reference, candidate, self._markup.tokens, system=self.has_system)
        text: str = self._tokenizer.apply_chat_template(
            conversation, tokenize=False, add_generation_prompt=True, **_TEMPLATE_OPTIONS
        )
        return text

    def _encode(self, texts: list[str]) -> list[list[int]]:
        # The template has written the special tokens that the model wants.
        ids: list[list[int]] = self._tokenizer(texts, add_special_tokens=False)["input_ids"]
        return ids


def _shared(rows: list[list[int]]) -> list[int]:
    shared: list[int] = []
    for column in zip(*rows, strict=False):
        if len(set(column)) > 1:
            break
        shared.append(column[0])
    return shared


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
