"""`lookcheck publish-metric`: a metric's folder becomes a Space that `evaluate.load` reads."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lookcheck.dataset_builders.core.errors import InputError
from lookcheck.dataset_builders.parquet.listing import MANIFEST
from lookcheck.scripts import console
from lookcheck.scripts.publish.hub import Upload, check_repo, publish


def publish_metric(
    metric: Annotated[str, typer.Argument(help="Name of a metric of lookcheck, or a metric's folder.")],
    to: Annotated[str, typer.Option("--to", help="Space on the Hub, ORG/NAME; NAME is the metric's name.")],
    public: Annotated[bool, typer.Option("--public", help="Everybody can see it.")] = False,
    replace: Annotated[
        bool, typer.Option("--replace", help="Put it in the place of files that lookcheck did not publish.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would go, and be lost.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
) -> None:
    """Upload a metric as a gradio Space, private unless --public.

    Example:

    \b
      lookcheck publish-metric grove --to ORG/grove --dry-run
    """
    check_repo(to)
    folder = find_metric(metric)
    name = to.split("/")[1]
    if name != folder.name:
        raise InputError(
            f"--to {to}: evaluate.load looks for {name}.py, so the Space must be named {folder.name}"
        )
    files: dict[str, Path | bytes] = {path: folder / path for path in list_files(folder)}
    listed = {"name": name, "files": sorted([*files, MANIFEST])}
    # So that a later upload knows which files are its own.
    files[MANIFEST] = (console.to_json(listed) + "\n").encode()
    upload = Upload(name, to, "space", not public, files, ("*.py",), replace)
    publish(upload, dry_run=dry_run, as_json=json)


def list_files(folder: Path) -> list[str]:
    """Files of a metric's folder: all but hidden and compiled ones, and none that is only a link."""
    found = []
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder)
        if path.is_dir() or path.suffix == ".pyc" or any(part.startswith(".") for part in name.parts):
            continue
        if path.is_symlink():
            raise InputError(f"{path}: is a link, not a file")
        found.append(name.as_posix())
    return found


def find_metric(metric: str) -> Path:
    """Find the folder of a metric and check that a Space has what it needs.

    Raises
    ------
    InputError
        Unknown name, or a folder that lacks a file.
    """
    import lookcheck.metrics

    home = Path(str(lookcheck.metrics.__file__)).parent
    known = sorted(path.name for path in home.iterdir() if (path / f"{path.name}.py").is_file())
    folder = home / metric if metric in known else Path(metric).resolve()
    if not folder.is_dir():
        raise InputError(f"{metric}: no such metric or folder; metrics: {', '.join(known)}")
    needed = (f"{folder.name}.py", "README.md", "app.py", "requirements.txt")
    lacks = [file for file in needed if not (folder / file).is_file()]
    if lacks:
        raise InputError(f"{metric}: not a whole metric folder, it lacks {', '.join(lacks)}")
    return folder


app = console.new_app("Publish a metric as a Space.")
app.command()(publish_metric)


if __name__ == "__main__":
    console.run(app)
