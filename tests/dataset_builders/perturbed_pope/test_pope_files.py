"""POPE's question files: the real ones with their known counts, and every layout."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from lookcheck.dataset_builders.core.errors import InputError, IntegrityError
from lookcheck.dataset_builders.perturbed_pope.coco_names import SUPERCATEGORIES
from lookcheck.dataset_builders.perturbed_pope.questions import QuestionFile, article_slips, read_questions
from lookcheck.dataset_builders.perturbed_pope.repope import apply_repope

SPLITS = ("random", "popular", "adversarial")
ROW = {"question_id": 1, "image": "a.jpg", "text": "Is there a dog in the image?", "label": "yes"}


@pytest.fixture(scope="module")
def pope(shared_data: Path) -> Path:
    return shared_data / "pope"


@pytest.fixture(scope="module")
def real(pope: Path) -> dict[str, QuestionFile]:
    return {split: read_questions(pope / f"coco_pope_{split}.json") for split in SPLITS}


def test_counts_of_the_real_files(real: dict[str, QuestionFile]) -> None:
    for file in real.values():
        assert len(file.questions) == 3000
        assert Counter(question.label for question in file.questions) == {"yes": 1500, "no": 1500}
        assert [question.number for question in file.questions] == [str(n) for n in range(1, 3001)]
        assert [question.label for question in file.questions[:4]] == ["yes", "no", "yes", "no"]
        assert set(Counter(question.image for question in file.questions).values()) == {6}
    everything = [question for file in real.values() for question in file.questions]
    assert len({question.image for question in everything}) == 500
    assert len({(question.image, question.entity) for question in everything}) == 5127
    assert len({question.id for question in everything}) == 9000
    entities = {question.entity for question in everything}
    assert len(entities) == 79
    assert entities < set(SUPERCATEGORIES)
    assert len(SUPERCATEGORIES) == 80
    yes = {
        split: {(q.image, q.entity) for q in file.questions if q.label == "yes"}
        for split, file in real.items()
    }
    assert yes["random"] == yes["popular"] == yes["adversarial"]
    assert len(yes["random"]) == 1500


def test_layouts_and_slips_of_the_real_files(real: dict[str, QuestionFile]) -> None:
    assert {split: file.layout for split, file in real.items()} == {
        "random": "JSON Lines, LF",
        "popular": "JSON Lines, CRLF",
        "adversarial": "JSON Lines, CRLF",
    }
    slips = {split: article_slips(file.questions) for split, file in real.items()}
    assert slips["random"]["an traffic light"] == 1
    assert {name for found in slips.values() for name in found} == {
        "an traffic light",
        "a skis",
        "a scissors",
    }
    assert slips["random"]["a skis"] == 42
    first, last = real["popular"].questions[0], real["popular"].questions[-1]
    assert (first.id, first.image, first.entity) == (
        "popular-1",
        "COCO_val2014_000000310196.jpg",
        "snowboard",
    )
    assert (last.id, last.entity, last.label) == ("popular-3000", "chair", "no")
    assert last.text == "Is there a chair in the image?"


def test_the_old_random_file_is_mended_only_by_name(pope: Path, real: dict[str, QuestionFile]) -> None:
    path = pope / "coco_pope_random_2910.json"
    with pytest.raises(IntegrityError) as caught:
        read_questions(path)
    assert len(caught.value.faults) == 144
    assert "has the known slip 'imange'; --repair imange mends it" in str(caught.value.faults[0])
    old = read_questions(path, repairs=["imange"])
    assert (old.layout, old.repaired) == ("JSON Lines, CRLF, the old random file of 2,910 rows", 144)
    assert not [question for question in old.questions if "imange" in question.text]
    # It is today's file without 90 questions, numbered anew: names join the two, lines don't.
    today = {(question.image, question.entity): question for question in real["random"].questions}
    assert all(today[q.image, q.entity].label == q.label for q in old.questions)
    assert sum(today[q.image, q.entity].number != q.number for q in old.questions) > 2000


@pytest.mark.parametrize(
    ("split", "rows", "yes", "changed"), [("random", 2774, 1159, 144), ("popular", 2727, 1193, 178)]
)
def test_repope_on_the_real_files(
    pope: Path, real: dict[str, QuestionFile], split: str, rows: int, yes: int, changed: int
) -> None:
    (file,), counts = apply_repope([real[split]], [read_questions(pope / f"coco_repope_{split}.json")])
    assert len(file.questions) == rows
    assert counts == {split: {"changed": changed, "left_out": 3000 - rows, "unasked": 0}}
    assert sum(question.label == "yes" for question in file.questions) == yes
    # Ids and texts are POPE's.
    known = {question.id: question for question in real[split].questions}
    assert all(known[question.id].text == question.text for question in file.questions)


def test_repope_on_the_old_random_file(pope: Path) -> None:
    old = read_questions(pope / "coco_pope_random_2910.json", repairs=["imange"])
    corrected = read_questions(pope / "coco_repope_random.json")
    (file,), counts = apply_repope([old], [corrected])
    labels = {(question.image, question.entity): question.label for question in corrected.questions}
    assert all(labels[question.image, question.entity] == question.label for question in file.questions)
    assert counts["random"]["unasked"] == 2774 - len(file.questions) > 0


def test_a_question_asked_twice_stays_and_takes_one_label(tmp_path: Path) -> None:
    asked = _read(tmp_path, [ROW, ROW | {"question_id": 2}, ROW | {"question_id": 3, "image": "b.jpg"}])
    assert [question.id for question in asked.questions] == ["random-1", "random-2", "random-3"]
    assert asked.asked_twice == 1
    corrected = _read(tmp_path, [ROW | {"label": "no"}, ROW | {"question_id": 2, "label": "no"}])
    (file,), counts = apply_repope([asked], [corrected])
    assert [(question.id, question.label) for question in file.questions] == [
        ("random-1", "no"),
        ("random-2", "no"),
    ]
    assert counts["random"] == {"changed": 2, "left_out": 1, "unasked": 0}
    corrected = _read(tmp_path, [ROW, ROW | {"question_id": 2, "label": "no"}])
    with pytest.raises(IntegrityError, match=r"random\.json:2: another label than random\.json:1 has"):
        apply_repope([asked], [corrected])


@pytest.mark.parametrize("name", ["aokvqa", "gqa"])
def test_files_of_other_sources_are_named(tmp_path: Path, name: str) -> None:
    path = _write(tmp_path, json.dumps([ROW], indent=4), f"{name}_pope_seem_random.json")
    wanted = {"aokvqa": "A-OKVQA", "gqa": "GQA"}[name]
    assert read_questions(path).layout == f"JSON array, {wanted}, objects of SEEM"


def test_repope_refuses_what_does_not_belong(tmp_path: Path) -> None:
    asked = _read(tmp_path, [ROW])
    other = _read(tmp_path, [ROW | {"image": "b.jpg"}])
    with pytest.raises(IntegrityError, match=r"random\.json:1: no question asks for 'dog' in b\.jpg"):
        apply_repope([asked], [other])
    with pytest.raises(InputError, match="random stands on one side"):
        apply_repope([asked], [])
    with pytest.raises(InputError, match="two RePOPE files for the split random"):
        apply_repope([asked], [asked, asked])


def _write(tmp_path: Path, text: str, name: str = "random.json") -> Path:
    path = tmp_path / name
    path.write_bytes(text.encode())
    return path


def _read(tmp_path: Path, rows: list[dict[str, Any]]) -> QuestionFile:
    return read_questions(_write(tmp_path, "\n".join(map(json.dumps, rows))))


def test_every_layout_gives_the_same_questions(tmp_path: Path) -> None:
    rows = [ROW, ROW | {"question_id": 2, "text": "Is there an orange in the image?", "label": "no"}]
    lines = [json.dumps(row) for row in rows]
    texts = {
        "JSON Lines, LF": "\n".join(lines) + "\n",
        "JSON Lines, CRLF": "\r\n".join(lines) + "\r\n",
        "JSON array": json.dumps(rows, indent=4),
    }
    read = {layout: read_questions(_write(tmp_path, text)) for layout, text in texts.items()}
    assert [file.layout for file in read.values()] == list(texts)
    shown = [[(q.id, q.image, q.text, q.entity, q.label) for q in file.questions] for file in read.values()]
    assert shown[0] == shown[1] == shown[2]
    assert shown[0][1] == ("random-2", "a.jpg", "Is there an orange in the image?", "orange", "no")
    # A byte order mark and capital labels as well.
    path = _write(tmp_path, "\ufeff" + texts["JSON Lines, LF"].replace('"yes"', '"Yes"'))
    assert read_questions(path).questions[0].label == "yes"


def test_popev2(tmp_path: Path) -> None:
    rows = [
        {
            "image_id": 46207,
            "image_name": f"/{folder}/000000046207.jpg",
            "target_object": "remote",
            "query": "Is there a remote in the image?",
            "label": label,
        }
        for folder, label in (("images", "No"), ("coco/train2017", "Yes"))
    ]
    file = read_questions(_write(tmp_path, json.dumps(rows, indent=4), "annotations.json"))
    assert (file.split, file.layout) == ("popev2", "POPEv2, JSON array")
    # The edited picture and its original share image_id and object: the path tells them apart.
    assert [(q.id, q.image, q.label) for q in file.questions] == [
        ("popev2-images_000000046207-remote", "images/000000046207.jpg", "no"),
        ("popev2-coco_train2017_000000046207-remote", "coco/train2017/000000046207.jpg", "yes"),
    ]


TEXT = "Is there a dog in the image?"


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (
            [ROW | {"text": "Do you see a dog?"}],
            "random.json:1: 'Do you see a dog?' is not 'Is there a/an X in the image?' (question 1)",
        ),
        ([ROW | {"text": TEXT + " "}], "is not 'Is there a/an X"),
        ([ROW | {"text": "Is there a  in the image?"}], "is not 'Is there a/an X"),
        ([ROW | {"text": "Is there a dog in the imange?"}], "--repair imange mends it"),
        ([ROW | {"label": "maybe"}], "random.json:1: label must be yes or no, not 'maybe' (question 1)"),
        ([ROW | {"label": True}], "label must be a string, not True"),
        ([ROW | {"text": None}], "text must be a string, not None"),
        ([ROW | {"image": "../a.jpg"}], "below the folder of images, not '../a.jpg'"),
        ([ROW | {"image": "/etc/passwd"}], "below the folder of images"),
        ([ROW | {"image": "a\x00.jpg"}], "image must be a string"),
        ([ROW | {"question_id": None}], "the id must be an integer or a string, not None"),
        ([ROW | {"question_id": True}], "the id must be an integer or a string, not True"),
        ([{"question_id": 1, "image": "a.jpg", "text": TEXT}], "random.json:1: lacks label"),
        (
            [ROW, ROW | {"text": "Is there a cat in the image?"}],
            "random.json:2: question 1 stands twice, first at random.json:1",
        ),
        ([7], "random.json:1: expected a JSON object, found 7"),
    ],
)
def test_bad_questions_are_refused(tmp_path: Path, rows: list[Any], said: str) -> None:
    with pytest.raises(IntegrityError) as caught:
        _read(tmp_path, rows)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("random.json", '{"question_id": 1,', "random.json:1: not valid JSON"),
        ("random.json", '[{"question_id": 1}', "random.json: not valid JSON"),
        ("random.json", "", "random.json: no questions"),
        ("random.json", "[]", "random.json: no questions"),
        ("random.json", '{"label": "yes", "label": "no"}', "stands twice in one record"),
        ("mine.json", json.dumps(ROW), "must hold one of random, popular, adversarial"),
        ("random_popular.json", json.dumps(ROW), "must hold one of"),
    ],
)
def test_bad_files_are_refused(tmp_path: Path, name: str, text: str, said: str) -> None:
    with pytest.raises(InputError) as caught:
        read_questions(_write(tmp_path, text, name))
    assert said in str(caught.value)


def test_a_split_can_be_named(tmp_path: Path) -> None:
    path = _write(tmp_path, json.dumps(ROW), "mine.json")
    assert read_questions(path, "popular").questions[0].id == "popular-1"
    with pytest.raises(InputError, match="letters, digits and _"):
        read_questions(path, "test-split")
    with pytest.raises(InputError, match="unknown repair 'all'; known: imange"):
        read_questions(path, "popular", repairs=["all"])
    with pytest.raises(InputError, match="no such file"):
        read_questions(tmp_path / "random.jsonl")
