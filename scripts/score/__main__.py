"""`lookcheck score`: one subcommand per data set."""

from __future__ import annotations

from lookcheck.scripts import console

app = console.new_app("Score a model's answers; rows are joined by id, never by line.")


if __name__ == "__main__":
    console.run(app)
