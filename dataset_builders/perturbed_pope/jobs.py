"""What has to be made: the pictures of each condition, and the rows that show them."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, field
from functools import cached_property

from lookcheck.dataset_builders.core.processes import Track, no_track
from lookcheck.dataset_builders.perturbed_pope import constants
from lookcheck.dataset_builders.perturbed_pope.conditions import Condition
from lookcheck.dataset_builders.perturbed_pope.edited import Pair
from lookcheck.dataset_builders.perturbed_pope.perturbations import image_key, seed_of
from lookcheck.dataset_builders.perturbed_pope.questions import Question
from lookcheck.dataset_builders.perturbed_pope.rows import Asked, CutOut, PictureJob, RowsJob, SwapOf
from lookcheck.dataset_builders.perturbed_pope.sources import PopeSource
from lookcheck.dataset_builders.perturbed_pope.swap_rules import SwapJob, SwapPlan
from lookcheck.dataset_builders.perturbed_pope.swaps import Swaps


@dataclass
class LeftOut:
    """Pairs of file name and object that a condition of an object leaves out, by the reason."""

    no_instance: set[tuple[str, str]] = field(default_factory=set)
    support: set[tuple[str, str]] = field(default_factory=set)
    large: set[tuple[str, str]] = field(default_factory=set)
    touched: set[tuple[str, str]] = field(default_factory=set)
    no_fill: set[tuple[str, str]] = field(default_factory=set)
    shadow: set[tuple[str, str]] = field(default_factory=set)
    no_donor: set[tuple[str, str]] = field(default_factory=set)
    no_place: set[tuple[str, str]] = field(default_factory=set)
    not_edited: set[tuple[str, str]] = field(default_factory=set)
    unchanged: set[tuple[str, str]] = field(default_factory=set)


class Planner:
    """Gives the jobs of each condition.

    Parameters
    ----------
    source : PopeSource
        Checked.
    num_proc : int
        Processes that look for cut-outs.
    track : callable
        Shows progress.
    """

    def __init__(self, source: PopeSource, *, num_proc: int = 1, track: Track = no_track) -> None:
        self.source = source
        self.left_out = LeftOut()
        # By picture, so that rows of one picture are neighbours; then as people count.
        ordered = sorted(source.jobs, key=lambda item: (item.image, _natural(item.number)))
        self._by_image: dict[str, list[Question]] = defaultdict(list)
        for question in ordered:
            self._by_image[question.image].append(question)
        self._masks = {
            pair: source.masks_of(*pair)
            for pair in dict.fromkeys((question.image, question.entity) for question in ordered)
        }
        self.left_out.no_instance.update(
            (question.image, question.entity)
            for question in ordered
            if question.label == "yes" and not self._masks[question.image, question.entity]
        )
        self._num_proc = num_proc
        self._track = track

    def jobs(self, condition: Condition) -> list[RowsJob]:
        """The jobs of one condition; what it leaves out is noted in `left_out`."""
        return self._of_entity(condition) if condition.needs_masks else self._of_picture(condition)

    def _of_picture(self, condition: Condition) -> list[RowsJob]:
        jobs = []
        for image, questions in self._by_image.items():
            photo = self.source.photo_of(image)
            seed = seed_of(image_key(image), condition.name) if condition.seeded else None
            picture = PictureJob(condition.name, self.source.images / image, seed)
            jobs.append(RowsJob(picture, photo, tuple(map(self._about, questions))))
        return jobs

    def _of_entity(self, condition: Condition) -> list[RowsJob]:
        jobs = []
        for image, questions in self._by_image.items():
            pairs: dict[str, list[Question]] = defaultdict(list)
            for question in questions:
                if question.label == "yes":
                    pairs[question.entity].append(question)
            for entity in sorted(pairs):
                if (image, entity) in self.left_out.no_instance:
                    continue
                picture = self._picture(condition, image, entity)
                if picture is not None:
                    asked = tuple(map(self._about, pairs[entity]))
                    jobs.append(RowsJob(picture, self.source.photo_of(image), asked))
        return jobs

    def _about(self, question: Question) -> Asked:
        masks = self._masks[question.image, question.entity]
        yes = question.label == "yes"
        tiny = yes and 0 < sum(item.area for item in masks) < constants.TINY_AREA
        return Asked(question, yes and not masks, tiny)

    def _picture(self, condition: Condition, image: str, entity: str) -> PictureJob | None:
        path, masks = self.source.images / image, self._masks[image, entity]
        seed = seed_of(image_key(image), entity, condition.name) if condition.seeded else None
        if seed is None or not condition.pastes:
            return PictureJob(condition.name, path, seed, tuple(item.rle for item in masks))
        if self.source.edited is not None:
            edited = self.source.edited.get((image, entity))
            if edited is None or (image, entity) in self.source.unchanged:
                left_out = self.left_out.not_edited if edited is None else self.left_out.unchanged
                left_out.add((image, entity))
                return None
            return PictureJob(condition.name, path, edited=edited)
        job, plan = self._swaps[image, entity]
        if isinstance(plan, str):
            getattr(self.left_out, plan).add((image, entity))
            return None
        name, piece = plan.donor.photo.file_name, plan.donor.instance
        cut_out = CutOut(self._planner.files[name], piece.rle, piece.category, name, piece.id)
        fill = self.source.fill
        filled = None if fill is None else fill.picture(job, image_key(image), entity, "fill")
        swap = SwapOf(job.scene, plan.pieces, cut_out, plan.box, filled)
        return PictureJob(condition.name, path, seed, job.scene.masks, swap)

    @cached_property
    def _swaps(self) -> dict[Pair, tuple[SwapJob, SwapPlan | str]]:
        pairs = [
            (image, entity)
            for image, questions in self._by_image.items()
            for entity in sorted({question.entity for question in questions if question.label == "yes"})
            if self._masks[image, entity]
        ]
        return self._planner.plan(pairs, "entity_swap")

    @cached_property
    def _planner(self) -> Swaps:
        return Swaps(self.source, self._num_proc, self._track, self.source.fill is not None)


def _natural(text: str) -> list[tuple[int, int | str]]:
    """Sorting key: digits by their value."""
    parts = re.split(r"([0-9]+)", text)
    return [(1, int(part)) if part.isascii() and part.isdigit() else (0, part) for part in parts]
