"""One upload: what it holds, where it goes, and what the Hub says to it in one sentence.

The upload itself, its retries and its resuming are huggingface_hub's: files whose content the Hub
already has are not sent again, so the same command repeated after a break ends whole.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from rich.table import Table
from rich.text import Text

from lookcheck.dataset_builders.core.errors import InputError
from lookcheck.scripts import console
from lookcheck.scripts.publish.standing import Changes, Standing, changes, look


@dataclass(frozen=True)
class Upload:
    """What goes to the Hub.

    Attributes
    ----------
    name : str
        Of the data set or metric.
    repo : str
        ``"ORG/NAME"``.
    repo_type : str
        ``"dataset"`` or ``"space"``.
    private : bool
        Visibility of a repository that has to be made.
    files : mapping of str to Path or bytes
        From the path in the repository to the file, or to what it holds.
    read : tuple of str
        Patterns of the files that whoever loads the repository reads.
    replace : bool
        Whether files of others that are in the way may go.
    """

    name: str
    repo: str
    repo_type: str
    private: bool
    files: Mapping[str, Path | bytes]
    read: tuple[str, ...]
    replace: bool = False

    @property
    def sizes(self) -> dict[str, int]:
        """Bytes of each file, by path."""
        return {
            path: len(item) if isinstance(item, bytes) else item.stat().st_size
            for path, item in sorted(self.files.items())
        }

    def report(self, changed: Changes) -> dict[str, object]:
        """The same for machines, with what becomes of the files that lie there."""
        return {
            "repo": self.repo,
            "repo_type": self.repo_type,
            "visibility": self._visibility,
            "bytes": sum(self.sizes.values()),
            "files": [{"path": path, "bytes": size} for path, size in self.sizes.items()],
            "deleted": list(changed.deleted),
            "replaced": list(changed.foreign),
            "kept": list(changed.kept),
        }

    @property
    def _visibility(self) -> str:
        return "private" if self.private else "public"

    def table(self) -> Table:
        """The same for people."""
        sizes = self.sizes
        table = Table(title=f"{self.repo_type} {self.repo} ({self._visibility})", show_footer=True)
        table.add_column("file", f"{len(sizes):,} files", overflow="fold")
        table.add_column("bytes", f"{sum(sizes.values()):,}", justify="right")
        for path, size in sizes.items():
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


def send(upload: Upload, changed: Changes, standing: Standing | None) -> tuple[str, str | None]:
    """Make the repository if it is not there, and upload all in one commit.

    Returns
    -------
    url : str
        Of the repository.
    note : str or None
        What the person should know about its visibility.

    Raises
    ------
    InputError
        A refusal by the Hub, a broken connection, or a public repository where a private one was asked for.
    """
    from huggingface_hub import CommitOperationAdd, CommitOperationDelete, HfApi
    from huggingface_hub.utils import disable_progress_bars  # type: ignore[attr-defined]

    if not console.stderr.is_terminal:
        disable_progress_bars()
    api = HfApi()
    note = None
    with _one_sentence(api.endpoint, upload.repo):
        if standing is None:
            sdk = "gradio" if upload.repo_type == "space" else None
            api.create_repo(
                upload.repo, repo_type=upload.repo_type, private=upload.private, exist_ok=True, space_sdk=sdk
            )
            # A private repository may have been invisible, and `private` is ignored if it exists.
            standing = look(api, upload.repo, upload.repo_type, upload.name)
        private = standing is None or standing.private
        if upload.private and not private:
            raise InputError(f"{upload.repo} is public and a private upload was asked for: say --public")
        if private and not upload.private:
            note = f"{upload.repo} is private and stays so: change that in its settings on the Hub"
        gone = [path for path in (*changed.deleted, *changed.foreign) if path not in upload.files]
        api.create_commit(
            upload.repo,
            [
                *(CommitOperationAdd(path, item) for path, item in sorted(upload.files.items())),
                *(CommitOperationDelete(path) for path in gone),
            ],
            repo_type=upload.repo_type,
            commit_message="Publish with lookcheck",
        )
    prefix = {"dataset": "datasets/", "space": "spaces/"}[upload.repo_type]
    return f"{api.endpoint}/{prefix}{upload.repo}", note


def publish(upload: Upload, *, dry_run: bool, as_json: bool, notes: Sequence[str] = ()) -> None:
    """Show the upload and what it does to the files that lie there, then do it unless it is a dry run.

    Raises
    ------
    InputError
        No token, a refusal by the Hub, or files of others in the way.
    """
    from huggingface_hub import HfApi, get_token

    token = get_token()
    if token and not (token.isascii() and token.isprintable()):
        raise InputError("the token of HF_TOKEN or `hf auth login` has a character that no token has")
    if not token and not dry_run:
        raise InputError("no token: set HF_TOKEN or run `hf auth login`")
    api, standing, notes = HfApi(), None, list(notes)
    try:
        with _one_sentence(api.endpoint, upload.repo):
            standing = look(api, upload.repo, upload.repo_type, upload.name)
    except InputError as error:
        if not dry_run:
            raise
        notes.append(f"what lies there is not known: {error}")
    changed = Changes() if standing is None else changes(standing, upload.files, upload.read)
    if changed.foreign and not upload.replace and not dry_run:
        raise InputError(
            f"{upload.repo}: holds {_few(changed.foreign)}, which lookcheck did not publish there and which "
            "would be lost or read along with this upload; --replace puts the upload in its place"
        )
    if not as_json:
        console.stdout.print(upload.table())
        taken = "replaced" if upload.replace else "in the way, refused without --replace"
        about = (("deleted", changed.deleted), (taken, changed.foreign), ("kept", changed.kept))
        for what, paths in about:
            if paths:
                console.stdout.print(Text(f"{what} there: {', '.join(paths)}"))
        for note in notes:
            console.stdout.print(Text(f"note: {note}"))
    report = {**upload.report(changed), "notes": notes}
    if dry_run:
        if as_json:
            print(console.to_json({**report, "uploaded": False}))
        return
    url, visibility = send(upload, changed, standing)
    if as_json:
        print(console.to_json({**report, "uploaded": True, "url": url, "note": visibility}))
        return
    if visibility:
        print(f"note: {visibility}")
    print(f"{len(upload.files):,} files are at {url}")


def _few(paths: Sequence[str]) -> str:
    return ", ".join(paths[:5]) + (f" and {len(paths) - 5:,} more" if len(paths) > 5 else "")


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
