"""Rows of the samples as requests, and replies as what a scorer reads."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import Any

import pyarrow.parquet as pq
import pytest

from lookcheck.dataset_builders.core.errors import InputError
from lookcheck.dataset_builders.dataset import Work
from lookcheck.dataset_builders.parquet.reader import BuiltFolder, open_folder
from lookcheck.dataset_builders.parquet.writer import write_folder
from lookcheck.dataset_builders.registry import DATASETS
from lookcheck.dataset_builders.requests.pictures import PictureReader
from lookcheck.dataset_builders.requests.replies import told_apart
from lookcheck.dataset_builders.requests.request import Answer, Asked, FirstToken
from lookcheck.dataset_builders.requests.task import Wish


@pytest.fixture(scope="module")
def samples(tmp_path_factory: pytest.TempPathFactory) -> dict[str, BuiltFolder]:
    found = {}
    for name, data_set in DATASETS.items():
        folder = tmp_path_factory.mktemp(name)
        options = {"condition": ["no_image", "black_mask"]} if name == "perturbed_pope" else {}
        plan = data_set.plan(data_set.build_options(source="sample", **options), Work(folder))
        write_folder(plan, folder / "built")
        found[name] = open_folder(folder / "built")
    return found


def asked(samples: dict[str, BuiltFolder], name: str, protocol: str, **wish: Any) -> list[Asked]:
    task = DATASETS[name].task()
    assert task is not None
    return list(task.rows(samples[name], DATASETS[name].protocols()[protocol], Wish(**wish)))


def fields(name: str, protocol: str, row: Asked, **answers: Answer) -> dict[str, Any]:
    task = DATASETS[name].task()
    assert task is not None
    told = {"" if part == "only" else part: answer for part, answer in answers.items()}
    return dict(task.fields(row, told, DATASETS[name].protocols()[protocol]))


def said(raw: str, **changes: Any) -> Answer:
    text, reasoning = told_apart(raw)
    return Answer(raw=raw, text=text, reasoning=reasoning, **changes)


def upstream(folder: BuiltFolder, config: str) -> list[dict[str, Any]]:
    return [
        row
        for paths in folder.configs[config].values()
        for path in paths
        for row in pq.read_table(path).to_pylist()
    ]


def test_salart_is_four_requests_with_the_overlay_for_q3(samples: dict[str, BuiltFolder]) -> None:
    rows = asked(samples, "salart_vqa", "salart-chain")
    truth = upstream(samples["salart_vqa"], "images")
    reader = PictureReader()
    assert [row.id for row in rows] == [row["row_id"] for row in truth]
    for row, told in zip(rows, truth, strict=True):
        wanted = [part for part in ("q1", "q2", "q3", "q4") if told[f"{part}_answer"] is not None]
        assert list(row.requests) == wanted
        for part, request in row.requests.items():
            assert request.picture is not None
            column = "q3_overlay_image" if part == "q3" else "image"
            assert reader.read(request.picture) == told[column]["bytes"]
            assert request.max_new_tokens == 4096
            assert request.system == told["system_prompt"]
        lines = "".join(f"\n{letter}. {told['q4_options'][letter]}" for letter in "ABCDE")
        assert row.requests["q4"].text == f"{told['q4_prompt']}\n\nOptions:{lines}"
        assert row.requests["q3"].text == told["q3_prompt"]
    # Q1 is not asked of the counterparts of local edits.
    assert sum(len(row.requests) for row in rows) == 47


def test_the_control_without_the_picture_is_q4_with_a_sixth_option(samples: dict[str, BuiltFolder]) -> None:
    plain = asked(samples, "salart_vqa", "salart-chain")
    blind = asked(samples, "salart_vqa", "salart-chain", no_image=True)
    for row, other in zip(blind, plain, strict=True):
        assert list(row.requests) == ["q4"]
        assert row.requests["q4"].picture is None
        assert row.requests["q4"].text == other.requests["q4"].text + "\nF. no image provided"
    assert fields("salart_vqa", "salart-chain", blind[0], q4=said("f")) == {"q4": "f"}
    assert fields("salart_vqa", "salart-chain", plain[0], q4=said("f"))["problem"] == "q4: not one option"


def test_a_protocol_that_reads_another_form_than_the_rows_ask_for_is_refused(
    samples: dict[str, BuiltFolder],
) -> None:
    with pytest.raises(
        InputError,
        match="does not ask for JSON, but salart-chain-json reads json; use --protocol salart-chain",
    ):
        asked(samples, "salart_vqa", "salart-chain-json")


@pytest.mark.parametrize(
    ("raw", "changes", "problem"),
    [
        ("no", {}, None),
        ("", {}, "q1: empty reply"),
        ("<think>hm", {"ended": False}, "q1: cut thinking"),
        ("<think>yes</think>no", {}, None),
        ("I choose no.", {}, "q1: not one option"),
        ("no " * 30_000, {"ended": False}, "q1: cut reply"),
    ],
)
def test_replies_to_salart(
    samples: dict[str, BuiltFolder], raw: str, changes: dict[str, Any], problem: str | None
) -> None:
    row = asked(samples, "salart_vqa", "salart-chain")[0]
    found = fields("salart_vqa", "salart-chain", row, q1=said(raw, **changes))
    assert found.get("problem") == problem
    assert found["q1"] == raw.rpartition("</think>")[2].partition("<think>")[0]


def test_pope_asks_by_condition_and_shows_nothing_where_there_is_no_picture(
    samples: dict[str, BuiltFolder],
) -> None:
    everything = asked(samples, "perturbed_pope", "pope-yes-no")
    truth = upstream(samples["perturbed_pope"], "original")
    assert [row.id for row in everything[: len(truth)]] == [row["id"] for row in truth]
    for row, told in zip(everything, truth, strict=False):
        assert row.requests[""].text == f"{told['question']} Answer yes or no only."
        assert row.requests[""].picture is not None
        assert row.requests[""].picture.sha256 == hashlib.sha256(told["image"]["bytes"]).hexdigest()
    blind = asked(samples, "perturbed_pope", "pope-yes-no", conditions=("no_image",))
    assert len(blind) == len(truth)
    assert all(row.requests[""].picture is None for row in blind)
    with pytest.raises(InputError, match="no configuration 'blackmask'"):
        asked(samples, "perturbed_pope", "pope-yes-no", conditions=("blackmask",))
    # The same question of the same picture, in several splits, is one request.
    keys = {row.requests[""].key for row in everything}
    assert len(keys) == len(
        {
            (row.requests[""].text, row.requests[""].picture and row.requests[""].picture.sha256)
            for row in everything
        }
    )
    assert len(keys) < len(everything)


def test_a_thinking_models_first_token_is_no_answer(samples: dict[str, BuiltFolder]) -> None:
    plain = asked(samples, "perturbed_pope", "pope-yes-no")[0].requests[""]
    thinking = asked(samples, "perturbed_pope", "pope-yes-no", thinking="on")[0].requests[""]
    assert plain.measure is not None
    assert thinking.measure is None
    assert (plain.max_new_tokens, thinking.max_new_tokens) == (16, 16 + 4096)


@pytest.mark.parametrize(
    ("raw", "problem"),
    [
        ("Yes", None),
        ("no.", None),
        ("Yes and no", "several answers"),
        ("I can't help with that.", "refusal"),
        ("", "empty reply"),
        ("<think>Yes", "cut thinking"),
        ("◁think▷no◁/think▷yes", None),
        ("maybe " * 20_000, "no answer"),
    ],
)
def test_replies_to_pope(samples: dict[str, BuiltFolder], raw: str, problem: str | None) -> None:
    row = asked(samples, "perturbed_pope", "pope-yes-no")[0]
    assert fields("perturbed_pope", "pope-yes-no", row, only=said(raw)).get("problem") == problem


def test_figures_of_the_first_token_reach_the_scorers_fields(samples: dict[str, BuiltFolder]) -> None:
    row = asked(samples, "perturbed_pope", "pope-yes-no")[0]
    first = FirstToken(logp={"yes": -0.5, "no": None}, mass=None)
    assert fields("perturbed_pope", "pope-yes-no", row, only=said("Yes", first=first)) == {
        "text": "Yes",
        "logp_yes": -0.5,
        "logp_no": None,
        "mass": None,
    }
    row = asked(samples, "perturbed_pope", "pope-open-ended")[0]
    assert row.requests[""].measure is not None
    assert row.requests[""].measure.entity == upstream(samples["perturbed_pope"], "original")[0]["entity"]
    rank = FirstToken(entity_rank=7, entity_prob=0.25, entity_form=" Dog", entity_whole=True)
    assert fields("perturbed_pope", "pope-open-ended", row, only=Answer(first=rank)) == {
        "text": "",
        "entity_rank": 7,
        "entity_prob": 0.25,
        "entity_form": " Dog",
        "entity_whole": True,
    }


@pytest.mark.parametrize(
    ("raw", "wanted"),
    [
        (
            '{"answer": "a cup", "evidence": ["spoon", "red cup", "spoon"]}',
            {"answer": "a cup", "phrases": ["spoon", "red cup"]},
        ),
        ('```json\n{"answer": 3, "evidence": []}\n```', {"answer": "3", "phrases": []}),
        ("A cup.", "no JSON with answer"),
        ('{"answer": "a", "evidence": []} {"answer": "b", "evidence": []}', "two JSON objects"),
        ('{"answer": "a"}', "evidence is no list"),
        ('{"answer": "a", "evidence": "spoon"}', "evidence is no list"),
        ('{"answer": "a", "evidence": [""]}', "evidence holds what is no phrase"),
        ('{"answer": "a", "evidence": [["x"]]}', "evidence holds what is no phrase"),
        ('{"answer": null, "evidence": []}', "answer is no text"),
        ("I'm sorry, but I can't help with that.", "refusal"),
        ('I am sorry: {"answer": "a", "evidence": []}', {"answer": "a", "phrases": []}),
        ("<think>" + "x" * 100_000, "cut thinking"),
        ("", "empty reply"),
        ('{"a":' * 20_000, "no JSON with answer"),
        ('{"' * 50_000, "no JSON with answer"),
    ],
)
def test_replies_to_vistaqa(samples: dict[str, BuiltFolder], raw: str, wanted: Any) -> None:
    row = asked(samples, "vistaqa", "vistaqa-hybrid")[0]
    expected = wanted if isinstance(wanted, dict) else {"answer": "", "masks": [], "problem": wanted}
    assert fields("vistaqa", "vistaqa-hybrid", row, only=said(raw)) == expected


def test_a_cut_reply_has_its_own_reason(samples: dict[str, BuiltFolder]) -> None:
    row = asked(samples, "vistaqa", "vistaqa-hybrid")[0]
    assert (
        fields("vistaqa", "vistaqa-hybrid", row, only=said('{"answer": "a', ended=False))["problem"]
        == "cut reply"
    )
    assert fields("vistaqa", "vistaqa-answer", row, only=said(" a cup ")) == {"answer": "a cup", "masks": []}


def test_a_picture_that_changed_is_refused(samples: dict[str, BuiltFolder]) -> None:
    picture = asked(samples, "vistaqa", "vistaqa-hybrid")[0].requests[""].picture
    assert picture is not None
    with pytest.raises(InputError, match=r"row 0: the picture has changed while it was in use"):
        PictureReader().read(replace(picture, sha256="0" * 64))
