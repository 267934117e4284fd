"""Upstream's layouts in, a folder out that `load_dataset` reads and `score` scores."""

from __future__ import annotations

import doctest
import hashlib
import importlib.util
import json
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from types import ModuleType
from typing import Any

import datasets
import numpy as np
import pytest
from PIL import Image

from lookcheck.dataset_builders.core.errors import InputError
from lookcheck.dataset_builders.parquet.check import check_folder
from lookcheck.dataset_builders.parquet.writer import write_folder
from lookcheck.dataset_builders.registry import DATASETS
from lookcheck.dataset_builders.salart_vqa import builder as builder_module
from lookcheck.dataset_builders.salart_vqa import constants, integrity, overlay, records
from lookcheck.dataset_builders.salart_vqa import rows as rows_module
from lookcheck.dataset_builders.salart_vqa.builder import SalArtVQA
from lookcheck.dataset_builders.salart_vqa.mapping import apply_mapping
from lookcheck.dataset_builders.salart_vqa.plan import image_features, plan_source, question_features
from lookcheck.dataset_builders.salart_vqa.published import load_published
from lookcheck.dataset_builders.salart_vqa.sample import sample_source
from lookcheck.dataset_builders.salart_vqa.sample.chains import CHAINS, CLOCK
from lookcheck.dataset_builders.salart_vqa.sources import folder_source
from lookcheck.metrics.salart_chain import METRICS, parsing, validation
from lookcheck.scripts import console
from lookcheck.scripts.score.__main__ import app as score

FEATURES = {"images": image_features(), "questions": question_features()}


def _upstream() -> ModuleType:
    spec = importlib.util.spec_from_file_location(
        "salart_upstream", Path(__file__).with_name("salart_upstream.py")
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


upstream = _upstream()


def digests(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@pytest.fixture(scope="session")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built sample; not to be changed."""
    folder = tmp_path_factory.mktemp("salart")
    (folder / "work").mkdir()
    source = sample_source(folder / "work")
    plan = plan_source(source)
    write_folder(plan, folder / "built")
    return folder / "built"


def build(source: Path, workspace: Path, output: Path, **options: Any) -> Path:
    workspace.mkdir()
    write_folder(plan_source(folder_source(source, workspace), **options), output)
    return output


@pytest.mark.parametrize("layout", ["overlays", "boxes"])
def test_each_picture_is_parsed_and_made_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, layout: str
) -> None:
    """One parse and two reads a file (to check it, to store it); a drawn overlay is drawn once."""
    rows = [upstream.row(number, upstream.label(number)) for number in range(5)]
    if layout == "boxes":
        for row in rows:
            row["q3_overlay_image"] = None
            row["q3_boxes"] = {letter: [2.0 + n, 2.0, 5.0, 5.0] for n, letter in enumerate("ABCD")}
    upstream.write_parquet(tmp_path / "in", rows)
    calls: Counter[str] = Counter()

    def counted(name: str, function: Any) -> Any:
        def wrapped(*given: Any, **named: Any) -> Any:
            if name != "read" or "-image" in given[0].name or "-q3_overlay" in given[0].name:
                calls[name] += 1
            return function(*given, **named)

        return wrapped

    for module, name in ((integrity, "parse_record"), (rows_module, "draw_boxes"), (Path, "read_bytes")):
        monkeypatch.setattr(module, name, counted(name.removesuffix("_bytes"), getattr(module, name)))
    build(tmp_path / "in", tmp_path / "work", tmp_path / "built", allow_partial=True)
    files = 10 if layout == "overlays" else 5
    assert calls == Counter(parse_record=5, read=2 * files, draw_boxes=10 - files)


# Parquet as the three revisions may hold it: bare, as `datasets` writes it, with a system prompt.
REVISIONS: dict[str, dict[str, Any]] = {
    "bare": {"shards": 5},
    "described": {"shards": 5, "described": True},
    "with system prompt": {"shards": 3, "described": True, "large": True},
}
PUBLISHED = {
    "gemini31pro": "99.37 53.26 53.89 50.28 7.87 8.71 0.00 78.34 33.81 30.21",
    "claudeopus46": "47.58 11.79 17.47 100.00 96.35 96.35 0.84 70.04 48.01 44.95",
}
ATTRIBUTION = {"gemini31pro": "0.6 18.9 27.2 53.3 18.7 9.5", "claudeopus46": "52.4 23.8 12.0 11.8 19.2 23.4"}


@pytest.mark.parametrize("revision", REVISIONS)
def test_real_labels_in_upstream_parquet_give_the_published_figures(
    repository: Path,
    tmp_path: Path,
    revision: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    shipped = load_published()
    labels = [
        {
            "row_id": id,
            "image_role": key["role"],
            **{f"{q}_answer": key[q] or None for q in constants.QUESTIONS},
        }
        for id, key in zip(shipped.ids, shipped.references, strict=True)
    ]
    lines = [
        json.dumps({"row_id": id, **answers})
        for id, answers in zip(shipped.ids, shipped.predictions, strict=True)
    ]
    (tmp_path / "gemini31pro.jsonl").write_text("\n".join(lines))
    system = revision == "with system prompt"
    rows = [upstream.row(number, one, system=system) for number, one in enumerate(labels)]
    upstream.write_parquet(tmp_path / "in", rows, **REVISIONS[revision])
    built = build(tmp_path / "in", tmp_path / "work", tmp_path / "built")
    cache = str(tmp_path / "cache")
    images = datasets.load_dataset(str(built), "images", split="test", cache_dir=cache)
    questions = datasets.load_dataset(str(built), "questions", split="test", cache_dir=cache)
    assert (images.num_rows, questions.num_rows) == (950, 3681)
    assert images["row_id"][:] == [label["row_id"] for label in labels]
    counts = np.bincount(images["image_role"], minlength=3)
    assert dict(zip(constants.ROLES, counts.tolist(), strict=True)) == constants.DECLARED["image_role"]
    assert set(images["system_prompt"]) == ({upstream.SYSTEM} if system else {None})
    assert set(images["artifact_type"]) == set(images["subset"]) == set(images["pair_id"]) == {None}
    kinds = np.bincount(questions["question_type"])
    assert kinds.tolist() == [831, 950, 950, 950]
    for model, figures in PUBLISHED.items():
        answers = tmp_path / f"{model}.jsonl"
        if model != "gemini31pro":
            # The other model's answers are not shipped.
            answers = repository.parent / "shared" / "data" / "salart" / f"predictions_{model}.jsonl"
            if not answers.exists():
                continue
        command = ["score", "salart-vqa", "--dataset", built, "--predictions", answers, "--json"]
        monkeypatch.setattr("sys.argv", list(map(str, command)))
        with pytest.raises(SystemExit) as ended:
            console.run(score)
        assert not ended.value.code
        result = json.loads(capsys.readouterr().out)
        assert [f"{100 * result[name]:.2f}" for name in METRICS] == figures.split()
        shares = [*result["failure_attribution"].values(), result["q4_right_q3_wrong"]]
        shares.append(result["q3_right_q4_wrong"])
        assert [f"{100 * share:.1f}" for share in shares] == ATTRIBUTION[model].split()


@pytest.mark.parametrize("config", ["images", "questions"])
def test_each_config_loads_normally_and_streaming(sample: Path, tmp_path: Path, config: str) -> None:
    loaded = datasets.load_dataset(str(sample), config, split="test", cache_dir=str(tmp_path))
    streamed = datasets.load_dataset(str(sample), config, split="test", streaming=True)
    assert loaded.features == streamed.features == FEATURES[config]
    key = "row_id" if config == "images" else "id"
    assert [row[key] for row in streamed.select_columns([key])] == loaded[key][:]
    assert loaded.num_rows == {"images": 12, "questions": 47}[config]


def test_a_request_has_the_picture_and_the_text_to_send(sample: Path, tmp_path: Path) -> None:
    images = datasets.load_dataset(str(sample), "images", split="test", cache_dir=str(tmp_path))
    questions = datasets.load_dataset(str(sample), "questions", split="test", cache_dir=str(tmp_path))
    chains = {row["row_id"]: row for row in images}
    for row in questions:
        chain, kind = chains[row["row_id"]], f"q{row['question_type'] + 1}"
        assert row["id"] == f"{chain['row_id']}_{kind}"
        wanted = chain["q3_overlay_image"] if kind == "q3" else chain["image"]
        assert np.array_equal(np.asarray(row["image"]), np.asarray(wanted))
        assert row["answer"] == chain[f"{kind}_answer"]
        lines = row["prompt"].split("\n")
        assert lines[0] == chain[f"{kind}_prompt"]
        options = chain[f"{kind}_options"] if kind in ("q2", "q4") else {}
        heading = ["", "Options:"] if options else []
    assert lines[1:] == [*heading, *(f"{letter}. {text}" for letter, text in options.items())]


def test_the_folders_keep_all_rules(sample: Path) -> None:
    report = check_folder(sample, DATASETS)
    assert (report.faults, report.rows) == ([], 59)


def test_edits_are_local_and_under_their_box(sample: Path, tmp_path: Path) -> None:
    images = datasets.load_dataset(str(sample), "images", split="test", cache_dir=str(tmp_path))
    pairs: dict[str, dict[int, Any]] = {}
    for row in images:
        if row["pair_id"] is not None:
            pairs.setdefault(row["pair_id"], {})[row["image_role"]] = row
    edited = [chain for chain in CHAINS if chain.edit is not None]
    assert len(pairs) == len(edited) == 5
    for chain, (_, pair) in zip(edited, pairs.items(), strict=True):
        # A photograph is real before its edit too; only the drawing was generated.
        reference = 2 if chain.picture == CLOCK else 1
        before, after = (np.asarray(pair[role]["image"]).astype(int) for role in (reference, 0))
        changed = np.abs(before - after).max(2) > 0
        assert 0.0005 < changed.mean() < 0.12
        x, y, width, height = chain.boxes["ABCD".index(chain.keys[1])]
        seen = np.abs(before - after).max(2) > 40
        assert seen[y : y + height, x : x + width].sum() / seen.sum() > 0.95
        assert pair[reference]["q1_answer"] == (None if reference == 2 else "no")
        assert pair[reference]["q3_answer"] == "E"


def test_two_builds_and_two_processes_give_the_same_bytes(sample: Path, tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    plan = plan_source(sample_source(tmp_path / "work"), num_proc=2)
    write_folder(plan, tmp_path / "again", num_proc=2)
    assert digests(tmp_path / "again") == digests(sample)


def test_the_snippet_of_the_card_runs(sample: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HF_DATASETS_CACHE", str(tmp_path))
    card = (sample / "README.md").read_text()
    assert "**This is the sample of `lookcheck`" in card
    assert "partial build" not in card
    snippet = re.findall(r"```python\n(.*?)```", card, re.DOTALL)
    assert len(snippet) == 1
    code = snippet[0].replace("ORG/SalArt-VQA", str(sample))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "Where is the artifact?" in done.stdout


ROLES = ("artifact", "clean_reference", "paired_generated_counterpart")


def _small(folder: Path) -> list[dict[str, Any]]:
    return [upstream.row(number, upstream.label(number, ROLES[number % 3])) for number in range(6)]


def test_the_older_layout_carries_the_traits(tmp_path: Path) -> None:
    extra = [
        {"artifact_type": "anatomy" if number % 3 == 0 else None, "pair_id": f"p{number // 3}"}
        for number in range(6)
    ]
    upstream.write_jsonl(tmp_path / "in", _small(tmp_path), extra)
    built = build(tmp_path / "in", tmp_path / "work", tmp_path / "built", allow_partial=True)
    images = datasets.load_dataset(str(built), "images", split="test", cache_dir=str(tmp_path / "cache"))
    assert images["artifact_type"][:] == ["anatomy", None, None] * 2
    assert images["pair_id"][:] == ["p0"] * 3 + ["p1"] * 3
    assert "partial build" in (built / "README.md").read_text()
    assert check_folder(built, DATASETS).faults == []


@pytest.mark.parametrize("config", ["images", "questions"])
def test_the_builder_gives_the_rows_of_the_folder(tmp_path: Path, config: str) -> None:
    upstream.write_parquet(tmp_path / "in", _small(tmp_path), shards=2)
    (tmp_path / "work").mkdir()
    mapping = tmp_path / "mapping.jsonl"
    mapping.write_text(json.dumps({"row_id": "salart_000000000003", "artifact_type": "topology"}) + "\n")
    source = apply_mapping(folder_source(tmp_path / "in", tmp_path / "work"), mapping)
    write_folder(plan_source(source, allow_partial=True), tmp_path / "built")
    builder = SalArtVQA(
        config_name=config,
        folder=str(tmp_path / "in"),
        mapping=str(mapping),
        allow_partial=True,
        cache_dir=str(tmp_path / "cache"),
    )
    builder.download_and_prepare(num_proc=2)
    made = builder.as_dataset(split="test")
    loaded = datasets.load_dataset(
        str(tmp_path / "built"), config, split="test", cache_dir=str(tmp_path / "other")
    )
    assert made.features == loaded.features
    for one, other in zip(made, loaded, strict=True):
        for name in one:
            if isinstance(one[name], Image.Image):
                assert np.array_equal(np.asarray(one[name]), np.asarray(other[name]))
            else:
                assert one[name] == other[name]
    assert "topology" in made["artifact_type"][:]


def test_the_builder_needs_its_folder(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="needs the folder"):
        SalArtVQA(config_name="images", cache_dir=str(tmp_path)).download_and_prepare()


def test_pictures_keep_their_bytes_and_stand_once(tmp_path: Path) -> None:
    made = [upstream.row(number, upstream.label(number)) for number in range(8)]
    for number, row in enumerate(made):
        for column, boxes in (("image", False), ("q3_overlay_image", True)):
            row[column]["bytes"] = upstream.png(number, boxes=boxes, size=(160, 120))
    upstream.write_parquet(tmp_path / "in", made, shards=1)
    built = build(tmp_path / "in", tmp_path / "work", tmp_path / "built", allow_partial=True)
    raw = datasets.load_dataset(str(built), "questions", split="test", streaming=True)
    raw = raw.cast_column("image", datasets.Image(decode=False))
    for number, row in enumerate(raw):
        column = "q3_overlay_image" if number % 4 == 2 else "image"
        assert row["image"]["bytes"] == made[number // 4][column]["bytes"]
    pictures = sum(len(row[column]["bytes"]) for row in made for column in ("image", "q3_overlay_image"))
    sizes = {path.name.split("-")[0]: path.stat().st_size for path in (built / "data").iterdir()}
    # Three of the four questions show the same picture.
    assert sizes["questions"] < 1.05 * pictures
    assert sizes["images"] < 1.05 * pictures


def test_the_rules_of_the_metric_are_the_rules_of_the_data_set() -> None:
    for role, answers in constants.ANSWERS.items():
        for question, legal in answers.items():
            assert tuple(answer or "" for answer in legal) == validation._LEGAL_KEYS[role][question]
    assert constants.ROLES == validation.ROLES
    assert constants.QUESTIONS == parsing.QUESTIONS


@pytest.mark.parametrize("module", [records, overlay, builder_module])
def test_doctests(module: ModuleType) -> None:
    result = doctest.testmod(module)
    assert result.attempted > 0
    assert result.failed == 0
