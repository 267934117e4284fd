"""What has to be made: the pictures of each condition, and the rows that show them."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from lookcheck.dataset_builders.core.processes import Track, no_track, ordered_map
from lookcheck.dataset_builders.perturbed_pope import constants
from lookcheck.dataset_builders.perturbed_pope.conditions import Condition
from lookcheck.dataset_builders.perturbed_pope.donors import Donor, choose_donor, donors_of
from lookcheck.dataset_builders.perturbed_pope.instances import CocoInstance, Photo
from lookcheck.dataset_builders.perturbed_pope.perturbations import image_key, seed_of
from lookcheck.dataset_builders.perturbed_pope.questions import Question
from lookcheck.dataset_builders.perturbed_pope.rows import Asked, CutOut, PictureJob, RowsJob
from lookcheck.dataset_builders.perturbed_pope.sources import PopeSource


@dataclass
class LeftOut:
    """Pairs of file name and object that a condition of an object leaves out, by the reason."""

    no_instance: set[tuple[str, str]] = field(default_factory=set)
    no_donor: set[tuple[str, str]] = field(default_factory=set)
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
        self._asked: dict[str, set[str]] = defaultdict(set)
        for image, entity in self._masks:
            self._asked[source.photo_of(image).file_name].add(entity)
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
        photo = self.source.photo_of(image)
        # Whatever stands for the object elsewhere, no instance of it may stay: the answer becomes no.
        every = (*self.source.instances.of(photo.id, entity), *masks)
        whole = tuple({item.rle["counts"]: item for item in every}.values())
        donor = self._donor(entity, photo, whole, seed)
        if donor is None:
            self.left_out.no_donor.add((image, entity))
            return None
        name, piece = donor.photo.file_name, donor.instance
        cut_out = CutOut(self._files[name], piece.rle, piece.category, name, piece.id)
        return PictureJob(condition.name, path, seed, tuple(item.rle for item in whole), cut_out)

    def _donor(self, entity: str, photo: Photo, masks: Sequence[CocoInstance], seed: int) -> Donor | None:
        instances = self.source.instances
        largest = max(masks, key=lambda item: (item.box[2] * item.box[3], -item.id))
        shown = {item.category for item in instances.by_image.get(photo.id, ())}
        return choose_donor(
            self._donors,
            entity,
            instances.supercategories.get(entity, ""),
            largest.box,
            shown | self._asked[photo.file_name],
            seed,
        )

    @cached_property
    def _files(self) -> dict[str, Path]:
        """The file of each photograph that shows its instances.

        An edited picture may bear the name of its original; its answers are no.
        """
        return {
            self.source.photo_of(image).file_name: self.source.images / image
            for image, questions in self._by_image.items()
            if any(question.label == "yes" for question in questions)
        }

    @cached_property
    def _donors(self) -> tuple[Donor, ...]:
        instances = self.source.instances
        total = sum(len(instances.by_image.get(instances.photos[name].id, ())) for name in self._files)
        step = self._track("looking for cut-outs", total)

        def mapped(function: Callable[[Any], float | None], jobs: Sequence[Any]) -> Any:
            for found in ordered_map(function, jobs, self._num_proc):
                step()
                yield found

        return donors_of(instances, self._files, mapped)


def _natural(text: str) -> list[tuple[int, int | str]]:
    """Sorting key: digits by their value."""
    parts = re.split(r"([0-9]+)", text)
    return [(1, int(part)) if part.isascii() and part.isdigit() else (0, part) for part in parts]
