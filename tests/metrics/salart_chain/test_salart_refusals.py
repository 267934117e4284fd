"""Bad input never gives a number: one sentence naming the row and the value."""

from __future__ import annotations

from typing import Any

import pytest

from lookcheck.metrics.salart_chain import compute

ART = {"role": "artifact", "q1": "yes", "q2": "A", "q3": "B", "q4": "C"}
REAL = {"role": "clean_reference", "q1": "no", "q2": "E", "q3": "E", "q4": "E"}
GEN = {"role": "paired_generated_counterpart", "q1": "", "q2": "E", "q3": "E", "q4": "E"}
RIGHT = {"q1": "yes", "q2": "A", "q3": "B", "q4": "C"}
NOTHING = {"q1": "no", "q2": "E", "q3": "E", "q4": "E"}


def _with(row: dict[str, Any], **changes: Any) -> dict[str, Any]:
    return {**row, **changes}


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"predictions": None}, "predictions is None"),
    ({"predictions": "yes"}, "predictions is 'yes'"),
    ({"predictions": 3}, "predictions is 3"),
    ({"predictions": [], "references": []}, "predictions is empty"),
    ({"references": None}, "references is None"),
    ({"references": [ART]}, "references has 1 items"),
    ({"predictions": [RIGHT, None]}, "id 'b': the prediction is None"),
    ({"predictions": [RIGHT, ["no", "E", "E", "E"]]}, "id 'b': the prediction is \\['no'"),
    ({"predictions": [RIGHT, _with(NOTHING, q2=None)]}, "id 'b': q2 is None"),
    ({"predictions": [RIGHT, _with(NOTHING, q3=True)]}, "id 'b': q3 is True"),
    ({"predictions": [RIGHT, {"q1": "no"}]}, "id 'b': the prediction has the fields \\['q1'\\]"),
    ({"predictions": [RIGHT, _with(NOTHING, q5="A")]}, "id 'b': the prediction has the fields"),
    ({"references": [ART, None]}, "id 'b': the reference is None"),
    ({"references": [ART, _with(REAL, role="real")]}, "id 'b': the role is 'real'"),
    ({"references": [ART, _with(REAL, role=None)]}, "id 'b': the role is None"),
    ({"references": [ART, _with(REAL, role=["artifact"])]}, "id 'b': the role is \\['artifact'\\]"),
    ({"references": [_with(ART, q1="no"), REAL]}, "id 'a': the key of q1 is 'no'"),
    ({"references": [_with(ART, q2="E"), REAL]}, "id 'a': the key of q2 is 'E'"),
    ({"references": [_with(ART, q3="b"), REAL]}, "id 'a': the key of q3 is 'b'"),
    ({"references": [_with(ART, q4=""), REAL]}, "id 'a': the key of q4 is ''"),
    ({"references": [_with(ART, q4=2), REAL]}, "id 'a': the key of q4 is 2"),
    ({"references": [ART, _with(REAL, q1="yes")]}, "id 'b': the key of q1 is 'yes'"),
    ({"references": [ART, _with(REAL, q2="A")]}, "id 'b': the key of q2 is 'A'"),
    ({"references": [ART, _with(GEN, q1="no")]}, "id 'b': the key of q1 is 'no'"),
    ({"references": [ART, _with(GEN, q1=None)]}, "id 'b': the key of q1 is None"),
    ({"ids": ["a", "a"]}, "index 1: the id 'a' stands twice \\(first at index 0\\)"),
    ({"ids": ["1", 1]}, "index 1: the id 1 stands twice"),
    ({"ids": ["a", None]}, "index 1: the id is None"),
    ({"ids": ["", "b"]}, "index 0: the id is ''"),
    ({"ids": [1.5, 2]}, "index 0: the id is 1.5"),
    ({"ids": ["a"]}, "ids has 1 items"),
    ({"groups": ["g", None]}, "id 'b': groups holds None"),
    ({"groups": ["g"]}, "groups has 1 items"),
    ({"artifact_types": [None, None]}, "id 'a': artifact_types holds None"),
    ({"artifact_types": ["", "x"]}, "id 'a': artifact_types holds ''"),
    ({"artifact_types": ["count", 4]}, "id 'b': artifact_types holds 4"),
    ({"no_image": ["F", None]}, "id 'b': no_image holds None"),
    ({"no_image": "FF"}, "no_image is 'FF'"),
    ({"parser": "lenient"}, "parser is 'lenient'"),
]


@pytest.mark.parametrize(("change", "message"), REFUSED)
def test_bad_input_never_gives_a_number(change: dict[str, Any], message: str) -> None:
    inputs: dict[str, Any] = {
        "predictions": [RIGHT, NOTHING],
        "references": [ART, REAL],
        "ids": ["a", "b"],
        **change,
    }
    with pytest.raises(ValueError, match=message):
        compute(**inputs)
