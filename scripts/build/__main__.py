"""`lookcheck build`: one subcommand per data set."""

from __future__ import annotations

from lookcheck.scripts import console
from lookcheck.scripts.build.perturbed_pope import perturbed_pope
from lookcheck.scripts.build.salart_vqa import salart_vqa
from lookcheck.scripts.build.vistaqa import vistaqa

app = console.new_app("Build a data set as a folder that load_dataset reads and the Hub shows.")
app.command("vistaqa")(vistaqa)
app.command("salart-vqa")(salart_vqa)
app.command("perturbed-pope")(perturbed_pope)


@app.callback()
def _group() -> None:
    """Keep the name of the data set in the command even while there is only one."""


if __name__ == "__main__":
    console.run(app)
