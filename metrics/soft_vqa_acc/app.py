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
    missing: str = "wrong",
    thinking: str = "rule",
) -> tuple[list[list[Any]], list[list[Any]], str, str]:
    """Score pasted or uploaded answers: figures in percent, one row a question, the signature, files."""
    with complaints():
        given = read_records("predictions", predictions, predictions_file, keys=("id", "question_id"))
        labels = read_records("references", references, references_file, keys=("id", "question_id"))
        check_known(given, labels)
    answers = [
        [answer.get("answer") if isinstance(answer, dict) else answer for answer in record["answers"]]
        if isinstance(record.get("answers"), list)
        else record.get("answers")
        for record in labels.values()
    ]
    texts = [given[key].get("prediction", given[key].get("answer")) if key in given else "" for key in labels]
    with complaints(given, labels):
        # Not METRIC.compute: it keeps rows between calls, which two visitors at once would mix.
        result = METRIC._compute(
            texts,
            answers,
            ids=list(labels),
            mode=mode,
            exact_match=exact_match,
            missing=missing,
            thinking=thinking_of(thinking),
            question_types=types(labels, "question_type"),
            answer_types=types(labels, "answer_type"),
        )
    figures = [
        ["soft accuracy", percent(result["soft_vqa_acc"]), result["counts"]["n"]],
        ["exact match", percent(result["exact_match"]), result["counts"]["n"]],
        ["missing answers", "", result["counts"]["missing"]],
        *(
            [f"always {policy['answer']!r}", percent(policy["soft_vqa_acc"]), result["counts"]["n"]]
            for policy in result["baselines"].values()
        ),
    ]
    for kind in ("by_question_type", "by_answer_type"):
        for name, part in result[kind].items():
            figures.append([f"{kind[3:].replace('_', ' ')}: {name}", percent(part["score"]), part["n"]])
    rows = [
        [row["id"], percent(row["score"]), row["exact_match"], f"{row['matches']} of {row['annotators']}"]
        for row in result["per_sample"]
    ]
    return figures, rows, result["signature"], downloads("soft_vqa_acc", result)


with gr.Blocks(title="VQA soft accuracy") as page:
    heading(
        "VQA soft accuracy",
        "How many of the people who answered agree with the model? Paste or upload JSON or JSON Lines. A "
        "question without a prediction counts as missing. Compare with the rows *always …*, which never see "
        "the image.",
        "soft_vqa_acc",
        {"Paper": "https://arxiv.org/abs/1505.00468", "Data set": "https://visualqa.org/download.html"},
    )
    sources = inputs(
        ("id or question_id, prediction or answer", EXAMPLE_PREDICTIONS),
        ("id or question_id, answers, and if known question_type, answer_type", EXAMPLE_REFERENCES),
    )
    with gr.Row():
        mode_choice = gr.Radio(
            ["official", "ungated", "simple"],
            value="official",
            label="Mode",
            info="As the official script, which cleans no answer where all people agree; the same, always "
            "cleaned; or matches / 3, at most 1.",
        )
        rule_choice = gr.Radio(
            ["any", "most_frequent"],
            value="any",
            label="Exact match with",
            info="Any of the people's answers, or the one that most of them gave.",
        )
    with gr.Row():
        missing_choice = gr.Radio(
            ["wrong", "compared"],
            value="wrong",
            label="A missing answer is",
            info='Wrong, or compared as the text "", as the official script does.',
        )
        thoughts = thinking_choice()
    button = gr.Button("Score", variant="primary")
    figures_table = table(["figure", "percent", "n"], "Score")
    rows_table = table(["id", "percent", "exact match", "annotators"], "Questions")
    files = gr.HTML()
    signature = signature_box()
    button.click(
        score,
        [*sources, mode_choice, rule_choice, missing_choice, thoughts],
        [figures_table, rows_table, signature, files],
        api_name="score",
    )

if __name__ == "__main__":
    page.launch(css=CSS)
