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
METRIC = evaluate.load(str(Path(__file__).with_name("salart_chain.py")))

QUESTIONS = ("q1", "q2", "q3", "q4")
EXAMPLE_PREDICTIONS = """{"row_id": "a", "q1": "yes", "q2": "B", "q3": "A", "q4": "B"}
{"row_id": "b", "q1": "yes", "q2": "E", "q3": "E", "q4": "E"}
{"row_id": "c", "q2": "E", "q3": "E", "q4": "A"}"""
EXAMPLE_REFERENCES = (
    '{"row_id": "a", "role": "artifact", "q1": "yes", "q2": "B", "q3": "A", "q4": "B"}\n'
    '{"row_id": "b", "role": "clean_reference", "q1": "no", "q2": "E", "q3": "E", "q4": "E"}\n'
    '{"row_id": "c", "role": "paired_generated_counterpart", "q1": null, "q2": "E", "q3": "E", "q4": "E"}'
)


def value(record: dict[str, Any], *names: str) -> Any:
    """The first of the fields that the record has; "" where it has none, or null in it."""
    found = next((record[name] for name in names if name in record), None)
    return "" if found is None else found


def score(
    predictions: str,
    predictions_file: str | None,
    references: str,
    references_file: str | None,
    parser: str,
) -> tuple[list[list[Any]], list[list[Any]], str]:
    """Score pasted or uploaded answers: figures beside baselines, one row for each image, the signature."""
    try:
        given = read_records("predictions", predictions, predictions_file, keys=("row_id", "id"))
        labels = read_records("references", references, references_file, keys=("row_id", "id"))
    except ValueError as error:
        raise gr.Error(str(error)) from None
    for key, record in given.items():
        if key not in labels:
            raise gr.Error(f"predictions: the id {key!r} is not in the references")
        if not any(question in record for question in QUESTIONS):
            raise gr.Error(f"predictions: the id {key!r} has none of the fields q1, q2, q3, q4")
    try:
        # The pure function behind the metric: it checks every row and names the one that is wrong.
        result = METRIC._compute(
            [{question: value(given.get(key, {}), question) for question in QUESTIONS} for key in labels],
            [
                {
                    "role": value(record, "role", "image_role"),
                    **{question: value(record, question, f"{question}_answer") for question in QUESTIONS},
                }
                for record in labels.values()
            ],
            ids=list(labels),
            parser=parser,
        )
    except ValueError as error:
        raise gr.Error(str(error)) from None
    counts, baselines = result["counts"], result["baselines"]
    figures = [
        [
            name,
            _percent(result[name]),
            _percent(baselines["constant"][name]),
            _percent(baselines["random"][name]),
            f"{counts[name]['right']} of {counts[name]['total']}",
        ]
        for name in baselines["constant"]
    ]
    artifacts = counts["roles"]["artifact"]
    for name, share in result["failure_attribution"].items():
        count = counts["failure_attribution"][name]
        figures.append([f"artifact images: {name}", _percent(share), "", "", f"{count} of {artifacts}"])
    for kind in ("missing", "unparsed"):
        figures.append([f"{kind} answers", "", "", "", str(sum(counts[kind].values()))])
    rows = [
        [row["id"], row["role"], *(_mark(row[question]) for question in QUESTIONS), row["attribution"] or ""]
        for row in result["per_sample"]
    ]
    return figures, rows, result["signature"]


def _percent(fraction: float | None) -> str:
    return "–" if fraction is None else f"{100 * fraction:.2f}"


def _mark(right: bool | None) -> str:
    return "not asked" if right is None else "right" if right else "wrong"


with gr.Blocks(title="SalArt-VQA chains") as page:
    gr.Markdown(
        "# SalArt-VQA chains\n"
        "Paste or upload JSON or JSON Lines. Predictions: `row_id`, `q1` to `q4`. References: `row_id`, "
        "`role`, `q1` to `q4`, or the data set's own column names. An image without a prediction counts as "
        'wrong. Compare with the row "no, E, E, E", which never looks at the image.'
    )
    with gr.Row():
        with gr.Column():
            predictions_box = gr.Textbox(EXAMPLE_PREDICTIONS, label="Predictions", lines=8)
            predictions_upload = gr.File(label="Predictions file", file_types=[".json", ".jsonl"])
        with gr.Column():
            references_box = gr.Textbox(EXAMPLE_REFERENCES, label="References", lines=8)
            references_upload = gr.File(label="References file", file_types=[".json", ".jsonl"])
    parser_choice = gr.Radio(["strict", "json"], value="strict", label="Answers are read as")
    button = gr.Button("Score", variant="primary")
    figures_table = gr.Dataframe(
        headers=["figure", "percent", "no, E, E, E", "random", "images"], label="Score"
    )
    rows_table = gr.Dataframe(
        headers=["id", "role", "Q1", "Q2", "Q3", "Q4", "failure attribution"], label="Images"
    )
    signature_box = gr.Textbox(label="Signature", interactive=False)
    button.click(
        score,
        [predictions_box, predictions_upload, references_box, references_upload, parser_choice],
        [figures_table, rows_table, signature_box],
        api_name="score",
    )

if __name__ == "__main__":
    page.launch()
