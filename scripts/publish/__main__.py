"""`lookcheck publish`: a built folder becomes a data set on the Hub."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any

import typer

from lookcheck.dataset_builders.core import jsonl
from lookcheck.dataset_builders.core.errors import InputError, IntegrityError
from lookcheck.dataset_builders.parquet.listing import PLACEHOLDER, extra_files
from lookcheck.dataset_builders.registry import DATASETS, data_set
from lookcheck.scripts import console
from lookcheck.scripts.publish.hub import Upload, check_repo
from lookcheck.scripts.publish.hub import publish as publish_upload


def publish(
    folder: Annotated[Path, typer.Option("--dataset", help="A folder written by lookcheck build.")],
    to: Annotated[str, typer.Option("--to", help="Repository on the Hub, ORG/NAME.")],
    public: Annotated[bool, typer.Option("--public", help="Everybody can see it.")] = False,
    rights: Annotated[
        bool, typer.Option("--i-have-the-rights", help="With --public, for data that states no licence.")
    ] = False,
    replace: Annotated[
        bool, typer.Option("--replace", help="Put it in the place of files that lookcheck did not publish.")
    ] = False,
    large_rows: Annotated[
        bool, typer.Option("--large-rows", help="Also rows of 3 MB or more, which the viewer does not show.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would go, and be lost.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
) -> None:
    """Upload a built folder as a data set, private unless --public.

    Files of an earlier upload that are not of this one are deleted; all others that lie there are kept.
    The same command after a broken upload ends whole. An existing public repository is refused
    without --public; an existing private one stays private.

    Example:

    \b
      lookcheck publish --dataset vistaqa --to ORG/VistaQA --dry-run
    """
    check_repo(to)
    manifest = read_built(folder)
    source = manifest.get("source")
    why = data_set(str(manifest.get("name")), folder).needs_rights(source if isinstance(source, dict) else {})
    if public and not rights and why:
        raise InputError(f"{why}: --public takes --i-have-the-rights; without --public it is private")
    refuse_faulty(folder, large_rows=large_rows, quiet=json)
    # Sound, so that it lists its files.
    listed = list(map(str, manifest["files"]))
    files: dict[str, Path | bytes] = {name: folder / name for name in listed}
    files["README.md"] = published_card(folder / "README.md", to)
    extra = extra_files(folder, listed)
    notes = [f"not of the build, and not uploaded: {', '.join(extra)}"] if extra else []
    upload = Upload(str(manifest["name"]), to, "dataset", not public, files, read_patterns(folder), replace)
    publish_upload(upload, dry_run=dry_run, as_json=json, notes=notes)


def published_card(card: Path, repo: str) -> bytes:
    """The card with the repository's name in place of the one that stands for it."""
    return re.sub(rf"\b{PLACEHOLDER}/[\w.-]+", repo, card.read_text(encoding="utf-8")).encode()


def read_patterns(folder: Path) -> tuple[str, ...]:
    """Patterns of the files that `load_dataset` reads."""
    from huggingface_hub import metadata_load

    found = metadata_load(folder / "README.md") or {}
    paths = [item["path"] for config in found["configs"] for item in config["data_files"]]
    return tuple(one for path in paths for one in ([path] if isinstance(path, str) else path))


def refuse_faulty(folder: Path, *, large_rows: bool, quiet: bool = False) -> None:
    """Refuse a folder in which `lookcheck check` finds a fault.

    Raises
    ------
    IntegrityError
        With every fault.
    """
    # `datasets` takes seconds to import: not for --help.
    from lookcheck.dataset_builders.parquet.check import check_folder

    with console.tracking(quiet=quiet) as track:
        faults = check_folder(folder, DATASETS, track).faults
    large = [fault for fault in faults if fault.rule == "row-size"]
    if len(large) < len(faults) or (large and not large_rows):
        hint = "; --large-rows publishes those of 3 MB all the same" if large and not large_rows else ""
        raise IntegrityError(str(folder), faults, hint)


def read_built(folder: Path) -> dict[str, Any]:
    """Read the manifest of a folder that looks built.

    Returns
    -------
    dict
        ``lookcheck.json``.

    Raises
    ------
    InputError
        Naming everything that the folder lacks.
    """
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder")
    card, manifest = folder / "README.md", folder / "lookcheck.json"
    lacks = []
    if not manifest.is_file():
        lacks.append("lookcheck.json")
    if not card.is_file():
        lacks.append("README.md")
    elif not _has_configs(card):
        lacks.append("configs in the YAML of README.md")
    if not any(folder.rglob("*.parquet")):
        lacks.append("a Parquet file")
    if lacks:
        raise InputError(f"{folder}: not a built folder, it lacks {', '.join(lacks)}")
    value = jsonl.read_json(manifest)
    if not isinstance(value, dict):
        raise InputError(f"{manifest}: expected an object")
    return value


def _has_configs(card: Path) -> bool:
    import yaml  # type: ignore[import-untyped]
    from huggingface_hub import metadata_load

    try:
        content = metadata_load(card)
    except (ValueError, yaml.YAMLError):
        return False
    return isinstance(content, dict) and bool(content.get("configs"))


app = console.new_app("Publish a built folder on the Hub.")
app.command()(publish)


if __name__ == "__main__":
    console.run(app)
