"""Artifact types, subsets and pairs come from the user's file or not at all."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import Any

import datasets
import pytest

from lookcheck.dataset_builders.core.errors import IntegrityError
from lookcheck.dataset_builders.parquet.writer import write_folder
from lookcheck.dataset_builders.salart_vqa.mapping import apply_mapping
from lookcheck.dataset_builders.salart_vqa.plan import plan_source
from lookcheck.dataset_builders.salart_vqa.sources import SalArtSource, folder_source

spec = importlib.util.spec_from_file_location(
    "salart_upstream_for_mapping", Path(__file__).with_name("salart_upstream.py")
)
assert spec is not None
assert spec.loader is not None
upstream = importlib.util.module_from_spec(spec)
spec.loader.exec_module(upstream)

ROLES = ("artifact", "clean_reference", "paired_generated_counterpart")
A, R, G = (f"salart_{number:012x}" for number in range(3))
GOOD = [
    {"row_id": A, "artifact_type": "anatomy", "subset": "Art-PG", "pair_id": "p1"},
    {"row_id": G, "subset": "Ref-PG", "pair_id": "p1", "artifact_type": None},
]


@pytest.fixture
def source(tmp_path: Path) -> SalArtSource:
    """An artifact, a clean reference and a counterpart."""
    made = [upstream.row(number, upstream.label(number, role)) for number, role in enumerate(ROLES)]
    upstream.write_parquet(tmp_path / "in", made, shards=1)
    (tmp_path / "work").mkdir()
    return folder_source(tmp_path / "in", tmp_path / "work")


def write(folder: Path, lines: list[Any]) -> Path:
    path = folder / "mapping.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def test_values_are_taken_and_gaps_stay_null(source: SalArtSource, tmp_path: Path) -> None:
    mapped = apply_mapping(source, write(tmp_path, GOOD))
    write_folder(plan_source(mapped, allow_partial=True), tmp_path / "built")
    for config in ("images", "questions"):
        loaded = datasets.load_dataset(
            str(tmp_path / "built"), config, split="test", cache_dir=str(tmp_path / "cache")
        )
        found = {row["row_id"]: (row["artifact_type"], row["subset"], row["pair_id"]) for row in loaded}
        assert found == {
            A: ("anatomy", "Art-PG", "p1"),
            R: (None, None, None),
            G: (None, "Ref-PG", "p1"),
        }
    card = (tmp_path / "built" / "README.md").read_text()
    assert "| artifact_type | 1 of 3 |" in card
    manifest = json.loads((tmp_path / "built" / "lookcheck.json").read_text())
    assert manifest["source"]["mapping"] == "mapping.jsonl"


def test_nothing_is_inferred_without_a_mapping(source: SalArtSource, tmp_path: Path) -> None:
    write_folder(plan_source(source, allow_partial=True), tmp_path / "built")
    loaded = datasets.load_dataset(str(tmp_path / "built"), split="test", cache_dir=str(tmp_path / "cache"))
    for trait in ("artifact_type", "subset", "pair_id"):
        assert loaded[trait][:] == [None] * 3
    assert "never inferred" in (tmp_path / "built" / "README.md").read_text()


BAD: dict[str, tuple[list[Any], str, str]] = {
    "unknown id": ([{"row_id": "nobody", "subset": "Art-DG"}], "mapping.jsonl:1", "'nobody' is not in"),
    "id twice": ([{"row_id": R, "subset": "Ref-Real"}] * 2, "mapping.jsonl:2", "stands twice"),
    "no id": ([{"subset": "Ref-Real"}], "mapping.jsonl:1", "must be a string, not None"),
    "id is a list": ([{"row_id": [A], "subset": "Ref-Real"}], "mapping.jsonl:1", "must be a string"),
    "unknown field": ([{"row_id": A, "colour": "red"}], "mapping.jsonl:1", "unknown fields ['colour']"),
    "no field": ([{"row_id": A, "subset": None}], "mapping.jsonl:1", "none of artifact_type"),
    "unknown subset": ([{"row_id": A, "subset": "Art"}], "mapping.jsonl:1", "unknown subset 'Art'"),
    "subset of another role": ([{"row_id": R, "subset": "Art-DG"}], "mapping.jsonl:1", "role artifact"),
    "type is a number": ([{"row_id": A, "artifact_type": 3}], "mapping.jsonl:1", "must be a text, not 3"),
    "type is blank": ([{"row_id": A, "artifact_type": " "}], "mapping.jsonl:1", "must be a text, not ' '"),
    "pair id breaks the line": ([{"row_id": A, "pair_id": "a\nb"}], "mapping.jsonl:1", "must be a text"),
    "a pair of one": ([{"row_id": A, "pair_id": "p"}], "mapping.jsonl", "1 artifact images and 0 references"),
    "a pair of references": (
        [{"row_id": id, "pair_id": "p"} for id in (R, G)],
        "mapping.jsonl",
        "0 artifact images and 2 references",
    ),
}


@pytest.mark.parametrize(("lines", "id", "shown"), BAD.values(), ids=BAD)
def test_bad_mapping(source: SalArtSource, tmp_path: Path, lines: list[Any], id: str, shown: str) -> None:
    with pytest.raises(IntegrityError) as caught:
        apply_mapping(source, write(tmp_path, lines))
    assert [fault.id for fault in caught.value.faults] == [id]
    assert shown in caught.value.faults[0].message


def test_a_value_that_differs_from_the_sources_is_refused(tmp_path: Path) -> None:
    made = [upstream.row(0, upstream.label(0))]
    upstream.write_jsonl(tmp_path / "in", made, [{"artifact_type": "count"}])
    source = folder_source(tmp_path / "in", tmp_path)
    with pytest.raises(IntegrityError, match="artifact_type is 'anatomy', but the source says 'count'"):
        apply_mapping(source, write(tmp_path, [{"row_id": A, "artifact_type": "anatomy"}]))
    same = write(tmp_path, [{"row_id": A, "artifact_type": "count"}])
    assert apply_mapping(source, same).jobs[0].fields["artifact_type"] == "count"


def test_a_partial_source_needs_not_hold_all_that_the_mapping_names(
    source: SalArtSource, tmp_path: Path
) -> None:
    lines = [*GOOD, {"row_id": "salart_elsewhere", "pair_id": "p2", "subset": "Art-DG"}]
    mapped = apply_mapping(source, write(tmp_path, lines), allow_partial=True)
    assert [job.fields.get("pair_id") for job in mapped.jobs] == ["p1", None, "p1"]
