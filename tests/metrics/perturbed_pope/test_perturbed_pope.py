"""Hand-computed cases, a slow reference and properties of the perturbed POPE metric."""

from __future__ import annotations

import doctest
import importlib
import importlib.util
import math
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lookcheck.metrics import perturbed_pope
from lookcheck.metrics.perturbed_pope import CONDITIONS, MISSING, SPLITS, UNPARSED, compute

NAN = math.nan
Row = dict[str, Any]


def _reference() -> ModuleType:
    path = Path(__file__).with_name("perturbed_reference.py")
    spec = importlib.util.spec_from_file_location("perturbed_reference", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


slow = _reference()


def said(text: str, yes: float = NAN, no: float = NAN, rank: int = 0, probability: float = NAN) -> Row:
    return {"text": text, "logp_yes": yes, "logp_no": no, "entity_rank": rank, "entity_prob": probability}


def asked(label: str, condition: str = "original", parent: str = "", split: str = "random") -> Row:
    return {"label": label, "condition": condition, "parent_id": parent, "split": split}


def cell(result: dict[str, Any], condition: str = "original", split: str = "random") -> dict[str, Any]:
    found: dict[str, Any] = result["by_condition"][condition][split]
    return found


# Labels yes ×5: yes, yes, no, unknown, unparsed; labels no ×5: yes, no, no, no, unparsed.
WORDS = ["Yes.", "yes", "No", "unknown", "maybe", "Yes", "no", "No.", "**no**", "yes or no"]
LABELS = [asked(label) for label in ["yes"] * 5 + ["no"] * 5]


def test_answers_by_hand() -> None:
    result = compute([said(text) for text in WORDS], LABELS)
    found = cell(result)
    # TP 2, FP 1, TN 3, FN 3 of ten rows.
    assert found["counts"] == {
        "scored": 10,
        "label_yes": 5,
        "label_no": 5,
        "tp": 2,
        "fp": 1,
        "tn": 3,
        "fn": 3,
        "yes": 3,
        "no": 4,
        "unknown": 1,
        "missing": 0,
        "empty": 0,
        "contradicting": 0,
        "margins": 0,
        "ranks": 0,
        "probabilities": 0,
    }
    assert (found["n"], found["unparsed"], found["unparsed_rate"]) == (10, 2, 0.2)
    assert (found["accuracy"], found["precision"], found["recall"], found["f1"]) == (0.5, 2 / 3, 0.4, 0.5)
    assert (found["yes_ratio"], found["unknown_rate"]) == (0.3, 0.1)
    assert found["by_label"]["yes"]["yes_ratio"] == 0.4
    assert found["by_label"]["no"]["accuracy"] == 0.6
    assert found["by_label"]["no"]["recall"] is None
    assert found["margin_mean"] is found["mrr"] is found["mean_probability"] is None
    assert [row["correct"] for row in result["per_sample"]] == [
        *(True, True, False, False, False),
        *(False, True, True, True, False),
    ]


def test_unparsed_answers_dropped_by_name() -> None:
    result = compute([said(text) for text in WORDS], LABELS, unparsed="drop")
    found = cell(result)
    # Two rows are out, one of each label: TP 2, FP 1, TN 3, FN 2 of eight.
    assert (found["accuracy"], found["precision"], found["recall"]) == (5 / 8, 2 / 3, 0.5)
    assert found["f1"] == 4 / 7
    assert (found["yes_ratio"], found["unknown_rate"], found["unparsed_rate"]) == (3 / 8, 1 / 8, 0.2)
    assert (found["n"], found["unparsed"], found["counts"]["scored"], found["counts"]["fn"]) == (10, 2, 8, 2)
    assert [row["correct"] for row in result["per_sample"]].count(None) == 2
    assert (
        "|unparsed_rule:drop|missing_rule:wrong|thinking:strip|n:10|missing:0|unparsed:2|"
        in result["signature"]
    )


def test_the_official_parser_leaves_nothing_unparsed() -> None:
    for unparsed in UNPARSED:
        result = compute([said(text) for text in WORDS], LABELS, parser="official", unparsed=unparsed)
        found = cell(result)
        # no: "No", "no", "No.", "yes or no"; yes: the rest, "unknown", "maybe" and "**no**" among them.
        assert (found["unparsed"], found["counts"]["yes"], found["counts"]["no"]) == (0, 6, 4)
        # TP 4, TN 3.
        assert (found["accuracy"], found["recall"], found["yes_ratio"]) == (0.7, 0.8, 0.6)
        assert result["signature"].startswith("metric:perturbed_pope|parser:official|")


def test_margins_and_ranks_by_hand() -> None:
    rows = [
        said("yes", -0.5, -2.5, 1, 0.5),
        said("yes", -1.0, -1.0, 4, 0.125),
        said("yes", -3.0, -0.5, 10),
        said("yes", rank=2, probability=0.0),
        said("yes"),
    ]
    found = cell(compute(rows, [asked("yes")] * 5))
    # Margins 2, 0, -2.5; a margin of 0 is not positive.
    assert found["margin_mean"] == pytest.approx(-0.5 / 3)
    assert (found["margin_median"], found["margin_positive"]) == (0.0, 1 / 3)
    assert found["mrr"] == pytest.approx((1 + 0.25 + 0.1 + 0.5) / 4)
    assert (found["mean_rank"], found["median_rank"]) == (4.25, 3.0)
    assert found["mean_probability"] == pytest.approx(0.625 / 3)
    assert {k: found["counts"][k] for k in ("margins", "ranks", "probabilities")} == {
        "margins": 3,
        "ranks": 4,
        "probabilities": 3,
    }


def test_pairs_by_hand() -> None:
    result = compute(
        [
            said("yes", -0.5, -2.5, 2, 0.5),  # q1
            said("yes", -0.5, -1.0, 4, 0.25),  # q2
            said("no", -2.0, -0.5),  # q3
            said("?"),  # q4
            said("yes", -1.0, -1.5, 8, 0.1),  # q1 masked: the same
            said("no", -2.0, -0.5, 12, 0.05),  # q2 masked: changed
            said("unknown"),  # q3 masked: changed
            said("no"),  # q4 masked: its original was not readable
            said("no", -2.0, -1.0, 1, 1.0),  # of an original that is not there
        ],
        [
            *(asked("yes"), asked("yes"), asked("yes"), asked("yes")),
            *(asked("yes", "black_mask", parent) for parent in ("q1", "q2", "q3", "q4", "q5")),
        ],
        ids=["q1", "q2", "q3", "q4", "m1", "m2", "m3", "m4", "m5"],
        groups=[1, 1, 2, 2, 1, 1, 2, 2, 3],
    )
    found = result["paired"]["black_mask"]["random"]
    assert (found["n"], found["unpaired"], found["changed"]) == (4, 1, 0.5)
    assert (found["margin_shift_mean"], found["margin_shift_median"]) == (-1.75, -1.75)
    assert found["margin_stays_positive"] == 0.5
    assert found["original"]["yes_ratio"] == 0.5
    assert found["perturbed"]["yes_ratio"] == 0.25
    assert found["perturbed"]["unknown_rate"] == 0.25
    # The margins and ranks of q1 and q2 alone; the unpaired row is in neither side.
    assert (found["original"]["margin_mean"], found["perturbed"]["margin_mean"]) == (1.25, -0.5)
    assert (found["original"]["mean_rank"], found["perturbed"]["mean_rank"]) == (3.0, 10.0)
    assert found["relative_change"] == {
        "mrr": pytest.approx((1 / 8 + 1 / 12) / (1 / 2 + 1 / 4) - 1),
        "mean_rank": pytest.approx(7 / 3),
        "median_rank": pytest.approx(7 / 3),
        "mean_probability": pytest.approx(0.15 / 0.75 - 1),
    }
    assert found["counts"] == {
        "scored": 4,
        "changed": 2,
        "unparsed_original": 1,
        "unparsed_perturbed": 0,
        "margins": 2,
        "margin_positive_original": 2,
        "margin_stays_positive": 1,
        "ranks": 2,
        "probabilities": 2,
    }
    assert found["by_label"]["yes"]["n"] == 4
    assert found["by_label"]["no"]["n"] == 0
    assert result["evidence_reliance"] == {
        "black_mask": {
            "share": 0.5,
            "changed": 1,
            "n": 2,
            "answers": {"yes": 1, "no": 1, "unknown": 0, "missing": 0, "unparsed": 0},
            "by_split": {
                "random": {
                    "share": 0.5,
                    "changed": 1,
                    "n": 2,
                    "answers": {"yes": 1, "no": 1, "unknown": 0, "missing": 0, "unparsed": 0},
                }
            },
        }
    }
    assert [row["original_id"] for row in result["per_sample"][4:]] == ["q1", "q2", "q3", "q4", None]
    assert [row["changed"] for row in result["per_sample"][4:]] == [False, True, True, None, None]
    assert [row["margin_shift"] for row in result["per_sample"][4:]] == [-1.5, -2.0, None, None, None]
    assert [row["group"] for row in result["per_sample"]] == [1, 1, 2, 2, 1, 1, 2, 2, 3]
    assert result["counts"]["unpaired"] == 1
    assert "|n:9|missing:0|unparsed:1|unpaired:1|conditions:original,black_mask|" in result["signature"]
    assert list(result["paired"]) == ["black_mask"]
    # Copying the original answers yes, yes, no, and one that can't be read; the unpaired row has none.
    copied = result["baselines"]["copy_original"]["black_mask"]["random"]
    assert (copied["n"], copied["accuracy"], copied["unparsed"]) == (4, 0.5, 1)
    # Dropping: q4's pair leaves the denominator.
    dropped = compute(
        [said("yes"), said("?"), said("no"), said("no")],
        [asked("yes"), asked("yes"), asked("yes", "black_mask", "0"), asked("yes", "black_mask", "1")],
        unparsed="drop",
    )["paired"]["black_mask"]["random"]
    assert (dropped["n"], dropped["counts"]["scored"], dropped["changed"]) == (2, 1, 1.0)


def test_evidence_reliance_asks_only_where_the_object_was_seen_and_is_gone() -> None:
    ids = ["a", "b", "c", "d"]
    labels = ["yes", "yes", "no", "yes"]
    originals = [asked(label) for label in labels]
    before = [said("yes"), said("yes"), said("no"), said("no")]
    after = [said("unknown"), said("hm"), said("yes"), said("yes")]
    for condition in CONDITIONS[1:]:
        result = compute(
            before + after,
            originals
            + [
                asked("no" if condition == "entity_swap" else label, condition, parent)
                for parent, label in zip(ids, labels, strict=True)
            ],
            ids=[*ids, "1", "2", "3", "4"],
        )
        assert result["paired"][condition]["random"]["changed"] == 3 / 4
        if condition.startswith(("black_5", "black_7", "noise", "blur")):
            # The object may still be in the picture.
            assert result["evidence_reliance"] == {}
            continue
        found = result["evidence_reliance"][condition]
        assert (found["share"], found["changed"], found["n"]) == (0.5, 1, 2)
        assert found["answers"] == {"yes": 0, "no": 0, "unknown": 1, "missing": 0, "unparsed": 1}


def test_a_margin_of_zero_is_not_positive_and_does_not_stay_so() -> None:
    before, after = (0.0, 1.0, 2.0), (1.0, 0.0, 0.5)
    rows = [said("yes", margin - 3, -3) for margin in (*before, *after)]
    references = [asked("yes")] * 3 + [asked("yes", "blur_50", str(number)) for number in range(3)]
    found = compute(rows, references)["paired"]["blur_50"]["random"]
    assert found["margin_stays_positive"] == 0.5
    assert found["counts"]["margin_positive_original"] == 2
    assert (found["margin_shift_mean"], found["margin_shift_median"]) == (-0.5, -1.0)


def test_an_original_is_known_by_its_parent_id_or_else_by_its_id_within_its_split() -> None:
    # POPE's question ids stand in every split.
    references = [
        asked("yes", "original", "1", "random"),
        asked("yes", "original", "1", "popular"),
        asked("yes", "original", "", "popular"),
        asked("yes", "black_box", "1", "random"),
        asked("yes", "black_box", "1", "popular"),
        asked("yes", "black_box", "7", "popular"),
        asked("yes", "black_box", "7", "random"),
        asked("yes", "black_box", "2", "popular"),
    ]
    result = compute([said("yes")] * 8, references, ids=["p", "q", 7, "s", "t", "u", "v", "w"])
    found = [row["original_id"] for row in result["per_sample"]]
    assert found == [None, None, None, "p", "q", 7, None, None]
    assert [part["unpaired"] for part in result["paired"]["black_box"].values()] == [1, 1]


def test_baselines_beside_the_score() -> None:
    result = compute(
        [said("yes"), said("no"), said("yes"), said("no")],
        [asked("yes"), asked("no"), asked("no", "entity_swap", "0"), asked("yes", "mine", "1")],
    )
    accuracies = {
        name: [part["random"]["accuracy"] for part in conditions.values()]
        for name, conditions in result["baselines"].items()
    }
    assert list(result["by_condition"]) == ["original", "entity_swap", "mine"]
    assert accuracies == {
        "always_yes": [0.5, 0.0, 1.0],
        "always_no": [0.5, 1.0, 0.0],
        "copy_original": [1.0, 0.0, 0.0],
    }
    assert result["baselines"]["always_yes"]["original"]["random"]["f1"] == 2 / 3


def test_nothing_to_divide_by_is_none_and_perfect_and_worst_are_one_and_zero() -> None:
    result = compute([said("no")], [asked("yes", "black_mask", "gone")])
    assert result["evidence_reliance"]["black_mask"]["share"] is None
    assert result["paired"]["black_mask"]["random"]["changed"] is None
    assert result["baselines"]["copy_original"]["black_mask"]["random"]["accuracy"] is None
    assert cell(result, "black_mask")["precision"] is None
    assert (cell(result, "black_mask")["f1"], cell(result, "black_mask")["recall"]) == (0.0, 0.0)
    silent = cell(compute([said("")], [asked("no")], unparsed="drop", missing="parsed"))
    assert silent["accuracy"] is silent["f1"] is silent["yes_ratio"] is None
    assert (silent["unparsed_rate"], silent["counts"]["empty"]) == (1.0, 1)
    labels = [asked("yes"), asked("no")]
    best, worst = compute([said("Yes"), said("No")], labels), compute([said("No"), said("Yes")], labels)
    for name in ("accuracy", "precision", "recall", "f1"):
        assert (cell(best)[name], cell(worst)[name]) == (1.0, 0.0)


def test_conditions_and_splits_come_in_a_fixed_order() -> None:
    names = ["zoom", "entity_swap", "black_mask", "original", "Aged"]
    splits = ["my_split", "adversarial", "random"]
    references = [
        asked("no" if name == "entity_swap" else "yes", name, "x", split)
        for name in names
        for split in splits
    ]
    result = compute([said("yes")] * len(references), references)
    assert list(result["by_condition"]) == ["original", "black_mask", "entity_swap", "Aged", "zoom"]
    assert list(result["paired"]["zoom"]) == ["random", "adversarial", "my_split"]
    assert "|conditions:original,black_mask,entity_swap,Aged,zoom|" in result["signature"]


TEXTS = st.sampled_from(["yes", "No.", "unknown", "yes or no", "", "not sure", "Yes, no dog"])
LOGS = st.one_of(st.just((NAN, NAN)), st.tuples(*[st.floats(-20, -0.7, allow_subnormal=False)] * 2))
RANKS = st.one_of(
    st.just((0, NAN)), st.tuples(st.integers(1, 50_000), st.one_of(st.just(NAN), st.floats(0, 1)))
)
PREDICTIONS = st.builds(lambda text, logs, ranks: said(text, *logs, *ranks), TEXTS, LOGS, RANKS)
PLACES = st.tuples(
    st.sampled_from(["black_mask", "noise_50", "entity_swap", "mine"]),
    st.sampled_from(SPLITS[:2]),
    st.sampled_from(["q0", "q1", "q2", "q3", "none"]),
    st.sampled_from(["yes", "no"]),
)


@st.composite
def samples(draw: st.DrawFn) -> tuple[list[Row], list[Row], list[str]]:
    """Up to four originals in each of two splits, and perturbed rows of them and of others."""
    references, ids = [], []
    labels: dict[tuple[str, str], str] = {}
    for number, split in draw(st.sets(st.tuples(st.integers(0, 3), st.sampled_from(SPLITS[:2])))):
        label = draw(st.sampled_from(["yes", "no"]))
        labels[split, f"q{number}"] = label
        references.append(asked(label, "original", f"q{number}", split))
        ids.append(f"{split}-{number}")
    for index, (condition, split, parent, label) in enumerate(
        draw(st.lists(PLACES, min_size=1, max_size=12, unique_by=lambda place: place[:3]))
    ):
        # Only a swap changes the label, and only of conditions of one's own is nothing known.
        if condition != "mine":
            label = "no" if condition == "entity_swap" else labels.get((split, parent), label)
        references.append(asked(label, condition, parent, split))
        ids.append(f"row-{index}")
    size = len(references)
    return draw(st.lists(PREDICTIONS, min_size=size, max_size=size)), references, ids


def same(found: float | None, expected: float | None) -> bool:
    if found is None or expected is None:
        return found is expected
    return math.isclose(found, expected, rel_tol=1e-9, abs_tol=1e-9)


@settings(max_examples=200)
@given(
    rows=samples(),
    parser=st.sampled_from(["strict", "official"]),
    unparsed=st.sampled_from(UNPARSED),
    missing=st.sampled_from(MISSING),
)
def test_every_figure_equals_the_slow_reference(
    rows: tuple[list[Row], list[Row], list[str]], parser: str, unparsed: str, missing: str
) -> None:
    result = compute(rows[0], rows[1], ids=rows[2], parser=parser, unparsed=unparsed, missing=missing)
    plain = slow.make_rows(*rows, parser, missing)
    seen = 0
    for condition, splits in result["by_condition"].items():
        for split, found in splits.items():
            own = [row for row in plain if (row["condition"], row["split"]) == (condition, split)]
            seen += len(own)
            parts = {"": own, **{label: [r for r in own if r["label"] == label] for label in ("yes", "no")}}
            for label, part in parts.items():
                expected = slow.figures(part, unparsed)
                actual = found["by_label"][label] if label else found
                assert set(actual) - {"by_label", "counts"} == set(expected)
                for name, value in expected.items():
                    assert same(actual[name], value), (condition, split, label, name)
            for name, answer in (("always_yes", "yes"), ("always_no", "no")):
                policy = slow.figures([{**row, "answer": answer} for row in own], unparsed)
                assert same(result["baselines"][name][condition][split]["f1"], policy["f1"])
            if condition != "original":
                pairs = slow.pairs_of(plain, condition, split)
                actual = result["paired"][condition][split]
                expected = slow.changes(pairs, unparsed)
                change = expected.pop("mean_rank_change")
                assert same(actual["relative_change"]["mean_rank"], change)
                assert all(same(actual[name], value) for name, value in expected.items()), expected
                assert actual["unpaired"] == len(own) - len(pairs)
                copied = slow.figures([{**b, "answer": a["answer"]} for a, b in pairs], unparsed)
                copy = result["baselines"]["copy_original"][condition][split]
                assert same(copy["accuracy"], copied["accuracy"])
    assert seen == len(plain)
    for condition, found in result["evidence_reliance"].items():
        assert same(found["share"], slow.reliance(plain, condition, unparsed))
    present = set(result["by_condition"])
    assert set(result["evidence_reliance"]) == present & slow.TAKES_AWAY


@settings(max_examples=100)
@given(rows=samples(), data=st.data())
def test_the_order_of_rows_does_not_matter(
    rows: tuple[list[Row], list[Row], list[str]], data: st.DataObject
) -> None:
    def run(order: list[int]) -> str:
        result = compute(
            *([part[index] for index in order] for part in rows[:2]), ids=[rows[2][i] for i in order]
        )
        result["per_sample"].sort(key=lambda row: row["id"])
        # By its text: order of keys and every digit.
        return repr(result)

    order = list(range(len(rows[0])))
    assert run(data.draw(st.permutations(order))) == run(order)


@settings(max_examples=100)
@given(rows=samples())
def test_shares_lie_between_zero_and_one_and_rows_add_up(
    rows: tuple[list[Row], list[Row], list[str]],
) -> None:
    wrong, drop = (compute(rows[0], rows[1], ids=rows[2], unparsed=rule) for rule in UNPARSED)
    for condition, splits in wrong["by_condition"].items():
        for split, found in splits.items():
            counts = found["counts"]
            assert counts["tp"] + counts["fn"] == counts["label_yes"]
            read = counts["yes"] + counts["no"] + counts["unknown"] + counts["missing"]
            assert read + found["unparsed"] == found["n"]
            for name in ("accuracy", "precision", "recall", "f1", "yes_ratio", "unknown_rate", "mrr"):
                assert found[name] is None or 0 <= found[name] <= 1
            other = cell(drop, condition, split)
            assert other["precision"] == found["precision"]
            assert other["accuracy"] is None or other["accuracy"] >= found["accuracy"]
            assert other["counts"]["scored"] == found["n"] - found["unparsed"]


def test_a_missing_answer_is_wrong_under_every_rule() -> None:
    """An empty text is no answer, whatever the parser makes of it and whatever becomes of the unreadable."""
    texts = ["yes", "", " \n", "hm"]
    references = [asked("yes"), asked("yes"), asked("no"), asked("yes")]
    for parser, scored, accuracy in (("strict", 3, 1 / 3), ("official", 4, 0.5)):
        result = compute([said(text) for text in texts], references, parser=parser, unparsed="drop")
        found = cell(result)
        assert (found["counts"]["missing"], found["counts"]["scored"], found["accuracy"]) == (
            2,
            scored,
            accuracy,
        )
        assert [row["answer"] for row in result["per_sample"]][1:3] == ["missing", "missing"]
        assert [row["score"] for row in result["per_sample"]][:3] == [1.0, 0.0, 0.0]
        assert (result["counts"]["missing"], result["counts"]["empty"]) == (2, 2)
        assert "|missing_rule:wrong|" in result["signature"]
        assert "|missing:2|" in result["signature"]
    official = compute([said("")], [asked("yes")], parser="official", missing="parsed")
    assert (cell(official)["accuracy"], official["counts"]["missing"]) == (1.0, 0)
    # Missing beside the original: no change, and in the denominators also where the unread are dropped.
    result = compute(
        [said("yes"), said("yes"), said(""), said("?"), said("no")],
        [*[asked("yes")] * 2, *(asked("yes", name, "0") for name in ("black_mask", "black_box", "no_image"))],
        unparsed="drop",
    )
    assert [part["random"]["changed"] for part in result["paired"].values()] == [1.0, 0.0, None]
    reliance = result["evidence_reliance"]["black_mask"]
    assert (reliance["share"], reliance["n"], reliance["answers"]["missing"]) == (0.0, 1, 1)
    assert result["evidence_reliance"]["black_box"]["n"] == 0
    assert [row["changed"] for row in result["per_sample"]] == [None, None, None, None, True]


def test_a_trace_of_thoughts_is_no_answer() -> None:
    texts = [
        "<think>No dog at first sight, but",
        "<think>No dog at first sight, but</think>Yes",
        "No</think> yes",
    ]
    result = compute([said(text) for text in texts], [asked("yes")] * 3)
    assert [row["answer"] for row in result["per_sample"]] == [None, "yes", "yes"]
    assert result["counts"]["thinking"] == {"seen": 3, "cut": 1}
    assert [row["cut"] for row in result["per_sample"]] == [True, False, False]
    assert "|thinking:strip|" in result["signature"]
    upstream = compute([said(text) for text in texts], [asked("yes")] * 3, parser="official")
    assert [row["answer"] for row in upstream["per_sample"]] == ["yes", "yes", "yes"]
    assert upstream["counts"]["thinking"] == {"seen": 3, "cut": 1}
    assert "|thinking:keep|" in upstream["signature"]
    kept = compute([said(text) for text in texts], [asked("yes")] * 3, thinking="keep")
    assert [row["answer"] for row in kept["per_sample"]] == ["no", None, None]
    # The official rule reads what is cut as nothing: unread, not yes.
    cut = compute([said("<think>no")], [asked("yes")], parser="official", thinking="strip")
    assert cut["per_sample"][0]["answer"] is None


def test_answers_that_their_margin_contradicts_and_the_mass_are_reported() -> None:
    rows = [
        said("Yes", -3.0, -0.5),
        said("no", -0.5, -3.0),
        said("yes", -0.5, -3.0),
        said("yes", -1.0, -1.0),
        said("unknown", -9.0, -8.0),
        said("no"),
    ]
    result = compute(rows, [asked("yes")] * 6)
    assert [row["contradicts"] for row in result["per_sample"]] == [True, True, False, False, False, False]
    found = cell(result)
    assert found["counts"]["contradicting"] == result["counts"]["contradicting"] == 2
    masses = [math.exp(-3) + math.exp(-0.5)] * 3 + [2 * math.exp(-1), math.exp(-9) + math.exp(-8)]
    assert found["mass_mean"] == pytest.approx(sum(masses) / 5)
    assert found["mass_least"] == pytest.approx(masses[-1])
    assert result["per_sample"][-1]["mass"] is None


def test_doctests() -> None:
    attempted = 0
    for path in Path(perturbed_pope.__file__).parent.glob("*.py"):
        if path.stem not in {"__init__", "app", "perturbed_pope"}:
            module = importlib.import_module(f"lookcheck.metrics.perturbed_pope.{path.stem}")
            found = doctest.testmod(module)
            assert found.failed == 0
            attempted += found.attempted
    assert attempted > 20
