"""SalArt-VQA as a builder of `datasets`, for those who want an Arrow cache and no folder.

>>> builder = SalArtVQA(config_name="questions", folder="upstream")
>>> builder.info.features["question_type"].names
['q1', 'q2', 'q3', 'q4']
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
from lookcheck.dataset_builders.salart_vqa import constants
from lookcheck.dataset_builders.salart_vqa.integrity import inspect_all
from lookcheck.dataset_builders.salart_vqa.mapping import apply_mapping
from lookcheck.dataset_builders.salart_vqa.plan import image_features, question_features
from lookcheck.dataset_builders.salart_vqa.rows import RowsJob, make_rows
from lookcheck.dataset_builders.salart_vqa.sources import folder_source


@dataclass
class SalArtVQAConfig(datasets.BuilderConfig):  # type: ignore[misc]
    """Where the upstream files are.

    Attributes
    ----------
    folder : str
        Holds Parquet in upstream's columns or the older JSON Lines with pictures.
    mapping : str
        JSON Lines with artifact types, subsets and pair ids; see `mapping.apply_mapping`.
    allow_partial : bool
        Whether other counts than the declared ones are accepted.
    """

    folder: str = ""
    mapping: str = ""
    allow_partial: bool = False


class SalArtVQA(datasets.GeneratorBasedBuilder):  # type: ignore[misc]
    """Builder with the configurations `images` and `questions`; the split is `test`."""

    VERSION = datasets.Version(constants.VERSION)
    BUILDER_CONFIG_CLASS = SalArtVQAConfig
    BUILDER_CONFIGS: ClassVar = [
        SalArtVQAConfig(name=name, version=constants.VERSION) for name in ("images", "questions")
    ]
    DEFAULT_CONFIG_NAME = "images"
    # Pictures are large: a small batch keeps the memory small.
    DEFAULT_WRITER_BATCH_SIZE = 50

    def _info(self) -> datasets.DatasetInfo:
        return datasets.DatasetInfo(
            description=constants.DESCRIPTION,
            citation=constants.CITATION,
            homepage=constants.HOMEPAGE,
            license=constants.LICENSE,
            features=image_features() if self.config.name == "images" else question_features(),
        )

    def _split_generators(self, _manager: Any) -> list[datasets.SplitGenerator]:
        if not self.config.folder:
            raise InputError("SalArtVQA needs the folder of the upstream files")
        # Rows are made later, perhaps in other processes: the pictures must stay until this one ends.
        workspace = mkdtemp(prefix="lookcheck-")
        atexit.register(shutil.rmtree, workspace, ignore_errors=True)
        source = folder_source(Path(self.config.folder), Path(workspace))
        if self.config.mapping:
            path = Path(self.config.mapping)
            source = apply_mapping(source, path, allow_partial=self.config.allow_partial)
        jobs = list(inspect_all(source.jobs, allow_partial=self.config.allow_partial))
        # A list, not a tuple: `datasets` shares a list out among its processes.
        return [datasets.SplitGenerator(name=constants.SPLIT, gen_kwargs={"jobs": jobs})]

    def _generate_examples(self, jobs: list[RowsJob]) -> Iterator[tuple[str, dict[str, Any]]]:
        for job in jobs:
            for row in make_rows(job)[self.config.name]:
                yield row.get("id") or row["row_id"], without_names(row)
