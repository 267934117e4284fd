"""The single tokens that a word can be read off as: any case, with a leading space or without."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def single_tokens(tokenizer: Any, forms: Sequence[str]) -> dict[str, int]:
    """The forms that are one token each, with their ids.

    Parameters
    ----------
    tokenizer : transformers tokenizer
    forms : sequence of str

    Returns
    -------
    dict of str to int
        Without forms that take several tokens, and without a second form of the same id.
    """
    found: dict[str, int] = {}
    for form in forms:
        ids = tokenizer.encode(form, add_special_tokens=False)
        # Some tokenizers put a space before everything: then the bare word is in the vocabulary only.
        bare = tokenizer.convert_tokens_to_ids(form)
        candidates = [*(ids if len(ids) == 1 else []), bare]
        for index in candidates:
            if index is None or index == tokenizer.unk_token_id or index in found.values():
                continue
            if tokenizer.decode([index]).strip() == form.strip():
                found[form] = index
                break
    return found


def forms_of(tokenizer: Any, words: Sequence[str]) -> dict[str, list[int]]:
    """All tokens of the vocabulary whose text, stripped and in lower case, is the word.

    Parameters
    ----------
    tokenizer : transformers tokenizer
    words : sequence of str
        In lower case.

    Returns
    -------
    dict of str to list of int
        For each word its tokens' ids, ascending; empty where no single token is the word. Special tokens
        are none.
    """
    special = set(tokenizer.all_special_ids)
    ids = [index for index in sorted(set(tokenizer.get_vocab().values())) if index not in special]
    texts = tokenizer.batch_decode([[index] for index in ids])
    found: dict[str, list[int]] = {word: [] for word in words}
    for index, text in zip(ids, texts, strict=True):
        bare = text.strip().lower()
        if bare in found:
            found[bare].append(index)
    return found
