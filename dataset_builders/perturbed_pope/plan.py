"""Perturbed POPE as a plan: for each condition a group of shards, for each split."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import datasets

from lookcheck.dataset_builders.core.errors import InputError
from lookcheck.dataset_builders.core.processes import Track, no_track
from lookcheck.dataset_builders.parquet.plan import CardPlan, ConfigFiles, EvalTask, FolderPlan, ShardGroup
from lookcheck.dataset_builders.perturbed_pope import constants
from lookcheck.dataset_builders.perturbed_pope.conditions import CONDITIONS, ORIGINAL
from lookcheck.dataset_builders.perturbed_pope.jobs import LeftOut, Planner
from lookcheck.dataset_builders.perturbed_pope.reuse import read_earlier
from lookcheck.dataset_builders.perturbed_pope.rows import RowsJob, make_rows, stem_of
from lookcheck.dataset_builders.perturbed_pope.sources import PopeSource
from lookcheck.dataset_builders.perturbed_pope.swap_rules import REASONS


def features() -> datasets.Features:
    """Columns of every configuration; boxes are [x, y, width, height] in pixels."""
    text = datasets.Value("string")
    return datasets.Features(
        {
            "id": text,
            "parent_id": text,
            "category": text,
            "image": datasets.Image(),
            "question": text,
            "question_unknown_option": text,
            "question_open_ended": text,
            "answer": datasets.ClassLabel(names=list(constants.ANSWERS)),
            "answer_upstream": datasets.ClassLabel(names=list(constants.ANSWERS)),
            "entity": text,
            "condition": text,
            "strength": datasets.Value("float64"),
            "seed": datasets.Value("int64"),
            "mask_rle": {"size": datasets.List(datasets.Value("int32")), "counts": text},
            "masked_fraction": datasets.Value("float64"),
            "no_instance": datasets.Value("bool"),
            "tiny_entity": datasets.Value("bool"),
            "donor": text,
            "donor_box": datasets.List(datasets.Value("float64")),
            "donor_image": text,
            "donor_instance": datasets.Value("int64"),
            "image_id": datasets.Value("int64"),
            "image_name": text,
            "license": text,
            "license_url": text,
            "credit": text,
            "source_url": text,
        }
    )


def plan_source(
    source: PopeSource,
    conditions: Collection[str] = (),
    *,
    layout: str = "category",
    reuse: Path | None = None,
    num_proc: int = 1,
    track: Track = no_track,
) -> FolderPlan:
    """Plan the folder of a checked source.

    Parameters
    ----------
    source : PopeSource
    conditions : collection of str
        Names of conditions to build besides `original`; all if empty.
    layout : str
        ``"category"``: one split `test`, with a column that says how absent objects were chosen;
        ``"splits"``: a split for each.
    reuse : Path, optional
        An earlier build of the same source, whose conditions are taken over and not made again.
    num_proc : int
        Processes that look for cut-outs.
    track : callable
        Shows progress.

    Raises
    ------
    InputError
        If a condition is unknown, or would have no row.
    """
    if unknown := sorted(set(conditions) - CONDITIONS.keys()):
        raise InputError(f"unknown condition {unknown[0]!r}; known: {', '.join(CONDITIONS)}")
    if layout not in constants.LAYOUTS:
        raise InputError(f"the layout must be one of {', '.join(constants.LAYOUTS)}, not {layout!r}")
    planner = Planner(source, num_proc=num_proc, track=track)
    columns = features()
    earlier = None if reuse is None else read_earlier(reuse, source.described, layout)
    if earlier is not None and conditions:
        conditions = {*conditions, *earlier.configs}
    make = partial(make_rows, layout=layout)
    groups, configs = [], []
    counted: dict[str, dict[str, int]] = {}
    for condition in CONDITIONS.values():
        if conditions and condition.name not in {ORIGINAL, *conditions}:
            continue
        jobs = planner.jobs(condition)
        asked = Counter(asked.question.split for job in jobs for asked in job.asked)
        if not asked:
            if condition.pastes and not conditions:
                # Its rules may leave out all that a small source has; the card says so.
                continue
            raise InputError(_nothing(condition.name, planner.left_out))
        counted[condition.name] = {category: asked[category] for category in constants.in_order(asked)}
        splits = list(counted[condition.name]) if layout == "splits" else [constants.ONE_SPLIT]
        stems = {split: stem_of(condition.name, split) for split in splits}
        named = stems.values()
        group = ShardGroup(dict.fromkeys(named, columns), jobs, make, dict.fromkeys(named, ("image",)))
        if earlier is not None and condition.name == ORIGINAL:
            group = replace(group, digest=earlier.original)
        elif earlier is not None and not (condition.pastes and source.edited):
            # Edited pictures may be others than those of the earlier build.
            group = replace(group, finished=earlier.finished(condition.name))
        groups.append(group)
        used = {split: (stem,) for split, stem in stems.items()}
        configs.append(ConfigFiles(condition.name, used, default=condition.name == ORIGINAL))
    tasks = tuple(
        EvalTask(f"{config.name}_{split}" if layout == "splits" else config.name, config.name, split)
        for config in configs
        for split in config.splits
    )
    left_out = {reason: len(pairs) for reason, pairs in vars(planner.left_out).items()}
    return FolderPlan(
        constants.NAME,
        constants.VERSION,
        tuple(groups),
        tuple(configs),
        _card(source, groups[0].jobs, configs, counted, planner.left_out),
        constants.DESCRIPTION,
        tasks,
        source.described,
        {"layout": layout, "left_out": left_out, "pictures_written_anew": source.written_anew},
    )


def _nothing(condition: str, left_out: LeftOut) -> str:
    if left_out.not_edited or left_out.unchanged:
        return f"{condition}: none of the edited pictures changes an object that is there and asked for"
    swaps = [(len(getattr(left_out, reason)), said) for reason, said in REASONS.items()]
    if any(number for number, _ in swaps):
        counted = ", ".join(f"{number:,} {said}" for number, said in swaps if number)
        return f"{condition}: no object can be replaced ({counted})"
    return f"{condition}: no question answered yes asks for an object that has a mask"


def _card(
    source: PopeSource,
    jobs: Sequence[RowsJob],
    configs: list[ConfigFiles],
    counted: Mapping[str, Mapping[str, int]],
    left_out: LeftOut,
) -> CardPlan:
    licenses = Counter((job.photo.license or "not stated", job.photo.license_url) for job in jobs)
    front_matter: dict[str, Any] = {
        "pretty_name": constants.PRETTY_NAME,
        "license": constants.LICENSE,
        "license_name": "one-for-each-picture",
        "language": ["en"],
        "task_categories": ["visual-question-answering"],
        "tags": ["benchmark", "hallucination", "evidence", "pope", "arxiv:2605.22903"],
    }
    if source.described["kind"] == "pope":
        front_matter["license_link"] = constants.LICENSE_LINK
    context = {
        "homepage": constants.HOMEPAGE,
        "citation": constants.CITATION,
        "description": constants.DESCRIPTION,
        "conditions": CONDITIONS,
        "removing": [name for name, condition in CONDITIONS.items() if condition.needs_masks],
        "splits": list(configs[0].splits),
        "rows": counted,
        "categories": list(counted[ORIGINAL]),
        "photographs": len(jobs),
        "left_out": {reason: sorted(pairs) for reason, pairs in vars(left_out).items()},
        "licenses": sorted(licenses.items(), key=lambda item: (-item[1], item[0][0])),
        "open_ended": constants.OPEN_ENDED,
        "unknown_option": constants.UNKNOWN_OPTION,
        "edited": source.edited is not None,
        "swap_reasons": REASONS,
    }
    return CardPlan("perturbed_pope.md.jinja", front_matter, context)
