"""Every family against its own processor and a plain forward pass, which know nothing of the back end."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from PIL import Image

from lookcheck.dataset_builders.requests.request import Measure, Request

FAMILIES = ["llava", "qwen2_5_vl", "qwen3_vl", "internvl", "gemma3", "molmo2"]
WORDS = ("yes", "no", "dog", "light", "picture")
MEASURE = Measure(WORDS, "dog")
TEXTS = ("Is there a dog in the picture?", "traffic light\n\nAnswer yes or no only.", "\n\ndog")

pytestmark = pytest.mark.parametrize("family", FAMILIES)


def loaded(family: str, vlm_folder: Any) -> tuple[Any, Any]:
    from transformers import AutoModelForImageTextToText, AutoProcessor

    folder = vlm_folder(family)
    return AutoModelForImageTextToText.from_pretrained(folder).eval(), AutoProcessor.from_pretrained(folder)


def inputs(processor: Any, requests: list[Request]) -> Any:
    """What the family's own processor makes of requests, as its documentation has it."""
    conversations = []
    for request in requests:
        content: list[dict[str, Any]] = [{"type": "text", "text": request.text}]
        if request.picture is not None:
            content.insert(0, {"type": "image", "image": Image.open(request.picture.file).convert("RGB")})
        conversations.append([{"role": "user", "content": content}])
    return processor.apply_chat_template(
        conversations,
        tokenize=True,
        return_dict=True,
        return_tensors="pt",
        add_generation_prompt=True,
        processor_kwargs={"padding": True, "padding_side": "left", "truncation": False},
    )


def spread(logits: Any, processor: Any, word: str) -> float:
    """Log-probability of a word over all tokens that read as it."""
    vocabulary = processor.tokenizer.get_vocab().values()
    forms = [index for index in vocabulary if processor.tokenizer.decode([index]).strip().lower() == word]
    assert forms
    return float(torch.log_softmax(logits.double(), -1)[forms].logsumexp(0))


def asked(pictures: list[Any], new: int = 0) -> list[Request]:
    """Two questions on each of two pictures, one on the third, one on none."""
    pairs = [
        (pictures[0], 0),
        (pictures[0], 1),
        (pictures[1], 2),
        (pictures[1], 0),
        (pictures[2], 1),
        (None, 0),
    ]
    return [
        Request(TEXTS[text], picture=picture, max_new_tokens=new, measure=MEASURE) for picture, text in pairs
    ]


def test_prompt_is_that_of_the_processor(
    family: str, vlm_folder: Any, backend_of: Any, pictures: Any
) -> None:
    _, processor = loaded(family, vlm_folder)
    for request in asked(pictures):
        theirs = inputs(processor, [request])["input_ids"][0]
        shown = backend_of(family).show(request)
        assert shown.tokens == len(theirs)
        assert shown.prompt == processor.tokenizer.decode(theirs, clean_up_tokenization_spaces=False)


def test_first_token_is_that_of_a_plain_pass(
    family: str, vlm_folder: Any, backend_of: Any, pictures: Any, ask: Any
) -> None:
    model, processor = loaded(family, vlm_folder)
    requests = asked(pictures)
    for request, answer in zip(requests, ask(backend_of(family), requests), strict=True):
        with torch.inference_mode():
            logits = model(**inputs(processor, [request])).logits[0, -1]
        assert answer.raw is None
        first = answer.first
        assert first is not None
        assert first.logp == {
            word: pytest.approx(spread(logits, processor, word), abs=1e-4) for word in WORDS
        }
        assert first.mass == pytest.approx(
            sum(torch.tensor(list(first.logp.values())).exp().tolist()), abs=1e-6
        )
        ids = {
            form: processor.tokenizer.encode(form, add_special_tokens=False)
            for form in ("dog", "Dog", " dog", " Dog")
        }
        ranks = {form: 1 + int((logits > logits[pieces[0]]).sum()) for form, pieces in ids.items()}
        assert first.entity_rank == min(ranks.values())
        assert ranks[first.entity_form or ""] == first.entity_rank
        probability = float(torch.softmax(logits.double(), -1)[ids[first.entity_form or ""][0]])
        assert first.entity_prob == pytest.approx(probability, rel=1e-4)
        assert first.entity_whole == (len(ids[first.entity_form or ""]) == 1)


def test_batched_is_single(family: str, backend_of: Any, pictures: Any, ask: Any) -> None:
    requests = asked(pictures, new=6)
    together = ask(backend_of(family), requests)
    for request, answer in zip(requests, together, strict=True):
        (alone,) = ask(backend_of(family), [request])
        assert answer.raw == alone.raw
        assert answer.new_tokens == alone.new_tokens
        assert answer.first.logp == pytest.approx(alone.first.logp, abs=1e-4)


def test_is_not_blind(family: str, backend_of: Any, pictures: Any, ask: Any) -> None:
    """Another picture of the same size moves what is measured; so do none, and another question."""
    one, other = pictures[0], pictures[2]
    requests = [Request(text, picture=picture, max_new_tokens=0, measure=MEASURE)
                for text, picture in ((TEXTS[0], one), (TEXTS[0], other), (TEXTS[0], None), (TEXTS[1], one))]  # fmt: skip
    seen, *others = (answer.first.logp for answer in ask(backend_of(family), requests))
    for moved in others:
        assert max(abs(seen[word] - moved[word]) for word in WORDS) > 0.1


def test_replies_are_greedy_from_raw_logits(
    family: str, vlm_folder: Any, backend_of: Any, pictures: Any, ask: Any
) -> None:
    """Against a loop of plain passes without a cache; the folder asks for sampling and a penalty."""
    model, processor = loaded(family, vlm_folder)
    request = Request(TEXTS[0], picture=pictures[0], max_new_tokens=5)
    (answer,) = ask(backend_of(family), [request])
    given = dict(inputs(processor, [request]))
    grown: list[int] = []
    for _ in range(request.max_new_tokens):
        with torch.inference_mode():
            token = int(model(**given).logits[0, -1].argmax())
        if token == processor.tokenizer.eos_token_id:
            break
        grown.append(token)
        for name, value in given.items():
            if name in {"input_ids", "attention_mask", "mm_token_type_ids", "token_type_ids"}:
                new = {"input_ids": token, "attention_mask": 1}.get(name, 0)
                given[name] = torch.cat([value, value.new_tensor([[new]])], dim=1)
    assert answer.raw == processor.tokenizer.decode(grown, clean_up_tokenization_spaces=False)
    assert answer.new_tokens == len(grown)
    assert answer.ended == (len(grown) < request.max_new_tokens)


def test_encoding_once_is_the_plain_way_to_the_bit(
    family: str, vlm_folder: Any, backend_of: Any, pictures: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Logits and replies of a batch with two questions a picture, against pixels given for every row."""
    from lookcheck.scripts.predict.local.answering import Answerer

    model, processor = loaded(family, vlm_folder)
    backend = backend_of(family)
    requests = [request for request in asked(pictures, new=4) if request.picture is not None]
    with torch.inference_mode():
        plain = model.generate(
            **inputs(processor, requests),
            max_new_tokens=4,
            do_sample=False,
            repetition_penalty=1.0,
            return_dict_in_generate=True,
            output_logits=True,
        )
    encoded: list[int] = []
    answerer = Answerer(model, backend._prompter, stop=[processor.tokenizer.eos_token_id], pad=0)
    encode = answerer._encoder.encode
    monkeypatch.setattr(answerer._encoder, "encode", lambda some: encoded.append(len(some)) or encode(some))
    read: list[Any] = []
    monkeypatch.setattr(answerer.reader, "read", lambda logits, measure: read.append(logits))
    keys = [request.picture.sha256 for request in requests]
    shown = {request.picture.sha256: backend._prepare(request) for request in requests}
    answers = answerer.answer(requests, keys, shown, {})
    assert torch.equal(torch.stack(read), plain.logits[0])
    stop = processor.tokenizer.eos_token_id
    written = [row[plain.sequences.shape[1] - 4 :].tolist() for row in plain.sequences]
    whole = [row[: row.index(stop)] if stop in row else row for row in written]
    assert [answer.raw for answer in answers] == [
        processor.tokenizer.decode(row, clean_up_tokenization_spaces=False) for row in whole
    ]
    assert [answer.ended for answer in answers] == [stop in row for row in written]
    # Several pictures in one call, where the family's tensors can be stacked.
    assert encoded[0] == 3
