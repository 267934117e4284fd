"""Write a whole folder, or nothing."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from glob import escape
from importlib.metadata import version
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from lookcheck.dataset_builders.core.errors import InputError
from lookcheck.dataset_builders.core.interrupts import interrupts_held
from lookcheck.dataset_builders.core.permissions import make_readable
from lookcheck.dataset_builders.core.processes import Track, no_track, ordered_map, process_pool
from lookcheck.dataset_builders.parquet.card import count_columns, digest_of, render_card, render_eval
from lookcheck.dataset_builders.parquet.listing import MANIFEST, refuse_inside_built
from lookcheck.dataset_builders.parquet.plan import Finished, FolderPlan, ShardGroup
from lookcheck.dataset_builders.parquet.shards import UNFINISHED, ShardWriter

BUILDING = ".building-"
LOCK = "lock"


def refuse_output(output: Path) -> None:
    """Refuse an output folder that can't be written or holds something already.

    Raises
    ------
    InputError
    """
    refuse_inside_built(output)
    if output.is_dir() and not any(output.iterdir()):
        return
    if output.is_dir():
        raise InputError(f"{output}: the folder is not empty; name a new one")
    if output.exists() or output.is_symlink():
        raise InputError(f"{output}: exists and is not a folder")
    if not output.absolute().parent.is_dir():
        raise InputError(f"{output}: the folder {output.absolute().parent} does not exist")


def write_folder(
    plan: FolderPlan, output: Path, *, num_proc: int = 1, track: Track = no_track
) -> dict[str, Any]:
    """Write the folder of a plan.

    The files grow in a hidden folder beside `output`, under names that `load_dataset` does not
    read, and the folder gets its name in the last step.

    Parameters
    ----------
    plan : FolderPlan
    output : Path
        New or empty folder.
    num_proc : int
        Processes that make rows; the files are the same for any number.
    track : callable
        Shows progress, see `mapping.Track`.

    Returns
    -------
    dict
        What ``lookcheck.json`` holds.

    Raises
    ------
    InputError
        If `output` is not empty.
    """
    refuse_output(output)
    target = output.absolute()
    _remove_left(target)
    work, lock = None, None
    try:
        with interrupts_held():
            work = Path(tempfile.mkdtemp(prefix=f".{target.name}{BUILDING}", dir=target.parent))
            lock = FileLock(work / LOCK)
            lock.acquire(blocking=False)
        (work / "data").mkdir()
        pictures: dict[str, int] = {}
        large: list[str] = []
        shards: dict[str, dict[Path, Path]] = {}
        with process_pool(num_proc) as pool:
            for group in plan.groups:
                for stem, finished in group.finished.items():
                    shards[stem] = _take_over(finished, work / "data")
                    pictures[stem] = finished.picture_bytes
                    large += finished.large_rows
                if group.finished:
                    continue
                made = _write_group(group, work / "data", num_proc, pool, track)
                shards |= {stem: names for stem, (_, names) in made.items()}
                pictures |= {
                    stem: writer.picture_bytes for stem, (writer, _) in made.items() if writer.repeated_images
                }
                large += [id for writer, _ in made.values() for id in writer.large_rows]
        manifest = _describe(plan, work, shards, pictures, sorted(set(large)))
        make_readable(work)
        for names in shards.values():
            for unfinished, final in names.items():
                unfinished.rename(final)
        lock.release()
        (work / LOCK).unlink(missing_ok=True)
        work.rename(target)
    except BaseException:
        if lock is not None:
            lock.release()
        if work is not None:
            shutil.rmtree(work, ignore_errors=True)
        raise
    return manifest


def _take_over(finished: Finished, folder: Path) -> dict[Path, Path]:
    """Shards of an earlier build under unfinished names, without a second copy where the disk allows it."""
    names = {}
    for path in finished.paths:
        unfinished = folder / f"{path.stem}{UNFINISHED}"
        try:
            os.link(path, unfinished)
        except OSError:
            shutil.copyfile(path, unfinished)
        names[unfinished] = folder / path.name
    return names


def _remove_left(target: Path) -> None:
    """Remove what killed builds of the same folder left; one that still runs holds its lock."""
    for left in target.parent.glob(f".{escape(target.name)}{BUILDING}*"):
        lock = FileLock(left / LOCK)
        try:
            lock.acquire(blocking=False)
        except (Timeout, OSError):
            continue
        lock.release()
        shutil.rmtree(left, ignore_errors=True)


def _write_group(
    group: ShardGroup, folder: Path, num_proc: int, pool: ProcessPoolExecutor | None, track: Track
) -> dict[str, tuple[ShardWriter, dict[Path, Path]]]:
    step = track(f"writing {', '.join(group.columns)}", len(group.jobs))
    writers = {
        stem: ShardWriter(folder, stem, columns, group.repeated_images.get(stem, ()))
        for stem, columns in group.columns.items()
    }
    try:
        for found in ordered_map(group.make, group.jobs, min(num_proc, len(group.jobs)), pool):
            for stem, rows in found.items():
                for row in rows:
                    writers[stem].write(row)
            step()
        made = {stem: (writer, writer.finish()) for stem, writer in writers.items()}
        if group.digest and group.digest != digest_of(path for _, names in made.values() for path in names):
            stems = ", ".join(group.columns)
            raise InputError(
                f"{stems}: these are not the rows of the earlier build, whose others can't be taken over"
            )
        return made
    except BaseException:
        for writer in writers.values():
            writer.abandon()
        raise


def _describe(
    plan: FolderPlan,
    work: Path,
    shards: Mapping[str, Mapping[Path, Path]],
    pictures: Mapping[str, int],
    large: Sequence[str],
) -> dict[str, Any]:
    paths = {stem: list(names) for stem, names in shards.items()}
    features = {stem: columns for group in plan.groups for stem, columns in group.columns.items()}
    counts = {
        config.name: {
            split: count_columns([path for stem in stems for path in paths[stem]], features[stems[0]])
            for split, stems in config.splits.items()
        }
        for config in plan.configs
    }
    manifest: dict[str, Any] = {
        "name": plan.name,
        "version": plan.version,
        "lookcheck": version("lookcheck"),
        "source": dict(plan.source),
        "options": dict(plan.options),
        "declared": dict(plan.declared),
        "built": counts,
        # Those that are published; nothing else that comes to lie in the folder is.
        "files": sorted(
            [
                MANIFEST,
                "README.md",
                *(["eval.yaml"] if plan.eval_tasks else []),
                *(f"data/{path.name}" for names in shards.values() for path in names.values()),
            ]
        ),
    }
    if large:
        manifest["large_rows"] = list(large)
    if pictures:
        manifest["stored"] = {
            config.name: {
                split: {
                    "bytes": sum(path.stat().st_size for stem in stems for path in paths[stem]),
                    "picture_bytes": sum(pictures[stem] for stem in stems),
                }
                for split, stems in config.splits.items()
            }
            for config in plan.configs
            if all(stem in pictures for stems in config.splits.values() for stem in stems)
        }
    _write(work / MANIFEST, json.dumps(manifest, indent=2, ensure_ascii=False) + "\n")
    digests = {
        config.name: digest_of(
            path for stems in config.splits.values() for stem in stems for path in paths[stem]
        )
        for config in plan.configs
    }
    _write(work / "README.md", render_card(plan, counts, digests, manifest.get("stored")))
    if plan.eval_tasks:
        _write(work / "eval.yaml", render_eval(plan))
    return manifest


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", newline="\n")
