"""Every kind of bad row is refused with its id; nothing is written."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookcheck.dataset_builders.core.errors import InputError, IntegrityError
from lookcheck.dataset_builders.salart_vqa.integrity import inspect_all
from lookcheck.dataset_builders.salart_vqa.records import as_sent, parse_record
from lookcheck.dataset_builders.salart_vqa.sources import folder_source

spec = importlib.util.spec_from_file_location(
    "salart_upstream_for_faults", Path(__file__).with_name("salart_upstream.py")
)
assert spec is not None
assert spec.loader is not None
upstream = importlib.util.module_from_spec(spec)
spec.loader.exec_module(upstream)

ROLES = ("artifact", "clean_reference", "paired_generated_counterpart")
Change = Callable[[dict[str, Any]], Any]


def put(key: str, value: Any) -> Change:
    return lambda row: row.__setitem__(key, value)


def put_in(key: str, inner: str, value: Any) -> Change:
    return lambda row: row[key].__setitem__(inner, value)


# Number of the row (0 artifact, 1 clean reference, 2 counterpart), change, rule, what is shown.
CASES: dict[str, tuple[int, Change, str, str]] = {
    "role unknown": (0, put("image_role", "fake"), "role", "'fake'"),
    "role null": (0, put("image_role", None), "role", "None"),
    "q1 no on an artifact": (0, put("q1_answer", "no"), "q1-answer", "'no'"),
    "q1 capital": (0, put("q1_answer", "Yes"), "q1-answer", "'Yes'"),
    "q1 yes on a reference": (1, put("q1_answer", "yes"), "q1-answer", "'yes'"),
    "q1 null where asked": (1, put("q1_answer", None), "q1-answer", "None"),
    "q1 answered where not asked": (2, put("q1_answer", "no"), "q1-answer", "must be null"),
    "q2 F": (0, put("q2_answer", "F"), "q2-answer", "'F'"),
    "q2 lower case": (0, put("q2_answer", "a"), "q2-answer", "'a'"),
    "q2 E on an artifact": (0, put("q2_answer", "E"), "q2-answer", "'E'"),
    "q3 null": (0, put("q3_answer", None), "q3-answer", "None"),
    "q3 A on a reference": (1, put("q3_answer", "A"), "q3-answer", "must be E"),
    "q4 two letters": (0, put("q4_answer", "AB"), "q4-answer", "'AB'"),
    "q4 A on a counterpart": (2, put("q4_answer", "A"), "q4-answer", "must be E"),
    "prompt null": (0, put("q2_prompt", None), "q2-prompt", "None"),
    "prompt empty": (0, put("q3_prompt", "  "), "q3-prompt", "is empty"),
    "q1 prompt null where asked": (1, put("q1_prompt", None), "q1-prompt", "None"),
    "options null": (0, put("q2_options", None), "q2-options", "not None"),
    "an option null": (0, put_in("q2_options", "C", None), "q2-options", "option C"),
    "an option empty": (0, put_in("q4_options", "E", " "), "q4-options", "option E"),
    "id with a slash": (0, put("row_id", "../salart"), "id", "'../salart'"),
    "id null": (0, put("row_id", None), "id", "None"),
    "overlay of another size": (
        0,
        put("q3_overlay_image", {"bytes": upstream.png(9, boxes=True, size=(23, 16)), "path": None}),
        "overlay-size",
        "23 × 16",
    ),
    "overlay null": (0, put("q3_overlay_image", None), "overlay", "q3_boxes"),
    "overlay without boxes": (
        0,
        lambda row: row.__setitem__("q3_overlay_image", row["image"]),
        "overlay",
        "without boxes",
    ),
    "image cut": (
        0,
        put("image", {"bytes": upstream.png(0)[:400], "path": None}),
        "image-decode",
        "image can't be decoded",
    ),
    "overlay no picture": (
        0,
        put("q3_overlay_image", {"bytes": b"GIF89 or so", "path": None}),
        "image-decode",
        "q3_overlay_image can't be decoded",
    ),
}


def rows() -> list[dict[str, Any]]:
    return [upstream.row(number, upstream.label(number, ROLES[number])) for number in range(3)]


def faults_of(folder: Path, made: list[dict[str, Any]]) -> list[Any]:
    upstream.write_parquet(folder / "in", made, shards=1)
    (folder / "work").mkdir()
    source = folder_source(folder / "in", folder / "work")
    with pytest.raises(IntegrityError) as caught:
        inspect_all(source.jobs, allow_partial=True)
    return list(caught.value.faults)


@pytest.mark.parametrize(("number", "change", "rule", "shown"), CASES.values(), ids=CASES)
def test_bad_row(tmp_path: Path, number: int, change: Change, rule: str, shown: str) -> None:
    made = rows()
    change(made[number])
    faults = faults_of(tmp_path, made)
    assert rule in [fault.rule for fault in faults], faults
    fault = next(fault for fault in faults if fault.rule == rule)
    named = {made[number]["row_id"], f"test-00000-of-00001.parquet row {number}"}
    assert fault.id in named
    assert shown in fault.message


def test_there_are_many_kinds() -> None:
    assert len(CASES) >= 25


def test_rules_across_rows(tmp_path: Path) -> None:
    made = [upstream.row(number, upstream.label(number, ROLES[number % 3])) for number in range(6)]
    made[3]["row_id"] = made[0]["row_id"]
    # The same picture before and after: one of the two is not true.
    made[4]["image"] = made[0]["image"]
    copy = {**made[2], "row_id": "salart_copy"}
    found = {(fault.rule, fault.id) for fault in faults_of(tmp_path, [*made, copy])}
    assert found == {
        ("duplicate-id", made[0]["row_id"]),
        ("picture-roles", made[4]["row_id"]),
        ("duplicate-example", "salart_copy"),
    }


def test_a_photograph_may_be_the_reference_of_two_artifacts(tmp_path: Path) -> None:
    made = [upstream.row(number, upstream.label(number, ROLES[1])) for number in range(2)]
    made[1] |= {"image": made[0]["image"], "q3_overlay_image": made[0]["q3_overlay_image"]}
    upstream.write_parquet(tmp_path / "in", made, shards=1)
    (tmp_path / "work").mkdir()
    source = folder_source(tmp_path / "in", tmp_path / "work")
    assert len(inspect_all(source.jobs, allow_partial=True)) == 2


def test_every_fault_of_every_row_is_in_one_report(tmp_path: Path) -> None:
    made = rows()
    made[0] |= {"image_role": "fake", "q2_prompt": None, "image": {"bytes": None, "path": "x.png"}}
    made[1] |= {"q3_answer": "A", "q4_answer": None}
    found = [(fault.id, fault.rule) for fault in faults_of(tmp_path, made)]
    first, second = made[0]["row_id"], made[1]["row_id"]
    assert found == [
        (first, "role"),
        (first, "q2-prompt"),
        (first, "image-file"),
        (second, "q3-answer"),
        (second, "q4-answer"),
    ]


def test_counts_are_held_without_allow_partial(tmp_path: Path) -> None:
    upstream.write_parquet(tmp_path / "in", rows(), shards=1)
    (tmp_path / "work").mkdir()
    source = folder_source(tmp_path / "in", tmp_path / "work")
    with pytest.raises(IntegrityError, match="3 images, but 950 are declared"):
        inspect_all(source.jobs)


def _without(name: str) -> list[dict[str, Any]]:
    return [{key: value for key, value in row.items() if key != name} for row in rows()]


@pytest.mark.parametrize("name", ["q4_answer", "q2_options", "q3_overlay_image", "image_role"])
def test_a_missing_column_is_named(tmp_path: Path, name: str) -> None:
    upstream.write_parquet(tmp_path / "in", _without(name), shards=1)
    (tmp_path / "work").mkdir()
    with pytest.raises(InputError, match=f"lacks the columns {name}"):
        folder_source(tmp_path / "in", tmp_path / "work")


def test_what_was_found_and_expected_is_said(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "notes.txt").write_text("nothing")
    with pytest.raises(InputError, match=r"no images found; expected Parquet .* found 1 × \./\*\.txt"):
        folder_source(tmp_path / "in", tmp_path)
    with pytest.raises(InputError, match="no such folder"):
        folder_source(tmp_path / "nowhere", tmp_path)


@pytest.mark.parametrize(
    "name",
    ["../../secret.png", "/etc/hostname", "images\\clean", "images/none.png", "images", "a\0b", "", None, 7],
)
def test_a_picture_outside_or_absent_is_refused(tmp_path: Path, name: Any) -> None:
    (tmp_path / "secret.png").write_bytes(upstream.png(1))
    made = rows()
    upstream.write_jsonl(tmp_path / "in", made, [{}, {}, {}])
    path = tmp_path / "in" / "data" / "test.jsonl"
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    lines[1]["image_path"] = name
    path.write_text("\n".join(map(json.dumps, lines)))
    source = folder_source(tmp_path / "in", tmp_path)
    with pytest.raises(IntegrityError, match=r"image_path") as caught:
        inspect_all(source.jobs, allow_partial=True)
    (fault,) = caught.value.faults
    assert (fault.id, fault.rule) == (made[1]["row_id"], "image-file")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from("ABCDE"), inner, max_size=5),
    max_leaves=6,
)


@given(
    number=st.integers(0, 2), changes=st.dictionaries(st.sampled_from(sorted(rows()[0])), JSON, max_size=3)
)
def test_whatever_stands_in_a_row_is_a_record_or_a_fault(number: int, changes: dict[str, Any]) -> None:
    record, faults = parse_record("here", {**rows()[number], **changes})
    assert (record is None) == bool(faults)
    assert all(fault.id in [rows()[number]["row_id"], changes.get("row_id"), "here"] for fault in faults)
    if record is not None:
        for question in record.asked:
            prompt = record.prompts[question]
            assert prompt is not None
            assert as_sent(prompt, record.options.get(question)).startswith(prompt)


def test_a_prompt_that_holds_its_options_is_sent_as_it_is() -> None:
    options = dict.fromkeys("ABCDE", "x")
    sent = as_sent("Where?", options)
    assert sent == "Where?\n\nOptions:\nA. x\nB. x\nC. x\nD. x\nE. x"
    assert as_sent(sent, options) == sent
    assert as_sent("Is it?", None) == "Is it?"
