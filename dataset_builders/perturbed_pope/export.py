"""What an editor elsewhere needs to make the swaps: pictures, masks, words and a manifest."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from PIL import Image

from lookcheck.dataset_builders.core.errors import InputError
from lookcheck.dataset_builders.core.images import load
from lookcheck.dataset_builders.core.processes import Track, no_track
from lookcheck.dataset_builders.perturbed_pope.perturbations import image_key, seed_of
from lookcheck.dataset_builders.perturbed_pope.sources import PopeSource
from lookcheck.dataset_builders.perturbed_pope.swap_rules import SwapJob, SwapPlan
from lookcheck.dataset_builders.perturbed_pope.swaps import Swaps

CONDITION = "entity_swap"


def export_swaps(source: PopeSource, folder: Path, *, num_proc: int = 1, track: Track = no_track) -> int:
    """Write what an editor needs for each object that is there, asked for and no supporting surface.

    ``pictures/`` has the photographs, ``masks/`` what may change in them (white), ``edited/`` is empty: the
    editor writes there what a line of ``manifest.jsonl`` calls ``file``. The manifest is the one that
    `edited.read_edited` reads; ``donor`` is the word for what is to be put there: unrelated to the object,
    and neither shown in the photograph nor asked for it. ``picture`` and ``mask`` are paths below `folder`.

    Parameters
    ----------
    source : PopeSource
        Checked.
    folder : Path
        New.
    num_proc : int
        Processes.
    track : callable
        Shows progress.

    Returns
    -------
    int
        Number of lines.

    Raises
    ------
    InputError
        If the folder exists, or nothing can be exported.
    """
    if folder.exists():
        raise InputError(f"{folder}: exists already (swaps for an editor)")
    pairs = sorted(
        {
            (question.image, question.entity)
            for question in source.jobs
            if question.label == "yes" and source.masks_of(question.image, question.entity)
        }
    )
    planned = Swaps(source, num_proc, track, modelled=True).plan(pairs, CONDITION)
    work = folder.with_name(f".{folder.name}.partial")
    shutil.rmtree(work, ignore_errors=True)
    for name in ("pictures", "masks", "edited"):
        (work / name).mkdir(parents=True)
    try:
        lines = {}
        for (image, entity), (job, plan) in planned.items():
            word = _word(source, image, entity, job, plan)
            if plan == "support" or word is None:
                continue
            name = f"{image_key(image)}-{entity.replace(' ', '_')}.png"
            if name in lines:
                raise InputError(f"{image}: its files and those of another image would have one name, {name}")
            lines[name] = {"image": image, "entity": entity, "file": name, "donor": word}
            lines[name] |= {"picture": f"pictures/{name}", "mask": f"masks/{name}"}
            hole = job.scene.hole()
            Image.fromarray(load(job.path)).save(work / "pictures" / name)
            Image.fromarray(hole.own | (hole.tight & ~hole.kept)).save(work / "masks" / name)
        if not lines:
            raise InputError("no object that is there and asked for can be swapped: nothing to export")
        text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines.values())
        (work / "manifest.jsonl").write_text(text, encoding="utf-8")
        work.rename(folder)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return len(lines)


def _word(source: PopeSource, image: str, entity: str, job: SwapJob, plan: SwapPlan | str) -> str | None:
    """The category that is to be put there: the cut-out's if there is one, else by chance from the names."""
    if isinstance(plan, SwapPlan):
        return plan.donor.instance.category
    if job.donors:
        return job.donors[0].instance.category
    known = source.instances
    photo = source.photo_of(image)
    barred = {item.category for item in known.by_image.get(photo.id, ())}
    barred |= {question.entity for question in source.jobs if source.photo_of(question.image) is photo}
    kinds = known.supercategories
    names = [
        name
        for name in kinds
        if name not in barred | {entity} and (not kinds[name] or kinds[name] != kinds.get(entity))
    ]
    return min(names, key=lambda name: seed_of(image_key(image), entity, name), default=None)
