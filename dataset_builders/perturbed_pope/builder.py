"""Perturbed POPE as a builder of `datasets`, for those who want an Arrow cache and no folder.

>>> builder = PerturbedPOPE(config_name="black_mask", questions=["pope_random.json"], images="val2014")
>>> builder.info.features["answer"].names
['no', 'yes']
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import datasets

from lookcheck.dataset_builders.core.errors import InputError
from lookcheck.dataset_builders.parquet.encoding import without_names
from lookcheck.dataset_builders.perturbed_pope import constants
from lookcheck.dataset_builders.perturbed_pope.conditions import CONDITIONS
from lookcheck.dataset_builders.perturbed_pope.jobs import Planner
from lookcheck.dataset_builders.perturbed_pope.plan import features
from lookcheck.dataset_builders.perturbed_pope.rows import RowsJob, make_rows
from lookcheck.dataset_builders.perturbed_pope.sources import pope_source


@dataclass
class PerturbedPOPEConfig(datasets.BuilderConfig):  # type: ignore[misc]
    """Where the files are and which condition is wanted.

    Attributes
    ----------
    questions : list of str
        A file for each split, with the split in its name; questions are generated if there is none.
    images, instances : str
        Folder of the photographs, and COCO instances.
    repope : list of str
        RePOPE's file for each split.
    repairs : list of str
        Known slips to mend.
    masks : str
        ``"all_instances"`` or ``"largest_instance"``.
    detections : str
        COCO results with scores.
    """

    questions: list[str] = field(default_factory=list)
    images: str = ""
    instances: str = ""
    repope: list[str] = field(default_factory=list)
    repairs: list[str] = field(default_factory=list)
    masks: str = "all_instances"
    detections: str = ""


class PerturbedPOPE(datasets.GeneratorBasedBuilder):  # type: ignore[misc]
    """Builder with a configuration for each condition; the split is `test`."""

    VERSION = datasets.Version(constants.VERSION)
    BUILDER_CONFIG_CLASS = PerturbedPOPEConfig
    BUILDER_CONFIGS: ClassVar = [
        PerturbedPOPEConfig(name=name, version=constants.VERSION) for name in CONDITIONS
    ]
    DEFAULT_CONFIG_NAME = "original"
    # Pictures are large: a small batch keeps the memory small.
    DEFAULT_WRITER_BATCH_SIZE = 50

    def _info(self) -> datasets.DatasetInfo:
        return datasets.DatasetInfo(
            description=constants.DESCRIPTION,
            citation=constants.CITATION,
            homepage=constants.HOMEPAGE,
            license=constants.LICENSE,
            features=features(),
        )

    def _split_generators(self, _manager: Any) -> list[datasets.SplitGenerator]:
        config = self.config
        if not config.images or not config.instances:
            raise InputError("PerturbedPOPE needs the folder of images and the file of instances")
        source = pope_source(
            [(None, Path(path)) for path in config.questions],
            Path(config.images),
            Path(config.instances),
            described={},
            repope=[Path(path) for path in config.repope],
            repairs=config.repairs,
            mask_rule=config.masks,
            detections=Path(config.detections) if config.detections else None,
        )
        jobs = Planner(source).jobs(CONDITIONS[config.name])
        # A list, not a tuple: `datasets` shares a list out among its processes.
        return [datasets.SplitGenerator(name=constants.ONE_SPLIT, gen_kwargs={"jobs": list(jobs)})]

    def _generate_examples(self, jobs: list[RowsJob]) -> Iterator[tuple[str, dict[str, Any]]]:
        for job in jobs:
            for rows in make_rows(job).values():
                yield from ((row["id"], without_names(row)) for row in rows)
