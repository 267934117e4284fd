"""`lookcheck score`: one subcommand for each data set, and one for VQA's soft accuracy."""

from __future__ import annotations

from typing import Any

from typer.core import TyperGroup

from lookcheck.dataset_builders.registry import DATASETS
from lookcheck.scripts import console
from lookcheck.scripts.score.command import command_of
from lookcheck.scripts.score.runs import score_runs
from lookcheck.scripts.score.vqa import SCORER as VQA


class _RunsToo(TyperGroup):
    """Takes what is no command for folders of runs."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """See click."""
        # After the name of a command, or an option of the group itself, all is as always.
        if args and args[0] not in self.commands and (not args[0].startswith("-") or len(args) > 1):
            args = [RUNS, *args]
        return super().parse_args(ctx, args)


RUNS = "run-folders"

app = console.new_app(
    "Score a model's answers; rows are joined by id, never by line. lookcheck score RUN … takes folders of "
    "lookcheck predict.",
    order=_RunsToo,
)
app.command(RUNS, short_help="Score folders of lookcheck predict run.")(score_runs)

for item in DATASETS.values():
    app.command(item.scorer.command, short_help=f"Score answers to {item.title}.")(
        command_of(item.scorer, built=True)
    )
app.command(VQA.command, short_help="Score short answers to VQA.")(command_of(VQA, built=False))


if __name__ == "__main__":
    console.run(app)
