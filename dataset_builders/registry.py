"""All data sets, by name; a new one is a folder and a line here."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Final

from lookcheck.dataset_builders.core.errors import InputError
from lookcheck.dataset_builders.dataset import DataSet

# Folders whose `dataset.py` holds a DATASET, in the order of help and demo.
FOLDERS: Final = (
    "vistaqa",
    "salart_vqa",
    "perturbed_pope",
)


def _load(folder: str) -> DataSet:
    found: DataSet = import_module(f"lookcheck.dataset_builders.{folder}.dataset").DATASET
    return found


DATASETS: Final = {item.name: item for item in map(_load, FOLDERS)}


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
