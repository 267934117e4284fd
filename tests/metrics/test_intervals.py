"""Intervals of the metrics: against a plain loop, by simulation, and what they do at the edges."""

from __future__ import annotations

import importlib
import json
import math
import random
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from scipy import stats
from scipy.special import ndtr, stdtrit

from lookcheck.metrics.grove import intervals

METRICS = ("grove", "soft_vqa_acc", "salart_chain", "perturbed_pope")
FOLDERS = Path(__file__).parents[2] / "metrics"
NAN = math.nan


def pope_rows(
    pictures: int, seed: int = 1
) -> tuple[list[dict[str, Any]], list[dict[str, str]], dict[str, Any]]:
    """Three questions about each picture in two conditions."""
    draw = random.Random(seed)
    predictions: list[dict[str, Any]] = []
    references: list[dict[str, str]] = []
    ids, groups = [], []
    for picture in range(pictures):
        skill = draw.random()
        for question in range(3):
            label = draw.choice(["yes", "no"])
            for condition in ("original", "black_mask"):
                right = draw.random() < skill
                text = label if right else {"yes": "no", "no": "yes"}[label]
                predictions.append(
                    {"text": text, "logp_yes": -draw.random() - 0.7, "logp_no": -draw.random() - 0.7,
                     "entity_rank": draw.randint(1, 50), "entity_prob": NAN}
                )  # fmt: skip
                parent = f"{picture}-{question}" if condition != "original" else ""
                references.append(
                    {"label": label, "condition": condition, "parent_id": parent, "split": ("random", "popular")[question % 2]}
                )  # fmt: skip
                ids.append(f"{picture}-{question}" + ("" if condition == "original" else "-m"))
                groups.append(f"p{picture}")
    return predictions, references, {"ids": ids, "groups": groups}


def sample(name: str, clusters: int, seed: int = 1) -> tuple[list[Any], list[Any], dict[str, Any]]:
    """Rows of a metric, three in each cluster, most of them neither all right nor all wrong."""
    if name == "perturbed_pope":
        return pope_rows(clusters, seed)
    draw = random.Random(seed)
    n = 3 * clusters
    more: dict[str, Any] = {"ids": list(range(n)), "groups": [f"g{row // 3}" for row in range(n)]}
    predictions: list[Any]
    references: list[Any]
    if name == "grove":
        masks = [{"size": [1, 4], "counts": [0, size, 4 - size]} for size in (1, 2, 3)]
        predictions = [
            {"verdict": draw.choice(["yes", "no"]), "masks": [draw.choice(masks)]} for _ in range(n)
        ]
        references = [{"masks": [draw.choice(masks)] if draw.random() < 0.8 else []} for _ in range(n)]
        more["tasks"] = [draw.choice(["a", "b/c"]) for _ in range(n)]
    elif name == "soft_vqa_acc":
        predictions = [draw.choice(["a", "b", "c"]) for _ in range(n)]
        references = [[draw.choice(["a", "b", "d"]) for _ in range(10)] for _ in range(n)]
        predictions = ["red" if text == "a" else text for text in predictions]
        references = [["red" if text == "a" else text for text in texts] for texts in references]
        more["question_types"] = [draw.choice(["x", "y"]) for _ in range(n)]
    else:
        roles = ("artifact", "clean_reference", "paired_generated_counterpart")
        references, predictions = [], []
        for row in range(n):
            role = roles[row % 3]
            key = {"role": role, "q1": {"artifact": "yes", "clean_reference": "no"}.get(role, "")}
            key |= {
                question: draw.choice("ABCD") if role == "artifact" else "E"
                for question in ("q2", "q3", "q4")
            }
            references.append(key)
            predictions.append(
                {"q1": draw.choice(["yes", "no"])}
                | {question: key[question] if draw.random() < 0.7 else "B" for question in ("q2", "q3", "q4")}
            )
        more["artifact_types"] = [draw.choice(["s", "t"]) if row % 3 == 0 else None for row in range(n)]
    return predictions, references, more


def compute(name: str, rows: tuple[Any, Any, dict[str, Any]], **options: Any) -> dict[str, Any]:
    predictions, references, more = rows
    result: dict[str, Any] = importlib.import_module(f"lookcheck.metrics.{name}").compute(
        predictions, references, **more, **options
    )
    return result


def leaves(tree: Mapping[str, Any], path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    for key, value in tree.items():
        if value is None or "low" in value:
            yield (*path, key), value
        else:
            yield from leaves(value, (*path, key))


def at(result: Mapping[str, Any], path: tuple[str, ...]) -> Any:
    found: Any = result
    for key in path:
        found = found[key]
    return found


def with_clusters(result: Mapping[str, Any], kept: list[str]) -> list[dict[str, Any]]:
    by: dict[str, list[dict[str, Any]]] = {}
    for row in result["per_sample"]:
        by.setdefault(str(row["group"]), []).append(row)
    return [row for name in kept for row in by[name]]


def test_the_files_are_the_same_in_every_folder() -> None:
    assert len({(FOLDERS / name / "intervals.py").read_bytes() for name in METRICS}) == 1


@pytest.mark.parametrize("name", METRICS)
def test_every_interval_belongs_to_a_figure_and_holds_it(name: str) -> None:
    rows = sample(name, 40)
    plain = compute(name, rows)
    result = compute(name, rows, confidence=0.95)
    assert "intervals" not in plain
    assert {key: value for key, value in result.items() if key not in ("intervals", "signature")} == {
        key: value for key, value in plain.items() if key != "signature"
    }
    found = dict(leaves(result["intervals"]))
    own = {path for path in found if path[0] != "mean_of_splits" and path[-1] != "seen"}
    assert len(own) >= 4
    for path in own:
        value, interval = at(result, path), found[path]
        if value is None:
            assert interval is None, path
        elif interval["low"] is not None:
            assert interval["low"] <= value + 1e-12, path
            assert value <= interval["high"] + 1e-12, path
            assert interval["low"] < interval["high"], path
    json.dumps(result["intervals"], allow_nan=False)
    head, _, tail = result["signature"].partition("|confidence:0.95|intervals:")
    assert plain["signature"].startswith(head)
    assert "|clusters:40 groups|seed:" in tail


@pytest.mark.parametrize("name", METRICS)
def test_neither_the_order_of_rows_nor_another_run_changes_a_digit(name: str) -> None:
    predictions, references, more = sample(name, 35)
    order = list(range(len(predictions)))
    random.Random(5).shuffle(order)
    turned = (
        [predictions[place] for place in order],
        [references[place] for place in order],
        {key: [values[place] for place in order] for key, values in more.items()},
    )
    first = compute(name, (predictions, references, more), confidence=0.9)
    second = compute(name, turned, confidence=0.9)
    assert first["intervals"] == second["intervals"]
    assert first["signature"] == second["signature"]


def plain_percentiles(
    values: list[list[tuple[float, float]]], seed: int, confidence: float
) -> tuple[float, float]:
    """The interval of one ratio by loops: draw clusters, add their rows, divide, sort, interpolate."""
    drawing = np.random.default_rng(seed)
    g = len(values)
    figures = []
    for _ in range(intervals.RESAMPLES):
        above = below = 0.0
        for cluster in drawing.integers(g, size=g, dtype=np.uint32).tolist():
            for numerator, denominator in values[cluster]:
                above += numerator
                below += denominator
        figures.append(above / below)
    figures.sort()
    used = sum(any(denominator for _, denominator in rows) for rows in values)
    tail = float(ndtr(-math.sqrt(used / (used - 1)) * stdtrit(used - 1, 1 - (1 - confidence) / 2)))

    def quantile(q: float) -> float:
        place = q * (len(figures) - 1)
        low = math.floor(place)
        high = min(low + 1, len(figures) - 1)
        return figures[low] + (place - low) * (figures[high] - figures[low])

    return quantile(tail), quantile(1 - tail)


def test_a_plain_loop_gives_the_same_f1_and_mean_rank() -> None:
    """F1 of resampled rows, not a mean of the F1 of clusters."""
    result = compute("perturbed_pope", pope_rows(36), confidence=0.95)
    groups = sorted({row["group"] for row in result["per_sample"]})
    assert result["signature"].count(f"seed:{intervals.seed_of(groups):016x}") == 1
    for name in ("f1", "mean_rank"):
        values: list[list[tuple[float, float]]] = []
        for group in groups:
            rows = [
                row
                for row in with_clusters(result, [group])
                if (row["condition"], row["split"]) == ("original", "random")
            ]
            if name == "f1":
                tp = sum(row["label"] == row["answer"] == "yes" for row in rows)
                wrong = sum(row["label"] != row["answer"] for row in rows)
                values.append([(2.0 * tp, 2.0 * tp + wrong)])
            else:
                values.append([(float(row["entity_rank"]), 1.0) for row in rows])
        low, high = plain_percentiles(values, intervals.seed_of(groups), 0.95)
        found = result["intervals"]["by_condition"]["original"]["random"][name]
        assert found["method"] == "bootstrap"
        assert found["low"] == pytest.approx(low, rel=1e-12)
        assert found["high"] == pytest.approx(high, rel=1e-12)


def test_with_few_clusters_it_is_students_t_of_cluster_means() -> None:
    """Clusters of one size: then a ratio's error is that of the mean of cluster means."""
    result = compute("grove", sample("grove", 12), confidence=0.95)
    found = result["intervals"]["mask_score"]
    means = [
        np.mean([row["mask_score"] for row in with_clusters(result, [f"g{number}"])]) for number in range(12)
    ]
    low, high = stats.t.interval(0.95, 11, np.mean(means), stats.sem(means))
    assert (found["low"], found["high"]) == (pytest.approx(low), pytest.approx(high))
    assert found["method"] == "student"
    assert found["note"] == "12 clusters, fewer than 30: read the interval with care"
    assert compute("grove", sample("grove", 30), confidence=0.95)["intervals"]["mask_score"]["note"] is None


@pytest.mark.parametrize(("text", "value"), [("red", 1.0), ("blue", 0.0)])
@pytest.mark.parametrize("clusters", [5, 200])
def test_a_share_of_0_or_1_has_clopper_and_pearsons_interval(text: str, value: float, clusters: int) -> None:
    rows = ([text] * clusters, [["red"] * 10] * clusters, {})
    result = compute("soft_vqa_acc", rows, confidence=0.95)
    found = result["intervals"]["exact_match"]
    exact = stats.binomtest(round(value) * clusters, clusters).proportion_ci(0.95, "exact")
    assert result["exact_match"] == value
    assert (found["low"], found["high"]) == (pytest.approx(exact.low), pytest.approx(exact.high))
    assert found["method"] == "exact"
    assert f"|clusters:{clusters} rows|" in result["signature"]


def test_figures_without_bounds_or_spread_have_no_interval_and_say_so() -> None:
    answer = {"text": "yes", "logp_yes": -0.5, "logp_no": -1.5, "entity_rank": 0, "entity_prob": NAN}
    asked = {"label": "yes", "condition": "original", "parent_id": "", "split": "random"}
    figures = compute("perturbed_pope", ([answer] * 3, [asked] * 3, {}), confidence=0.95)["intervals"]
    cell = figures["by_condition"]["original"]["random"]
    assert cell["mrr"] is None
    assert (cell["margin_mean"]["low"], cell["margin_mean"]["method"]) == (None, "none")
    assert cell["margin_mean"]["note"] == "all clusters are alike, and the figure has no bounds"
    one = compute("soft_vqa_acc", (["red"], [["red"] * 10], {}), confidence=0.95)["intervals"]
    assert one["exact_match"]["low"] is None
    assert one["exact_match"]["note"] == "one cluster has no interval"


@pytest.mark.parametrize("name", METRICS)
@pytest.mark.parametrize("level", [95, 0, 1, -0.5, True, "0.95", NAN, math.inf])
def test_a_level_that_is_none_is_refused(name: str, level: Any) -> None:
    with pytest.raises(ValueError, match=r"^confidence is .*; expected a number above 0 and below 1"):
        compute(name, sample(name, 2), confidence=level)


def simulated(
    clusters: int, size: int, correlation: float, studies: int, seed: int
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Sums and sizes of clusters of rows, normal with a shared part, and unequal sizes: (studies, clusters)."""
    drawing = np.random.default_rng(seed)
    sizes = drawing.integers(size // 2, size + size // 2 + 1, (studies, clusters)).astype(float)
    shared = drawing.normal(size=(studies, clusters)) * math.sqrt(correlation)
    own = drawing.normal(size=(studies, clusters)) * np.sqrt((1 - correlation) * sizes)
    return sizes * (0.3 + shared) + own, sizes


@pytest.mark.parametrize(("clusters", "seed"), [(8, 3), (30, 4), (50, 5), (300, 6)])
def test_intervals_cover_the_truth_in_93_to_97_percent_of_2000_studies(clusters: int, seed: int) -> None:
    """The expected value of a ratio of sums is .3; 2,000 studies have a standard error of .5 points."""
    above, below = simulated(clusters, 10, 0.5, 2000, seed)
    covered = 0
    drawn = None
    if clusters >= intervals.FEW:
        # The same 2,000 draws for every study: the studies are what is independent.
        counts = intervals.resampled(np.eye(clusters), seed, 2000)
        drawn = np.ascontiguousarray(((counts @ above.T) / (counts @ below.T)).T)
    for study in range(2000):
        sums = intervals.Sums(np.ones(1), above[study][:, None], below[study][:, None], -math.inf, math.inf)
        draws = None if drawn is None else drawn[study]
        found = intervals.interval_of(sums, 0.95, draws)
        assert found is not None
        covered += found["low"] <= 0.3 <= found["high"]
    assert 0.93 <= covered / 2000 <= 0.97


def test_without_clusters_a_true_null_is_rejected_far_too_often() -> None:
    """50 clusters of 10 with a correlation of .71: over 40 % at 5 %; with clusters about 5 %."""
    drawing = np.random.default_rng(7)
    rejected = {"rows": 0, "clusters": 0}
    for _ in range(500):
        rows = math.sqrt(0.71) * drawing.normal(size=(50, 1)) + math.sqrt(0.29) * drawing.normal(
            size=(50, 10)
        )
        for kind, values in (("rows", rows.reshape(-1, 1)), ("clusters", rows)):
            sums = intervals.Sums(
                np.ones(1),
                values.sum(axis=1)[:, None],
                np.full((len(values), 1), float(values.shape[1])),
                -math.inf,
                math.inf,
            )
            found = intervals.interval_of(sums, 0.95)
            assert found is not None
            rejected[kind] += not found["low"] <= 0 <= found["high"]
    assert rejected["rows"] / 500 > 0.4
    assert 0.02 <= rejected["clusters"] / 500 <= 0.08
