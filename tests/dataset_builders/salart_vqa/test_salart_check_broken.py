"""`lookcheck check` and `lookcheck score` on folders that someone has changed."""

from __future__ import annotations

import importlib.util
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lookcheck.dataset_builders.core.errors import InputError
from lookcheck.dataset_builders.parquet.check import check_folder
from lookcheck.dataset_builders.parquet.writer import write_folder
from lookcheck.dataset_builders.registry import DATASETS
from lookcheck.dataset_builders.salart_vqa.plan import plan_source
from lookcheck.dataset_builders.salart_vqa.scoring import SCORER
from lookcheck.dataset_builders.salart_vqa.sources import folder_source

spec = importlib.util.spec_from_file_location(
    "salart_upstream_for_check", Path(__file__).with_name("salart_upstream.py")
)
assert spec is not None
assert spec.loader is not None
upstream = importlib.util.module_from_spec(spec)
spec.loader.exec_module(upstream)

IMAGES, QUESTIONS = (f"data/{name}-00000-of-00001.parquet" for name in ("images", "questions"))
A, R, G = (f"salart_{number:012x}" for number in range(3))
Change = Callable[[Path], Any]


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One image of each role: A, R and G."""
    folder = tmp_path_factory.mktemp("small")
    roles = ("artifact", "clean_reference", "paired_generated_counterpart")
    made = [upstream.row(number, upstream.label(number, role)) for number, role in enumerate(roles)]
    made[0]["q3_boxes"] = {letter: [2.0 * n, 1.0, 3.0, 4.0] for n, letter in enumerate("ABCD")}
    made[1]["q3_boxes"] = made[2]["q3_boxes"] = None
    upstream.write_parquet(folder / "in", made, shards=1)
    (folder / "work").mkdir()
    source = folder_source(folder / "in", folder / "work")
    write_folder(plan_source(source, allow_partial=True), folder / "built")
    return folder / "built"


def rows(file: str, change: Callable[[list[dict[str, Any]]], Any]) -> Change:
    def apply(folder: Path) -> None:
        table = pq.read_table(folder / file, partitioning=None)
        found = table.to_pylist()
        change(found)
        pq.write_table(pa.Table.from_pylist(found, schema=table.schema), folder / file, write_page_index=True)

    return apply


def put(file: str, number: int, column: str, value: Any) -> Change:
    return rows(file, lambda found: found[number].__setitem__(column, value))


def picture(number: int, **options: Any) -> dict[str, Any]:
    return {"bytes": upstream.png(number, **options), "path": "a.png"}


def again(number: int, **change: Any) -> Callable[[list[dict[str, Any]]], Any]:
    return lambda found: found.append({**found[number], **change})


# Rows of the questions: 0 to 3 are A's, 4 to 7 R's, 8 to 10 G's q2 to q4.
KINDS: dict[str, tuple[Change, str, str]] = {
    "role past the end": (put(IMAGES, 0, "image_role", 7), A, "label"),
    "role does not go with the answers": (put(IMAGES, 1, "image_role", 0), R, "q2-answer"),
    "null role": (put(IMAGES, 0, "image_role", None), A, "null"),
    "null overlay": (put(IMAGES, 0, "q3_overlay_image", None), A, "null"),
    "letter that is none": (put(IMAGES, 0, "q2_answer", "Z"), A, "q2-answer"),
    "q1 answered where it is not asked": (put(IMAGES, 2, "q1_answer", "no"), G, "q1-answer"),
    "option lost": (
        rows(IMAGES, lambda found: found[0]["q4_options"].__setitem__("D", None)),
        A,
        "q4-options",
    ),
    "options lost": (put(IMAGES, 0, "q2_options", None), A, "null"),
    "prompt lost": (put(IMAGES, 1, "q2_prompt", ""), R, "q2-prompt"),
    "overlay of another size": (
        put(IMAGES, 0, "q3_overlay_image", picture(0, boxes=True, size=(20, 16))),
        A,
        "overlay-size",
    ),
    "overlay is the image": (put(IMAGES, 0, "q3_overlay_image", picture(0)), A, "overlay"),
    "picture is broken": (put(IMAGES, 0, "image", {"bytes": b"PNG", "path": "a.png"}), A, "picture"),
    "box outside": (
        rows(IMAGES, lambda found: found[0]["q3_boxes"].__setitem__("B", [20.0, 1.0, 9.0, 3.0])),
        A,
        "box-outside",
    ),
    "box of three": (
        rows(IMAGES, lambda found: found[0]["q3_boxes"].__setitem__("B", [1.0, 1.0, 9.0])),
        A,
        "q3-boxes",
    ),
    "subset of another role": (put(IMAGES, 0, "subset", "Ref-PG"), A, "subset"),
    "an image twice": (rows(IMAGES, again(0)), A, "duplicate-id"),
    "an example twice": (rows(IMAGES, again(0, row_id="salart_copy")), "salart_copy", "duplicate-example"),
    "one picture in both roles": (put(IMAGES, 1, "image", picture(0)), R, "picture-roles"),
    "question lost": (rows(QUESTIONS, lambda found: found.pop(1)), f"{A}_q2", "question-missing"),
    "question twice": (rows(QUESTIONS, again(1)), f"{A}_q2", "duplicate-id"),
    "question of no image": (
        rows(QUESTIONS, again(1, id="x_q2", row_id="x")),
        "x_q2",
        "question-unasked",
    ),
    "question that is not asked": (
        rows(QUESTIONS, again(8, id=f"{G}_q1", question_type=0)),
        f"{G}_q1",
        "question-unasked",
    ),
    "id of another question": (put(QUESTIONS, 1, "question_type", 3), f"{A}_q2", "id"),
    "question type past the end": (put(QUESTIONS, 1, "question_type", 4), f"{A}_q2", "label"),
    "another answer": (put(QUESTIONS, 1, "answer", "B"), f"{A}_q2", "question-differs"),
    "null answer": (put(QUESTIONS, 1, "answer", None), f"{A}_q2", "null"),
    "options not sent": (put(QUESTIONS, 1, "prompt", "Where is it? (0)"), f"{A}_q2", "question-differs"),
    "other options": (
        rows(QUESTIONS, lambda found: found[3]["options"].__setitem__("A", "nothing")),
        f"{A}_q4",
        "question-differs",
    ),
    "options where there are none": (
        put(QUESTIONS, 2, "options", {letter: letter for letter in "ABCDE"}),
        f"{A}_q3",
        "question-differs",
    ),
    "another system prompt": (put(QUESTIONS, 0, "system_prompt", "Be kind."), f"{A}_q1", "question-differs"),
    "q3 without its boxes": (put(QUESTIONS, 2, "image", picture(0)), f"{A}_q3", "question-picture"),
    "q2 with the boxes": (
        put(QUESTIONS, 1, "image", picture(0, boxes=True)),
        f"{A}_q2",
        "question-picture",
    ),
}


@pytest.mark.parametrize(("change", "id", "rule"), KINDS.values(), ids=KINDS)
def test_broken_folder(small: Path, tmp_path: Path, change: Change, id: str, rule: str) -> None:
    folder = tmp_path / "folder"
    shutil.copytree(small, folder)
    change(folder)
    faults = check_folder(folder, DATASETS).faults
    assert (id, rule) in {(fault.id, fault.rule) for fault in faults}, faults


def test_the_unbroken_folder_keeps_all_rules(small: Path) -> None:
    report = check_folder(small, DATASETS)
    assert (report.faults, report.notes, report.rows) == ([], [], 14)


@pytest.mark.parametrize("column", ["q3_boxes", "q2_answer", "q1_prompt", "image", "row_id"])
def test_a_lost_column_is_no_crash(small: Path, tmp_path: Path, column: str) -> None:
    folder = tmp_path / "folder"
    shutil.copytree(small, folder)
    table = pq.read_table(folder / IMAGES, partitioning=None)
    features = json.loads(table.schema.metadata[b"huggingface"])
    features["info"]["features"].pop(column)
    table = table.drop_columns(column).replace_schema_metadata({b"huggingface": json.dumps(features)})
    pq.write_table(table, folder / IMAGES, write_page_index=True)
    report = check_folder(folder, DATASETS)
    # That the file is another one is said in any case.
    rules = {fault.rule for fault in report.faults}
    assert "digest" in rules
    assert (rules == {"digest"}) == (column == "q3_boxes")


def _rename(folder: Path, name: str) -> None:
    path = folder / "lookcheck.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"name": name}))


def _drop(folder: Path, column: str) -> None:
    table = pq.read_table(folder / IMAGES, partitioning=None)
    pq.write_table(table.drop_columns(column), folder / IMAGES)


def _plain(folder: Path) -> None:
    table = pq.read_table(folder / IMAGES, partitioning=None)
    pq.write_table(table.replace_schema_metadata(None), folder / IMAGES)


REFUSED: dict[str, tuple[Change, str]] = {
    "no manifest": (lambda f: (f / "lookcheck.json").unlink(), "it lacks lookcheck.json"),
    "another data set": (
        lambda f: _rename(f, "vistaqa"),
        "built for vistaqa; expected a folder of lookcheck build salart-vqa",
    ),
    "manifest is no object": (
        lambda f: (f / "lookcheck.json").write_text("[]"),
        "expected an object with the name",
    ),
    "manifest is no JSON": (lambda f: (f / "lookcheck.json").write_text("{"), "not valid JSON"),
    "no images": (lambda f: (f / IMAGES).unlink(), "images: no file matches data/images-"),
    "column lost": (lambda f: _drop(f, "q3_answer"), "lacks the columns q3_answer"),
    "names of the roles lost": (_plain, "the schema does not say its features"),
    "file cut off": (lambda f: (f / IMAGES).write_bytes((f / IMAGES).read_bytes()[:900]), "can't be read"),
    "id twice": (rows(IMAGES, again(0)), f"'{A}' stands twice"),
    "no id": (put(IMAGES, 0, "row_id", None), "None is missing"),
    "no rows": (rows(IMAGES, lambda found: found.clear()), "no rows"),
}


@pytest.mark.parametrize(("change", "said"), REFUSED.values(), ids=REFUSED)
def test_labels_of_a_broken_folder(small: Path, tmp_path: Path, change: Change, said: str) -> None:
    folder = tmp_path / "folder"
    shutil.copytree(small, folder)
    assert list(SCORER.read_references(folder)) == [A, R, G]
    change(folder)
    with pytest.raises(InputError, match=said):
        SCORER.read_references(folder)
