"""A file of rows with or without a header line: continued, repaired, put into order, or refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookcheck.dataset_builders.core.errors import InputError
from lookcheck.scripts.models.store import Header, RowFile, RowFormat, compare_headers, line_of

HEADER: Header = {"deciding": {"model": "m", "numbers": {"dtype": "float32"}}, "known": {"host": "x"}}


def parse_plain(data: bytes, path: Path) -> tuple[None, dict[str, dict[str, Any]]]:
    rows: dict[str, dict[str, Any]] = {}
    for number, line in enumerate(data.decode().splitlines(), start=1):
        try:
            row = json.loads(line)
        except ValueError:
            raise InputError(f"{path}:{number}: not valid JSON") from None
        if row["name"] in rows:
            raise InputError(f"{path}:{number}: the id {row['name']!r} stands twice")
        rows[row["name"]] = row
    return None, rows


def parse_headed(data: bytes, path: Path) -> tuple[Header, dict[str, dict[str, Any]]]:
    first, _, rest = data.partition(b"\n")
    return json.loads(first)["made_by"], parse_plain(rest, path)[1]


PLAIN: RowFormat[dict[str, Any]] = RowFormat("a file of rows", "made", parse_plain, key="name")
HEADED: RowFormat[dict[str, Any]] = RowFormat(
    "a file of rows", "made", parse_headed, header_key="made_by", version=7, key="name"
)
BOTH = pytest.mark.parametrize("form", [PLAIN, HEADED], ids=["plain", "headed"])


def row(name: str, **fields: Any) -> dict[str, Any]:
    return {"name": name, "raw": f"of {name} \u2028", **fields}


def fill(path: Path, form: RowFormat[dict[str, Any]], *names: str) -> bytes:
    with RowFile(path, form, HEADER) as file:
        file.append([row(name) for name in names])
    return path.read_bytes()


def test_what_stands_in_the_file(tmp_path: Path) -> None:
    plain = fill(tmp_path / "plain", PLAIN, "a", "b")
    assert plain == line_of(row("a")) + line_of(row("b"))
    head, rows = fill(tmp_path / "headed", HEADED, "a", "b").split(b"\n", 1)
    assert json.loads(head) == {"made_by": {"format": 7, **HEADER}}
    assert rows == plain


@BOTH
def test_every_cut_is_repaired(tmp_path: Path, form: RowFormat[dict[str, Any]]) -> None:
    path = tmp_path / "rows"
    whole = fill(path, form, "a", "b", "c")
    for kept in range(len(whole)):
        path.write_bytes(whole[:kept])
        with RowFile(path, form, HEADER) as file:
            there = list(file.rows)
            assert there == list("abc")[: len(there)]
            assert file.repaired == kept - (whole[:kept].rfind(b"\n") + 1)
            file.append([row(name) for name in "abc" if name not in there])
        assert path.read_bytes() == whole


@BOTH
@given(order=st.permutations(list("abcdef")), cut=st.integers(0, 6))
def test_a_finished_file_is_the_same_in_whatever_order_rows_came(
    tmp_path_factory: pytest.TempPathFactory, form: RowFormat[dict[str, Any]], order: list[str], cut: int
) -> None:
    folder = tmp_path_factory.mktemp("rows")
    expected = fill(folder / "in order", form, *"abcdef")
    path = folder / "any"
    fill(path, form, *order[:cut])
    before = path.read_bytes()
    with RowFile(path, form, HEADER) as file:
        assert file.finish("abcdef") == (cut == 6)
    if cut < 6:
        # What is not complete is left as it is.
        assert path.read_bytes() == before
    with RowFile(path, form, HEADER) as file:
        file.append([row(name) for name in order if name not in file.rows])
        assert file.finish("abcdef")
        assert list(file.rows) == list("abcdef")
    assert path.read_bytes() == expected


def test_a_file_in_order_is_not_written_again(tmp_path: Path) -> None:
    path = tmp_path / "rows"
    fill(path, PLAIN, "a", "b")
    before = path.stat()
    with RowFile(path, PLAIN, HEADER) as file:
        assert file.finish(["a", "b"])
    assert (path.stat().st_ino, path.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


@BOTH
def test_rows_that_were_dropped_and_put_in_order_go_on(
    tmp_path: Path, form: RowFormat[dict[str, Any]]
) -> None:
    """The lines that stay are not touched, also where they were written otherwise."""
    path = tmp_path / "rows"
    fill(path, form, "a", "b")
    odd = b'{"raw":   1.50, "name": "c"}\n'
    path.write_bytes(path.read_bytes() + odd)
    with RowFile(path, form, HEADER) as file:
        file.drop({"a"})
        file.append([row("d"), row("a")])
        assert file.finish(["c", "a", "d", "b"])
        file.append([row("e")])
    rows = b"".join([odd, *(line_of(row(name)) for name in "adbe")])
    head = b"" if form is PLAIN else form.first_line(HEADER)
    assert path.read_bytes() == head + rows


def test_a_row_that_nobody_asked_for_is_named(tmp_path: Path) -> None:
    path = tmp_path / "rows"
    before = fill(path, PLAIN, "a", "b")
    with (
        RowFile(path, PLAIN, HEADER) as file,
        pytest.raises(ValueError, match=r"the id 'b' in .* is not among"),
    ):
        file.finish(["a", "c"])
    assert path.read_bytes() == before


@BOTH
def test_a_broken_line_is_refused_and_left(tmp_path: Path, form: RowFormat[dict[str, Any]]) -> None:
    path = tmp_path / "rows"
    fill(path, form, "a")
    path.write_bytes(path.read_bytes() + b"{broken\n" + line_of(row("b")))
    before = path.read_bytes()
    with pytest.raises(InputError, match="rows:2: not valid JSON"), RowFile(path, form, HEADER):
        pass
    assert path.read_bytes() == before
    # The lock was given back.
    path.write_bytes(before.replace(b"{broken\n", b""))
    assert fill(path, form, "c").count(b"\n") == (3 if form is PLAIN else 4)


def test_another_header_is_refused_with_its_keys(tmp_path: Path) -> None:
    path = tmp_path / "rows"
    before = fill(path, HEADED, "a")
    other: Header = {"deciding": {"model": "m", "numbers": {"dtype": "bfloat16"}, "new": None}, "known": {}}
    with pytest.raises(InputError) as caught, RowFile(path, HEADED, other):
        pass
    assert str(caught.value) == (
        f"{path}: was made differently, choose another --output: numbers.dtype was 'float32', is 'bfloat16'"
    )
    assert path.read_bytes() == before
    compare_headers(HEADER, {**HEADER, "known": {}}, path, "made")


def test_no_number_that_json_lacks_is_written(tmp_path: Path) -> None:
    path = tmp_path / "rows"
    before = fill(path, PLAIN, "a")
    with RowFile(path, PLAIN, HEADER) as file, pytest.raises(ValueError, match="JSON compliant"):
        file.append([row("b", margin=float("nan"))])
    assert path.read_bytes() == before
