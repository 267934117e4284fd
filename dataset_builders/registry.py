"""All data sets, by name; a new one is a folder and a line here."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from lookcheck.dataset_builders.core.errors import InputError
from lookcheck.dataset_builders.dataset import DataSet
from lookcheck.dataset_builders.perturbed_pope.dataset import DATASET as PERTURBED_POPE
from lookcheck.dataset_builders.salart_vqa.dataset import DATASET as SALART_VQA
from lookcheck.dataset_builders.vistaqa.dataset import DATASET as VISTAQA

DATASETS: Final[dict[str, DataSet]] = {item.name: item for item in (VISTAQA, SALART_VQA, PERTURBED_POPE)}


def command_name(data_set: DataSet) -> str:
    """What the commands call a data set.

    Examples
    --------
    >>> [command_name(data_set) for data_set in DATASETS.values()]
    ['vistaqa', 'salart-vqa', 'perturbed-pope']
    """
    return data_set.name.replace("_", "-")


def data_set(name: str, folder: Path) -> DataSet:
    """The data set that a built folder names.

    Raises
    ------
    InputError
        If there is none of this name.
    """
    if name not in DATASETS:
        raise InputError(f"{folder}: the data set {name!r} is not known, only {', '.join(DATASETS)}")
    return DATASETS[name]
