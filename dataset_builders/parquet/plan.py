"""What a data set's folder will hold, before anything is written."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import datasets

Row = dict[str, Any]


@dataclass(frozen=True)
class Part:
    """Rows that go into the shards ``data/<stem>-0000i-of-0000n.parquet``.

    Attributes
    ----------
    stem : str
        Start of the files' names.
    jobs : sequence
        One small picklable value for each row, in the order of the rows.
    make : callable
        Makes the row of one job; picklable. An image is ``{"bytes": …, "path": name}``, a
        ClassLabel its name or its number.
    features : datasets.Features
        Columns in their order.
    repeated_images : tuple of str
        Image columns whose picture stands on several neighbouring rows; they are dictionary-encoded,
        so that each picture is stored once in a row group.
    """

    stem: str
    jobs: Sequence[Any]
    make: Callable[[Any], Row]
    features: datasets.Features
    repeated_images: tuple[str, ...] = ()


@dataclass(frozen=True)
class PartGroup:
    """Parts whose rows are made together, so that what they share is made once.

    Attributes
    ----------
    stems : tuple of str
        One part for each.
    jobs : sequence
        Small picklable values.
    make : callable
        Makes the rows of one job: from stem to rows, in their order; a stem may be missing. Picklable.
        Rows that share a picture hold the same bytes object, which then travels between processes once.
    features : datasets.Features
        Of all parts.
    repeated_images : tuple of str
        As in `Part`.
    """

    stems: tuple[str, ...]
    jobs: Sequence[Any]
    make: Callable[[Any], Mapping[str, Sequence[Row]]]
    features: datasets.Features
    repeated_images: tuple[str, ...] = ()


def stems_of(part: Part | PartGroup) -> tuple[str, ...]:
    """The stems of the files that a part or a group of parts makes."""
    return part.stems if isinstance(part, PartGroup) else (part.stem,)


@dataclass(frozen=True)
class ConfigFiles:
    """One configuration: which parts make which split. Several may share a part."""

    name: str
    splits: Mapping[str, tuple[str, ...]]
    default: bool = False


@dataclass(frozen=True)
class CardPlan:
    """The template of README.md and what it is given besides the counts of the built files."""

    template: str
    front_matter: Mapping[str, Any]
    context: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class EvalTask:
    """One entry of eval.yaml."""

    id: str
    config: str
    split: str


@dataclass(frozen=True)
class FolderPlan:
    """Everything `write_folder` needs.

    Attributes
    ----------
    name, version : str
        Of the data set; they go into ``lookcheck.json``.
    parts : tuple of Part or PartGroup
    configs : tuple of ConfigFiles
    card : CardPlan
    description : str
        One sentence for eval.yaml.
    eval_tasks : tuple of EvalTask
    source : mapping
        Where the rows came from (kind, repository, revision); recorded as it is.
    options : mapping
        Options that changed the rows; recorded as they are.
    declared : mapping
        Counts the data set is known to have; empty if there are none.
    """

    name: str
    version: str
    parts: tuple[Part | PartGroup, ...]
    configs: tuple[ConfigFiles, ...]
    card: CardPlan
    description: str
    eval_tasks: tuple[EvalTask, ...] = ()
    source: Mapping[str, Any] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    declared: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        stems = [stem for part in self.parts for stem in stems_of(part)]
        if len(set(stems)) != len(stems):
            raise ValueError(f"two parts of {self.name} have the same stem: {stems}")
        for config in self.configs:
            for split, used in config.splits.items():
                if not split.isidentifier():
                    raise ValueError(f"a split's name must match \\w+, not {split!r}")
                if missing := set(used) - set(stems):
                    raise ValueError(f"configuration {config.name} names unknown parts {sorted(missing)}")
