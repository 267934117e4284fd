"""The `lookcheck` command: an explicit table of subcommands, each a module of its own."""

from __future__ import annotations

from lookcheck.scripts import console
from lookcheck.scripts.build import __main__ as build
from lookcheck.scripts.check import check
from lookcheck.scripts.demo.__main__ import demo
from lookcheck.scripts.judge import __main__ as judge
from lookcheck.scripts.publish.__main__ import publish
from lookcheck.scripts.publish_metric import publish_metric
from lookcheck.scripts.score import __main__ as score
from lookcheck.scripts.view.__main__ import view

app = console.new_app("Benchmarks and metrics that ask a vision-language model for the evidence.")

app.command("demo")(demo)
app.add_typer(build.app, name="build")
app.command("check")(check)
app.command("publish")(publish)
app.command("publish-metric")(publish_metric)
app.add_typer(score.app, name="score")
app.add_typer(judge.app, name="judge")
app.command("view")(view)


def main() -> None:
    """Entry point of the console command."""
    console.run(app)


if __name__ == "__main__":
    main()
