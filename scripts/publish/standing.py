"""What stands in a repository of the Hub before an upload, and what the upload does to it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lookcheck.dataset_builders.core.errors import InputError
from lookcheck.dataset_builders.core.jsonl import read_json
from lookcheck.dataset_builders.parquet.listing import MANIFEST

if TYPE_CHECKING:
    from huggingface_hub import HfApi


@dataclass(frozen=True)
class Standing:
    """What lies in a repository.

    Attributes
    ----------
    private : bool
    files : frozenset of str
        All but hidden ones, which the Hub itself makes.
    ours : frozenset of str
        Those that an earlier upload of the same name wrote.
    """

    private: bool
    files: frozenset[str]
    ours: frozenset[str]


@dataclass(frozen=True)
class Changes:
    """What an upload does to the files that lie there.

    Attributes
    ----------
    deleted : tuple of str
        Of an earlier upload of ours, and not of this one.
    foreign : tuple of str
        Not ours, and in the way: of a name that is uploaded, or one that is read along with what is.
    kept : tuple of str
        Not ours, and left alone.
    """

    deleted: tuple[str, ...] = ()
    foreign: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()


def look(api: HfApi, repo: str, repo_type: str, name: str) -> Standing | None:
    """Ask the Hub what lies in a repository; None if there is none that the token may see.

    Parameters
    ----------
    api : HfApi
    repo, repo_type : str
    name : str
        Of what is to be uploaded, as ``lookcheck.json`` has it.
    """
    from huggingface_hub.errors import RepositoryNotFoundError

    try:
        found = api.repo_info(repo, repo_type=repo_type)
    except RepositoryNotFoundError:
        return None
    names = api.list_repo_files(repo, repo_type=repo_type, revision=found.sha)
    files = frozenset(path for path in names if not any(part.startswith(".") for part in path.split("/")))
    ours: Collection[Any] = ()
    if MANIFEST in files:
        try:
            manifest = read_json(
                Path(api.hf_hub_download(repo, MANIFEST, repo_type=repo_type, revision=found.sha))
            )
        except InputError:
            manifest = None
        if isinstance(manifest, dict) and manifest.get("name") == name:
            listed = manifest.get("files")
            ours = listed if isinstance(listed, list) else ()
    return Standing(bool(found.private), files, files.intersection(str(path) for path in ours))


def changes(standing: Standing, uploaded: Collection[str], read: Sequence[str]) -> Changes:
    """What uploading files does to those that lie there.

    Parameters
    ----------
    standing : Standing
    uploaded : collection of str
    read : sequence of str
        Patterns of the files that whoever loads the repository reads.

    Examples
    --------
    >>> there = Standing(True, frozenset({"a.py", "b.py", "c.md", "d.py"}), frozenset({"a.py", "b.py"}))
    >>> changes(there, ["a.py"], ["*.py"])
    Changes(deleted=('b.py',), foreign=('d.py',), kept=('c.md',))
    """
    others = sorted(standing.files - standing.ours)
    foreign = [path for path in others if path in uploaded or any(fnmatch(path, one) for one in read)]
    return Changes(
        tuple(sorted(standing.ours.difference(uploaded))),
        tuple(foreign),
        tuple(path for path in others if path not in foreign),
    )
