"""What the four metrics have in common, each held once for all of them."""

from __future__ import annotations

import doctest
import importlib
import importlib.util
import json
import math
import re
import sys
from fractions import Fraction
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from lookcheck.metrics.grove import common

METRICS = ("grove", "soft_vqa_acc", "salart_chain", "perturbed_pope")
FOLDERS = Path(__file__).parents[2] / "metrics"
PAGE = ("app", "page", "drawing")
"""Files of the gradio page, which `evaluate` does not load."""
NAN = math.nan


def _golden() -> ModuleType:
    spec = importlib.util.spec_from_file_location("golden", Path(__file__).with_name("golden.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


golden = _golden()

MASK = {"size": [1, 2], "counts": [1, 1]}
ROW: dict[str, tuple[Any, Any]] = {
    "grove": ({"verdict": "yes", "masks": [MASK]}, {"masks": [MASK]}),
    "soft_vqa_acc": ("cat", ["cat", "dog"]),
    "salart_chain": (
        {"q1": "yes", "q2": "A", "q3": "B", "q4": "C"},
        {"role": "artifact", "q1": "yes", "q2": "A", "q3": "B", "q4": "C"},
    ),
    "perturbed_pope": (
        {"text": "yes", "logp_yes": NAN, "logp_no": NAN, "entity_rank": 0, "entity_prob": NAN},
        {"label": "yes", "condition": "original", "parent_id": "", "split": "random"},
    ),
}
LABELS = {
    "grove": ("groups", "tasks", "domains"),
    "soft_vqa_acc": ("groups", "question_types", "answer_types"),
    "salart_chain": ("groups",),
    "perturbed_pope": ("groups",),
}


def compute(name: str, n: int = 2, **options: Any) -> dict[str, Any]:
    prediction, reference = ROW[name]
    given = {"predictions": [prediction] * n, "references": [reference] * n, **options}
    result: dict[str, Any] = importlib.import_module(f"lookcheck.metrics.{name}").compute(**given)
    return result


def test_the_common_files_are_the_same_in_every_folder() -> None:
    for file in ("common.py", "page.py"):
        files = {name: (FOLDERS / name / file).read_bytes() for name in METRICS}
        assert len(set(files.values())) == 1, f"copy one {file} to the other folders"
    assert {path.parent.name for path in FOLDERS.glob("*/scoring.py")} == set(METRICS)
    found = doctest.testmod(common)
    assert (found.failed, found.attempted > 12) == (0, True)


@pytest.mark.parametrize("name", METRICS)
def test_a_folder_stands_alone(name: str) -> None:
    """evaluate copies what the main file names; a Space has the folder and requirements.txt."""
    main = (FOLDERS / name / f"{name}.py").read_text(encoding="utf-8")
    named = set(re.findall(r"^from \.(\w+) import", main, re.M))
    assert named == {path.stem for path in (FOLDERS / name).glob("*.py")} - {"__init__", name, *PAGE}
    assert len(main.splitlines()) < 150
    required = (FOLDERS / name / "requirements.txt").read_text(encoding="utf-8")
    allowed = set(re.findall(r"^\w+", required.replace("pillow", "PIL"), re.M)) | sys.stdlib_module_names
    for path in (FOLDERS / name).glob("*.py"):
        imported = set(re.findall(r"^\s*(?:from|import) (\w+)", path.read_text(encoding="utf-8"), re.M))
        # Run as a script, a page finds its neighbours by their bare names.
        assert imported - allowed <= ({"common", *PAGE} if path.stem == "app" else set()), path


@pytest.mark.parametrize("name", METRICS)
def test_results_have_one_form(name: str) -> None:
    result = compute(name)
    assert result["counts"]["n"] == 2
    assert all(isinstance(figures, dict) and figures for figures in result["baselines"].values())
    assert len(result["baselines"]) >= 2
    version = importlib.import_module(f"lookcheck.metrics.{name}").VERSION
    assert re.fullmatch(rf"metric:{name}\|(\w+:[^|]*\|)+version:{re.escape(version)}", result["signature"])
    labels = {label: ["x", 7] for label in LABELS[name]}
    with_labels = compute(name, ids=["a", 8], **labels)
    keys = set(result["per_sample"][0])
    for row in (*result["per_sample"], *with_labels["per_sample"]):
        assert set(row) == keys
    assert {"id", "group", "score"} <= keys
    assert [row["id"] for row in result["per_sample"]] == [0, 1]
    assert [row["group"] for row in result["per_sample"]] == [None, None]
    assert [row["id"] for row in with_labels["per_sample"]] == ["a", 8]
    assert [row["group"] for row in with_labels["per_sample"]] == ["x", 7]
    assert all(0 <= row["score"] <= 1 for row in result["per_sample"])
    json.dumps(with_labels, allow_nan=False)


@pytest.mark.parametrize("name", METRICS)
def test_a_figure_that_changes_has_a_new_version(name: str) -> None:
    kept = golden.path_of(name)
    assert kept.exists(), f"python tests/metrics/golden.py writes {kept}"
    assert golden.results(name) == json.loads(kept.read_text(encoding="utf-8"))


def test_a_golden_file_is_never_overwritten(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "grove" / "golden").mkdir(parents=True)
    source = Path(__file__).parent / "grove" / "golden"
    target = tmp_path / "grove" / "golden"
    (target / "inputs.json").write_bytes((source / "inputs.json").read_bytes())
    monkeypatch.setattr(golden, "HERE", tmp_path)
    monkeypatch.setattr(golden, "METRICS", ("grove",))
    assert golden.main() == 0
    version = golden.path_of("grove")
    assert json.loads(version.read_text()) == json.loads((source / version.name).read_text())
    version.write_text("[]")
    assert golden.main() == 1
    assert version.read_text() == "[]"


class Tensor:
    """What torch hands out for one number: no dimension, but a list in disguise."""

    ndim = 0

    def tolist(self) -> list[str]:
        return ["cat", "cat"]


@pytest.mark.parametrize("name", METRICS)
@pytest.mark.parametrize(
    "values",
    [{"cat", "dog"}, frozenset({"cat", "dog"}), {"cat": 1, "dog": 2}, {"cat": 1, "dog": 2}.keys(), "ca", b"ca",
     bytearray(b"ca"), None, 3, np.array("ca"), np.array(3), np.ma.array(["cat", "dog"], mask=[False, True]),
     np.ma.array([1, 2]), Tensor()],
)  # fmt: skip
def test_what_is_no_list_gives_no_number(name: str, values: Any) -> None:
    prediction, reference = ROW[name]
    for keyword in ("predictions", "references", "ids", *LABELS[name]):
        if values is None and keyword not in ("predictions", "references"):
            continue
        given = {"predictions": [prediction] * 2, "references": [reference] * 2, keyword: values}
        with pytest.raises(
            ValueError, match=rf"^{keyword} is .*; expected a list with one item for each sample$"
        ):
            compute(name, **given)


@pytest.mark.parametrize("name", METRICS)
def test_ids_of_every_usual_kind_are_taken_as_pythons_own(name: str) -> None:
    for ids in (np.array([3, 4]), [np.int64(3), np.int32(4)], (3, 4), iter([3, 4]), [np.uint8(3), 4]):
        rows = compute(name, ids=ids)["per_sample"]
        assert [row["id"] for row in rows] == [3, 4]
        assert {type(row["id"]) for row in rows} == {int}
    for ids in (np.array(["a", "b"]), [np.str_("a"), "b"], iter("ab")):
        rows = compute(name, ids=ids)["per_sample"]
        assert [row["id"] for row in rows] == ["a", "b"]
        assert {type(row["id"]) for row in rows} == {str}
    rows = compute(name, groups=[np.int64(7), "7"])["per_sample"]
    assert [row["group"] for row in rows] == [7, "7"]
    assert type(rows[0]["group"]) is int


@pytest.mark.parametrize("name", METRICS)
@pytest.mark.parametrize(
    ("ids", "said"),
    [
        ([7, "7"], r"index 1: the id '7' stands twice \(first at index 0\)"),
        ([np.int64(7), 7], r"index 1: the id 7 stands twice \(first at index 0\)"),
        (["a", "a"], r"index 1: the id 'a' stands twice \(first at index 0\)"),
        (["a", ""], "index 1: the id is ''; expected a string or an integer"),
        (["a", None], "index 1: the id is None"),
        ([1, True], "index 1: the id is True"),
        ([1, np.bool_(True)], r"index 1: the id is np\.True_"),
        ([1, 2.0], r"index 1: the id is 2\.0"),
        ([1, Fraction(2)], "index 1: the id is Fraction"),
        ([1, ["b"]], r"index 1: the id is \['b'\]"),
        (["a"], "ids has 1 items, but there are 2 predictions"),
    ],
)
def test_ids_that_are_refused(name: str, ids: Any, said: str) -> None:
    with pytest.raises(ValueError, match=f"^{said}"):
        compute(name, ids=ids)


@pytest.mark.parametrize("name", METRICS)
@pytest.mark.parametrize("bad", [None, "", True, 1.5, ["x"], b"x", NAN])
def test_labels_that_are_refused(name: str, bad: Any) -> None:
    for keyword in LABELS[name]:
        with pytest.raises(
            ValueError, match=rf"^id 'b': {keyword} holds .*; expected a non-empty string or an int"
        ):
            compute(name, ids=["a", "b"], **{keyword: ["x", bad]})
        with pytest.raises(ValueError, match=f"^{keyword} has 1 items, but there are 2 predictions$"):
            compute(name, **{keyword: ["x"]})


@pytest.mark.parametrize("name", METRICS)
def test_no_prediction_is_no_score(name: str) -> None:
    with pytest.raises(ValueError, match=r"^predictions is empty; there is nothing to score$"):
        compute(name, n=0)
    reference = ROW[name][1]
    with pytest.raises(ValueError, match=r"^references has 1 items, but there are 2 predictions$"):
        compute(name, references=[reference])


def test_rows_are_grouped_by_the_text_of_their_label() -> None:
    """1 and "1" are one task in every file; none of them loses a row."""
    result = compute("grove", n=4, tasks=[1, "1", 10, 9], domains=["b", "B", "a", "b"])
    assert {task: part["n"] for task, part in result["by_task"].items()} == {"1": 2, "9": 1, "10": 1}
    assert list(result["by_task"]) == ["1", "9", "10"]
    assert list(result["by_domain"]) == ["B", "a", "b"]
    vqa = compute("soft_vqa_acc", n=3, question_types=[1, "1", 0], answer_types=["x", "y", "x"])
    assert {kind: part["n"] for kind, part in vqa["by_question_type"].items()} == {"0": 1, "1": 2}
    assert {kind: part["n"] for kind, part in vqa["by_answer_type"].items()} == {"x": 2, "y": 1}


@pytest.mark.parametrize(
    ("text", "answer", "thought", "cut"),
    [
        ("Yes", "Yes", False, False),
        ("a < b > c", "a < b > c", False, False),
        ("<b>Yes</b>", "<b>Yes</b>", False, False),
        ("<think>No</think>Yes", "Yes", True, False),
        ("<THINK>No</Think> Yes", " Yes", True, False),
        ("No dog</think>\n\nYes", "\n\nYes", True, False),
        ("<think>a</think>b<think>c</think>d", "d", True, False),
        ("<think>a</think>b<think>c", "", True, True),
        ("<think>No dog at first sight, but", "", True, True),
        ("Yes <think>", "", True, True),
        ("<thinking>a</thinking>b", "b", True, False),
        ("<thought>a</thought>b", "b", True, False),
        ("<reasoning>a</reasoning>b", "b", True, False),
        ("\u25c1think\u25b7a\u25c1/think\u25b7b", "b", True, False),
        ("\u25c1think\u25b7a", "", True, True),
        ("", "", False, False),
    ],
)
def test_what_follows_the_thoughts(text: str, answer: str, thought: bool, cut: bool) -> None:
    assert common.without_thoughts(text) == (answer, thought, cut)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", r"references, line 1: not valid JSON \(Expecting property name"),
        ('{"id": 1}\n\n{"id": 2', r"references, line 3: not valid JSON"),
        ('[{"id": 1},\n{"id": }]', r"references, line 2: not valid JSON"),
        ('{"id": 1}\n{"idd": 2}', r"references, line 2 has no id: \{'idd': 2\}"),
        ('[{"id": 1}, 5]', "references, line 1, record 2 has no id: 5"),
        ('[\n{"id": 1},\n\n{"idd":\n 5}]', r"references, line 4, record 2 has no id: \{'idd': 5\}"),
        (
            '[{"id": 1},\n{"id": 2, "x": NaN}]',
            r"references, line 2, record 2: not valid JSON \(NaN is no JSON\)",
        ),
        (
            '[\n{"id": 1},\n{"id": 2, "x": "a\u2028]["},\n{"id": 1}]',
            r"references, line 4, record 3: the id '1' stands twice \(first at line 2, record 1\)",
        ),
        ('[{"id": 1}]\n\n{"id": 2}', r"references, line 3: not valid JSON \(Extra data"),
        ('{"id": 1, "id": 2}', r"references, line 1: not valid JSON \(a key stands twice in one record\)"),
        ('{"id": NaN}', r"references, line 1: not valid JSON \(NaN is no JSON\)"),
        ('{"id": true}', "references, line 1 has no id"),
        ('{"id": null}', "references, line 1 has no id"),
        ('{"id": 7}\n{"id": "7"}', r"references, line 2: the id '7' stands twice \(first at line 1\)"),
        (
            '[{"id": 7}, {"id": "7"}]',
            r"references, line 1, record 2: the id '7' stands twice \(first at line 1, record 1\)",
        ),
        ("[" * 100_000, "references, .*not valid JSON"),
        ("", "references: no records"),
        ("[]", "references: no records"),
    ],
)
def test_records_that_are_refused(text: str, said: str) -> None:
    with pytest.raises(ValueError, match=f"^{said}"):
        common.read_records("references", text)


def test_records_from_text_and_from_a_file(tmp_path: Path) -> None:
    text = '{"row_id": 1, "id": 5, "x": "\u2028"}\r\n{"id": "b"}\n'
    keys = ("row_id", "id")
    expected = {"1": {"row_id": 1, "id": 5, "x": "\u2028"}, "b": {"id": "b"}}
    assert common.read_records("p", text, keys=keys) == expected
    assert common.read_records("p", json.dumps(list(expected.values())), keys=keys) == expected
    path = tmp_path / "p.jsonl"
    path.write_text(text, encoding="utf-8-sig", newline="")
    assert common.read_records("p", "{", str(path), keys) == expected
    path.write_bytes(b'{"id": "\xff"}')
    with pytest.raises(ValueError, match=r"^p: the file is not UTF-8 text$"):
        common.read_records("p", "", str(path))
