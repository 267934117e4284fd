"""VistaQA as a builder of `datasets`, for those who want an Arrow cache and no folder.

>>> builder = VistaQA(config_name="ocr", annotations="annotations", images="images")
>>> builder.info.features["task"].names[:3]
['identification', 'attribute', 'ocr']
"""

from __future__ import annotations

import atexit
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, ClassVar

import datasets

from lookcheck.dataset_builders.core.errors import InputError
from lookcheck.dataset_builders.parquet.encoding import without_names
from lookcheck.dataset_builders.vistaqa import constants
from lookcheck.dataset_builders.vistaqa.integrity import inspect_all
from lookcheck.dataset_builders.vistaqa.plan import features
from lookcheck.dataset_builders.vistaqa.rows import RecordJob, make_rows
from lookcheck.dataset_builders.vistaqa.sample import sample_source
from lookcheck.dataset_builders.vistaqa.sources import VistaQASource, folder_source


@dataclass
class VistaQAConfig(datasets.BuilderConfig):  # type: ignore[misc]
    """Where the upstream files are and which task is wanted.

    Attributes
    ----------
    source : str
        ``"folder"``, or ``"sample"`` for the sample, which needs no file.
    annotations, images : str
        Folders of the upstream layout; for the source ``"folder"``.
    task : str or None
        One task, or all.
    overlays : bool
        Whether rows have ``evidence_overlay``.
    allow_partial : bool
        Whether other counts than the declared ones are accepted.
    """

    source: str = "folder"
    annotations: str = ""
    images: str = ""
    task: str | None = None
    overlays: bool = True
    allow_partial: bool = False


class VistaQA(datasets.GeneratorBasedBuilder):  # type: ignore[misc]
    """Builder with the configurations `default` and one for each task; the split is `test`."""

    VERSION = datasets.Version(constants.VERSION)
    BUILDER_CONFIG_CLASS = VistaQAConfig
    BUILDER_CONFIGS: ClassVar = [
        VistaQAConfig(name="default", version=constants.VERSION),
        *(VistaQAConfig(name=task, version=constants.VERSION, task=task) for task in constants.TASKS),
    ]
    DEFAULT_CONFIG_NAME = "default"
    # Pictures are large: a small batch keeps the memory small.
    DEFAULT_WRITER_BATCH_SIZE = 50

    def _info(self) -> datasets.DatasetInfo:
        return datasets.DatasetInfo(
            description=constants.DESCRIPTION,
            citation=constants.CITATION,
            homepage=constants.HOMEPAGE,
            license=constants.LICENSE,
            features=features(overlays=self.config.overlays),
        )

    def _split_generators(self, _manager: Any) -> list[datasets.SplitGenerator]:
        config = self.config
        source = _source(config)
        rows = inspect_all(source.jobs, allow_partial=config.allow_partial, declared=source.declared)
        # In the order of the built folder: by task, then by id.
        jobs = [
            job
            for task in constants.TASKS
            for row, job in zip(rows, source.jobs, strict=True)
            if row.task == task and config.task in (None, task)
        ]
        # A list, not a tuple: `datasets` shares a list out among its processes.
        return [datasets.SplitGenerator(name=constants.SPLIT, gen_kwargs={"jobs": jobs})]

    def _generate_examples(self, jobs: list[RecordJob]) -> Iterator[tuple[str, dict[str, Any]]]:
        for job in jobs:
            for rows in make_rows(job, overlays=self.config.overlays).values():
                yield from ((row["id"], without_names(row)) for row in rows)


def _source(config: VistaQAConfig) -> VistaQASource:
    if config.source == "sample":
        # Not a TemporaryDirectory: that would go with the first copy of it in another process.
        workspace = mkdtemp(prefix="lookcheck-")
        atexit.register(shutil.rmtree, workspace, ignore_errors=True)
        return sample_source(Path(workspace))
    if config.source != "folder":
        raise InputError(f"the source must be 'folder' or 'sample', not {config.source!r}")
    if not config.annotations or not config.images:
        raise InputError("VistaQA needs the folders of annotations and images")
    return folder_source(Path(config.annotations), Path(config.images))
