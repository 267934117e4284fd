"""`lookcheck score`: one subcommand per data set."""

from __future__ import annotations

from lookcheck.scripts import console
from lookcheck.scripts.score.perturbed_pope import perturbed_pope
from lookcheck.scripts.score.salart_vqa import salart_vqa
from lookcheck.scripts.score.vistaqa import vistaqa
from lookcheck.scripts.score.vqa import vqa

app = console.new_app("Score a model's answers; rows are joined by id, never by line.")

app.command("vistaqa")(vistaqa)
app.command("salart-vqa")(salart_vqa)
app.command("perturbed-pope")(perturbed_pope)
app.command("vqa")(vqa)


if __name__ == "__main__":
    console.run(app)
