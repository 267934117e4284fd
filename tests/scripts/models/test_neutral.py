"""Texts that can't act: whatever a tokenizer takes for a control token is none in a neutral text."""

from __future__ import annotations

import doctest
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookcheck.scripts.models import neutral as module
from lookcheck.scripts.models.forms import forms_of, single_tokens
from lookcheck.scripts.models.neutral import Markup, neutral

SPECIAL = [
    "<|endoftext|>",
    "</s>",
    "<image>",
    "<|image_pad|>",
    "<start_of_image>",
    "[INST]",
    ">>TITLE<<",
    "~~",
]
ADDED = ["<tool_call>", "  ", "plainword"]


@pytest.fixture(scope="module")
def tokenizer() -> Any:
    """Byte-level, with the placeholders of several families, markup that is not special, and honest added text."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    core = Tokenizer(models.BPE())
    core.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    core.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=400, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False
    )
    words = ["yes", " yes", "Yes", " Yes", "YES", "no", " no", "No", "eyes", "know"]
    core.train_from_iterator([word for word in words for _ in range(50)], trainer)
    made = PreTrainedTokenizerFast(tokenizer_object=core, eos_token="</s>", extra_special_tokens=SPECIAL)
    made.add_tokens(ADDED)
    return made


def test_what_acts(tokenizer: Any) -> None:
    markup = Markup(tokenizer)
    assert markup.tokens == {*SPECIAL, "<tool_call>"}
    ids = tokenizer("a<image>b plainword</s>", add_special_tokens=False)["input_ids"]
    assert tokenizer.convert_ids_to_tokens(markup.of(ids)) == ["<image>", "</s>"]


@given(
    st.lists(st.sampled_from([*SPECIAL, *ADDED, "<", ">", "~", "a", " ", "<|", "é", "x < 5", "\n"])).map(
        "".join
    )
)
def test_no_mixture_acts(tokenizer: Any, text: str) -> None:
    markup = Markup(tokenizer)
    quiet = neutral(text, markup.tokens)
    ids = tokenizer(quiet, add_special_tokens=False)["input_ids"]
    assert markup.of(ids) == []
    # Nothing is lost, and nothing is added but what can't be seen.
    assert quiet.replace("\u2060", "") == text


def test_honest_texts_stay(tokenizer: Any) -> None:
    tokens = Markup(tokenizer).tokens
    for text in ("x < 5 and y > 3", "[3, 4]", "a plainword  here", "Is there a <3 in the image?"):
        assert neutral(text, tokens) == text


def test_the_forms_of_a_word_are_all_tokens_that_read_as_it(tokenizer: Any) -> None:
    found = forms_of(tokenizer, ["yes", "no", "maybe"])
    assert {word: sorted(tokenizer.decode([i]) for i in ids) for word, ids in found.items()} == {
        "yes": sorted([" yes", "yes", " Yes", "Yes", "YES"]),
        "no": sorted(["no", " no", "No"]),
        "maybe": [],
    }
    assert found["yes"] == sorted(found["yes"])
    # The judge's own list is a part of it, where the tokens are there.
    single = single_tokens(tokenizer, ("yes", " yes", "Yes", "eyes", "yes yes"))
    assert set(single) == {"yes", " yes", "Yes", "eyes"}
    assert {single["yes"], single[" yes"], single["Yes"]} <= set(found["yes"])


def test_the_examples() -> None:
    assert doctest.testmod(module).failed == 0
