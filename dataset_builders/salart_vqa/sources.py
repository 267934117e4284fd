"""Where the images come from: a source gives jobs and says what it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from lookcheck.dataset_builders.core.errors import InputError
from lookcheck.dataset_builders.dataset import Source
from lookcheck.dataset_builders.parquet.listing import describe_files
from lookcheck.dataset_builders.salart_vqa import constants
from lookcheck.dataset_builders.salart_vqa.layouts import COLUMNS, Found, read_jsonl_layout, read_parquet
from lookcheck.dataset_builders.salart_vqa.rows import ChainJob

# Files of a Hub repository whose images stand in Parquet; without these the whole repository is taken.
_PARQUET = "*.parquet"


@dataclass(frozen=True)
class SalArtSource(Source[ChainJob]):
    """Images in the order of the source; the declared counts are those of the whole SalArt-VQA if not given.

    What is described: kind, repository, revision, layout, and the columns that were left out because
    nothing is known of them.
    """

    declared: Mapping[str, Any] = field(default_factory=lambda: constants.DECLARED)


def hub_source(repository: str, revision: str, workspace: Path) -> SalArtSource:
    """Download a data set repository and find the images in it; the commit is recorded.

    Parameters
    ----------
    repository : str
        ``"org/name"``.
    revision : str
        Branch, tag or commit.
    workspace : Path
        As for `folder_source`.

    Raises
    ------
    InputError
        If the repository can't be reached or holds no images that are understood.
    """
    # Starts a client of HTTP: not for those who only read a folder.
    from lookcheck.dataset_builders.parquet.download import download

    folder, commit = download(repository, revision, prefer=_PARQUET)
    found = folder_source(folder, workspace, f"{repository} at {commit}")
    described = {**found.described, "kind": "hub", "repository": repository, "revision": commit}
    return replace(found, described=described)


def folder_source(folder: Path, workspace: Path, name: str | None = None) -> SalArtSource:
    """Find the images below a folder, in either layout; Parquet goes before JSON Lines.

    Parameters
    ----------
    folder : Path
        Holds Parquet with upstream's columns, or one ``.jsonl`` whose ``image_path`` and
        ``q3_overlay_image_path`` lead to pictures.
    workspace : Path
        Pictures of Parquet files are unpacked here; must outlive the build.
    name : str, optional
        What messages call the folder.

    Raises
    ------
    InputError
        Listing what was found and what was expected.
    """
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder")
    files = [path for path in sorted(folder.rglob("*")) if path.is_file() and not _hidden(path, folder)]
    tables = [path for path in files if path.suffix == ".parquet"]
    lines = [path for path in files if path.suffix == ".jsonl"]
    if tables:
        return _source(read_parquet(tables, workspace), "parquet")
    if len(lines) == 1:
        return _source(read_jsonl_layout(lines[0], folder), "jsonl")
    raise InputError(
        f"{name or folder}: no images found; expected Parquet with the columns {', '.join(COLUMNS)}, or one "
        f".jsonl with image_path and q3_overlay_image_path; found {describe_files(folder, files)}"
    )


def _source(found: Found, layout: str) -> SalArtSource:
    described: dict[str, Any] = {"kind": "folder", "layout": layout}
    if found.left_out:
        described["columns_left_out"] = list(found.left_out)
    return SalArtSource(found.jobs, described)


def _hidden(path: Path, folder: Path) -> bool:
    return any(part.startswith(".") for part in path.relative_to(folder).parts)
