"""Build the samples, load them as anybody would, and score what needs no model through `evaluate`."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from rich.table import Table
from rich.text import Text

from lookcheck.dataset_builders.core.processes import Track
from lookcheck.dataset_builders.scores.report import percent
from lookcheck.scripts.demo import policies
from lookcheck.scripts.demo.judged import shipped_verdicts

ORACLE = "noisy oracle"
CHAIN_FIGURES = ("artifact_all_1_4", "real_all_1_4", "overall_all_1_4", "overall_all_2_4")


def run_samples(workspace: Path, track: Track) -> dict[str, Any]:
    """Build both samples below `workspace` and score the policies on them.

    Returns
    -------
    dict
        ``{"vistaqa": {policy: result}, "salart_vqa": {policy: result}}``; results without per-sample rows.
    """
    import datasets

    datasets.disable_progress_bars()
    build_samples(workspace, track)
    cache = str(workspace / "cache")
    step = track("scoring", 2)
    grove = score_vistaqa(datasets.load_dataset(str(workspace / "vistaqa"), split="test", cache_dir=cache))
    step()
    folder = str(workspace / "salart_vqa")
    chains = score_salart(datasets.load_dataset(folder, "images", split="test", cache_dir=cache))
    step()
    return {"vistaqa": grove, "salart_vqa": chains}


def build_samples(workspace: Path, track: Track) -> None:
    """Build ``workspace/vistaqa`` and ``workspace/salart_vqa``."""
    from lookcheck.dataset_builders.parquet.writer import write_folder

    for name in ("vistaqa", "salart_vqa"):
        sample = import_module(f"lookcheck.dataset_builders.{name}.sample")
        plan_source = import_module(f"lookcheck.dataset_builders.{name}.plan").plan_source
        sources = workspace / f"{name}-source"
        sources.mkdir()
        plan = plan_source(sample.sample_source(sources), track=track)
        write_folder(plan, workspace / name, track=track)


def metric(name: str) -> Any:
    """A metric as `evaluate` loads it: by its folder, here that of the installed package."""
    import evaluate

    from lookcheck import metrics

    return evaluate.load(str(Path(next(iter(metrics.__path__))) / name))


def score_vistaqa(data: Any) -> dict[str, Any]:
    """Grove of the noisy oracle, judged by a small model, and of the four policies that never look."""
    rows = data.select_columns(["id", "question", "answer", "masks_rle", "has_evidence"])[:]
    ids, masks, evident = rows["id"], rows["masks_rle"], rows["has_evidence"]
    everywhere = [[_whole(rle["size"]) for rle in rles[:1]] or [_whole([8, 8])] for rles in masks]
    verdicts, judge = shipped_verdicts(ids, rows["question"], rows["answer"])
    answers: dict[str, Callable[[int], dict[str, Any]]] = {
        ORACLE: lambda row: {
            "verdict": verdicts[ids[row]],
            "masks": policies.noisy_masks(ids[row], masks[row]),
        },
        "no mask, always right": lambda row: {"verdict": "yes", "masks": []},
        "no mask, right without evidence": lambda row: {
            "verdict": "no" if evident[row] else "yes",
            "masks": [],
        },
        "no mask, never right": lambda row: {"verdict": "no", "masks": []},
        "all wrong": lambda row: {"verdict": "no", "masks": [] if evident[row] else everywhere[row]},
    }
    grove = metric("grove")
    references = [{"masks": rles} for rles in masks]
    return {
        name: _without_rows(
            grove.compute(
                predictions=[answer(row) for row in range(len(ids))],
                references=references,
                ids=ids,
                # The others need no judge: it is known whether they are right.
                judge=judge if name == ORACLE else None,
            )
        )
        for name, answer in answers.items()
    }


def _whole(size: list[int]) -> dict[str, Any]:
    from lookcheck.metrics.grove.masks import to_rle

    return {
        "size": size,
        "counts": to_rle({"size": size, "counts": [0, size[0] * size[1]]})["counts"],
    }


def score_salart(data: Any) -> dict[str, Any]:
    """The chains of the constant policy and of the noisy oracle."""
    roles = data.features["image_role"]
    references = [
        {
            "role": roles.int2str(row["image_role"]),
            **{f"q{number}": row[f"q{number}_answer"] or "" for number in range(1, 5)},
        }
        for row in data.remove_columns(["image", "q3_overlay_image"])
    ]
    ids = data["row_id"][:]
    answers = {
        "noisy oracle": [policies.noisy_chain(key, id) for key, id in zip(references, ids, strict=True)],
        "no, E, E, E": [policies.constant_chain() for _ in ids],
    }
    chain = metric("salart_chain")
    return {
        name: _without_rows(chain.compute(predictions=given, references=references, ids=ids))
        for name, given in answers.items()
    }


def _without_rows(result: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in result.items() if key != "per_sample"}


def tables(results: dict[str, Any]) -> list[Table]:
    """Both results as tables, in percent."""
    grove = Table(title="VistaQA's sample, percent", title_justify="left")
    for column in ("", "Grove", "T", "M", "evidence", "none"):
        grove.add_column(column, justify="right" if column else "left")
    for number, (name, result) in enumerate(results["vistaqa"].items()):
        figures = [result["grove"], result["answer_accuracy"], result["mask_score"]]
        figures += [result[part]["grove"] for part in ("with_evidence", "without_evidence")]
        grove.add_row(Text(name), *map(percent, figures), style="dim" if number else "bold")
    chain = Table(title="SalArt-VQA's sample, percent", title_justify="left")
    for column in ("", "artifact 1-4", "real 1-4", "overall 1-4", "overall 2-4"):
        chain.add_column(column, justify="right" if column else "left")
    for number, (name, result) in enumerate(results["salart_vqa"].items()):
        figures = [result[figure] for figure in CHAIN_FIGURES]
        chain.add_row(Text(name), *map(percent, figures), style="dim" if number else "bold")
    return [grove, chain]
