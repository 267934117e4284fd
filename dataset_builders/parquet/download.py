"""A data set repository of the Hub as a local folder, at a commit that is recorded."""

from __future__ import annotations

from fnmatch import fnmatch
from pathlib import Path

from huggingface_hub import HfApi, snapshot_download
from huggingface_hub.errors import RepositoryNotFoundError

from lookcheck.dataset_builders.core.errors import InputError


def download(repository: str, revision: str, *, prefer: str | None = None) -> tuple[Path, str]:
    """Download a data set repository.

    Parameters
    ----------
    repository : str
        ``"org/name"``.
    revision : str
        Branch, tag or commit.
    prefer : str, optional
        Pattern of file names: if the repository has such files, only they are downloaded.

    Returns
    -------
    Path
        The snapshot in the cache of `huggingface_hub`.
    str
        The commit that `revision` stands for.

    Raises
    ------
    InputError
        If the repository can't be reached.
    """
    try:
        info = HfApi().dataset_info(repository, revision=revision)
        names = [file.rfilename for file in info.siblings or ()]
        only = [prefer] if prefer and any(fnmatch(name, prefer) for name in names) else None
        folder = snapshot_download(
            repository, repo_type="dataset", revision=str(info.sha), allow_patterns=only
        )
        return Path(folder), str(info.sha)
    except RepositoryNotFoundError:
        raise InputError(f"{repository}: no such data set on the Hub, or it needs a token") from None
    except Exception as error:
        # The errors of the HTTP library come through, and huggingface_hub has changed that library.
        reason = str(error).strip().splitlines() or [type(error).__name__]
        raise InputError(f"{repository} at {revision}: can't be downloaded ({reason[0]})") from None
