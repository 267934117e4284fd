"""The sample: built offline, sound by the rules of the real data, the same bytes each time."""

from __future__ import annotations

import hashlib
import io
import json
import re
import subprocess
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import datasets
import numpy as np
import pytest
from pycocotools import mask as coco

from lookcheck.dataset_builders.core.errors import InputError, IntegrityError
from lookcheck.dataset_builders.parquet.check import check_folder
from lookcheck.dataset_builders.parquet.writer import write_folder
from lookcheck.dataset_builders.pictures.photographs import photographs
from lookcheck.dataset_builders.registry import DATASETS
from lookcheck.dataset_builders.vistaqa import constants
from lookcheck.dataset_builders.vistaqa.builder import VistaQA
from lookcheck.dataset_builders.vistaqa.integrity import inspect_all
from lookcheck.dataset_builders.vistaqa.plan import features, plan_source
from lookcheck.dataset_builders.vistaqa.sample import declared_counts, questions, sample_source
from lookcheck.dataset_builders.vistaqa.sources import VistaQASource

ROWS = {"default": 66, **dict.fromkeys(constants.TASKS, 11)}


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> VistaQASource:
    return sample_source(tmp_path_factory.mktemp("upstream") / "sample")


@pytest.fixture(scope="module")
def built(source: VistaQASource, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the sample; not to be changed."""
    output = tmp_path_factory.mktemp("built") / "sample"
    write_folder(plan_source(source), output)
    return output


@pytest.fixture(scope="module")
def rows(built: Path, tmp_path_factory: pytest.TempPathFactory) -> datasets.Dataset:
    cache = tmp_path_factory.mktemp("cache")
    return datasets.load_dataset(str(built), split="test", cache_dir=str(cache))


def _digests(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_its_composition(rows: datasets.Dataset) -> None:
    assert declared_counts() == {
        "rows": 66,
        "without_evidence": 18,
        "task": dict.fromkeys(constants.TASKS, 11),
    }
    assert Counter(rows.features["domain"].int2str(value) for value in rows["domain"]) == {
        "indoor": 18, "outdoor": 12, "driving": 10, "robotics": 8, "science": 9, "math": 9,
    }  # fmt: skip
    assert sum(number > 1 for number in rows["num_instances"]) == 19
    # At least a quarter has no evidence, in each task.
    absent = Counter(
        task for task, there in zip(rows["task"], rows["has_evidence"], strict=True) if not there
    )
    assert absent == dict.fromkeys(range(6), 3)


def test_all_rules_of_the_real_data_hold(source: VistaQASource, built: Path) -> None:
    assert len(inspect_all(source.jobs, declared=source.declared)) == 66
    with pytest.raises(IntegrityError, match="66 samples, but 1157 are declared"):
        inspect_all(source.jobs)
    report = check_folder(built, DATASETS)
    assert (report.files, report.rows, report.faults, report.notes) == (6, 66, [], [])


@pytest.mark.parametrize(("config", "number"), ROWS.items())
def test_each_config_loads_normally_and_streaming(
    built: Path, tmp_path: Path, config: str, number: int
) -> None:
    loaded = datasets.load_dataset(str(built), config, split="test", cache_dir=str(tmp_path))
    assert loaded.num_rows == number
    assert loaded.features == features()
    streamed = datasets.load_dataset(str(built), config, split="test", streaming=True)
    assert streamed.features == features()
    assert [row["id"] for row in streamed.select_columns(["id"])] == loaded["id"][:]


def test_questions_and_answers_make_sense(rows: datasets.Dataset) -> None:
    plain = rows.select_columns(["id", "question", "answer", "task", "num_instances"]).to_list()
    for row in plain:
        assert row["question"].endswith("?"), row
        assert row["answer"] == row["answer"].strip()
        if row["task"] == constants.TASKS.index("counting"):
            # What is counted is what is masked; nothing masked is a count of nothing.
            assert int(row["answer"]) == row["num_instances"], row
        elif not row["num_instances"]:
            assert re.match(r"There is (no|only one) ", row["answer"]), row
        else:
            assert not row["answer"].startswith("There is"), row


def test_the_evidence_of_a_comparison_is_all_that_is_compared() -> None:
    compared = {
        line["question"]: line["evidence"]
        for line in questions()
        if line["task"] == "comparison" and line["evidence"]
    }
    assert compared == {
        "Which is wider, the cup or the saucer?": ["cup", "saucer"],
        "Which bottle is the tallest?": ["bottle"],
        "Which ball is the smallest?": ["sports ball"],
        "Which is taller, the bottle or the cup?": ["bottle", "cup"],
        "Which month had the most rain?": ["bar"],
        "Was more electricity made from solar or from wind power in 2021?": [
            "bar:solar 2021",
            "bar:wind 2021",
        ],
        "Which angle is larger, the one at A or the one at B?": ["angle:A", "angle:B"],
        "Which circle is the largest?": ["circle"],
    }


def test_masks_are_those_of_the_pictures(rows: datasets.Dataset) -> None:
    pictures = {picture.name: picture for picture in photographs()}
    for row, line in zip(rows.sort("id"), questions(), strict=True):
        assert row["question"] == line["question"]
        masks = [coco.decode(rle) for rle in row["masks_rle"]]
        for mask, picture, box in zip(masks, row["masks"], row["boxes"], strict=True):
            assert np.array_equal(np.asarray(picture), mask * 255)
            columns, lines = np.nonzero(mask.any(axis=0))[0], np.nonzero(mask.any(axis=1))[0]
            left, top = columns[0], lines[0]
            assert box == [left, top, columns[-1] + 1 - left, lines[-1] + 1 - top]
        if line["picture"] in pictures and masks:
            named = [pictures[line["picture"]].find(*name.split(":")) for name in line["evidence"]]
            wanted = [item.mask for group in named for item in group]
            assert len(wanted) == len(masks)
            assert all(np.array_equal(mask, other) for mask, other in zip(masks, wanted, strict=True))
            shown = np.asarray(row["image"]).astype(int)
            assert np.abs(shown - pictures[line["picture"]].image).mean() < 4


def test_things_asked_for_in_vain_are_not_among_the_instances() -> None:
    """No absent thing goes by the name of one that the picture holds."""
    lines = {(line["picture"], line["question"]): line for line in questions()}
    assert len(lines) == 66
    for picture in photographs():
        names = {item.category for item in picture.instances}
        for (name, question), line in lines.items():
            if name == picture.name and not line["evidence"]:
                asked = re.search(r"There is no (\w+)", line["answer"])
                assert asked is not None
                assert asked[1] not in names
                assert asked[1] in question


def test_the_command_builds_the_same_bytes_with_two_processes(
    lookcheck: Callable[..., subprocess.CompletedProcess[str]], built: Path, tmp_path: Path
) -> None:
    result = lookcheck(
        "build", "vistaqa", "--source", "sample", "--output", tmp_path / "again", "--num-proc", "2", "--json"
    )
    assert result.returncode == 0, result.stderr
    manifest = json.loads(result.stdout)
    assert manifest["source"]["kind"] == "sample"
    assert {"name": "astronaut", "credit": "NASA", "license": "public domain"} in manifest["source"][
        "credits"
    ]
    assert manifest["declared"]["rows"] == manifest["built"]["default"]["test"]["rows"] == 66
    assert _digests(tmp_path / "again") == _digests(built)
    assert sum(path.stat().st_size for path in built.rglob("*.parquet")) < 6_000_000


def test_the_card_says_what_it_is_and_its_snippet_runs(built: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    card = (built / "README.md").read_text()
    for said in (
        "This is the sample of `lookcheck`, not VistaQA",
        "license: cc0-1.0",
        "| default | 66 | 48 | 18 |",
        "| chelsea | Stefan van der Walt | CC0-1.0 |",
    ):
        assert said in card
    for unsaid in ("partial build", "0469", "licence of the upstream data set is not known"):
        assert unsaid not in card
    assert not re.search(r"/(tmp|root|home|work)/", card)
    (snippet,) = re.findall(r"```python\n(.*?)```", card, re.DOTALL)
    shown = io.StringIO()
    monkeypatch.setattr("sys.stdout", shown)
    exec(compile(snippet.replace('"ORG/VistaQA"', repr(str(built))), "card", "exec"), {})
    assert shown.getvalue() == (
        "What stands on the black stand at the right of the picture? a model of a space shuttle 1\n"
    )


def test_the_builder_gives_the_same_rows(rows: datasets.Dataset, tmp_path: Path) -> None:
    builder = VistaQA(config_name="comparison", source="sample", cache_dir=str(tmp_path))
    builder.download_and_prepare(num_proc=2)
    made = builder.as_dataset("test")
    assert made.features == rows.features
    plain = [name for name in made.column_names if name not in ("image", "masks", "evidence_overlay")]
    wanted = rows.filter(lambda task: task == constants.TASKS.index("comparison"), input_columns="task")
    assert made.select_columns(plain).to_list() == wanted.select_columns(plain).to_list()
    assert made[0]["image"].tobytes() == wanted[0]["image"].tobytes()


@pytest.mark.parametrize(
    ("options", "said"),
    [({"source": "attic"}, "'folder' or 'sample', not 'attic'"), ({}, "needs the folders of annotations")],
)
def test_the_builder_wants_a_source(options: dict[str, str], said: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=said):
        VistaQA(config_name="ocr", cache_dir=str(tmp_path), **options).download_and_prepare()
