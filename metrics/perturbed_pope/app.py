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
) -> tuple[Table, Table, Table, Table, str]:
    """Score pasted or uploaded answers: answers, changes, ranks, one row for each question, signature."""
    try:
        given = read_records("predictions", predictions, predictions_file)
        labels = read_records("references", references, references_file)
    except ValueError as error:
        raise gr.Error(str(error)) from None
    for key, record in given.items():
        if key not in labels:
            raise gr.Error(f"predictions: the id {key!r} is not in the references")
        if not any(name in record for name in ABSENT):
            raise gr.Error(f"predictions: the id {key!r} has none of the fields {', '.join(ABSENT)}")
    # What was never answered is wrong; neither rule may make something else of it.
    becomes = "official reads as yes" if parser == "official" else "drop leaves out"
    for key in labels:
        if (parser, unparsed) != ("strict", "wrong") and given.get(key, {}).get("text") is None:
            raise gr.Error(
                f'predictions: no text for the id {key!r}, which {becomes}; give "" if it is empty'
            )
    try:
        # The pure function behind the metric: it checks every row and names the one that is wrong.
        result = METRIC._compute(
            [prediction_of(given.get(key, {})) for key in labels],
            [reference_of(record) for record in labels.values()],
            ids=list(labels),
            parser=parser,
            unparsed=unparsed,
        )
    except ValueError as error:
        raise gr.Error(str(error)) from None
    answers, ranks = [], []
    for condition, splits in result["by_condition"].items():
        for split, figures in splits.items():
            policies = [result["baselines"][name][condition][split] for name in result["baselines"]]
            shares = [figures[name] for name in ("accuracy", "f1", "yes_ratio", "unknown_rate")]
            shares += [figures["unparsed_rate"], *(policy["accuracy"] for policy in policies)]
            answers.append([condition, split, figures["n"], *map(_percent, shares)])
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
    return answers, _changes(result), ranks, rows, result["signature"]


def _changes(result: dict[str, Any]) -> Table:
    rows = []
    for condition, splits in result["paired"].items():
        reliance = result["evidence_reliance"].get(condition, {"by_split": {}})["by_split"]
        for split, figures in splits.items():
            rows.append(
                [
                    *(condition, split, figures["n"], figures["unpaired"]),
                    _percent(figures["changed"]),
                    _percent(reliance[split]["share"]) if split in reliance else "–",
                    _number(figures["perturbed"]["margin_mean"]),
                    _number(figures["margin_shift_mean"]),
                    _percent(figures["margin_stays_positive"]),
                ]
            )
    return rows


def _percent(fraction: float | None) -> str:
    return "–" if fraction is None else f"{100 * fraction:.2f}"


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.4g}"


def _words(value: bool | None, true: str, false: str) -> str:
    return "–" if value is None else true if value else false


with gr.Blocks(title="Perturbed POPE") as page:
    gr.Markdown(
        "# Perturbed POPE: does the answer change when the evidence is gone?\n"
        "Paste or upload JSON or JSON Lines. Predictions: `id`, `text`, and if taken `logp_yes`, `logp_no`, "
        "`entity_rank`, `entity_prob`. References: `id`, `label`, `condition`, `split`, and on a perturbed "
        "row `parent_id`, the id of its original. A row without a prediction counts as wrong. Compare with "
        "the columns that never look: always yes, always no, and the answer to the original repeated."
    )
    with gr.Row():
        with gr.Column():
            predictions_box = gr.Textbox(EXAMPLE_PREDICTIONS, label="Predictions", lines=8)
            predictions_upload = gr.File(label="Predictions file", file_types=[".json", ".jsonl"])
        with gr.Column():
            references_box = gr.Textbox(EXAMPLE_REFERENCES, label="References", lines=8)
            references_upload = gr.File(label="References file", file_types=[".json", ".jsonl"])
    with gr.Row():
        parser_choice = gr.Radio(["strict", "official"], value="strict", label="Answers are read as")
        unparsed_choice = gr.Radio(["wrong", "drop"], value="wrong", label="Answers that can't be read are")
    button = gr.Button("Score", variant="primary")
    answers_table = gr.Dataframe(headers=ANSWERS, label="Answers, percent; the last three are accuracies")
    changes_table = gr.Dataframe(
        headers=CHANGES, label="Beside the original; shares in percent, margins in nats"
    )
    ranks_table = gr.Dataframe(headers=RANKS, label="Rank of the object in the open-ended answer")
    rows_table = gr.Dataframe(
        headers=["id", "condition", "label", "answer", "right?", "changed?", "margin", "margin shift"],
        label="Rows",
    )
    signature_box = gr.Textbox(label="Signature", interactive=False)
    button.click(
        score,
        [
            predictions_box,
            predictions_upload,
            references_box,
            references_upload,
            parser_choice,
            unparsed_choice,
        ],
        [answers_table, changes_table, ranks_table, rows_table, signature_box],
        api_name="score",
    )

if __name__ == "__main__":
    page.launch()
