"""Judging what a verdict file does not hold yet: rows on the disk as they come, whoever is killed."""

from __future__ import annotations

import glob
import re
from contextlib import ExitStack
from pathlib import Path

from lookcheck.dataset_builders.core.verdict_file import (
    FAILED,
    JudgeHeader,
    VerdictRow,
    parse_verdicts,
    status_of,
)
from lookcheck.scripts.judge.backend import Backend, Share
from lookcheck.scripts.judge.plan import Plan, copies, row_of
from lookcheck.scripts.judge.processes import Processes
from lookcheck.scripts.judge.verdict_writer import VerdictFile, compare_headers
from lookcheck.scripts.judge.watch import Watch


def judge_plan(
    plan: Plan,
    backend: Backend,
    header: JudgeHeader,
    output: Path,
    *,
    method: str,
    retry: bool,
    processes: Processes,
    watch: Watch,
) -> dict[str, VerdictRow]:
    """Judge what `output` does not hold yet.

    Several processes write a part each beside `output`; when all are done, the first merges the parts
    by id. It holds the lock of `output` all the time.

    Parameters
    ----------
    plan : Plan
    backend : Backend
    header : JudgeHeader
    output : Path
    method : str
        ``logprob`` or ``generate``; goes into the rows.
    retry : bool
        Ask again where an earlier request failed.
    processes : Processes
    watch : Watch

    Returns
    -------
    dict of str to VerdictRow
        All rows of the file by id; in a process that is not the first, its own.

    Raises
    ------
    InputError
        If the file is not to be continued, or the back end gives up.
    OSError
        If the disk is full; the next run goes on from there.
    """
    if not processes.many:
        with VerdictFile(output, header) as file:
            _begin(file, plan, output, header, watch, retry=retry)
            _judge(file, file.rows, plan, backend, method, Share(), watch)
            return file.rows
    with ExitStack() as stack:
        main: VerdictFile | None = None
        failure: Exception | None = None
        if processes.first:
            try:
                main = stack.enter_context(VerdictFile(output, header))
                _begin(main, plan, output, header, watch, retry=retry)
            except Exception as error:
                # Raised below: the other processes wait to hear of it.
                failure = error
        processes.agree(failure is not None)
        if failure is not None:
            raise failure
        done = main.rows if main is not None else parse_verdicts(output.read_bytes(), output)[1]
        with VerdictFile(_part_path(output, processes.share), header) as part:
            _judge(part, done, plan, backend, method, processes.share, watch)
        processes.wait()
        if main is None:
            return part.rows
        _absorb(main, plan, output, header)
        return main.rows


def _begin(
    file: VerdictFile, plan: Plan, output: Path, header: JudgeHeader, watch: Watch, *, retry: bool
) -> None:
    """Take over what an earlier run left, then write the rows that need no model."""
    if file.repaired:
        watch.say(f"{output}: cut off {file.repaired:,} bytes of an unfinished last line")
    if file.rows:
        watch.say(f"{output}: going on after {len(file.rows):,} rows")
    _absorb(file, plan, output, header)
    failed = {id for id, row in file.rows.items() if status_of(row) == FAILED}
    if retry and failed:
        watch.say(f"{output}: asking again about {len(failed):,} rows that failed")
        file.drop(failed)
    file.append([row for row in plan.direct if row["id"] not in file.rows])
    for first, *others in plan.samples:
        if first.id in file.rows:
            # A run may have been killed between a row and its copies.
            missing = [other for other in others if other.id not in file.rows]
            file.append(copies(file.rows[first.id], missing))


def _judge(
    file: VerdictFile,
    done: dict[str, VerdictRow],
    plan: Plan,
    backend: Backend,
    method: str,
    share: Share,
    watch: Watch,
) -> None:
    wanted = {index for index, samples in enumerate(plan.samples) if samples[0].id not in done}
    left = sum(len(plan.samples[index]) for index in wanted)
    watch.start(-(-left // share.world))
    for judged in backend.judge(plan.triples, wanted, share, watch.say):
        rows: list[VerdictRow] = []
        for index, judgement in judged:
            first, *others = plan.samples[index]
            row = row_of(first, judgement, method)
            rows += [row, *copies(row, others)]
        file.append(rows)
        watch.advance(len(rows))


def _absorb(file: VerdictFile, plan: Plan, output: Path, header: JudgeHeader) -> None:
    """Merge the parts of several processes into the file, in the order of the plan, and delete them."""
    pattern = re.compile(re.escape(output.name) + r"\.part\d+of\d+")
    paths = sorted(output.parent.glob(f"{glob.escape(output.name)}.part*"))
    parts = [path for path in paths if pattern.fullmatch(path.name)]
    found: dict[str, VerdictRow] = {}
    for path in parts:
        data = path.read_bytes()
        whole = data[: data.rfind(b"\n") + 1]
        if whole:
            old, rows = parse_verdicts(whole, path)
            compare_headers(old, header, path)
            found.update(rows)
    order = [sample.id for samples in plan.samples for sample in samples]
    file.append([found[id] for id in order if id in found and id not in file.rows])
    for path in parts:
        path.unlink()
        path.with_name(f"{path.name}.lock").unlink(missing_ok=True)


def _part_path(output: Path, share: Share) -> Path:
    return output.with_name(f"{output.name}.part{share.rank + 1}of{share.world}")
