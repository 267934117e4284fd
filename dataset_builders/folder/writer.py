"""Write a whole folder, or nothing."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from importlib.metadata import version
from pathlib import Path
from typing import Any

from lookcheck.dataset_builders.errors import InputError
from lookcheck.dataset_builders.folder.card import count_columns, render_card, render_eval
from lookcheck.dataset_builders.folder.mapping import Track, no_track, ordered_map
from lookcheck.dataset_builders.folder.plan import FolderPlan, Part
from lookcheck.dataset_builders.folder.shards import ShardWriter

MANIFEST = "lookcheck.json"


def refuse_output(output: Path) -> None:
    """Refuse an output folder that can't be written or holds something already.

    Raises
    ------
    InputError
    """
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
    work = Path(tempfile.mkdtemp(prefix=f".{target.name}.building-", dir=target.parent))
    try:
        (work / "data").mkdir()
        shards = {part.stem: _write_part(part, work / "data", num_proc, track) for part in plan.parts}
        manifest = _describe(plan, work, {stem: list(names) for stem, names in shards.items()})
        # mkdtemp makes folders private; a data set is meant to be read.
        umask = os.umask(0)
        os.umask(umask)
        work.chmod(0o777 & ~umask)
        for names in shards.values():
            for unfinished, final in names.items():
                unfinished.rename(final)
        work.rename(target)
    except BaseException:
        shutil.rmtree(work, ignore_errors=True)
        raise
    return manifest


def _write_part(part: Part, folder: Path, num_proc: int, track: Track) -> dict[Path, Path]:
    step = track(f"writing {part.stem}", len(part.jobs))
    writer = ShardWriter(folder, part.stem, part.features, part.repeated_images)
    try:
        for row in ordered_map(part.make, part.jobs, min(num_proc, len(part.jobs))):
            writer.write(row)
            step()
        return writer.finish()
    except BaseException:
        writer.abandon()
        raise


def _describe(plan: FolderPlan, work: Path, paths: dict[str, list[Path]]) -> dict[str, Any]:
    features = {part.stem: part.features for part in plan.parts}
    counts = {
        config.name: {
            split: count_columns([path for stem in stems for path in paths[stem]], features[stems[0]])
            for split, stems in config.splits.items()
        }
        for config in plan.configs
    }
    manifest = {
        "name": plan.name,
        "version": plan.version,
        "lookcheck": version("lookcheck"),
        "source": dict(plan.source),
        "options": dict(plan.options),
        "declared": dict(plan.declared),
        "built": counts,
    }
    _write(work / MANIFEST, json.dumps(manifest, indent=2, ensure_ascii=False) + "\n")
    sizes = {stem: sum(path.stat().st_size for path in written) for stem, written in paths.items()}
    _write(work / "README.md", render_card(plan, counts, sizes))
    if plan.eval_tasks:
        _write(work / "eval.yaml", render_eval(plan))
    return manifest


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", newline="\n")
