"""Answers made elsewhere find their rows: real questions of POPE in every layout, and files that lie."""

from __future__ import annotations

import csv
import json
import re
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from lookcheck.dataset_builders.core.errors import InputError, IntegrityError
from lookcheck.dataset_builders.requests.request import Asked, Names, Request
from lookcheck.scripts.predict.importing.formats import FormatName, read_answers
from lookcheck.scripts.predict.importing.given import Given
from lookcheck.scripts.predict.importing.joining import Place, join
from lookcheck.scripts.predict.importing.json_files import read_questions
from lookcheck.scripts.predict.importing.tables import FAILED

SPLITS = ("random", "popular", "adversarial")
Write = Callable[..., Path]


@pytest.fixture(scope="module")
def pope(shared_data: Path) -> list[dict[str, Any]]:
    """The 9,000 questions with their splits, as the files have them."""
    found = []
    for split in SPLITS:
        lines = (shared_data / "pope" / f"coco_pope_{split}.json").read_text().split("\n")
        found += [{**json.loads(line), "split": split} for line in lines if line.strip()]
    assert len(found) == 9000
    return found


@pytest.fixture(scope="module")
def rows(pope: list[dict[str, Any]]) -> list[Asked]:
    return [asked(row) for row in pope]


def asked(row: dict[str, Any]) -> Asked:
    number = int(row["image"].removesuffix(".jpg").rpartition("_")[2])
    return Asked(
        f"{row['split']}-{row['question_id']}",
        {"": Request(row["text"])},
        about={"questions": {"": row["text"]}},
        names=Names(str(row["question_id"]), row["split"], (str(number), row["image"])),
    )


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def written(records: list[Any], name: str = "answers.jsonl") -> Path:
        path = tmp_path / name
        path.write_text("".join(json.dumps(record) + "\n" for record in records))
        return path

    return written


def told(row: dict[str, Any]) -> str:
    """Words that no other row has."""
    return f"{row['split']} {row['question_id']} {row['image']}"


def lmms_eval(row: dict[str, Any], place: int) -> dict[str, Any]:
    return {
        "doc_id": place,
        "doc": {
            "id": str(place),
            "question_id": str(row["question_id"]),
            "question": row["text"],
            "answer": row["label"],
            "image_source": row["image"].removesuffix(".jpg"),
            "category": row["split"],
        },
        "target": row["label"],
        "resps": [[told(row)]],
        "filtered_resps": ["filtered"],
        "input": row["text"] + "\nAnswer the question using a single word or phrase.",
    }


def held(rows: list[Asked], found: dict[Place, Given], pope: list[dict[str, Any]]) -> None:
    """Every row has its own words."""
    assert len(found) == len(pope)
    words = {rows[place.row].id: item.words for place, item in found.items()}
    wanted = {f"{row['split']}-{row['question_id']}": told(row) for row in pope}
    assert not words.items() ^ wanted.items()


def test_lmms_eval(rows: list[Asked], pope: list[dict[str, Any]], write: Write) -> None:
    logs = [lmms_eval(row, place) for place, row in enumerate(pope)]
    # Another order, and other numbers: neither may count.
    path = write([{**log, "doc_id": 0} for log in logs[::-1]])
    held(rows, join(rows, read_answers(path, "lmms-eval"), "x"), pope)
    # The older form, one object.
    old = path.with_name("old.json")
    old.write_text(json.dumps({"args": {}, "logs": logs}, indent=1))
    held(rows, join(rows, read_answers(old, "lmms-eval"), "x"), pope)


@pytest.mark.parametrize("format", ["llava", "pope"])
def test_a_file_for_each_split(
    rows: list[Asked], pope: list[dict[str, Any]], write: Write, format: FormatName
) -> None:
    found: list[Given] = []
    for split in SPLITS:
        own = [row for row in pope if row["split"] == split]
        if format == "llava":
            records = [{"question_id": r["question_id"], "prompt": r["text"], "text": told(r)} for r in own]
        else:
            records = [{"question": r["text"], "answer": told(r), "image": r["image"]} for r in own]
        found += read_answers(write(records, f"{split}.jsonl"), format, split=split)
    held(rows, join(rows, found, "x"), pope)


def test_llava_numbers_of_its_own_file_of_questions(
    rows: list[Asked], pope: list[dict[str, Any]], write: Write
) -> None:
    # Numbers that are others' in our data: they may only be looked up in that file.
    numbered = [{**row, "question_id": 9000 - place} for place, row in enumerate(pope)]
    end = "\nAnswer the question using a single word or phrase."
    file = write(
        [
            {
                "question_id": r["question_id"],
                "image": r["image"],
                "text": r["text"] + end,
                "category": r["split"],
            }
            for r in numbered
        ],
        "questions.jsonl",
    )
    answers = [
        {"question_id": new["question_id"], "prompt": row["text"] + end, "text": told(row)}
        for new, row in zip(numbered, pope, strict=True)
    ]
    found = read_answers(write(answers), "llava", questions=read_questions(file))
    held(rows, join(rows, found, "x"), pope)


@pytest.mark.parametrize("ending", ["tsv", "xlsx"])
def test_vlmevalkit_names_several_splits_at_once(
    rows: list[Asked], pope: list[dict[str, Any]], tmp_path: Path, ending: str
) -> None:
    shared: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in pope:
        shared.setdefault((row["image"], row["text"]), []).append(row)
    assert len(shared) == 5127
    table: list[list[Any]] = [["index", "question", "answer", "category", "image_path", "prediction"]]
    for number, ((image, text), own) in enumerate(shared.items()):
        splits = ",".join(row["split"] for row in own)
        table.append([number, text, own[0]["label"], splits, f"/data/{image}", f"={image} {text}"])
    path = tmp_path / f"table.{ending}"
    if ending == "tsv":
        with path.open("w", newline="") as file:
            csv.writer(file, delimiter="\t").writerows(table)
    else:
        openpyxl = pytest.importorskip("openpyxl")
        book = openpyxl.Workbook()
        for line in table:
            book.active.append(line)
        book.save(path)
    found = join(rows, read_answers(path, "vlmevalkit"), "x")
    words = {rows[place.row].id: item.words for place, item in found.items()}
    wanted = {f"{row['split']}-{row['question_id']}": f"={row['image']} {row['text']}" for row in pope}
    # Sets of what differs: a comparison of two long mappings takes minutes to print.
    assert not words.items() ^ wanted.items()


def test_numbers_that_repeat_across_splits_are_refused(
    rows: list[Asked], pope: list[dict[str, Any]], write: Write
) -> None:
    path = write([{"question_id": r["question_id"], "text": "Yes"} for r in pope[:3000]])
    with pytest.raises(IntegrityError) as failed:
        join(rows, read_answers(path, "llava"), str(path))
    assert str(failed.value).split("\n") == [
        f"{path}: 3000 faults, nothing was written",
        "3,000 × question_id '1' fits 3 rows, such as 'random-1' and 'popular-1' [ambiguous]: "
        + ", ".join(f"{path}:{line}" for line in range(1, 6))
        + ", …",
    ]


def test_a_question_without_its_picture_is_refused(
    rows: list[Asked], pope: list[dict[str, Any]], write: Write
) -> None:
    own = [row for row in pope if row["split"] == "random"]
    path = write([{"question": r["text"], "answer": "yes"} for r in own])
    with pytest.raises(IntegrityError) as failed:
        join(rows, read_answers(path, "pope", split="random"), "x")
    texts = [row["text"] for row in own]
    assert len(failed.value.faults) == sum(texts.count(text) > 1 for text in texts)
    assert {fault.rule for fault in failed.value.faults} == {"ambiguous"}


def test_old_numbers_contradict_their_questions(rows: list[Asked], shared_data: Path, write: Write) -> None:
    """The random file of 2,910 questions numbers them otherwise: no answer may go to another question."""
    lines = (shared_data / "pope" / "coco_pope_random_2910.json").read_text().split("\n")
    old = [json.loads(line) for line in lines if line.strip()]
    path = write([{"question_id": r["question_id"], "prompt": r["text"], "text": "yes"} for r in old])
    truth = {row.names.question_id: row.about["questions"][""] for row in rows[:3000]}
    wrong = [
        f"{path}:{line}"
        for line, record in enumerate(old, start=1)
        if truth[str(record["question_id"])] != record["text"]
    ]
    assert wrong
    with pytest.raises(IntegrityError) as failed:
        join(rows, read_answers(path, "llava", split="random"), "x")
    assert [fault.id for fault in failed.value.faults] == wrong


def test_each_reason_of_a_refusal(rows: list[Asked], pope: list[dict[str, Any]]) -> None:
    first = pope[0]
    items = [
        Given("a:1", words="x", ids=("random-1",)),
        Given("a:2", words="x", ids=("random-1",)),
        Given("a:3", words="x", ids=("random-2",), question="Is there a yak in the image?"),
        Given("a:4", words="x", ids=("random-3",), pictures=("COCO_val2014_000000000001.jpg",)),
        Given("a:5", words="x", ids=("other-1",)),
        Given("a:6", words="x", number="3001"),
        Given("a:7", words="x", question="What is this?"),
        Given("a:8", words="x"),
        Given("a:9", words="x", question=first["text"], pictures=("310196",), splits=("unheard",)),
        Given("a:10", words="x", question=first["text"] + "Not", pictures=("310196",)),
    ]
    with pytest.raises(IntegrityError) as failed:
        join(rows, items, "a")
    assert [(fault.id, fault.rule) for fault in failed.value.faults] == [
        ("a:2", "twice"),
        ("a:3", "contradiction"),
        ("a:4", "contradiction"),
        ("a:5", "unknown"),
        ("a:6", "unknown"),
        ("a:7", "unknown"),
        ("a:8", "unknown"),
        ("a:9", "unknown"),
        ("a:10", "unknown"),
    ]


@pytest.mark.parametrize(
    "picture",
    [
        "COCO_val2014_000000310196.jpg",
        "000000310196.jpg",
        "310196",
        "/data/val2014/COCO_val2014_000000310196.png",
    ],
)
def test_names_of_one_picture(rows: list[Asked], pope: list[dict[str, Any]], picture: str) -> None:
    (place,) = join(
        rows, [Given("a", "x", question=pope[1]["text"], pictures=(picture,), splits=("random",))], "a"
    )
    assert rows[place.row].id == "random-2"


def test_parts_of_a_row() -> None:
    questions = {"q1": "Is it broken?", "q2": "Where?"}
    row = Asked(
        "a", {part: Request(text) for part, text in questions.items()}, about={"questions": questions}
    )
    found = join(
        [row],
        [Given("f:1", "x", ids=("a",), part="q2"), Given("f:2", "y", ids=("a",), question="Is it broken?")],
        "f",
    )
    assert {place.part: item.words for place, item in found.items()} == {"q2": "x", "q1": "y"}
    with pytest.raises(IntegrityError, match="the id 'a' fits 2 rows, such as 'a/q1' and 'a/q2'"):
        join([row], [Given("f:1", "x", ids=("a",))], "f")


def lines(text: str) -> Callable[[Path], Path]:
    def write(folder: Path) -> Path:
        path = folder / "file.jsonl"
        path.write_text(text)
        return path

    return write


@pytest.mark.parametrize(
    ("format", "text", "message"),
    [
        ("lookcheck", '{"id": "a", "text": "x"}\n{"id": ', "file.jsonl:2: not valid JSON"),
        ("lookcheck", '{"text": "x"}', "file.jsonl:1: has no id"),
        ("lookcheck", '{"id": "a"}', "id 'a' has no answer"),
        (
            "lookcheck",
            '{"id": "a", "text": "x", "failure": "y"}',
            "id 'a' has the field 'failure', which is ours",
        ),
        ("lookcheck", '{"id": true, "text": "x"}', "id is 'True'; expected a text or an integer"),
        ("llava", '{"question_id": 1}', "file.jsonl:1: lacks text"),
        ("llava", '{"text": "x"}', "file.jsonl:1: lacks question_id"),
        ("llava", '{"question_id": 1.5, "text": "x"}', "question_id is '1.5'"),
        ("pope", '{"question": "x", "answer": 1}', "answer is '1'; expected a text"),
        ("pope", '{"question": "x"}', "lacks answer"),
        ("lmms-eval", '{"doc": {}, "resps": [["a", "b"]]}', "resps holds 2 responses; expected one"),
        ("lmms-eval", '{"doc": {}, "resps": [[[-1.5, true]]]}', "resps holds 2 responses"),
        ("lmms-eval", '{"doc": {}, "resps": [[1.5]]}', "resps holds '1.5'; expected a text"),
        ("lmms-eval", '{"doc": null, "resps": [["a"]]}', "doc is 'None'; expected an object"),
        ("lmms-eval", '{"doc": {}}', "has neither resps nor filtered_resps"),
    ],
)
def test_broken_lines_are_named(tmp_path: Path, format: FormatName, text: str, message: str) -> None:
    with pytest.raises(InputError) as failed:
        list(read_answers(lines(text)(tmp_path), format))
    assert message in str(failed.value)
    assert "file.jsonl:" in str(failed.value)


def table(text: str, tmp_path: Path) -> Iterator[Given]:
    path = tmp_path / "table.tsv"
    path.write_bytes(text.encode())
    return read_answers(path, "vlmevalkit")


def test_cells_of_a_table(tmp_path: Path) -> None:
    text = (
        "index\tprediction\tcategory\n"
        '0\t"two\nlines ""quoted"""\t\n'
        "1\t=1+1\trandom,popular\n"
        f"2\t{FAILED} \t\n"
        "3\t\t\n"
    )
    found = list(table(text, tmp_path))
    assert [item.words for item in found] == ['two\nlines "quoted"', "=1+1", None, ""]
    assert [item.failure for item in found] == [None, None, FAILED, None]
    assert [item.splits for item in found] == [(), ("random", "popular"), (), ()]
    assert [item.where.rpartition(":")[2] for item in found] == ["3", "4", "5", "6"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("index\tanswer\n0\tx\n", "table.tsv:1: has no column 'prediction'"),
        ("index\tprediction\tprediction\n", "table.tsv:1: two columns are called 'prediction'"),
        ("index\tprediction\n0\tx\ty\n", "table.tsv:2: has 3 cells; expected 2"),
        ('index\tprediction\n0\t"x"y\n', "table.tsv:2: not a tab-separated table"),
        ("index\tprediction\n0\tx\0\n", "table.tsv:2: a NUL is no text"),
        ("", "no records"),
    ],
)
def test_broken_tables_are_named(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError) as failed:
        list(table(text, tmp_path))
    assert message in str(failed.value)


def test_cells_of_excel_stay_what_they_are(tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    import datetime

    def given(*values: Any) -> list[Given]:
        book = openpyxl.Workbook()
        book.active.append(["index", "prediction"])
        for number, value in enumerate(values):
            book.active.append([number, value])
        book.save(tmp_path / "t.xlsx")
        return list(read_answers(tmp_path / "t.xlsx", "vlmevalkit"))

    assert [item.words for item in given("=1+1", 3, None, '=HYPERLINK("x")', "No")] == [
        "=1+1", "3", "", '=HYPERLINK("x")', "No",
    ]  # fmt: skip
    with pytest.raises(InputError, match=r"t\.xlsx:2: a cell holds 32,767 characters and may be cut"):
        given("x" * 32767)
    with pytest.raises(InputError, match=r"t\.xlsx:3: a cell holds 'datetime"):
        given("x", datetime.datetime(2026, 1, 2))
    (tmp_path / "t.xlsx").write_bytes(b"no table")
    with pytest.raises(InputError, match="not a table of Excel"):
        list(read_answers(tmp_path / "t.xlsx", "vlmevalkit"))


def test_an_empty_reply_at_the_end_of_a_row_of_a_sheet_without_a_width(tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in (["index", "question", "prediction"], [1, "q", "a"], [2, "q", None]):
        book.active.append(row)
    book.save(tmp_path / "told.xlsx")
    # Some writers leave out the sheet's dimension.
    with zipfile.ZipFile(tmp_path / "told.xlsx") as told, zipfile.ZipFile(tmp_path / "a.xlsx", "w") as bare:
        for name in told.namelist():
            bare.writestr(name, re.sub(rb"<dimension[^>]*/>", b"", told.read(name)))
    for file in ("told.xlsx", "a.xlsx"):
        assert [item.words for item in read_answers(tmp_path / file, "vlmevalkit")] == ["a", ""], file


def test_another_split_than_the_one_named(write: Write) -> None:
    path = write([{"question_id": 1, "text": "x", "category": "popular"}])
    with pytest.raises(InputError, match="is of popular, but --split is random"):
        list(read_answers(path, "llava", split="random"))


def test_questions_are_found_or_refused(write: Write) -> None:
    questions = read_questions(write([{"question_id": 1, "text": "x"}], "questions.jsonl"))
    with pytest.raises(InputError, match="the question_id '2' is not in the file of --questions"):
        list(read_answers(write([{"question_id": 2, "text": "x"}]), "llava", questions=questions))
    with pytest.raises(InputError, match="the question_id '1' stands twice"):
        read_questions(write([{"question_id": 1, "text": "x"}] * 2, "questions.jsonl"))
