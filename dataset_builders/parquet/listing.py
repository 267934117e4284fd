"""What lies in a folder, in a few words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path


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
