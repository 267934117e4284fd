"""What the pages of all metrics share: links, text and files as input, complaints with a line, downloads.

This file stands in every metric's folder, byte for byte the same, because a Space has nothing else. Change
one and copy it to the others; a test compares them.
"""

from __future__ import annotations

import csv
import io
import json
from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from html import escape
from pathlib import Path
from typing import Any

import gradio as gr

ORGANISATION = "ORGANISATION"
"""A placeholder for the account that will hold Spaces and data sets; the page says so while it is one."""

MOST_SHOWN = 100_000
"""Characters of an uploaded file that its box shows; all of it is scored."""

CSS = """
.gradio-container {--block-info-text-color: var(--body-text-color)}
.gradio-container main {max-width: 1100px; margin: 0 auto !important}
.gradio-container main {width: 100%; min-width: 0; box-sizing: border-box}
.gradio-container a {text-decoration: underline}
.prose {overflow-wrap: anywhere}
.table-wrap th *, .table-wrap td * {overflow-wrap: normal !important; word-break: normal !important}
.downloads {display: flex; flex-wrap: wrap; gap: 12px; margin: 4px 0}
.downloads a {border: 1px solid var(--border-color-primary); border-radius: 6px; padding: 8px 14px}
.toast-body, .toast-text {overflow-wrap: anywhere}
@media (max-width: 640px) {
  .gradio-container main {padding: 12px 8px !important}
  .prose h1 {font-size: 1.4rem !important}
  .row > *, .form > * {flex: 1 1 100% !important}
  .table-wrap td, .table-wrap th {font-size: 0.8rem}
  .table-wrap td:first-child, .table-wrap th:first-child {max-width: 130px; min-width: 0 !important}
}
"""


def heading(title: str, text: str, name: str, links: Mapping[str, str]) -> None:
    """Title, explanation and links; the README is that of the Space `name`."""
    readme = f"https://huggingface.co/spaces/{ORGANISATION}/{name}/blob/main/README.md"
    shown = " · ".join(f"[{label}]({address})" for label, address in {**links, "README": readme}.items())
    if "ORGANISATION" in shown:
        shown += "  \nORGANISATION stands for an account that is not public yet; links with it lead nowhere."
    gr.Markdown(f"# {title}\n{text}\n\n{shown}")


def dataset(name: str) -> str:
    """The address of a data set."""
    return f"https://huggingface.co/datasets/{ORGANISATION}/{name}"


def inputs(predictions: tuple[str, str], references: tuple[str, str]) -> list[Any]:
    """A box and an upload for each side, given its explanation and an example; an upload fills its box."""
    found: list[Any] = []
    with gr.Row():
        for name, (info, example) in (("Predictions", predictions), ("References", references)):
            with gr.Column(min_width=280):
                box = gr.Textbox(example, label=name, info=info, lines=8, max_lines=12)
                upload = gr.File(
                    label=f"{name} file, instead of the text",
                    file_types=[".json", ".jsonl"],
                    height=140,
                )
                upload.change(partial(_show, name), upload, box, api_visibility="private")
                found += [box, upload]
    return found


def _show(name: str, path: str | None) -> Any:
    """The box of an uploaded file: its text, which can't be edited, under the file's name."""
    if path is None:
        return gr.Textbox("", label=name, interactive=True)
    with Path(path).open(encoding="utf-8-sig", errors="replace") as file:
        text, more = file.read(MOST_SHOWN), file.read(1)
    part = f", the first {MOST_SHOWN:,} characters; all of it is scored" if more else ""
    return gr.Textbox(text, label=f"{name}: {Path(path).name}{part}", interactive=False)


@contextmanager
def complaints(*sources: Any) -> Iterator[None]:
    """Show a ValueError on the page, with the line on which a row that it names stands in the records."""
    try:
        yield
    except ValueError as error:
        said = str(error)
        key = next((key for records in sources for key in records if f"id {key!r}" in said), None)
        where = [records.where(key) for records in sources if key in records]
        # It stays until it is closed: it may have to be read beside a long text. It is shown as HTML.
        raise gr.Error(
            escape(": ".join(["; ".join(where), said] if where else [said]), quote=False),
            duration=None,
            print_exception=False,
        ) from None


def check_known(given: Any, labels: Any) -> None:
    """Refuse a prediction whose id no reference has."""
    for key in given:
        if key not in labels:
            raise ValueError(f"{given.where(key)}: the id {key!r} is not in the references")


def downloads(name: str, result: Mapping[str, Any]) -> str:
    """Links that hold the files themselves: nothing of a visitor's is kept on the server."""
    rows: Sequence[Mapping[str, Any]] = result["per_sample"]
    table = io.StringIO()
    writer = csv.writer(table, lineterminator="\n")
    writer.writerow(rows[0])
    for row in rows:
        values = row.values()
        writer.writerow(json.dumps(value) if isinstance(value, list | dict) else value for value in values)
    whole = json.dumps(result, ensure_ascii=False, allow_nan=False, indent=1)
    files = (
        ("Rows (CSV)", f"{name}_rows.csv", "text/csv", table.getvalue()),
        ("Rows (JSON)", f"{name}_rows.json", "application/json", json.dumps(rows, ensure_ascii=False)),
        ("Everything (JSON)", f"{name}.json", "application/json", whole),
    )
    links = [
        f'<a download="{file}" href="data:{kind};base64,{b64encode(text.encode()).decode()}">{label}</a>'
        for label, file, kind, text in files
    ]
    return f'<div class="downloads">{"".join(links)}</div>'


def percent(fraction: float | None) -> str:
    """A fraction in percent; a dash where there is nothing to divide by."""
    return "–" if fraction is None else f"{100 * fraction:.2f}"


def thinking_choice() -> Any:
    """The option for traces of thoughts; :func:`thinking_of` reads it."""
    return gr.Radio(
        [("as the rule above does", "rule"), ("taken off", "strip"), ("kept", "keep")],
        value="rule",
        label="Thoughts before an answer are",
        info="<think>…</think> and its kind. Rules that copy an official script keep them, the others don't.",
    )


def thinking_of(choice: str) -> str | None:
    """The metric's option for a choice of :func:`thinking_choice`."""
    return None if choice == "rule" else choice


def table(headers: Sequence[str], label: str) -> Any:
    """A table of results that scrolls within itself where it is wider than the screen."""
    return gr.Dataframe(headers=list(headers), label=label, interactive=False, max_height=420, wrap=True)


def signature_box() -> Any:
    """Where the signature stands, to be copied."""
    return gr.Textbox(
        label="Signature",
        info="What was computed; quote it beside the figures.",
        interactive=False,
        buttons=["copy"],
        lines=2,
    )
