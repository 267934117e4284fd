"""User text that can't act: no control token of a tokenizer, no placeholder, no markup of a chat template."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from typing import Any

# Openings of markup, for servers whose tokens are not known here: <|im_start|>, </s>, <start_of_turn>,
# <<SYS>>, <｜User｜>; [INST], [/INST], [gMASK], [|user|], [UNUSED_TOKEN_145], [start_header_id], and
# imitations of fences such as [END]; MiniMax's ]~b], ]~!b[, [e~[ and ]<]minimax[>[; |||IP_ADDRESS|||.
# "x < 5" and "[3, 4]" are left alone.
MARKUP = re.compile(
    r"<(?=[|｜/!<▁\[]|[^\W\d]|0x[0-9A-F]{2}>)"
    r"|\[(?=\||/?\w*[A-Z]{2,}\w*\]|[A-Za-z]+_\w+\]|\w*~)"
    r"|\](?=~|<\])"
    r"|\|(?=\|\|[A-Z_]+\|\|\|)"
)

# Draws nothing, and no tokenizer's control token holds it.
_WORD_JOINER = "\u2060"


class Markup:
    """What acts in a prompt of one tokenizer: its special tokens, and added ones that look like markup.

    Parameters
    ----------
    tokenizer : transformers tokenizer
        Of a language model, or a processor's own (``processor.tokenizer``): placeholders of pictures such as
        ``<image>``, ``<|image_pad|>`` and ``<start_of_image>`` are among its added tokens.

    Attributes
    ----------
    tokens : frozenset of str
    ids : frozenset of int
    """

    def __init__(self, tokenizer: Any) -> None:
        added = tokenizer.added_tokens_decoder
        self.ids = frozenset(index for index, token in added.items() if _is_markup(token))
        self.tokens = frozenset(added[index].content for index in self.ids)

    def of(self, ids: Sequence[int]) -> list[int]:
        """The control tokens of a prompt in their order: its structure, which no text may change."""
        return [index for index in ids if index in self.ids]


def parted(character: str) -> str:
    """The character with a word joiner behind it, so that a token that begins with it is none any more."""
    return character + _WORD_JOINER


def neutral(text: str, tokens: Collection[str] = (), change: Callable[[str], str] = parted) -> str:
    """The text with the first character of whatever could act changed.

    Parameters
    ----------
    text : str
    tokens : collection of str
        The tokenizer's own control tokens, beside what looks like the markup of a chat template.
    change : callable
        From the first character of a token to what stands in its place.

    Returns
    -------
    str

    Examples
    --------
    >>> neutral("<image> x < 5 [INST]", change=lambda character: f"({character})")
    '(<)image> x < 5 ([)INST]'
    >>> neutral("a ~~b", ["~~b"], lambda character: "-")
    'a -~b'
    """
    return neutral_tokens(MARKUP.sub(lambda match: change(match[0]), text), tokens, change)


def neutral_tokens(text: str, tokens: Collection[str], change: Callable[[str], str] = parted) -> str:
    """The text without one tokenizer's control tokens; what looks like markup of others stays as it is.

    Parameters
    ----------
    text : str
    tokens : collection of str
    change : callable
        As in :func:`neutral`.

    Examples
    --------
    >>> neutral_tokens("<image> <b>", ["<image>"], lambda character: f"({character})")
    '(<)image> <b>'
    """
    there = [re.escape(token) for token in sorted(tokens) if len(token) > 1 and token in text]
    if not there:
        return text
    # Without its first character a token is gone. Tokens may overlap, so every place is looked at.
    return re.sub(f"(?={'|'.join(there)}).", lambda match: change(match[0]), text, flags=re.S)


def _is_markup(token: Any) -> bool:
    text = token.content
    # Runs of white space and plain words may be added tokens, too; they are part of honest texts.
    return bool(text.strip()) and (token.special or any(character in text for character in "<>[]|{}"))
