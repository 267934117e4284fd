"""Grove: hand-computed branches, published compositions, properties, refused input."""

from __future__ import annotations

import doctest
import itertools
import math
import random
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from lookcheck.metrics.grove import baselines, compute, mask_score, match, scoring, to_rle


def strip(begin: int, end: int, width: int = 10) -> dict[str, Any]:
    """A mask of one row of `width` pixels, filled from `begin` to `end`."""
    return {"size": [1, width], "counts": [begin, end - begin, width - end]}


EMPTY = {"size": [1, 10], "counts": [10]}


def one(verdict: str, predicted: list[Any], reference: list[Any], **options: Any) -> dict[str, Any]:
    return compute([{"verdict": verdict, "masks": predicted}], [{"masks": reference}], **options)


@pytest.mark.parametrize(
    ("verdict", "predicted", "reference", "masks", "score"),
    [
        ("yes", [], [], 1.0, 1.0),
        ("no", [], [], 1.0, math.sqrt(0.1)),
        ("yes", [strip(0, 5)], [], 0.0, math.sqrt(0.1)),
        ("no", [strip(0, 5)], [], 0.0, 0.1),
        ("yes", [], [strip(0, 5)], 0.0, math.sqrt(0.1)),
        ("yes", [strip(0, 5)], [strip(0, 5)], 1.0, 1.0),
        ("no", [strip(0, 5)], [strip(0, 5)], 1.0, math.sqrt(0.1)),
        ("yes", [strip(0, 4)], [strip(2, 6)], 1 / 3, math.sqrt(1 / 3)),
        # One of two instances found: 1 / max(1, 2).
        ("yes", [strip(0, 4)], [strip(0, 4), strip(6, 9)], 0.5, math.sqrt(0.5)),
        # A duplicate stays and costs: 1 / max(2, 1).
        ("yes", [strip(0, 4), strip(0, 4)], [strip(0, 4)], 0.5, math.sqrt(0.5)),
        # An all-zero mask counts as a prediction by default.
        ("yes", [strip(0, 4), EMPTY], [strip(0, 4)], 0.5, math.sqrt(0.5)),
        ("yes", [EMPTY], [], 0.0, math.sqrt(0.1)),
        # Below the floor the mask score counts as the floor.
        ("yes", [strip(0, 10)], [strip(9, 10)], 0.1, math.sqrt(0.1)),
        # Two merged instances are one mask: IoU 4/6 with the better one, of max(1, 2).
        ("yes", [strip(0, 6)], [strip(0, 4), strip(4, 6)], (4 / 6) / 2, math.sqrt((4 / 6) / 2)),
    ],
)
def test_every_branch(verdict: str, predicted: Any, reference: Any, masks: float, score: float) -> None:
    result = one(verdict, predicted, reference)
    assert result["mask_score"] == pytest.approx(masks, abs=1e-12)
    assert result["grove"] == pytest.approx(score, abs=1e-12)
    assert result["answer_accuracy"] == (verdict == "yes")


def test_empty_predicted_masks_can_be_dropped() -> None:
    result = one("yes", [EMPTY, strip(0, 4)], [strip(0, 4)], empty_masks="drop")
    assert result["grove"] == 1.0
    (row,) = result["per_sample"]
    # The place is the one in the list that was given.
    assert row["matches"] == [{"prediction": 1, "reference": 0, "iou": 1.0}]
    assert (row["num_predicted"], row["empty_predicted"]) == (1, 1)
    assert one("yes", [EMPTY], [], empty_masks="drop")["grove"] == 1.0
    # All zero, but not in the canonical form.
    odd = {"size": [1, 10], "counts": [4, 0, 6, 0]}
    assert one("yes", [odd], [], empty_masks="drop")["grove"] == 1.0


def test_optimal_beats_greedy() -> None:
    iou = np.array([[0.6, 0.5], [0.5, 0.0]])
    assert sum(iou[pair] for pair in match(iou)) == 1.0
    assert mask_score(iou) == 0.5


IOU = hnp.arrays(np.float64, st.tuples(st.integers(1, 5), st.integers(1, 5)), elements=st.floats(0, 1))


@given(IOU)
def test_matching_equals_brute_force_and_is_at_least_greedy(iou: npt.NDArray[np.float64]) -> None:
    wide = iou if iou.shape[0] <= iou.shape[1] else iou.T
    rows, columns = wide.shape
    best = max(
        sum(wide[row, column] for row, column in enumerate(order))
        for order in itertools.permutations(range(columns), rows)
    )
    found = sum(iou[pair] for pair in match(iou))
    assert found == pytest.approx(best, abs=1e-12)
    left, greedy = iou.copy(), 0.0
    while left.size:
        row, column = np.unravel_index(left.argmax(), left.shape)
        greedy += left[row, column]
        left = np.delete(np.delete(left, row, 0), column, 1)
    assert found >= greedy - 1e-12
    assert mask_score(iou) == pytest.approx(best / max(iou.shape), abs=1e-12)
    assert mask_score(iou) == pytest.approx(mask_score(iou.T), abs=1e-12)


def real_composition() -> tuple[list[dict[str, Any]], list[str]]:
    """1,157 references, 843 with evidence and 314 without, over the six tasks in their real numbers."""
    tasks = [
        name
        for name, n in {
            "identification": 214, "attribute": 191, "ocr": 173, "spatial": 199, "counting": 188, "comparison": 192,
        }.items()
        for _ in range(n)
    ]  # fmt: skip
    references: list[dict[str, Any]] = [
        {"masks": [strip(0, 4)] if index < 843 else []} for index in range(len(tasks))
    ]
    random.Random(0).shuffle(references)
    return references, tasks


def test_baselines_on_the_real_composition() -> None:
    references, tasks = real_composition()
    assert len(references) == 1157

    def grove(rule: Any) -> float:
        predictions = [rule(bool(reference["masks"])) for reference in references]
        return round(100 * float(compute(predictions, references, tasks=tasks)["grove"]), 2)

    wrong_mask = [strip(8, 9)]
    assert grove(lambda evidence: {"verdict": "no", "masks": wrong_mask}) == 10.00
    assert grove(lambda evidence: {"verdict": "no", "masks": []}) == 15.87
    assert grove(lambda evidence: {"verdict": "no" if evidence else "yes", "masks": []}) == 34.43
    assert grove(lambda evidence: {"verdict": "yes", "masks": []}) == 50.18
    shown = baselines(843, 314)
    assert [round(100 * figures["grove"], 2) for figures in shown.values()] == [10.0, 15.87, 34.43, 50.18]
    # Right answers and mask scores of the same policies: 0, 314 or all of 1,157.
    assert [figures["answer_accuracy"] for figures in shown.values()] == [0.0, 0.0, 314 / 1157, 1.0]
    assert [figures["mask_score"] for figures in shown.values()] == [0.0, *[314 / 1157] * 3]
    # What a policy reaches when it is scored, and what is printed beside every score, are the same digits.
    scored = compute([{"verdict": "yes", "masks": []}] * 1157, references)
    own = scored["baselines"]["no_mask_always_right"]
    assert own == {name: scored[name] for name in ("grove", "answer_accuracy", "mask_score")}


def test_breakdowns_cross_table_and_signature() -> None:
    result = compute(
        [
            {"verdict": "yes", "masks": [strip(0, 5)]},
            {"verdict": "yes", "masks": []},
            {"verdict": "no", "masks": [strip(0, 4), strip(5, 9)]},
            {"verdict": "none", "masks": [strip(0, 2)]},
        ],
        [
            {"masks": [strip(0, 5)]},
            {"masks": []},
            {"masks": [strip(0, 4), strip(5, 9)]},
            {"masks": [strip(0, 5)]},
        ],
        ids=["a", "b", "c", "d"],
        groups=["g", "g", "h", "h"],
        tasks=["ocr", "counting", "ocr", "ocr"],
        domains=["math", "math", "indoor", "math"],
        judge="Qwen/Qwen2.5-14B-Instruct:logprob",
        unjudged="wrong",
    )
    root = math.sqrt(0.1)
    assert result["grove"] == pytest.approx((1 + 1 + root + math.sqrt(0.1 * 0.4)) / 4)
    assert result["with_evidence"]["n"] == 3
    assert result["without_evidence"] == {"grove": 1.0, "answer_accuracy": 1.0, "mask_score": 1.0, "n": 1}
    assert list(result["by_task"]) == ["counting", "ocr"]
    assert result["by_task"]["ocr"]["n"] == 3
    assert result["by_domain"]["indoor"]["grove"] == pytest.approx(root)
    assert {name: part["n"] for name, part in result["by_num_instances"].items()} == {"0": 1, "1": 2, "2": 1}
    assert result["cross_table"]["right"]["high"] == {"count": 2, "fraction": 0.5}
    assert result["cross_table"]["wrong"]["high"] == {"count": 1, "fraction": 0.25}
    assert result["cross_table"]["wrong"]["low"] == {"count": 1, "fraction": 0.25}
    assert [row["group"] for row in result["per_sample"]] == ["g", "g", "h", "h"]
    assert result["counts"] == {"n": 4, "unjudged": 1, "missing": 0, "empty_predicted": 0}
    assert result["signature"] == (
        "metric:grove|epsilon:0.1|empty_masks:keep|matching:optimal"
        "|judge:Qwen/Qwen2.5-14B-Instruct:logprob|n:4|unjudged:1|missing_rule:wrong|missing:0|version:2.1.0"
    )


def test_the_bands_of_the_cross_table_meet_at_a_half() -> None:
    """0 is "zero", what is below 0.5 is "low", and 0.5 itself is "high"."""
    half, less, least = strip(0, 5), strip(0, 4), strip(0, 1)
    result = compute(
        [{"verdict": verdict, "masks": [mask]} for verdict in ("yes", "no") for mask in (half, less, least)]
        + [{"verdict": "yes", "masks": []}],
        [{"masks": [strip(0, 10)]}] * 7,
    )
    assert [row["mask_score"] for row in result["per_sample"]] == [0.5, 0.4, 0.1, 0.5, 0.4, 0.1, 0.0]
    counted = {
        answer: {band: share["count"] for band, share in bands.items()}
        for answer, bands in result["cross_table"].items()
    }
    assert counted == {"right": {"zero": 1, "low": 2, "high": 1}, "wrong": {"zero": 0, "low": 2, "high": 1}}
    assert result["cross_table"]["right"]["low"]["fraction"] == 2 / 7


STRIPS = st.tuples(st.integers(0, 9), st.integers(1, 10)).map(
    lambda ends: strip(min(ends[0], ends[1] - 1), ends[1])
)
SAMPLES = st.lists(
    st.tuples(st.sampled_from(["yes", "no"]), st.lists(STRIPS, max_size=4), st.lists(STRIPS, max_size=4)),
    min_size=1,
    max_size=8,
)


@given(SAMPLES, st.floats(0, 1), st.randoms(use_true_random=False))
def test_order_bounds_and_between_its_parts(samples: Any, epsilon: float, rng: random.Random) -> None:
    predictions = [{"verdict": verdict, "masks": masks} for verdict, masks, _ in samples]
    references = [{"masks": masks} for *_, masks in samples]
    result = compute(predictions, references, epsilon=epsilon)
    assert epsilon - 1e-12 <= result["grove"] <= 1
    for row in result["per_sample"]:
        parts = [max(row["answer_score"], epsilon), max(row["mask_score"], epsilon)]
        assert min(parts) - 1e-12 <= row["score"] <= max(parts) + 1e-12
    order = list(range(len(samples)))
    rng.shuffle(order)
    shuffled = compute(
        [
            {**predictions[i], "masks": rng.sample(predictions[i]["masks"], len(predictions[i]["masks"]))}
            for i in order
        ],
        [references[i] for i in order],
        epsilon=epsilon,
    )
    assert shuffled["grove"] == pytest.approx(result["grove"], abs=1e-12)
    # Swapping the sides leaves the mask score as it is.
    swapped = compute(
        [{"verdict": "no", "masks": reference["masks"]} for reference in references],
        [{"masks": prediction["masks"]} for prediction in predictions],
    )
    assert swapped["mask_score"] == pytest.approx(result["mask_score"], abs=1e-12)


def test_perfect_and_worst() -> None:
    assert one("yes", [strip(0, 3), strip(4, 6)], [strip(4, 6), strip(0, 3)])["grove"] == 1.0
    assert one("no", [strip(0, 3)], [strip(4, 6)])["grove"] == pytest.approx(0.1)
    assert one("no", [strip(0, 3)], [strip(4, 6)], epsilon=0)["grove"] == 0.0


def test_no_prediction_is_wrong_in_both_parts() -> None:
    """Not even that there is nothing to see is right where nobody has said so."""
    absent = {"verdict": "none", "masks": None}
    silent = {"verdict": "none", "masks": []}
    references = [{"masks": []}, {"masks": [strip(0, 4)]}]
    result = compute([absent, absent], references, unjudged="wrong")
    assert (result["grove"], result["answer_accuracy"], result["mask_score"]) == (
        pytest.approx(0.1),
        0.0,
        0.0,
    )
    assert result["without_evidence"]["mask_score"] == 0.0
    assert [row["missing"] for row in result["per_sample"]] == [True, True]
    assert result["counts"] == {"n": 2, "unjudged": 2, "missing": 2, "empty_predicted": 0}
    assert result["signature"].endswith("|unjudged:2|missing_rule:wrong|missing:2|version:2.1.0")
    # An answer that nobody judged is another thing: its masks count.
    unjudged = compute([silent, silent], references, unjudged="wrong")
    assert unjudged["mask_score"] == 0.5
    assert unjudged["counts"]["missing"] == 0
    named = compute([absent, absent], references, unjudged="wrong", missing="empty")
    assert (named["mask_score"], named["grove"]) == (0.5, unjudged["grove"])
    assert "|missing_rule:empty|missing:2|" in named["signature"]
    # On VistaQA's composition an empty file has the floor, not 15.87.
    real, _ = real_composition()
    assert compute([absent] * 1157, real, unjudged="wrong")["grove"] == pytest.approx(0.1)
    # An answer that was judged right and masks that nobody gave: each part for itself.
    judged = compute([{"verdict": "yes", "masks": None}], references[:1])
    assert (judged["answer_accuracy"], judged["mask_score"], judged["counts"]["missing"]) == (1.0, 0.0, 1)
    with pytest.raises(ValueError, match=r"^1 of 1 samples have the verdict 'none'"):
        compute([absent], references[:1])


GOOD = {"verdict": "yes", "masks": [strip(0, 4)]}
LABEL = {"masks": [strip(0, 4)]}


@pytest.mark.parametrize(
    ("predictions", "references", "options", "said"),
    [
        ([], [], {}, "predictions is empty"),
        (None, [LABEL], {}, "predictions is None"),
        ([GOOD], [LABEL, LABEL], {}, "references has 2 items, but there are 1"),
        ([None], [LABEL], {"ids": ["s7"]}, "id 's7': the prediction is None"),
        ([{"masks": []}], [LABEL], {"ids": ["s7"]}, r"id 's7': the prediction has the fields \['masks'\]"),
        ([{**GOOD, "x": 1}], [LABEL], {}, "id 0: the prediction has the fields"),
        ([{**GOOD, "verdict": "Yes"}], [LABEL], {"ids": ["s7"]}, "id 's7': the verdict is 'Yes'"),
        ([{**GOOD, "verdict": True}], [LABEL], {}, "id 0: the verdict is True"),
        ([{**GOOD, "verdict": None}], [LABEL], {}, "id 0: the verdict is None"),
        ([{**GOOD, "masks": 0}], [LABEL], {"ids": ["s7"]}, "id 's7': the prediction's masks are 0"),
        ([GOOD], [{"masks": None}], {"ids": ["s7"]}, "id 's7': the reference's masks are None"),
        ([GOOD], [{"masks": [None]}], {"ids": ["s7"]}, "id 's7': reference mask 0: the mask is a NoneType"),
        ([GOOD], [{"masks": [EMPTY]}], {"ids": ["s7"]}, "id 's7': reference mask 0 is empty"),
        ([GOOD], [{"masks": [strip(0, 4, 11)]}], {"ids": ["s7"]}, r"id 's7': the masks have the sizes \[\(1, 10\), \(1, 11\)\]"),
        ([{**GOOD, "verdict": "none"}], [LABEL], {"ids": ["s7"]}, r"1 of 1 samples have the verdict 'none' \(id 's7'\)"),
        ([GOOD, GOOD], [LABEL, LABEL], {"ids": ["a", "a"]}, "index 1: the id 'a' stands twice"),
        ([GOOD, GOOD], [LABEL, LABEL], {"ids": [7, "7"]}, "index 1: the id '7' stands twice"),
        ([GOOD], [LABEL], {"ids": [None]}, "index 0: the id is None"),
        ([GOOD], [LABEL], {"ids": ["a", "b"]}, "ids has 2 items"),
        ([GOOD], [LABEL], {"groups": [None]}, "id 0: groups holds None"),
        ([GOOD], [LABEL], {"tasks": [1.5]}, "id 0: tasks holds 1.5"),
        ([GOOD], [LABEL], {"domains": [""]}, "id 0: domains holds ''"),
        ([GOOD], [LABEL], {"epsilon": -0.1}, "epsilon is -0.1"),
        ([GOOD], [LABEL], {"epsilon": float("nan")}, "epsilon is nan"),
        ([GOOD], [LABEL], {"epsilon": 2}, "epsilon is 2"),
        ([GOOD], [LABEL], {"epsilon": "0.1"}, "epsilon is '0.1'"),
        ([GOOD], [LABEL], {"judge": "a|b"}, r"judge is 'a\|b'"),
        ([GOOD], [LABEL], {"unjudged": "drop"}, "unjudged is 'drop'"),
        ([GOOD], [LABEL], {"missing": "drop"}, "missing is 'drop'; expected one of wrong, empty"),
        ([GOOD], [LABEL], {"empty_masks": True}, "empty_masks is True"),
    ],
)  # fmt: skip
def test_bad_input_never_gives_a_number(predictions: Any, references: Any, options: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        compute(predictions, references, **options)


def test_numpy_masks_and_encodings_mix() -> None:
    array = np.zeros((1, 10), dtype=bool)
    array[0, :4] = True
    assert one("yes", [array], [strip(0, 4)])["grove"] == 1.0
    assert one("yes", [to_rle(array)], [array.astype(np.uint8) * 255])["grove"] == 1.0


def test_doctests() -> None:
    result = doctest.testmod(scoring)
    assert result.attempted > 0
    assert result.failed == 0
