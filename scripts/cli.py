"""The `lookcheck` command: an explicit table of subcommands, each a module of its own."""

from __future__ import annotations

from importlib.metadata import version
from typing import Annotated

import typer
from typer.core import TyperGroup

from lookcheck.scripts import console
from lookcheck.scripts.build import __main__ as build
from lookcheck.scripts.check import check
from lookcheck.scripts.demo.__main__ import demo
from lookcheck.scripts.evaluate import evaluate
from lookcheck.scripts.judge import __main__ as judge
from lookcheck.scripts.models.torchvision_ops import define_when_imported
from lookcheck.scripts.predict import __main__ as predict
from lookcheck.scripts.protocols import protocols
from lookcheck.scripts.publish.__main__ import publish
from lookcheck.scripts.publish_metric import publish_metric
from lookcheck.scripts.score import __main__ as score
from lookcheck.scripts.view.__main__ import view


class _InTheOrderOfWork(TyperGroup):
    def list_commands(self, _context: object) -> list[str]:
        return list(ORDER)


ORDER = (
    "demo",
    "evaluate",
    "build",
    "check",
    "view",
    "protocols",
    "predict",
    "judge",
    "score",
    "publish",
    "publish-metric",
)

app = console.new_app(
    "Benchmarks and metrics that ask a vision-language model for the evidence.",
    order=_InTheOrderOfWork,
    add_completion=True,
)

app.command("demo", short_help="Score published answers, then the samples.")(demo)
app.command("evaluate", short_help="From a model to a table: predict, judge, score.")(evaluate)
app.add_typer(build.app, name="build", short_help="Build a data set of upstream files, or a sample.")
app.command("check", short_help="Check a built folder, row by row.")(check)
app.command("view", short_help="Look at a built folder: a page, a contact sheet.")(view)
app.command("protocols", short_help="List how models are asked.")(protocols)
app.add_typer(predict.app, name="predict", short_help="Ask a model a data set's questions.")
app.add_typer(judge.app, name="judge", short_help="Judge free-form answers with a language model.")
app.add_typer(score.app, name="score", short_help="Score files of answers, joined by id.")
app.command("publish", short_help="Upload a built folder as a data set.")(publish)
app.command("publish-metric", short_help="Upload a metric as a Space.")(publish_metric)


def _show_version(wanted: bool) -> None:
    if wanted:
        print(f"lookcheck {version('lookcheck')}")
        raise typer.Exit()


@app.callback()
def _options(
    _version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit."),
    ] = False,
) -> None:
    """Benchmarks and metrics that ask a vision-language model for the evidence."""


def main() -> None:
    """Entry point of the console command."""
    define_when_imported()
    console.run(app)


if __name__ == "__main__":
    main()
