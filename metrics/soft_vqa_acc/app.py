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
METRIC = evaluate.load(str(Path(__file__).with_name("soft_vqa_acc.py")))

EXAMPLE_PREDICTIONS = """{"id": "q1", "prediction": "red apple"}
{"id": "q2", "prediction": "Sky blue."}"""
EXAMPLE_REFERENCES = """{"id": "q1", "answers": ["red apple", "apple", "a red apple", "the red apple"]}
{"id": "q2", "answers": ["blue", "sky blue", "light blue", "azure"]}"""


def types(labels: dict[str, dict[str, Any]], key: str) -> list[Any] | None:
    """The types of all questions, or None where no record has one."""
    values = [record.get(key) for record in labels.values()]
    return None if all(value is None for value in values) else values


def score(
    predictions: str,
    predictions_file: str | None,
    references: str,
    references_file: str | None,
    mode: str,
    exact_match: str,
) -> tuple[list[list[Any]], list[list[Any]], str]:
    """Score pasted or uploaded answers: figures in percent, one row for each question, the signature."""
    try:
        given = read_records("predictions", predictions, predictions_file, keys=("id", "question_id"))
        labels = read_records("references", references, references_file, keys=("id", "question_id"))
    except ValueError as error:
        raise gr.Error(str(error)) from None
    for key in given:
        if key not in labels:
            raise gr.Error(f"predictions: the id {key!r} is not in the references")
    answers = [
        [answer.get("answer") if isinstance(answer, dict) else answer for answer in record["answers"]]
        if isinstance(record.get("answers"), list)
        else record.get("answers")
        for record in labels.values()
    ]
    texts = [given[key].get("prediction", given[key].get("answer")) if key in given else "" for key in labels]
    try:
        # Not METRIC.compute: it keeps rows between calls, which two visitors at once would mix.
        result = METRIC._compute(
            texts,
            answers,
            ids=list(labels),
            mode=mode,
            exact_match=exact_match,
            question_types=types(labels, "question_type"),
            answer_types=types(labels, "answer_type"),
        )
    except ValueError as error:
        raise gr.Error(str(error)) from None
    figures = [
        ["soft accuracy", _percent(result["soft_vqa_acc"]), result["counts"]["n"]],
        ["exact match", _percent(result["exact_match"]), result["counts"]["n"]],
        ["missing answers", "", result["counts"]["missing"]],
        *(
            [f"always {policy['answer']!r}", _percent(policy["soft_vqa_acc"]), result["counts"]["n"]]
            for policy in result["baselines"].values()
        ),
    ]
    for kind in ("by_question_type", "by_answer_type"):
        for name, part in result[kind].items():
            figures.append([f"{kind[3:].replace('_', ' ')}: {name}", _percent(part["score"]), part["n"]])
    rows = [
        [row["id"], _percent(row["score"]), row["exact_match"], f"{row['matches']} of {row['annotators']}"]
        for row in result["per_sample"]
    ]
    return figures, rows, result["signature"]


def _percent(fraction: float) -> str:
    return f"{100 * fraction:.2f}"


with gr.Blocks(title="VQA soft accuracy") as page:
    gr.Markdown(
        "# VQA soft accuracy\n"
        "Paste or upload JSON or JSON Lines. Predictions: `id`, `prediction`. References: `id`, `answers`, "
        "and if known `question_type`, `answer_type`. A question without a prediction counts as missing."
    )
    with gr.Row():
        with gr.Column():
            predictions_box = gr.Textbox(EXAMPLE_PREDICTIONS, label="Predictions", lines=8)
            predictions_upload = gr.File(label="Predictions file", file_types=[".json", ".jsonl"])
        with gr.Column():
            references_box = gr.Textbox(EXAMPLE_REFERENCES, label="References", lines=8)
            references_upload = gr.File(label="References file", file_types=[".json", ".jsonl"])
    with gr.Row():
        mode_choice = gr.Radio(["official", "ungated", "simple"], value="official", label="Mode")
        rule_choice = gr.Radio(["any", "most_frequent"], value="any", label="Exact match with")
    button = gr.Button("Score", variant="primary")
    figures_table = gr.Dataframe(headers=["figure", "percent", "n"], label="Score")
    rows_table = gr.Dataframe(headers=["id", "percent", "exact match", "annotators"], label="Questions")
    signature_box = gr.Textbox(label="Signature", interactive=False)
    button.click(
        score,
        [predictions_box, predictions_upload, references_box, references_upload, mode_choice, rule_choice],
        [figures_table, rows_table, signature_box],
        api_name="score",
    )

if __name__ == "__main__":
    page.launch()
