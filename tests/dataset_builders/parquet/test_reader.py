"""The one reader of a built folder: names by the file's own schema, files by the card, no picture unasked."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import datasets
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lookcheck.dataset_builders.core.errors import InputError
from lookcheck.dataset_builders.parquet.card import digest_of
from lookcheck.dataset_builders.parquet.reader import (
    Choice,
    open_folder,
    read_placed_rows,
    read_questions,
    read_records,
)
from lookcheck.dataset_builders.registry import DATASETS
from lookcheck.scripts.judge.samples import rows_of

NAMES = ["ocr", "counting", "attribute"]


def features(names: list[str] = NAMES) -> datasets.Features:
    return datasets.Features(
        {
            "id": datasets.Value("string"),
            "image": datasets.Image(),
            "question": datasets.Value("string"),
            "answer": datasets.Value("string"),
            "task": datasets.ClassLabel(names=names),
        }
    )


def rows(*labels: int | None) -> list[dict[str, Any]]:
    return [
        {"id": f"r{number}", "image": {"bytes": b"no picture", "path": None}, "question": f"q{number}"}
        | {"answer": f"a{number}", "task": label}
        for number, label in enumerate(labels)
    ]


def write(
    folder: Path,
    found: list[dict[str, Any]],
    names: list[str] = NAMES,
    *,
    name: str = "vistaqa",
    group: int = 2,
) -> Path:
    (folder / "data").mkdir(parents=True, exist_ok=True)
    (folder / "lookcheck.json").write_text(json.dumps({"name": name}))
    (folder / "README.md").write_text(
        "---\nconfigs:\n"
        "- config_name: default\n  data_files:\n  - split: test\n    path: data/test-*.parquet\n"
        "- config_name: both\n  data_files:\n  - split: test\n    path: data/test-*.parquet\n"
        "  - split: more\n    path: data/more.parquet\n---\n"
    )
    table = pa.Table.from_pylist(found, schema=features(names).arrow_schema)
    pq.write_table(table, folder / "data" / "test-0.parquet", row_group_size=group)
    more = pa.Table.from_pylist([{**rows(0)[0], "id": "more"}], schema=features(names).arrow_schema)
    pq.write_table(more, folder / "data" / "more.parquet")
    # No configuration lists it.
    pq.write_table(table, folder / "data" / "orphan.parquet")
    return folder


def tasks(folder: Path) -> dict[str, str]:
    found = read_records(open_folder(folder), ["task"])
    return {id: record.fields["task"] for id, record in found.items()}


def test_labels_have_the_names_of_the_files_own_schema(tmp_path: Path) -> None:
    assert tasks(write(tmp_path / "a", rows(0, 1, 2))) == {"r0": "ocr", "r1": "counting", "r2": "attribute"}
    turned = write(tmp_path / "b", rows(0, 1, 2), NAMES[::-1])
    assert tasks(turned) == {"r0": "attribute", "r1": "counting", "r2": "ocr"}


def test_labels_are_those_of_the_build_or_are_refused(tmp_path: Path) -> None:
    """Other labels under the same ids would be another benchmark under the same name."""
    folder = write(tmp_path, rows(0, 1, 2))
    card = folder / "README.md"
    digest = digest_of([folder / "data" / "test-0.parquet"])
    text = card.read_text().replace("default\n", f"default\n  description: files {digest}\n")
    card.write_text(text)
    assert tasks(folder)["r0"] == "ocr"
    write(folder, rows(1, 0, 2))
    card.write_text(text)
    said = (
        rf"README\.md: .*default: the card says 'files {digest}', but these are files .*; see lookcheck check"
    )
    with pytest.raises(InputError, match=said):
        tasks(folder)
    with pytest.raises(InputError, match=said):
        list(
            read_questions(
                open_folder(folder), Choice(), {name: name for name in ("id", "question", "answer")}
            )
        )


@pytest.mark.parametrize("label", [3, -1])
def test_a_label_without_a_name_is_refused_with_its_place(tmp_path: Path, label: int) -> None:
    folder = write(tmp_path, rows(0, 1, 2, label))
    said = rf"test-0\.parquet row 3: task: the label {label} is past the 3 names"
    with pytest.raises(InputError, match=said):
        tasks(folder)


def test_a_file_is_read_once_and_only_if_the_card_lists_it(tmp_path: Path) -> None:
    folder = open_folder(write(tmp_path, rows(0, 1)))
    assert list(read_records(folder, [])) == ["r0", "r1"]
    assert list(read_records(folder, [], configs=["default", "both"])) == ["r0", "r1", "more"]
    with pytest.raises(InputError, match="no configuration 'x'; there are default, both"):
        read_records(folder, [], configs=["x"])


def test_rows_keep_their_places_where_others_are_passed_over(tmp_path: Path) -> None:
    folder = write(tmp_path, rows(0, 1, 2, 0, 1, 2, 0))
    path = folder / "data" / "test-0.parquet"
    found = read_placed_rows([path], ["question"], keep=("id", {"r1", "r4", "r6"}))
    assert list(found) == [
        (f"{path} row 1", {"question": "q1"}),
        (f"{path} row 4", {"question": "q4"}),
        (f"{path} row 6", {"question": "q6"}),
    ]


def test_pictures_are_not_read_unless_asked_for(tmp_path: Path) -> None:
    folder = write(tmp_path, rows(0, 1))
    path = folder / "data" / "test-0.parquet"
    with pq.ParquetFile(path) as file:
        groups = [file.metadata.row_group(number) for number in range(file.num_row_groups)]
        chunks = [group.column(number) for group in groups for number in range(group.num_columns)]
    data = bytearray(path.read_bytes())
    for chunk in chunks:
        if chunk.path_in_schema.startswith("image."):
            start = chunk.dictionary_page_offset or chunk.data_page_offset
            data[start : start + chunk.total_compressed_size] = b"\xff" * chunk.total_compressed_size
    path.write_bytes(data)
    assert tasks(folder) == {"r0": "ocr", "r1": "counting"}
    with pytest.raises(InputError, match="can't be read as Parquet"):
        read_records(open_folder(folder), ["image"])


@pytest.mark.parametrize(
    ("id", "said"), [(None, "None is missing"), ("", "'' is missing"), ("r0", "'r0' stands")]
)
def test_an_id_that_names_no_row(tmp_path: Path, id: str | None, said: str) -> None:
    found = rows(0, 1, 2)
    found[2]["id"] = id
    with pytest.raises(InputError, match=rf"test-0\.parquet row 2: the id {said}"):
        tasks(write(tmp_path, found))


def test_a_folder_of_another_data_set_is_named(tmp_path: Path) -> None:
    write(tmp_path / "a", rows(0))
    with pytest.raises(
        InputError, match="built for vistaqa; expected a folder of lookcheck build salart-vqa"
    ):
        open_folder(tmp_path / "a", "salart_vqa")
    with pytest.raises(
        InputError, match=r"lacks lookcheck\.json; expected a folder of lookcheck build vistaqa"
    ):
        open_folder(tmp_path, "vistaqa")


def test_questions_of_a_folder_with_labels_as_names(tmp_path: Path) -> None:
    folder = write(tmp_path, rows(0, 1))
    columns = {"id": "id", "question": "question", "answer": "task"}
    found = [row for _, row in read_questions(open_folder(folder), Choice(), columns)]
    assert found == [
        {"id": "r0", "question": "q0", "answer": "ocr"},
        {"id": "r1", "question": "q1", "answer": "counting"},
    ]
    with pytest.raises(InputError, match="has the splits test, more; choose one with --split"):
        list(read_questions(open_folder(folder), Choice("both"), columns))


def test_the_judge_reads_a_built_folder_through_its_data_set(tmp_path: Path) -> None:
    folder = write(tmp_path, rows(0, 1))
    path = folder / "data" / "test-0.parquet"
    assert list(rows_of(str(folder))) == [
        (f"{path} row 0", {"id": "r0", "question": "q0", "answer": "a0"}),
        (f"{path} row 1", {"id": "r1", "question": "q1", "answer": "a1"}),
    ]
    assert [
        row["id"] for _, row in DATASETS["vistaqa"].questions(open_folder(folder), Choice("both", "more"))
    ] == ["more"]
