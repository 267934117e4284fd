"""Reader of VLMEvalKit's tables of predictions: tab-separated, or Excel's."""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from lookcheck.dataset_builders.core.errors import InputError
from lookcheck.dataset_builders.core.jsonl import read_text, shorten
from lookcheck.scripts.predict.importing.given import Given
from lookcheck.scripts.predict.importing.json_files import splits_of

FAILED = "Failed to obtain answer via API."
"""What VLMEvalKit writes in place of an answer that it did not get."""

# The longest text that a cell of Excel holds; programs cut what is longer without a word.
_LONGEST_CELL = 32767
_NEEDED = ("index", "prediction")
_PICTURES = ("image_path", "image_name", "image_source", "image_id")


def read_vlmevalkit(path: Path) -> Iterator[Given]:
    """Columns ``index``, ``question``, ``prediction``, ``category``, and a picture's name if there is one.

    ``category`` may name several splits with commas. A row whose prediction says that the server gave none
    is a failure and no answer.

    Raises
    ------
    InputError
        Naming file and row; for a text that fills a cell of Excel, too: it may have been cut.
    """
    rows = _xlsx(path) if path.suffix == ".xlsx" else _tsv(path)
    for where, row in rows:
        words = row["prediction"]
        failed = words.strip().startswith(FAILED)
        yield Given(
            where,
            words=None if failed else words,
            failure=FAILED if failed else None,
            ids=(row["index"],) if row["index"] else (),
            number=row.get("question_id") or None,
            splits=splits_of(row.get("category") or row.get("split")),
            question=row.get("question") or None,
            pictures=tuple(row[key] for key in _PICTURES if row.get(key)),
        )


def _tsv(path: Path) -> Iterator[tuple[str, Mapping[str, str]]]:
    text = read_text(path)
    if "\0" in text:
        raise InputError(f"{path}:{text[: text.index(chr(0))].count(chr(10)) + 1}: a NUL is no text")
    csv.field_size_limit(sys.maxsize)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter="\t", strict=True)
    header: Sequence[str] = ()
    try:
        for cells in reader:
            where = f"{path}:{reader.line_num}"
            if not header:
                header = _header(cells, where)
            elif cells:
                yield where, _row(header, cells, where)
    except csv.Error as error:
        raise InputError(f"{path}:{reader.line_num}: not a tab-separated table ({error})") from None
    if not header:
        raise InputError(f"{path}: no records")


def _xlsx(path: Path) -> Iterator[tuple[str, Mapping[str, str]]]:
    try:
        import openpyxl
    except ImportError:
        raise InputError(
            f"{path}: this needs the package openpyxl: pip install 'lookcheck[tables]'"
        ) from None
    if not path.is_file():
        raise InputError(f"{path}: no such file")
    try:
        # Formulas stay the text that they are: a reply may begin with "=".
        book = openpyxl.load_workbook(path, read_only=True, data_only=False)
    except Exception as error:
        raise InputError(f"{path}: not a table of Excel ({type(error).__name__}: {error})") from None
    try:
        if len(book.worksheets) != 1:
            raise InputError(f"{path}: has {len(book.worksheets)} sheets; expected one")
        header: Sequence[str] = ()
        for number, values in enumerate(book.worksheets[0].iter_rows(values_only=True), start=1):
            where = f"{path}:{number}"
            cells = [_text(value, where) for value in values]
            if not header:
                header = _header(cells, where)
            elif any(cells):
                # Where a sheet does not tell its width, a row ends with its last filled cell.
                full = [*cells, *[""] * (len(header) - len(cells))]
                yield where, _row(header, full, where)
        if not header:
            raise InputError(f"{path}: no records")
    finally:
        book.close()


def _header(cells: Sequence[str], where: str) -> Sequence[str]:
    for name in _NEEDED:
        if name not in cells:
            raise InputError(f"{where}: has no column {name!r}; there are {', '.join(cells)}")
    for name in cells:
        if name and cells.count(name) > 1:
            raise InputError(f"{where}: two columns are called {name!r}")
    return cells


def _row(header: Sequence[str], cells: Sequence[str], where: str) -> Mapping[str, str]:
    if len(cells) != len(header):
        raise InputError(f"{where}: has {len(cells)} cells; expected {len(header)}, as in the first row")
    return dict(zip(header, cells, strict=True))


def _text(value: object, where: str) -> str:
    """A cell as it was written; what Excel has made something else of can't be known."""
    if value is None:
        return ""
    if isinstance(value, str):
        if len(value) >= _LONGEST_CELL:
            raise InputError(f"{where}: a cell holds {len(value):,} characters and may be cut; use the tsv")
        return value
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, int | float):
        return str(value)
    raise InputError(f"{where}: a cell holds {shorten(repr(value))}; expected a text or a number")
