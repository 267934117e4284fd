"""Gradio page of the metric: paste or upload predictions and references, see the score.

It needs only this folder and requirements.txt, so that it runs as a Space as well as from a clone.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import evaluate
import gradio as gr
from common import read_records  # type: ignore[import-not-found]  # run as a script, beside this file
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
    thinking_choice,
    thinking_of,
)

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
    thinking: str = "rule",
) -> tuple[list[list[Any]], list[list[Any]], str, str]:
    """Score answers: figures beside baselines, one row for each image, the signature, files."""
    with complaints():
        given = read_records("predictions", predictions, predictions_file, keys=("row_id", "id"))
        labels = read_records("references", references, references_file, keys=("row_id", "id"))
        check_known(given, labels)
        for key, record in given.items():
            if not any(question in record for question in QUESTIONS):
                raise ValueError(f"{given.where(key)}: the id {key!r} has none of the fields q1, q2, q3, q4")
    with complaints(given, labels):
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
            thinking=thinking_of(thinking),
        )
    counts, baselines = result["counts"], result["baselines"]
    figures = [
        [
            name,
            percent(result[name]),
            percent(baselines["constant"][name]),
            percent(baselines["random"][name]),
            f"{counts[name]['right']} of {counts[name]['total']}",
        ]
        for name in baselines["constant"]
    ]
    artifacts = counts["roles"]["artifact"]
    for name, share in result["failure_attribution"].items():
        count = counts["failure_attribution"][name]
        figures.append([f"artifact images: {name}", percent(share), "", "", f"{count} of {artifacts}"])
    for kind in ("missing", "unparsed"):
        figures.append([f"{kind} answers", "", "", "", str(sum(counts[kind].values()))])
    rows = [
        [row["id"], row["role"], *(_mark(row[question]) for question in QUESTIONS), row["attribution"] or ""]
        for row in result["per_sample"]
    ]
    return figures, rows, result["signature"], downloads("salart_chain", result)


def _mark(right: bool | None) -> str:
    return "not asked" if right is None else "right" if right else "wrong"


with gr.Blocks(title="SalArt-VQA chains") as page:
    heading(
        "SalArt-VQA chains",
        "Does the model see the artifact, and where, and why? Paste or upload JSON or JSON Lines. An image "
        "without a prediction counts as wrong. Compare with the column *no, E, E, E*, which never sees the "
        "image.",
        "salart_chain",
        {"Paper": "https://arxiv.org/abs/2606.12671", "Data set": dataset("salart_vqa")},
    )
    sources = inputs(
        ("row_id, q1 to q4", EXAMPLE_PREDICTIONS),
        ("row_id, role, q1 to q4, or the data set's own column names", EXAMPLE_REFERENCES),
    )
    with gr.Row():
        parser_choice = gr.Radio(
            ["strict", "json"],
            value="strict",
            label="Answers are read as",
            info="The authors' rule for plain text; or as JSON with a field answer, as some prompts ask for.",
        )
        thoughts = thinking_choice()
    button = gr.Button("Score", variant="primary")
    figures_table = table(["figure", "percent", "no, E, E, E", "random", "images"], "Score")
    rows_table = table(["id", "role", "Q1", "Q2", "Q3", "Q4", "failure attribution"], "Images")
    files = gr.HTML()
    signature = signature_box()
    button.click(
        score,
        [*sources, parser_choice, thoughts],
        [figures_table, rows_table, signature, files],
        api_name="score",
    )

if __name__ == "__main__":
    page.launch(css=CSS)
