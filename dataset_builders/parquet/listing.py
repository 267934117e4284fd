"""What lies in a folder: in a few words, and whether a build wrote it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from pathlib import Path

from lookcheck.dataset_builders.core.errors import InputError

MANIFEST = "lookcheck.json"
# Stands in the cards for the organisation that publishes; `publish` knows it.
PLACEHOLDER = "ORG"


def describe_files(folder: Path, files: Iterable[Path]) -> str:
    """What lies in a folder in which nothing was understood: how many files of each kind, and where.

    Examples
    --------
    >>> describe_files(Path("a"), [Path("a/data/1.json"), Path("a/data/2.json")])
    '2 × data/*.json'
    """
    kinds = Counter((path.parent.relative_to(folder).as_posix(), path.suffix) for path in files)
    shown = [f"{count} × {place}/*{suffix}" for (place, suffix), count in sorted(kinds.items())]
    return ", ".join(shown) or "no file"


def refuse_unbuilt(folder: Path) -> None:
    """Refuse what is no folder, or has nothing of a built one.

    Raises
    ------
    InputError
    """
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder")
    if not (folder / MANIFEST).is_file() and not any(folder.glob("data/*.parquet")):
        raise InputError(f"{folder}: not a folder written by lookcheck build, it lacks {MANIFEST}")


def refuse_inside_built(output: Path) -> None:
    """Refuse a place inside a built folder, whose files are published.

    Raises
    ------
    InputError
    """
    for parent in output.absolute().parents:
        if (parent / MANIFEST).is_file():
            raise InputError(
                f"{output}: lies inside the built folder {parent}, and would be published with it"
            )


def extra_files(folder: Path, listed: Collection[str]) -> list[str]:
    """Files and links that lie in a built folder and are not of the build; none that is hidden."""
    paths = ((path, path.relative_to(folder)) for path in sorted(folder.rglob("*")))
    return [
        name.as_posix()
        for path, name in paths
        if (path.is_symlink() or not path.is_dir())
        and not any(part.startswith(".") for part in name.parts)
        and name.as_posix() not in listed
    ]
