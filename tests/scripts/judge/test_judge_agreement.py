"""Agreement with people and the corrected mean: published figures, outside figures, simulation."""

from __future__ import annotations

import doctest
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lookcheck.scripts.judge import correction, measures
from lookcheck.scripts.judge.agreement import PUBLISHED
from lookcheck.scripts.judge.correction import corrected_mean
from lookcheck.scripts.judge.measures import agreement
from lookcheck.scripts.judge.work import VERDICT_FILE
from lookcheck.scripts.models.store import RowFile

Run = Callable[..., Any]


def table(yes_yes: int, yes_no: int, no_yes: int, no_no: int) -> tuple[list[str], list[str], list[str]]:
    """People's and the judge's verdicts with these counts, people first."""
    human = ["yes"] * (yes_yes + yes_no) + ["no"] * (no_yes + no_no)
    judged = ["yes"] * yes_yes + ["no"] * yes_no + ["yes"] * no_yes + ["no"] * no_no
    return human, judged, [str(index) for index in range(len(human))]


@pytest.mark.parametrize(
    ("name", "counts"),
    [("exact match", (0, 120, 0, 130)), ("Qwen2.5-14B", (117, 3, 17, 113)), ("GPT-5.4", (115, 5, 12, 118))],
)
def test_published_rows_have_a_common_table(name: str, counts: tuple[int, ...]) -> None:
    """Three rows of the paper, each of three figures, come out of 250 samples with 120 right answers."""
    found = agreement(*table(*counts), resamples=100)
    assert tuple(round(found[key]["value"], 3) for key in ("accuracy", "kappa", "f1")) == PUBLISHED[name]


def test_a_textbook_kappa() -> None:
    assert agreement(*table(20, 5, 10, 15), resamples=100)["kappa"]["value"] == pytest.approx(0.4)


def test_none_agrees_with_nobody() -> None:
    human = ["yes", "yes", "no", "no"]
    found = agreement(human, ["yes", "none", "no", "none"], list("abcd"), resamples=100)
    assert found["accuracy"]["value"] == 0.5
    assert found["f1"]["value"] == pytest.approx(2 / 3)
    # Chance: people .5 and .5, judge .25, .25 and .5 for none.
    assert found["kappa"]["value"] == pytest.approx((0.5 - 0.25) / 0.75)
    assert found["confusion"] == {"no": {"no": 1, "yes": 0, "none": 1}, "yes": {"no": 0, "yes": 1, "none": 1}}


def test_perfect_worst_and_undefined() -> None:
    perfect = agreement(*table(5, 0, 0, 5), resamples=100)
    assert [perfect[key]["value"] for key in ("accuracy", "kappa", "f1")] == [1, 1, 1]
    worst = agreement(*table(0, 5, 5, 0), resamples=100)
    assert [worst[key]["value"] for key in ("accuracy", "kappa", "f1")] == [0, -1, 0]
    alike = agreement(*table(0, 0, 0, 5), resamples=100)
    assert alike["accuracy"] == {"value": 1.0, "low": pytest.approx(0.025 ** (1 / 5)), "high": 1.0}
    assert alike["kappa"] == alike["f1"] == {"value": None, "low": None, "high": None}
    single = agreement(["yes"], ["yes"], ["a"], resamples=100)
    assert single["accuracy"] == {"value": 1.0, "low": pytest.approx(0.025), "high": 1.0}


def test_few_or_equal_labels_have_no_narrow_interval() -> None:
    """Two labels "yes, yes" said 100 [100, 100] once: the exact interval begins at 15.81."""
    two = agreement(["yes", "yes"], ["yes", "yes"], ["a", "b"])
    assert two["accuracy"] == {"value": 1.0, "low": pytest.approx(0.1581, abs=1e-4), "high": 1.0}
    assert two["f1"] == {"value": 1.0, "low": None, "high": None}
    for labels in (29, 30):
        found = agreement(*table(labels - 15, 3, 0, 12), resamples=100)
        assert (found["kappa"]["low"] is None) == (labels < 30)
        assert (found["f1"]["low"] is None) == (labels < 30)
    # However many labels, a judge that never differs has no bootstrap width.
    perfect = agreement(*table(100, 0, 0, 100), resamples=100)
    assert perfect["kappa"] == perfect["f1"] == {"value": 1.0, "low": None, "high": None}
    assert perfect["accuracy"]["low"] == pytest.approx(0.025 ** (1 / 200))


@pytest.mark.parametrize("labels", [2, 5, 10, 40])
@pytest.mark.parametrize("truth", [0.5, 0.9])
def test_intervals_of_accuracy_cover_at_any_size(labels: int, truth: float) -> None:
    """All outcomes with their probabilities: nothing is drawn."""
    from scipy.stats import binom

    covered = 0.0
    for count in range(labels + 1):
        low, high = measures.proportion_interval(count, labels, 0.95)
        covered += binom.pmf(count, labels, truth) * (low <= truth <= high)
    assert covered >= 0.95


def test_malformed() -> None:
    with pytest.raises(ValueError, match="2 human verdicts, 1 of the judge"):
        agreement(["yes", "no"], ["yes"], ["a", "b"])
    with pytest.raises(ValueError, match="no sample"):
        agreement([], [], [])
    with pytest.raises(ValueError, match="human verdict is 'none'"):
        agreement(["none"], ["yes"], ["a"])
    with pytest.raises(ValueError, match="judge's verdict is 'Yes'"):
        agreement(["yes"], ["Yes"], ["a"])


PAIRS = st.lists(
    st.tuples(st.sampled_from(["yes", "no"]), st.sampled_from(["yes", "no", "none"])), min_size=2, max_size=30
)


@settings(max_examples=40)
@given(PAIRS, st.randoms(use_true_random=False))
def test_order_does_not_matter_and_values_are_in_range(
    pairs: list[tuple[str, str]], shuffler: random.Random
) -> None:
    rows = [(str(index), *pair) for index, pair in enumerate(pairs)]
    found = agreement(
        [row[1] for row in rows], [row[2] for row in rows], [row[0] for row in rows], resamples=100
    )
    shuffler.shuffle(rows)
    assert found == agreement(
        [row[1] for row in rows], [row[2] for row in rows], [row[0] for row in rows], resamples=100
    )
    for key, least in (("accuracy", 0), ("kappa", -1), ("f1", 0)):
        figure = found[key]
        if figure["value"] is not None:
            assert least <= figure["value"] <= 1 + 1e-12
            assert figure["low"] is None or figure["low"] <= figure["high"]


def test_intervals_are_those_of_theory() -> None:
    """Clopper and Pearson by the beta distribution; the bootstrap of F1 beside its delta method."""
    from scipy.stats import beta

    found = agreement(*table(117, 3, 17, 113))
    assert found["accuracy"]["low"] == pytest.approx(beta.ppf(0.025, 230, 21))
    assert found["accuracy"]["high"] == pytest.approx(beta.ppf(0.975, 231, 20))
    f1 = 2 * 117 / (2 * 117 + 20)
    half = 1.96 * np.sqrt(f1 * (2 - f1) * (1 - f1) / 2 / (117 + 10))
    assert found["f1"]["low"] == pytest.approx(f1 - half, abs=0.01)
    assert found["f1"]["high"] == pytest.approx(f1 + half, abs=0.01)
    narrower = agreement(*table(117, 3, 17, 113), confidence=0.5)
    assert narrower["kappa"]["low"] > found["kappa"]["low"]


def test_corrected_mean_by_hand() -> None:
    human, seen = [1, 0, 1, 1] * 10, [1, 1, 1, 1] * 10
    found = corrected_mean(human, seen, [1, 1, 0, 1], weight=1, confidence=0.5)
    # The judge says 0.75 of the others; of the labelled it said one too many in four.
    assert found["mean"] == pytest.approx(0.75 - 0.25)
    assert found["labels"]["mean"] == 0.75
    judged = np.array([*seen, 1, 1, 0, 1], float)
    half = 0.6744897501960817 * np.sqrt((3 / 16 * 40 / 39) / 40 + judged.var(ddof=1) / 4)
    assert found["high"] == pytest.approx(0.5 + half)
    assert found["refused"] is None


@pytest.mark.parametrize(
    ("human", "seen", "refused"),
    [
        ([1, 1], [1, 1], "no interval: 2 labels, it takes 30"),
        ([1, 0] * 14 + [1], [1, 1] * 14 + [1], "no interval: 29 labels, it takes 30"),
        ([1] * 26 + [0] * 4, [1] * 30, "no interval: 4 labels no, it takes 5"),
        ([0] * 26 + [1] * 4, [1] * 30, "no interval: 4 labels yes, it takes 5"),
        (
            [1, 0] * 30,
            [1, 0] * 28 + [0, 0] * 2,
            "no interval: 2 labels that differ from the judge, it takes 3",
        ),
    ],
)
def test_a_corrected_mean_on_too_little_has_no_interval(
    human: list[float], seen: list[float], refused: str
) -> None:
    found = corrected_mean(human, seen, [1, 0] * 50, weight=0.5)
    assert (found["low"], found["high"], found["refused"]) == (None, None, refused)
    low, high = measures.proportion_interval(sum(map(int, human)), len(human), 0.95)
    assert found["labels"] == {"mean": np.mean(human), "low": low, "high": high}
    assert low < found["labels"]["mean"] <= high


@pytest.mark.parametrize("labels", [5, 30, 60])
def test_few_labels_cover_or_are_refused(labels: int) -> None:
    """The bare normal approximation covers 9 to 85 % here; what is given covers nine times in ten or more."""
    draw = np.random.default_rng(9)
    given = covered = alone = 0
    turns = 400
    for _ in range(turns):
        right = draw.random(labels + 500) < 0.8
        verdict = draw.random(labels + 500) < np.where(right, 0.95, 0.2)
        found = corrected_mean(
            right[:labels].astype(float), verdict[:labels].astype(float), verdict[labels:].astype(float)
        )
        exact = found["labels"]
        alone += exact["low"] <= 0.8 <= exact["high"]
        if found["low"] is not None and found["high"] is not None:
            given += 1
            covered += found["low"] <= 0.8 <= found["high"]
    assert alone / turns >= 0.93
    assert turns / 4 < given
    assert covered / given >= 0.9
    if labels == 5:
        # Five labels of one kind give the judge no weight, and stand alone with their exact interval.
        assert given == covered < turns / 2


# ppi-python 0.2.3: ppi_mean_pointestimate and ppi_mean_ci on these verdicts, plain and tuned.
HUMAN = [0, 1, 0, 0, 1, 0, 1, 0, 1, 0, 1, 1, 1, 1, 0, 0, 1, 1, 1, 1, 0, 0, 1, 0, 1, 1, 1, 1, 1, 1]
SEEN = [0, 1, 0, 0, 1, 1, 1, 0, 0, 0, 1, 1, 1, 1, 0, 0, 1, 1, 1, 1, 0, 0, 1, 0, 1, 1, 1, 0, 1, 1]
OTHERS = [0, 1, 0, 1, 1, 0, 1, 1, 0, 0, 0, 1, 0, 1, 1, 1, 1, 1, 1, 1]


@pytest.mark.parametrize(
    ("weight", "mean", "low", "high", "exactness"),
    [(1, 0.68333333, 0.44593245, 0.92073422, 1e-8), (None, 0.64886248, 0.50030994, 0.79741502, 1e-3)],
)
def test_parity_with_the_authors_package(
    weight: float | None, mean: float, low: float, high: float, exactness: float
) -> None:
    """It divides variances by n where we divide by n − 1: the ends may differ by that."""
    found = corrected_mean(HUMAN, SEEN, OTHERS, weight=weight)
    assert found["mean"] == pytest.approx(mean, abs=exactness)
    assert found["low"] == pytest.approx(low, abs=0.01)
    assert found["high"] == pytest.approx(high, abs=0.01)


@pytest.mark.parametrize("weight", [1, None])
@pytest.mark.parametrize(("right_yes", "wrong_yes"), [(0.95, 0.25), (0.7, 0.0), (0.5, 0.5)])
def test_simulation_is_unbiased_and_covers(weight: float | None, right_yes: float, wrong_yes: float) -> None:
    """A biased judge, 150 labels, 1,007 samples without: 600 repetitions with a known truth of 0.6."""
    draw = np.random.default_rng(2605)
    truth, n, many, turns = 0.6, 150, 1007, 600
    means, covered, widths, label_widths, judge = [], 0, [], [], []
    for _ in range(turns):
        right = draw.random(n + many) < truth
        verdict = draw.random(n + many) < np.where(right, right_yes, wrong_yes)
        found = corrected_mean(right[:n], verdict[:n], verdict[n:], weight=weight)
        means.append(found["mean"])
        covered += found["low"] <= truth <= found["high"]
        widths.append(found["high"] - found["low"])
        label_widths.append(found["labels"]["high"] - found["labels"]["low"])
        judge.append(found["judge"])
    assert np.mean(means) == pytest.approx(truth, abs=4 * np.std(means) / np.sqrt(turns))
    assert 0.92 <= covered / turns <= 0.98
    if (right_yes, wrong_yes) != (0.5, 0.5):
        assert np.mean(widths) < 0.9 * np.mean(label_widths)
        assert abs(np.mean(judge) - truth) > 0.05
    elif weight is None:
        # A judge that tosses a coin costs nothing once the weight is tuned.
        assert np.mean(widths) < 1.01 * np.mean(label_widths)


def test_corrected_mean_at_the_edges() -> None:
    all_labelled = corrected_mean([1, 0, 1], [1, 1, 1], [])
    assert (all_labelled["mean"], all_labelled["weight"]) == (pytest.approx(2 / 3), 0.0)
    constant = corrected_mean([1, 0, 1], [1, 1, 1], [1, 1])
    assert (constant["mean"], constant["weight"]) == (pytest.approx(2 / 3), 0.0)
    assert (constant["low"], constant["high"]) == (constant["labels"]["low"], constant["labels"]["high"])
    assert 0 < constant["low"] < 2 / 3 < constant["high"] < 1
    with pytest.raises(ValueError, match="1 labelled samples"):
        corrected_mean([1], [1], [0, 1])
    with pytest.raises(ValueError, match="2 labels, but 1 verdicts"):
        corrected_mean([1, 0], [1], [0, 1])


@pytest.fixture
def verdicts(tmp_path: Path) -> Path:
    path = tmp_path / "v.jsonl"
    judge = {
        "model": "org/judge",
        "revision": None,
        "method": "logprob",
        "prompt_version": "1",
        "dtype": "float32",
    }
    with RowFile(path, VERDICT_FILE, {"deciding": {"judge": judge}, "known": {}}) as file:
        said = ["yes"] * 12 + ["no"] * 10 + ["none"] * 2
        file.append([{"id": str(n), "verdict": verdict, "exact": n < 4} for n, verdict in enumerate(said)])
    return path


def test_command(lookcheck: Run, write: Run, verdicts: Path, tmp_path: Path) -> None:
    labels = [
        {"id": n, "verdict": "yes" if n < 9 else "no", "kind": "even" if n % 2 == 0 else "odd"}
        for n in range(0, 24, 2)
    ]
    human = write(tmp_path / "h.jsonl", labels)
    run = lookcheck(
        "judge", "agreement", "--verdicts", verdicts, "--human", human, "--output", tmp_path / "r.json"
    )
    assert run.code == 0, run.err
    for shown in (
        "12 of 24 samples",
        "paper: Qwen2.5-14B",
        "0.921",
        "judge: none",
        "drawn at random",
        "judge: org/judge,",
    ):
        assert shown in run.out
    result = json.loads((tmp_path / "r.json").read_text())
    assert result["agreement"]["confusion"] == {
        "no": {"no": 5, "yes": 1, "none": 1},
        "yes": {"no": 0, "yes": 5, "none": 0},
    }
    assert result["exact_match"]["confusion"]["yes"] == {"no": 3, "yes": 2, "none": 0}
    assert result["by_kind"] == {"even": {"agreed": 10, "n": 12}}
    assert result["answer_accuracy"]["judge"] == 0.5
    again = lookcheck("judge", "agreement", "--verdicts", verdicts, "--human", human, "--json")
    assert json.loads(again.out) == result


@pytest.mark.parametrize(
    ("labels", "said"),
    [
        ([{"id": "99", "verdict": "yes"}], "h.jsonl:1: the id '99' is not in"),
        ([{"id": "1", "verdict": "none"}], "h.jsonl:1: id '1' has the verdict 'none'; expected yes or no"),
        ([{"id": "1", "verdict": True}], "h.jsonl:1: id '1' has verdict True; expected a string"),
        ([{"id": "1"}], "h.jsonl:1: id '1' has no 'verdict'"),
        ([], "h.jsonl: no records"),
    ],
)
def test_bad_labels(
    lookcheck: Run, write: Run, verdicts: Path, tmp_path: Path, labels: list[Any], said: str
) -> None:
    human = write(tmp_path / "h.jsonl", labels)
    run = lookcheck(
        "judge", "agreement", "--verdicts", verdicts, "--human", human, "--output", tmp_path / "r.json"
    )
    assert (run.code, run.err.count("\n")) == (2, 1)
    assert said in run.err
    assert not (tmp_path / "r.json").exists()


def test_output_never_overwrites_an_input(lookcheck: Run, write: Run, verdicts: Path, tmp_path: Path) -> None:
    human = write(tmp_path / "h.json", [{"id": "1", "verdict": "yes"}])
    for output, said in ((human, "would overwrite the input"), (tmp_path / "r.csv", "ending in .json")):
        run = lookcheck("judge", "agreement", "--verdicts", verdicts, "--human", human, "--output", output)
        assert (run.code, run.err.count("\n")) == (2, 1)
        assert said in run.err
    assert human.read_text() == '{"id": "1", "verdict": "yes"}\n'


def test_a_file_of_other_kind(lookcheck: Run, write: Run, tmp_path: Path) -> None:
    other = write(tmp_path / "o.jsonl", [{"id": "1", "verdict": "yes"}])
    run = lookcheck("judge", "agreement", "--verdicts", other, "--human", other)
    assert (run.code, run.err.count("\n")) == (2, 1)
    assert "o.jsonl:1: not a verdict file" in run.err


def test_doctests() -> None:
    for module in (measures, correction):
        result = doctest.testmod(module)
        assert result.attempted
        assert not result.failed
