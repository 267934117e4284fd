"""The rendered prompt's structure on token ids: no answer brings a special token or leaves its fence."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lookcheck.dataset_builders.core.errors import InputError
from lookcheck.scripts.judge.decision import NO_FORMS, YES_FORMS
from lookcheck.scripts.judge.render import Renderer, StructureError
from lookcheck.scripts.models.forms import single_tokens

HOSTILE = [
    "x" * 100_000,
    "😀👩‍👩‍👧 🏳️‍🌈",
    "\x00\x01",
    "שלום ‮abc‬ مرحبا",
    "\ud800",
    " ",
    '"',
    "\\",
    '\\"',
    "a\r\n\tb",
    "\u2028\u2029\x85",
]


@pytest.fixture(scope="module", params=["chatml", "no system role"])
def tokenizer(request: pytest.FixtureRequest, tiny: ModuleType) -> Any:
    return tiny.tokenizer(tiny.CHATML if request.param == "chatml" else tiny.NO_SYSTEM)


def special(tokenizer: Any, ids: list[int]) -> list[str]:
    wanted = set(tokenizer.all_special_ids) | set(tokenizer.added_tokens_decoder)
    return [tokenizer.decode([index]) for index in ids if index in wanted]


def check_structure(tokenizer: Any, candidates: list[str]) -> None:
    """Special tokens, fixed beginning and fixed end are those of a harmless prompt; answers come back."""
    renderer = Renderer(tokenizer, "model")
    (plain,) = renderer.ids([("What colour is the kite?", "red", "blue")])
    assert isinstance(plain, list)
    expected = special(tokenizer, plain)
    assert expected
    triples = [("What colour is the kite?", "red", text) for text in candidates]
    triples += [(text, "red", "blue") for text in candidates] + [
        ("What?", text, "blue") for text in candidates
    ]
    for triple, ids in zip(triples, renderer.ids(triples), strict=True):
        assert isinstance(ids, list), triple
        assert special(tokenizer, ids) == expected
        assert ids[: len(renderer.prefix)] == renderer.prefix
        assert ids[-len(renderer.suffix) :] == renderer.suffix


def test_structure_survives_injections(tokenizer: Any, cases: list[dict[str, Any]]) -> None:
    check_structure(tokenizer, [case["prediction"] for case in cases if case["kind"] == "injection"])


def test_structure_survives_its_own_special_tokens_and_hostile_texts(tokenizer: Any) -> None:
    own = [token.content for token in tokenizer.added_tokens_decoder.values()]
    check_structure(tokenizer, [*own, "".join(own), *HOSTILE])


@pytest.mark.model
@pytest.mark.xdist_group("model")
def test_structure_with_the_real_tokenizer(smol_folder: Path, cases: list[dict[str, Any]]) -> None:
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(smol_folder)
    own = [token.content for token in tokenizer.added_tokens_decoder.values()]
    injections = [case["prediction"] for case in cases if case["kind"] == "injection"]
    check_structure(tokenizer, [*own, "".join(own), *HOSTILE[1:], *injections])
    # Without the fences the same texts do bring special tokens in: the check above can fail.
    raw = tokenizer(injections[10], add_special_tokens=False)["input_ids"]
    assert special(tokenizer, raw)


@settings(max_examples=200)
@given(
    st.lists(
        st.sampled_from([*HOSTILE[1:], "<|im_end|>", "\n", '"', "assistant", "yes", "[INST]", "<s>"])
    ).map("".join)
)
def test_structure_survives_mixtures(text: str) -> None:
    tokenizer = _chatml()
    renderer = Renderer(tokenizer, "model")
    (ids,) = renderer.ids([("q", "r", text)])
    assert isinstance(ids, list)
    assert special(tokenizer, ids).count("<|im_end|>") == 2


def test_an_answer_that_would_break_the_structure_is_refused_not_judged(tiny: ModuleType) -> None:
    """The last line of defence, with a template that undoes the fence."""
    tokenizer = tiny.tokenizer(
        tiny.CHATML.replace("message['content']", "message['content'].replace('~', '<|im_end|>')")
    )
    good, bad = Renderer(tokenizer, "model").ids([("q", "r", "c"), ("q", "r", "~")])
    assert isinstance(good, list)
    assert isinstance(bad, StructureError)
    assert "special tokens" in str(bad)


def test_the_assistant_s_header_comes_last(tiny: ModuleType) -> None:
    tokenizer = tiny.tokenizer()
    (ids,) = Renderer(tokenizer, "model").ids([("q", "r", "c")])
    assert tokenizer.decode(ids).endswith("yes or no.<|im_end|>\n<|im_start|>assistant\n")


def test_models_without_a_usable_template_are_refused(tiny: ModuleType) -> None:
    with pytest.raises(InputError, match="base: no chat template; the judge has to be an instruct model"):
        Renderer(tiny.tokenizer(None), "base")
    with pytest.raises(InputError, match="odd: the chat template can't render the prompt"):
        Renderer(tiny.tokenizer("{{ raise_exception('never') }}"), "odd")


def test_the_fingerprint_follows_template_and_tokenizer(tiny: ModuleType) -> None:
    plain = Renderer(tiny.tokenizer(), "model").fingerprint()
    assert plain == Renderer(tiny.tokenizer(), "model").fingerprint()
    assert (
        plain
        != Renderer(tiny.tokenizer(tiny.CHATML.replace("assistant\n", "assistant\n\n")), "m").fingerprint()
    )


def test_single_tokens(tiny: ModuleType) -> None:
    tokenizer = tiny.tokenizer()
    found = single_tokens(tokenizer, (*YES_FORMS, *NO_FORMS, "Yes yes", "qqq"))
    assert list(found) == [*YES_FORMS, *NO_FORMS]
    assert [tokenizer.decode([index]) for index in found.values()] == [*YES_FORMS, *NO_FORMS]


_MADE: list[Any] = []


def _chatml() -> Any:
    # Hypothesis runs one test many times; a function-scoped fixture would be shared in silence.
    if not _MADE:
        import importlib.util

        spec = importlib.util.spec_from_file_location("judge_tiny_again", Path(__file__).parent / "tiny.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        _MADE.append(module.tokenizer())
    return _MADE[0]
