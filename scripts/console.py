"""What every subcommand shares at the terminal: errors in one line, exit codes, output files."""

from __future__ import annotations

import io
import json
import os
import signal
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import typer
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from typer.core import TyperGroup

from lookcheck.dataset_builders.core.errors import InputError
from lookcheck.dataset_builders.core.permissions import make_readable
from lookcheck.dataset_builders.core.printable import printable
from lookcheck.dataset_builders.core.processes import Track

EXIT_INPUT = 2
EXIT_BUG = 1
EXIT_INTERRUPTED = 130

# A figure that is cut is worse than a line that wraps: never narrower than the tables are drawn for.
NARROWEST = 80

stdout = Console(soft_wrap=True)
if stdout.width < NARROWEST:
    stdout.width = NARROWEST
stderr = Console(stderr=True, soft_wrap=True)


def new_app(
    help_text: str, *, order: type[TyperGroup] = TyperGroup, add_completion: bool = False
) -> typer.Typer:
    """A typer application with this project's settings."""
    return typer.Typer(
        cls=order,
        help=help_text,
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        add_completion=add_completion,
        context_settings={"help_option_names": ["-h", "--help"]},
        # The boxes of rich cut option names and defaults at 80 columns, and keep line breaks of the source.
        rich_markup_mode=None,
    )


def run(app: Callable[[], Any]) -> None:
    """Run a typer application; bad input ends with one sentence on stderr and exit code 2.

    ``LOOKCHECK_DEBUG=1`` in the environment lets the traceback through.
    """
    for stream in (sys.stdout, sys.stderr):
        # A terminal that knows ASCII only gets question marks rather than no figures at all.
        if isinstance(stream, io.TextIOWrapper) and stream.encoding.lower().replace("-", "") != "utf8":
            stream.reconfigure(errors="replace")
    with _kill_as_exit():
        _run(app)


def _run(app: Callable[[], Any]) -> None:
    if os.environ.get("LOOKCHECK_DEBUG") == "1":
        app()
        return
    try:
        app()
    except InputError as error:
        _fail(f"error: {error}", EXIT_INPUT)
    except KeyboardInterrupt:
        _fail("interrupted", EXIT_INTERRUPTED)
    except BrokenPipeError:
        # The reader of our pipe (head, less) has gone; that is its right.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(0) from None
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        _fail(f"error: {place}{error.strerror or error}", EXIT_INPUT)
    except Exception as error:
        _fail(
            f"internal error: {type(error).__name__}: {error} (a bug; LOOKCHECK_DEBUG=1 shows the traceback)",
            EXIT_BUG,
        )


@contextmanager
def _kill_as_exit() -> Iterator[None]:
    """Inside the block an ordinary kill ends as an exit does: what was begun is cleaned up.

    The handler goes with the block. Left in place, processes forked later would inherit it, and the
    pools of other libraries, which end their workers by this signal, would wait for them for ever.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, _end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before if before is not None else signal.SIG_DFL)


def _end(number: int, _frame: object) -> None:
    raise SystemExit(128 + number)


def _fail(message: str, code: int) -> None:
    # Plain print: rich would read square brackets of user data as markup.
    print(message, file=sys.stderr)
    raise SystemExit(code) from None


def progress(*, quiet: bool = False) -> Progress:
    """A progress display on stderr with count, rate and time left; silent when stderr is no terminal."""
    return Progress(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        RateColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        console=stderr,
        disable=quiet or not stderr.is_terminal,
    )


@contextmanager
def tracking(*, quiet: bool = False) -> Iterator[Track]:
    """Show the bar of one stage at a time; gives what `write_folder` takes as `track`."""
    with progress(quiet=quiet) as bars:

        def track(description: str, total: int) -> Callable[[], None]:
            for earlier in bars.task_ids:
                bars.update(earlier, visible=False)
            task = bars.add_task(description, total=total)
            return lambda: bars.advance(task)

        yield track


class RateColumn(TextColumn):
    """Steps per second."""

    def __init__(self) -> None:
        super().__init__("")

    def render(self, task: Any) -> Any:
        speed = task.finished_speed or task.speed
        return TextColumn("" if speed is None else f"{speed:,.1f}/s").render(task)


def check_outputs(
    outputs: Sequence[Path],
    inputs: Sequence[Path | None] = (),
    kinds: Sequence[str] = (".json", ".csv"),
    option: str = "--output",
) -> None:
    """Refuse an output of unknown kind, or one that would overwrite an input; call it before the work."""
    for path in outputs:
        for given in inputs:
            if given is not None and path.exists() and given.exists() and path.samefile(given):
                raise InputError(f"{path}: {option} would overwrite the input {given}")
        if path.suffix not in kinds:
            named = ", ".join(kinds[:-1]) + f" or {kinds[-1]}"
            raise InputError(f"{path}: {option} takes a name ending in {named}")


def write_text(path: Path, text: str) -> None:
    """Write a file whole or not at all."""
    if not path.parent.is_dir():
        raise InputError(f"{path}: the folder {path.parent} does not exist")
    try:
        handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    except OSError as error:
        # The temporary name would say nothing to whoever gave the other.
        raise InputError(f"{path}: can't be written: {error.strerror or error}") from None
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
        make_readable(Path(temporary))
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def print_reasons(what: str, reasons: Counter[str], most: int = 5) -> None:
    """Print how often each reason was given, the commonest first; the others are counted together."""
    shown = reasons.most_common(most)
    for reason, count in shown:
        print(f"  {what}, {count:,}: {printable(reason)}")
    if others := reasons.total() - sum(count for _, count in shown):
        print(f"  {what}, {others:,}: for other reasons")


def to_json(value: Any) -> str:
    """Compact, stable JSON for machines; NaN becomes null, which JSON can hold."""
    return json.dumps(_plain(value), ensure_ascii=False, allow_nan=False)


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if hasattr(value, "item") and not isinstance(value, str | bytes):
        value = value.item()
    if isinstance(value, float) and value != value:
        return None
    return value
