"""Making what a file of rows does not hold yet: rows on the disk as they come, whoever is killed."""

from __future__ import annotations

import glob
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Generic, Protocol, TypeVar

from lookcheck.scripts.models.processes import Processes, Share
from lookcheck.scripts.models.store import Header, Row, RowFile, RowFormat, compare_headers
from lookcheck.scripts.models.watch import Watch

WorkRow = TypeVar("WorkRow", bound=Mapping[str, object])


class Work(Protocol[WorkRow]):
    """What is to be made, the same in every process of a run.

    Attributes
    ----------
    order : sequence of str
        Ids of the rows in the order in which parts of several processes are merged, and in which a
        finished file may be put.
    """

    @property
    def order(self) -> Sequence[str]: ...

    def ready(self, done: Mapping[str, WorkRow]) -> list[WorkRow]:
        """Rows that need no model and are not in `done`."""

    def failed(self, row: WorkRow) -> bool:
        """Whether the row says only that its request failed."""

    def left(self, done: Mapping[str, WorkRow]) -> int:
        """How many rows the model has still to make, over all processes."""

    def make(
        self, done: Mapping[str, WorkRow], share: Share, say: Callable[[str], None]
    ) -> Iterator[list[WorkRow]]:
        """Finished rows that are not in `done`, of this process's share, as they come.

        `done` grows while rows are made: read it before the first row is yielded.
        """


class Resumable(Generic[Row]):
    """A file of rows, continued by whichever run has the same header.

    Several processes write a part each beside the file; when all are done, the first merges the parts
    by id. It holds the lock of the file all the time.

    Parameters
    ----------
    path : Path
    form : RowFormat
    header : Header
    retry : bool
        Make rows again whose earlier request failed.
    in_order : bool
        Put the finished file into the order of the work, so that it is the same whatever happened on the
        way.
    """

    def __init__(
        self, path: Path, form: RowFormat[Row], header: Header, *, retry: bool, in_order: bool = False
    ) -> None:
        self._path, self._form, self._header = path, form, header
        self._retry, self._in_order = retry, in_order

    def run(self, work: Work[Row], processes: Processes, watch: Watch) -> dict[str, Row]:
        """Make what the file does not hold yet.

        Returns
        -------
        dict of str to row
            All rows of the file by id; in a process that is not the first, its own.

        Raises
        ------
        InputError
            If the file is not to be continued, or a back end gives up.
        OSError
            If the disk is full; the next run goes on from there.
        """
        if not processes.many:
            with RowFile(self._path, self._form, self._header) as file:
                self._begin(file, work, watch)
                _make(file, file.rows, work, Share(), watch)
                self._end(file, work)
                return file.rows
        with ExitStack() as stack:

            def begun() -> RowFile[Row]:
                file = stack.enter_context(RowFile(self._path, self._form, self._header))
                self._begin(file, work, watch)
                return file

            main = processes.in_first(begun)
            done = main.rows if main is not None else self._read()
            with RowFile(self._part_path(processes.share), self._form, self._header) as part:
                _make(part, done, work, processes.share, watch)
            processes.wait()
            if main is None:
                return part.rows
            self._absorb(main, work)
            self._end(main, work)
            return main.rows

    def _begin(self, file: RowFile[Row], work: Work[Row], watch: Watch) -> None:
        """Take over what an earlier run left, then write the rows that need no model."""
        if file.repaired:
            watch.say(f"{self._path}: cut off {file.repaired:,} bytes of an unfinished last line")
        if file.rows:
            watch.say(f"{self._path}: going on after {len(file.rows):,} rows")
        self._absorb(file, work)
        failed = {id for id, row in file.rows.items() if work.failed(row)}
        if self._retry and failed:
            watch.say(f"{self._path}: asking again about {len(failed):,} rows that failed")
            file.drop(failed)
        file.append(work.ready(file.rows))

    def _end(self, file: RowFile[Row], work: Work[Row]) -> None:
        if self._in_order:
            file.finish(work.order)

    def _absorb(self, file: RowFile[Row], work: Work[Row]) -> None:
        """Merge the parts of several processes into the file, in the order of the work; delete them."""
        pattern = re.compile(re.escape(self._path.name) + r"\.part\d+of\d+")
        paths = sorted(self._path.parent.glob(f"{glob.escape(self._path.name)}.part*"))
        parts = [path for path in paths if pattern.fullmatch(path.name)]
        found: dict[str, Row] = {}
        for path in parts:
            data = path.read_bytes()
            whole = data[: data.rfind(b"\n") + 1]
            if whole:
                old, rows = self._form.parse(whole, path)
                if old is not None:
                    compare_headers(old, self._header, path, self._form.made, self._form.remedy)
                found.update(rows)
        file.append([found[id] for id in work.order if id in found and id not in file.rows])
        for path in parts:
            path.unlink()
            path.with_name(f"{path.name}.lock").unlink(missing_ok=True)

    def _read(self) -> dict[str, Row]:
        data = self._path.read_bytes()
        return self._form.parse(data, self._path)[1] if data else {}

    def _part_path(self, share: Share) -> Path:
        return self._path.with_name(f"{self._path.name}.part{share.rank + 1}of{share.world}")


def _make(file: RowFile[Row], done: Mapping[str, Row], work: Work[Row], share: Share, watch: Watch) -> None:
    watch.start(-(-work.left(done) // share.world))
    for rows in work.make(done, share, watch.say):
        file.append(rows)
        watch.advance(len(rows))
