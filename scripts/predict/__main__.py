"""`lookcheck predict`: run a model on a data set, and see what it is asked."""

from __future__ import annotations

from lookcheck.scripts import console
from lookcheck.scripts.predict.benchmark import benchmark
from lookcheck.scripts.predict.importing.command import import_answers
from lookcheck.scripts.predict.run import run
from lookcheck.scripts.predict.show import show

app = console.new_app("Ask a model a data set's questions, by the papers' protocols.")

app.command("run", short_help="From a model's name to predictions.")(run)
app.command("import", short_help="A run of answers made elsewhere.")(import_answers)
app.command("show", short_help="The exact prompt of one row.")(show)
app.command("benchmark", short_help="How fast a device answers.")(benchmark)

if __name__ == "__main__":
    console.run(app)
