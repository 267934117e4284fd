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
METRIC = evaluate.load(str(Path(__file__).with_name("perturbed_pope.py")))

NAN = float("nan")
ABSENT = {"text": "", "logp_yes": NAN, "logp_no": NAN, "entity_rank": 0, "entity_prob": NAN}
ANSWERS = ["condition", "split", "n", "accuracy", "F1", "yes", "unknown", "unparsed"]
ANSWERS += ["always yes", "always no", "copy the original"]
CHANGES = ["condition", "split", "pairs", "unpaired", "answer changed", "evidence reliance"]
CHANGES += ["margin", "margin shift", "stays positive"]
RANKS = ["condition", "split", "n", "MRR", "mean rank", "median rank", "mean probability"]
EXAMPLE_PREDICTIONS = """{"id": "q1", "text": "Yes", "logp_yes": -0.1, "logp_no": -2.6, "entity_rank": 3}
{"id": "q2", "text": "No.", "logp_yes": -3.0, "logp_no": -0.1}
{"id": "q1-mask", "text": "Yes", "logp_yes": -0.4, "logp_no": -1.4, "entity_rank": 40}
{"id": "q1-swap", "text": "unknown"}"""
EXAMPLE_REFERENCES = """{"id": "q1", "label": "yes", "condition": "original", "split": "random"}
{"id": "q2", "label": "no", "condition": "original", "split": "random"}
{"id": "q1-mask", "label": "yes", "condition": "black_mask", "parent_id": "q1", "split": "random"}
{"id": "q1-swap", "label": "no", "condition": "entity_swap", "parent_id": "q1", "split": "random"}"""

Table = list[list[Any]]


def prediction_of(record: dict[str, Any]) -> dict[str, Any]:
    """The metric's fields; what is absent or null was not taken."""
    return {name: absent if record.get(name) is None else record[name] for name, absent in ABSENT.items()}


def reference_of(record: dict[str, Any]) -> dict[str, Any]:
    """The metric's fields; the data set calls the label ``answer``, and an original needs no parent."""
    label = record["label"] if "label" in record else record.get("answer")
    parent = record.get("parent_id")
    return {
        "label": label,
        "condition": record.get("condition"),
        "parent_id": "" if parent is None else parent,
        "split": record.get("split"),
    }


def score(
    predictions: str,
    predictions_file: str | None,
    references: str,
    references_file: str | None,
    parser: str,
    unparsed: str,
    thinking: str = "rule",
) -> tuple[Table, Table, Table, Table, str, str]:
    """Score pasted or uploaded answers: answers, changes, ranks, one row a question, signature, files."""
    with complaints():
        given = read_records("predictions", predictions, predictions_file)
        labels = read_records("references", references, references_file)
        check_known(given, labels)
        for key, record in given.items():
            if not any(name in record for name in ABSENT):
                raise ValueError(
                    f"{given.where(key)}: the id {key!r} has none of the fields {', '.join(ABSENT)}"
                )
    # What was never answered is wrong; neither rule may make something else of it.
    becomes = "official reads as yes" if parser == "official" else "drop leaves out"
    with complaints(given, labels):
        for key in labels:
            if (parser, unparsed) != ("strict", "wrong") and given.get(key, {}).get("text") is None:
                raise ValueError(f'no text for the id {key!r}, which {becomes}; give "" if it is empty')
        # The pure function behind the metric: it checks every row and names the one that is wrong.
        result = METRIC._compute(
            [prediction_of(given.get(key, {})) for key in labels],
            [reference_of(record) for record in labels.values()],
            ids=list(labels),
            parser=parser,
            unparsed=unparsed,
            # Rows without a text are looked after above; "" is what the model said.
            missing="parsed",
            thinking=thinking_of(thinking),
        )
    answers, ranks = [], []
    for condition, splits in result["by_condition"].items():
        for split, figures in splits.items():
            policies = [result["baselines"][name][condition][split] for name in result["baselines"]]
            shares = [figures[name] for name in ("accuracy", "f1", "yes_ratio", "unknown_rate")]
            shares += [figures["unparsed_rate"], *(policy["accuracy"] for policy in policies)]
            answers.append([condition, split, figures["n"], *map(percent, shares)])
            if figures["counts"]["ranks"]:
                numbers = [figures[name] for name in ("mrr", "mean_rank", "median_rank", "mean_probability")]
                ranks.append([condition, split, figures["counts"]["ranks"], *map(_number, numbers)])
    rows = [
        [
            row["id"],
            row["condition"],
            row["label"],
            row["answer"] or "unparsed",
            _words(row["correct"], "right", "wrong"),
            _words(row["changed"], "changed", "same"),
            _number(row["margin"]),
            _number(row["margin_shift"]),
        ]
        for row in result["per_sample"]
    ]
    return answers, _changes(result), ranks, rows, result["signature"], downloads("perturbed_pope", result)


def _changes(result: dict[str, Any]) -> Table:
    rows = []
    for condition, splits in result["paired"].items():
        reliance = result["evidence_reliance"].get(condition, {"by_split": {}})["by_split"]
        for split, figures in splits.items():
            rows.append(
                [
                    *(condition, split, figures["n"], figures["unpaired"]),
                    percent(figures["changed"]),
                    percent(reliance[split]["share"]) if split in reliance else "–",
                    _number(figures["perturbed"]["margin_mean"]),
                    _number(figures["margin_shift_mean"]),
                    percent(figures["margin_stays_positive"]),
                ]
            )
    return rows


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.4g}"


def _words(value: bool | None, true: str, false: str) -> str:
    return "–" if value is None else true if value else false


with gr.Blocks(title="Perturbed POPE") as page:
    heading(
        "Perturbed POPE: does the answer change when the evidence is gone?",
        "Paste or upload JSON or JSON Lines. On a perturbed row `parent_id` is the id of its original. A row "
        "without a prediction counts as wrong. Compare with the columns that never look: always yes, always "
        "no, and the answer to the original repeated.",
        "perturbed_pope",
        {
            "Paper": "https://arxiv.org/abs/2605.22903",
            "POPE's paper": "https://arxiv.org/abs/2305.10355",
            "Data set": dataset("perturbed_pope"),
        },
    )
    sources = inputs(
        ("id, text, and if taken logp_yes, logp_no, entity_rank, entity_prob", EXAMPLE_PREDICTIONS),
        ("id, label or answer, condition, split, parent_id", EXAMPLE_REFERENCES),
    )
    with gr.Row():
        parser_choice = gr.Radio(
            ["strict", "official"],
            value="strict",
            label="Answers are read as",
            info="Exactly one of yes, no and unknown; or as POPE's script does, where all but no means yes.",
        )
        unparsed_choice = gr.Radio(
            ["wrong", "drop"],
            value="wrong",
            label="Answers that can't be read are",
            info="Wrong, or left out of every share.",
        )
        thoughts = thinking_choice()
    button = gr.Button("Score", variant="primary")
    answers_table = table(ANSWERS, "Answers, percent; the last three are accuracies")
    changes_table = table(CHANGES, "Beside the original; shares in percent, margins in nats")
    ranks_table = table(RANKS, "Rank of the object in the open-ended answer")
    rows_table = table(
        ["id", "condition", "label", "answer", "right?", "changed?", "margin", "margin shift"], "Rows"
    )
    files = gr.HTML()
    signature = signature_box()
    button.click(
        score,
        [*sources, parser_choice, unparsed_choice, thoughts],
        [answers_table, changes_table, ranks_table, rows_table, signature, files],
        api_name="score",
    )

if __name__ == "__main__":
    page.launch(css=CSS)
