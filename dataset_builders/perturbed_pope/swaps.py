"""The swaps of a source: for each object what is pasted in its place, or why nothing is."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from lookcheck.dataset_builders.core.processes import Track, ordered_map
from lookcheck.dataset_builders.perturbed_pope.donors import SUPPORTS, Donor, donors_of, rank_donors
from lookcheck.dataset_builders.perturbed_pope.edited import Pair
from lookcheck.dataset_builders.perturbed_pope.perturbations import image_key, seed_of
from lookcheck.dataset_builders.perturbed_pope.sources import PopeSource
from lookcheck.dataset_builders.perturbed_pope.swap_rules import Scene, SwapJob, SwapPlan, plan_swap


class Swaps:
    """Plans the swaps of a source.

    Parameters
    ----------
    source : PopeSource
        Checked.
    num_proc : int
        Processes that look for cut-outs and for what fills a place.
    track : callable
        Shows progress.
    modelled : bool
        Whether a model fills.
    """

    def __init__(self, source: PopeSource, num_proc: int, track: Track, modelled: bool = False) -> None:
        self._source = source
        self._num_proc = num_proc
        self._track = track
        self._modelled = modelled
        self._asked: dict[str, set[str]] = defaultdict(set)
        for question in source.jobs:
            self._asked[source.photo_of(question.image).file_name].add(question.entity)
        # An edited picture may bear the name of its original; its answers are no.
        self.files: Mapping[str, Path] = {
            source.photo_of(question.image).file_name: source.images / question.image
            for question in source.jobs
            if question.label == "yes"
        }

    def plan(self, pairs: Sequence[Pair], condition: str) -> dict[Pair, tuple[SwapJob, SwapPlan | str]]:
        """The job of each photograph and object, and how it is done, or the reason for which it is not."""
        donors = self._donors()
        jobs = [self._job(image, entity, condition, donors) for image, entity in pairs]
        plans = self._mapped("planning swaps", plan_swap, jobs)
        return {pair: (job, plan) for pair, job, plan in zip(pairs, jobs, plans, strict=True)}

    def _job(self, image: str, entity: str, condition: str, donors: Sequence[Donor]) -> SwapJob:
        source = self._source
        photo, known = source.photo_of(image), source.instances
        items = known.by_image.get(photo.id, ())
        # Whatever stands for the object elsewhere, no instance of it may stay: the answer becomes no.
        every = (*(item for item in items if item.category == entity), *source.masks_of(image, entity))
        others = [item for item in items if item.category != entity]
        largest = max(every, key=lambda item: (item.box[2] * item.box[3], -item.id))
        shown = {item.category for item in items}
        ranked = rank_donors(
            donors,
            entity,
            known.supercategories.get(entity, ""),
            largest.box,
            shown | self._asked[photo.file_name],
            seed_of(image_key(image), entity, condition),
        )
        scene = Scene(
            tuple({item.rle["counts"]: item.rle for item in every}.values()),
            tuple(item.rle for item in others if item.category not in SUPPORTS),
            tuple(item.rle for item in others if item.category in SUPPORTS),
        )
        return SwapJob(source.images / image, entity, scene, tuple(ranked), self._modelled)

    def _donors(self) -> tuple[Donor, ...]:
        def mapped(function: Callable[[Any], Any], jobs: Sequence[Any]) -> Iterator[Any]:
            return self._mapped("looking for cut-outs", function, jobs)

        return donors_of(self._source.instances, self.files, mapped)

    def _mapped(self, title: str, function: Callable[[Any], Any], jobs: Sequence[Any]) -> Iterator[Any]:
        step = self._track(title, len(jobs))
        for found in ordered_map(function, jobs, self._num_proc):
            step()
            yield found
