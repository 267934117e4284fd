"""Gradio page of the metric: paste or upload predictions and references, see the score.

It needs only this folder and requirements.txt, so that it runs as a Space as well as from a clone.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import evaluate
import gradio as gr
from common import read_records  # type: ignore[import-not-found]  # run as a script, beside this file

# By file, not by folder: a Space's folder isn't named after the metric.
METRIC = evaluate.load(str(Path(__file__).with_name("grove.py")))

EXAMPLE_PREDICTIONS = """{"id": "a", "verdict": "yes", "masks": [{"size": [2, 4], "counts": "044"}]}
{"id": "b", "verdict": "yes", "masks": []}"""
EXAMPLE_REFERENCES = """{"id": "a", "masks": [{"size": [2, 4], "counts": "08"}], "task": "ocr"}
{"id": "b", "masks": [], "task": "counting"}"""


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
) -> tuple[list[list[Any]], list[list[Any]], str]:
    """Score pasted or uploaded answers: figures in percent, one row for each sample, the signature."""
    try:
        given = read_records("predictions", predictions, predictions_file)
        labels = read_records("references", references, references_file)
    except ValueError as error:
        raise gr.Error(str(error)) from None
    for key in given:
        if key not in labels:
            raise gr.Error(f"predictions: the id {key!r} is not in the references")
    absent = {"verdict": "none", "masks": []}
    try:
        # Not METRIC.compute: it keeps rows between calls, which two visitors at once would mix.
        result = METRIC._compute(
            [{name: given.get(key, absent).get(name) for name in ("verdict", "masks")} for key in labels],
            [{"masks": record.get("masks")} for record in labels.values()],
            ids=list(labels),
            tasks=labelled(labels, "task"),
            domains=labelled(labels, "domain"),
            epsilon=epsilon,
            unjudged=missing,
            empty_masks=empty_masks,
        )
    except ValueError as error:
        raise gr.Error(str(error)) from None
    parts = {"all": {**result, "n": result["counts"]["n"]}}
    parts |= {name.replace("_", " "): result[name] for name in ("with_evidence", "without_evidence")}
    for kind in ("task", "domain", "num_instances"):
        title = "instances" if kind == "num_instances" else kind
        parts |= {f"{title}: {name}": part for name, part in result[f"by_{kind}"].items()}
    names = ("grove", "answer_accuracy", "mask_score")
    figures = [[title, *(_percent(part[name]) for name in names), part["n"]] for title, part in parts.items()]
    for name, policy in result["baselines"].items():
        values = [_percent(policy[figure]) for figure in names]
        figures.append([f"without looking: {name.replace('_', ' ')}", *values, ""])
    rows = [
        [
            row["id"],
            row["verdict"],
            _percent(row["mask_score"]),
            _percent(row["score"]),
            f"{row['num_predicted']} / {row['num_reference']}",
        ]
        for row in result["per_sample"]
    ]
    return figures, rows, result["signature"]


def _percent(fraction: float | None) -> str:
    return "–" if fraction is None else f"{100 * fraction:.2f}"


with gr.Blocks(title="Grove") as page:
    gr.Markdown(
        "# Grove: the right answer and the right masks\n"
        "Paste or upload JSON or JSON Lines. Predictions: `id`, `verdict` (yes, no, none), `masks`. "
        "References: `id`, `masks`, and if known `task`, `domain`. Masks are COCO run-length encodings, "
        "`size` and `counts`. Compare with the rows at the end, which never look at the image."
    )
    with gr.Row():
        with gr.Column():
            predictions_box = gr.Textbox(EXAMPLE_PREDICTIONS, label="Predictions", lines=8)
            predictions_upload = gr.File(label="Predictions file", file_types=[".json", ".jsonl"])
        with gr.Column():
            references_box = gr.Textbox(EXAMPLE_REFERENCES, label="References", lines=8)
            references_upload = gr.File(label="References file", file_types=[".json", ".jsonl"])
    with gr.Row():
        epsilon_box = gr.Number(0.1, label="ε, the floor", minimum=0, maximum=1, step=0.01)
        missing_choice = gr.Radio(["error", "wrong"], value="error", label="Verdict none or missing is")
        empty_choice = gr.Radio(["keep", "drop"], value="keep", label="All-zero predicted masks")
    button = gr.Button("Score", variant="primary")
    figures_table = gr.Dataframe(headers=["samples", "Grove", "answers (T)", "masks (M)", "n"], label="Score")
    rows_table = gr.Dataframe(
        headers=["id", "verdict", "mask score", "score", "masks predicted / reference"], label="Samples"
    )
    signature_box = gr.Textbox(label="Signature", interactive=False)
    button.click(
        score,
        [
            predictions_box,
            predictions_upload,
            references_box,
            references_upload,
            epsilon_box,
            missing_choice,
            empty_choice,
        ],
        [figures_table, rows_table, signature_box],
        api_name="score",
    )

if __name__ == "__main__":
    page.launch()
