"""Gradio page of the metric: paste or upload predictions and references, see the score.

It needs only this folder and requirements.txt, so that it runs as a Space as well as from a clone.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import evaluate
import gradio as gr
from common import read_records  # type: ignore[import-not-found]  # run as a script, beside this file
from drawing import draw  # type: ignore[import-not-found]
from page import (  # type: ignore[import-not-found]
    CSS,
    check_known,
    complaints,
    dataset,
    downloads,
    heading,
    inputs,
    percent,
    signature_box,
    table,
)

# By file, not by folder: a Space's folder isn't named after the metric.
METRIC = evaluate.load(str(Path(__file__).with_name("grove.py")))

MASKS = sys.modules[METRIC.__module__]

EXAMPLE_PREDICTIONS = r"""{"id": "a", "verdict": "yes", "masks": [{"size": [45, 60], "counts": "Rb1=P10000000000000000000000000000000]:"}, {"size": [45, 60], "counts": "[=1X18J4M2N2N2N2O00000O20N1000001N2N2N2N3L6HdY1"}, {"size": [45, 60], "counts": "Vk17V100000000000000000T;"}]}
{"id": "b", "verdict": "no", "masks": []}"""  # noqa: E501
EXAMPLE_REFERENCES = r"""{"id": "a", "masks": [{"size": [45, 60], "counts": "_:1W1:I4M2N2N2O0O2O000O20N10001N101N2N2N3L7Fa\\1"}, {"size": [45, 60], "counts": "jd1>o00000000000000000000000000000000e7"}], "task": "ocr"}
{"id": "b", "masks": [], "task": "counting"}"""  # noqa: E501

Drawn = dict[str, tuple[dict[str, Any], dict[str, Any]]]
"""A sample's row of the result and its masks, by its id."""


def labelled(labels: dict[str, dict[str, Any]], key: str) -> list[Any] | None:
    """The tasks or domains of all samples, or None where no record has one."""
    values = [record.get(key) for record in labels.values()]
    return None if all(value is None for value in values) else values


def score(
    predictions: str,
    predictions_file: str | None,
    references: str,
    references_file: str | None,
    epsilon: float,
    missing: str,
    empty_masks: str,
) -> tuple[list[list[Any]], list[list[Any]], str, str, Drawn]:
    """Score answers: figures in percent, one row a sample, the signature, files, what can be drawn."""
    with complaints():
        given = read_records("predictions", predictions, predictions_file)
        labels = read_records("references", references, references_file)
        check_known(given, labels)
    absent = {"verdict": "none", "masks": None}
    with complaints(given, labels):
        # Not METRIC.compute: it keeps rows between calls, which two visitors at once would mix.
        result = METRIC._compute(
            [{name: given.get(key, absent).get(name, "") for name in ("verdict", "masks")} for key in labels],
            [{"masks": record.get("masks")} for record in labels.values()],
            ids=list(labels),
            tasks=labelled(labels, "task"),
            domains=labelled(labels, "domain"),
            epsilon=epsilon,
            unjudged=missing,
            empty_masks=empty_masks,
        )
    parts = {"all": {**result, "n": result["counts"]["n"]}}
    parts |= {name.replace("_", " "): result[name] for name in ("with_evidence", "without_evidence")}
    for kind in ("task", "domain", "num_instances"):
        title = "instances" if kind == "num_instances" else kind
        parts |= {f"{title}: {name}": part for name, part in result[f"by_{kind}"].items()}
    names = ("grove", "answer_accuracy", "mask_score")
    figures = [[title, *(percent(part[name]) for name in names), part["n"]] for title, part in parts.items()]
    for name, policy in result["baselines"].items():
        values = [percent(policy[figure]) for figure in names]
        figures.append([f"without looking: {name.replace('_', ' ')}", *values, ""])
    rows = [
        [
            row["id"],
            row["verdict"],
            percent(row["mask_score"]),
            percent(row["score"]),
            f"{row['num_predicted']} / {row['num_reference']}",
        ]
        for row in result["per_sample"]
    ]
    drawn = {
        row["id"]: (row, {"R": labels[row["id"]]["masks"], "P": given.get(row["id"], absent)["masks"] or []})
        for row in result["per_sample"]
    }
    return figures, rows, result["signature"], downloads("grove", result), drawn


def choices(drawn: Drawn) -> Any:
    """The samples that can be drawn; the first with a mask is."""
    first = next((key for key, (_, masks) in drawn.items() if any(masks.values())), next(iter(drawn)))
    return gr.Dropdown(list(drawn), value=first, interactive=True)


def drawing(drawn: Drawn | None, key: str | None, pictures: list[str] | None) -> str:
    """The chosen sample's masks, over its picture where one has its name."""
    if not drawn or key not in drawn:
        return ""
    row, masks = drawn[key]
    paths = {Path(path).stem: path for path in pictures or []}
    with complaints():
        for name, path in paths.items():
            if name not in drawn:
                raise ValueError(f"{Path(path).name}: no sample has the id {name!r}")
        encoded = {side: [MASKS.to_rle(mask) for mask in found] for side, found in masks.items()}
        return str(draw(row, encoded, paths.get(key)))


with gr.Blocks(title="Grove") as page:
    heading(
        "Grove: the right answer and the right masks",
        "Paste or upload JSON or JSON Lines. Masks are COCO run-length encodings, `size` and `counts`. "
        "Compare with the rows *without looking*, which never see the image.",
        "grove",
        {"Paper": "https://arxiv.org/abs/2605.20676", "Data set": dataset("vistaqa")},
    )
    sources = inputs(
        ("id, verdict (yes, no, none), masks", EXAMPLE_PREDICTIONS),
        ("id, masks, and if known task, domain", EXAMPLE_REFERENCES),
    )
    with gr.Row():
        epsilon_box = gr.Number(
            0.1,
            label="ε, the floor",
            info="A wrong answer or mask still counts this much; the paper's is 0.1.",
            minimum=0,
            maximum=1,
            step=0.01,
        )
        missing_choice = gr.Radio(
            ["error", "wrong"],
            value="error",
            label="Verdict none or missing is",
            info="An answer that no judge has read: refused, or counted as wrong.",
        )
        empty_choice = gr.Radio(
            ["keep", "drop"],
            value="keep",
            label="All-zero predicted masks",
            info="Counted as a prediction without a pair, or left out as if not given.",
        )
    button = gr.Button("Score", variant="primary")
    figures_table = table(["samples", "Grove", "answers (T)", "masks (M)", "n"], "Score, percent")
    rows_table = table(["id", "verdict", "mask score", "score", "masks P / R"], "Samples")
    files = gr.HTML()
    signature = signature_box()
    gr.Markdown("## The masks of one sample")
    with gr.Row():
        sample_choice = gr.Dropdown([], label="Sample", info="After scoring; its masks are drawn below.")
        pictures_upload = gr.File(
            label="Pictures (optional), named by id: a.jpg",
            file_count="multiple",
            file_types=["image"],
            height=140,
        )
    picture = gr.HTML()
    state = gr.State()
    button.click(
        score,
        [*sources, epsilon_box, missing_choice, empty_choice],
        [figures_table, rows_table, signature, files, state],
        api_name="score",
    ).success(choices, state, sample_choice, api_visibility="private")
    shown = [state, sample_choice, pictures_upload]
    gr.on(
        [state.change, sample_choice.change, pictures_upload.change],
        drawing,
        shown,
        picture,
        api_visibility="private",
    )

if __name__ == "__main__":
    page.launch(
        css=CSS
        + ".grove svg {display: block; width: 100%; max-width: 640px; max-height: 80vh; margin: 8px 0}"
        + ".grove path {vector-effect: non-scaling-stroke} .grove ul {margin-left: 1.2em}"
    )
