"""`lookcheck score`: one subcommand for each data set, and one for VQA's soft accuracy."""

from __future__ import annotations

from lookcheck.dataset_builders.registry import DATASETS
from lookcheck.scripts import console
from lookcheck.scripts.score.command import command_of
from lookcheck.scripts.score.vqa import SCORER as VQA

app = console.new_app("Score a model's answers; rows are joined by id, never by line.")

for item in DATASETS.values():
    app.command(item.scorer.command, short_help=f"Score answers to {item.title}.")(
        command_of(item.scorer, built=True)
    )
app.command(VQA.command, short_help="Score short answers to VQA.")(command_of(VQA, built=False))


if __name__ == "__main__":
    console.run(app)
