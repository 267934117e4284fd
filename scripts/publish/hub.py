"""One upload: what it holds, where it goes, and what the Hub says to it in one sentence.

The upload itself, its retries and its resuming are huggingface_hub's: files whose content the Hub
already has are not sent again, so the same command repeated after a break ends whole.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from rich.table import Table
from rich.text import Text

from lookcheck.dataset_builders.core.errors import InputError
from lookcheck.scripts import console

IGNORE = ("__pycache__/*", "*/__pycache__/*", "*.pyc", ".*", "*/.*")


@dataclass(frozen=True)
class Upload:
    """What goes to the Hub.

    Attributes
    ----------
    folder : Path
        Its files go to the root of the repository.
    repo : str
        ``"ORG/NAME"``.
    repo_type : str
        ``"dataset"`` or ``"space"``.
    private : bool
        Visibility of a repository that has to be made.
    files : tuple of (str, int)
        Path inside the folder and size in bytes, sorted by path.
    replaced : tuple of str
        Patterns: files of the repository that match and are not in the folder are deleted, so that
        shards or modules of an earlier version are not read along with the new ones.
    """

    folder: Path
    repo: str
    repo_type: str
    private: bool
    files: tuple[tuple[str, int], ...]
    replaced: tuple[str, ...]

    @property
    def bytes(self) -> int:
        """Size of all files."""
        return sum(size for _, size in self.files)

    def report(self) -> dict[str, object]:
        """The same for machines."""
        return {
            "repo": self.repo,
            "repo_type": self.repo_type,
            "visibility": "private" if self.private else "public",
            "bytes": self.bytes,
            "files": [{"path": path, "bytes": size} for path, size in self.files],
        }

    def table(self) -> Table:
        """The same for people."""
        visibility = "private" if self.private else "public"
        table = Table(title=f"{self.repo_type} {self.repo} ({visibility})", show_footer=True)
        table.add_column("file", f"{len(self.files):,} files", overflow="fold")
        table.add_column("bytes", f"{self.bytes:,}", justify="right")
        for path, size in self.files:
            # As text: rich would read square brackets of a name as markup.
            table.add_row(Text(path), f"{size:,}")
        return table


def check_repo(repo: str) -> None:
    """Refuse what is not ``ORG/NAME``.

    Raises
    ------
    InputError
        With the reason that huggingface_hub gives.

    Examples
    --------
    >>> check_repo("org/VistaQA")
    >>> check_repo("VistaQA")
    Traceback (most recent call last):
    ...
    lookcheck.dataset_builders.core.errors.InputError: --to VistaQA: expected ORG/NAME
    """
    from huggingface_hub.errors import HFValidationError
    from huggingface_hub.utils import validate_repo_id  # type: ignore[attr-defined]

    if repo.count("/") != 1:
        raise InputError(f"--to {repo}: expected ORG/NAME")
    try:
        validate_repo_id(repo)
    except HFValidationError as error:
        raise InputError(f"--to {repo}: {error}") from None


def list_files(folder: Path) -> tuple[tuple[str, int], ...]:
    """Files of a folder that are uploaded, with their sizes: all but hidden and compiled ones."""
    from huggingface_hub.utils import filter_repo_objects  # type: ignore[attr-defined]

    paths = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    kept = filter_repo_objects(paths, ignore_patterns=list(IGNORE))
    return tuple((path, (folder / path).stat().st_size) for path in kept)


def send(upload: Upload) -> tuple[str, str | None]:
    """Make the repository if it is not there, and upload.

    Returns
    -------
    url : str
        Of the repository.
    note : str or None
        What the person should know about its visibility.

    Raises
    ------
    InputError
        No token, a refusal by the Hub, a broken connection, or a public repository where a private
        one was asked for.
    """
    from huggingface_hub import HfApi, get_token
    from huggingface_hub.errors import RepositoryNotFoundError
    from huggingface_hub.utils import disable_progress_bars  # type: ignore[attr-defined]

    if not get_token():
        raise InputError("no token: set HF_TOKEN or run `hf auth login`")
    if not console.stderr.is_terminal:
        disable_progress_bars()
    api = HfApi()
    note = None
    with _one_sentence(api.endpoint, upload.repo):
        try:
            found = api.repo_info(upload.repo, repo_type=upload.repo_type)
        except RepositoryNotFoundError:
            sdk = "gradio" if upload.repo_type == "space" else None
            api.create_repo(
                upload.repo, repo_type=upload.repo_type, private=upload.private, exist_ok=True, space_sdk=sdk
            )
            # A private repository may have been invisible, and `private` is ignored if it exists.
            found = api.repo_info(upload.repo, repo_type=upload.repo_type)
        if upload.private and not found.private:
            raise InputError(f"{upload.repo} is public and a private upload was asked for: say --public")
        if found.private and not upload.private:
            note = f"{upload.repo} is private and stays so: change that in its settings on the Hub"
        api.upload_folder(
            repo_id=upload.repo,
            repo_type=upload.repo_type,
            folder_path=upload.folder,
            ignore_patterns=list(IGNORE),
            delete_patterns=list(upload.replaced),
            commit_message="Publish with lookcheck",
        )
    prefix = {"dataset": "datasets/", "space": "spaces/"}[upload.repo_type]
    return f"{api.endpoint}/{prefix}{upload.repo}", note


def publish(upload: Upload, *, dry_run: bool, as_json: bool) -> None:
    """Show the upload, then do it unless it is a dry run."""
    if not as_json:
        console.stdout.print(upload.table())
    if dry_run:
        if as_json:
            print(console.to_json({**upload.report(), "uploaded": False}))
        return
    url, note = send(upload)
    if as_json:
        print(console.to_json({**upload.report(), "uploaded": True, "url": url, "note": note}))
        return
    if note:
        print(f"note: {note}")
    print(f"{len(upload.files):,} files are at {url}")


@contextmanager
def _one_sentence(endpoint: str, repo: str) -> Iterator[None]:
    """Turn what goes wrong at the Hub into an :class:`InputError` without headers, and so without a token."""
    from huggingface_hub.errors import HfHubHTTPError, OfflineModeIsEnabled

    # The HTTP library below huggingface_hub has changed before: ask for the base of its own error.
    http_error: type[Exception] = HfHubHTTPError.__bases__[0]

    host = urlsplit(endpoint).hostname or endpoint
    again = "; the same command goes on where it stopped"
    try:
        yield
    except InputError:
        raise
    except (http_error, OfflineModeIsEnabled, RuntimeError, OSError) as error:
        for cause in _causes(error):
            if isinstance(cause, OfflineModeIsEnabled):
                raise InputError(f"{repo}: HF_HUB_OFFLINE is set, so nothing can be uploaded") from None
            if isinstance(cause, http_error):
                response = getattr(cause, "response", None)
                if response is not None:
                    meaning = f"{response.status_code} ({_meaning(response.status_code)})"
                    raise InputError(f"{repo}: {host} answered {meaning}{again}") from None
                # Its text is left out: a malformed header is quoted there whole.
                kind = type(cause).__name__
                raise InputError(f"{repo}: no connection to {host}, or it broke ({kind}){again}") from None
        raise


def _causes(error: BaseException) -> Sequence[BaseException]:
    chain = [error]
    while (cause := chain[-1].__cause__ or chain[-1].__context__) is not None and cause not in chain:
        chain.append(cause)
    return chain


def _meaning(status: int) -> str:
    known = {
        401: "the token is not valid there",
        403: "not allowed: the token may not write there, or an upload link has expired",
        404: "there is no such repository or organisation",
        429: "too many requests, wait",
    }
    return known.get(status, "a fault of the server" if status >= 500 else "the request was refused")
