"""Bad input never gives a number: one sentence naming the row and the value."""

from __future__ import annotations

import math
import re
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

from lookcheck.metrics.perturbed_pope import compute

NAN = math.nan
YES = {"text": "yes", "logp_yes": -0.1, "logp_no": -3.0, "entity_rank": 3, "entity_prob": 0.2}
NO = {"text": "no", "logp_yes": NAN, "logp_no": NAN, "entity_rank": 0, "entity_prob": NAN}
ORIGINAL = {"label": "yes", "condition": "original", "parent_id": "", "split": "random"}
MASK = {"label": "yes", "condition": "black_mask", "parent_id": "a", "split": "random"}


def _no(**changes: Any) -> dict[str, Any]:
    return {"predictions": [YES, {**NO, **changes}]}


def _mask(**changes: Any) -> dict[str, Any]:
    return {"references": [ORIGINAL, {**MASK, **changes}]}


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"predictions": None}, "predictions is None"),
    ({"predictions": "yes"}, "predictions is 'yes'"),
    ({"predictions": {"text": "yes"}}, "predictions is {'text': 'yes'}"),
    ({"predictions": 3}, "predictions is 3"),
    ({"predictions": [], "references": []}, "predictions is empty"),
    ({"references": None}, "references is None"),
    ({"references": [ORIGINAL]}, "references has 1 items, but there are 2 predictions"),
    ({"predictions": [YES, None]}, "id 'b': the prediction is None"),
    ({"predictions": [YES, "no"]}, "id 'b': the prediction is 'no'"),
    ({"predictions": [YES, {"text": "no"}]}, "id 'b': the prediction has the fields ['text']"),
    (_no(extra=1), "id 'b': the prediction has the fields ['entity_prob', 'entity_rank', 'extra'"),
    (_no(text=None), "id 'b': text is None"),
    (_no(text=1), "id 'b': text is 1"),
    (_no(text=True), "id 'b': text is True"),
    (_no(text=["no"]), "id 'b': text is ['no']"),
    (_no(logp_yes=-1.0), "id 'b': logp_yes is -1.0, but logp_no is nan; give both or neither"),
    (_no(logp_no=-1.0), "id 'b': logp_no is -1.0, but logp_yes is nan; give both or neither"),
    (_no(logp_no=None), "id 'b': logp_no is None"),
    (_no(logp_yes="-1"), "id 'b': logp_yes is '-1'"),
    (_no(logp_yes=True, logp_no=-1.0), "id 'b': logp_yes is True"),
    (_no(logp_yes=0.9, logp_no=-1.0), "id 'b': logp_yes is 0.9; expected a log-probability"),
    (_no(logp_yes=-1.0, logp_no=12.5), "id 'b': logp_no is 12.5; expected a log-probability"),
    (_no(logp_yes=-math.inf, logp_no=-1.0), "id 'b': logp_yes is -inf"),
    (_no(logp_yes=-math.inf), "id 'b': logp_yes is -inf"),
    (_no(logp_yes=-1.0, logp_no=-1e300), "id 'b': logp_no is -1e+300"),
    (_no(logp_yes=-(10**400), logp_no=-1.0), "id 'b': logp_yes is -1000000"),
    (_no(logp_yes=Decimal("-1"), logp_no=-1.0), "id 'b': logp_yes is Decimal('-1')"),
    (_no(entity_rank=-1), "id 'b': entity_rank is -1"),
    (_no(entity_rank=1.0), "id 'b': entity_rank is 1.0"),
    (_no(entity_rank=True), "id 'b': entity_rank is True"),
    (_no(entity_rank=None), "id 'b': entity_rank is None"),
    (_no(entity_rank="1"), "id 'b': entity_rank is '1'"),
    (_no(entity_rank=NAN), "id 'b': entity_rank is nan"),
    (_no(entity_rank=2**63), "id 'b': entity_rank is 9223372036854775808"),
    (_no(entity_rank=np.bool_(True)), "id 'b': entity_rank is np.True_"),
    (_no(entity_rank=1, entity_prob=1.01), "id 'b': entity_prob is 1.01; expected a number from 0 to 1"),
    (_no(entity_rank=1, entity_prob=-0.1), "id 'b': entity_prob is -0.1"),
    (_no(entity_rank=1, entity_prob=math.inf), "id 'b': entity_prob is inf"),
    (_no(entity_rank=1, entity_prob=True), "id 'b': entity_prob is True"),
    (_no(entity_rank=1, entity_prob=None), "id 'b': entity_prob is None"),
    (_no(entity_prob=0.5), "id 'b': entity_prob is 0.5, but entity_rank is 0"),
    ({"references": [ORIGINAL, None]}, "id 'b': the reference is None"),
    ({"references": [ORIGINAL, {"label": "yes"}]}, "id 'b': the reference has the fields ['label']"),
    (_mask(id="b"), "id 'b': the reference has the fields"),
    (_mask(label="Yes"), "id 'b': the label is 'Yes'"),
    (_mask(label="unknown"), "id 'b': the label is 'unknown'"),
    (_mask(label=1), "id 'b': the label is 1"),
    (_mask(label=True), "id 'b': the label is True"),
    (_mask(label=None), "id 'b': the label is None"),
    (_mask(label=["yes"]), "id 'b': the label is ['yes']"),
    (_mask(condition=""), "id 'b': the condition is ''"),
    (_mask(condition=None), "id 'b': the condition is None"),
    (_mask(condition="a|b"), "id 'b': the condition is 'a|b'"),
    (_mask(condition="a,b"), "id 'b': the condition is 'a,b'"),
    (_mask(condition="mask\n"), "id 'b': the condition is 'mask\\n'"),
    (_mask(split=""), "id 'b': the split is ''"),
    (_mask(split=None), "id 'b': the split is None"),
    (_mask(parent_id=""), "id 'b': parent_id is ''"),
    (_mask(parent_id=None), "id 'b': parent_id is None"),
    (_mask(parent_id=1), "id 'b': parent_id is 1"),
    ({"references": [{**ORIGINAL, "parent_id": None}, MASK]}, "id 'a': parent_id is None"),
    (
        {"references": [ORIGINAL, {**ORIGINAL, "parent_id": "a"}]},
        "id 'b': the parent_id is 'a', as that of the original row 'a' of the split random",
    ),
    (
        _mask(label="no"),
        "id 'b': the label is 'no', but 'yes' on its original 'a', and black_mask does not change",
    ),
    (
        _mask(condition="entity_swap"),
        "id 'b': the label is 'yes', but in entity_swap the asked object is gone",
    ),
    (
        {"predictions": [YES, NO, NO], "references": [ORIGINAL, MASK, MASK], "ids": ["a", "b", "c"]},
        "id 'c': the row is black_mask of 'a' in the split random, as 'b' is; each perturbed row stands once",
    ),
    (
        _no(logp_yes=-0.1, logp_no=-0.1),
        "id 'b': logp_yes is -0.1 and logp_no -0.1; two probabilities that sum to 1.81",
    ),
    ({"missing": "drop"}, "missing is 'drop'; expected one of wrong, parsed"),
    ({"thinking": "off"}, "thinking is 'off'; expected one of strip, keep"),
    ({"ids": ["a", "a"]}, "index 1: the id 'a' stands twice (first at index 0)"),
    ({"ids": ["1", 1]}, "index 1: the id 1 stands twice"),
    ({"ids": ["a", None]}, "index 1: the id is None"),
    ({"ids": [None, None]}, "index 0: the id is None"),
    ({"ids": ["", "b"]}, "index 0: the id is ''"),
    ({"ids": [1.5, 2]}, "index 0: the id is 1.5"),
    ({"ids": [True, 2]}, "index 0: the id is True"),
    ({"ids": ["a"]}, "ids has 1 items"),
    ({"ids": "ab"}, "ids is 'ab'"),
    ({"groups": ["g", None]}, "id 'b': groups holds None"),
    ({"groups": ["g"]}, "groups has 1 items"),
    ({"parser": "lenient"}, "parser is 'lenient'"),
    ({"parser": None}, "parser is None"),
    ({"parser": ["strict"]}, "parser is ['strict']"),
    ({"unparsed": "keep"}, "unparsed is 'keep'"),
    ({"unparsed": True}, "unparsed is True"),
]


@pytest.mark.parametrize(("change", "message"), REFUSED)
def test_bad_input_never_gives_a_number(change: dict[str, Any], message: str) -> None:
    inputs: dict[str, Any] = {
        "predictions": [YES, NO],
        "references": [ORIGINAL, MASK],
        "ids": ["a", "b"],
        **change,
    }
    with pytest.raises(ValueError, match=re.escape(message)) as refused:
        compute(**inputs)
    assert "\n" not in str(refused.value)


def test_numpy_numbers_and_rounding_above_zero_are_fine() -> None:
    row = {
        **YES,
        "logp_yes": np.float32(1e-7),
        "logp_no": np.float64(-20),
        "entity_rank": np.int64(4),
        "entity_prob": np.float32(0.25),
    }
    result = compute([row, {**YES, "logp_yes": 0, "logp_no": -30}], [ORIGINAL, MASK], ids=["a", "b"])
    first, second = result["per_sample"]
    assert (first["entity_rank"], first["entity_prob"]) == (4, 0.25)
    assert type(first["entity_rank"]) is int
    assert type(first["margin"]) is float
    assert second["margin"] == 30.0
