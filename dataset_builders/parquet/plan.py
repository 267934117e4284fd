"""What a data set's folder will hold, before anything is written."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    # Seconds to import: not for the processes that make rows.
    import datasets

Row = dict[str, Any]


@dataclass(frozen=True)
class Finished:
    """Shards of an earlier build.

    Attributes
    ----------
    paths : tuple of Path
        In their order.
    picture_bytes : int
        Of the distinct pictures in them.
    large_rows : tuple of str
        Ids of rows that the Hub's viewer does not show.
    """

    paths: tuple[Path, ...]
    picture_bytes: int
    large_rows: tuple[str, ...] = ()


@dataclass(frozen=True)
class ShardGroup:
    """Rows that are made together, so that what they share is made once, and the shards they go into.

    Attributes
    ----------
    columns : mapping of str to datasets.Features
        From each stem to the columns of its shards ``data/<stem>-0000i-of-0000n.parquet``.
    jobs : sequence
        Small picklable values.
    make : callable
        Makes the rows of one job: from stem to rows, in their order; a stem may be missing. Picklable.
        An image is ``{"bytes": …, "path": name}``, a ClassLabel its name or its number. Rows that share
        a picture hold the same bytes object, which then travels between processes once.
    repeated_images : mapping of str to tuple of str
        From stem to image columns whose picture stands on several neighbouring rows; they are
        dictionary-encoded, so that each picture is stored once in a row group.
    finished : mapping of str to Finished
        Shards to take over, for all stems; then no job is done.
    digest : str
        What `card.digest_of` must give for the shards that are made; "" for anything.
    """

    columns: Mapping[str, datasets.Features]
    jobs: Sequence[Any]
    make: Callable[[Any], Mapping[str, Sequence[Row]]]
    repeated_images: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    finished: Mapping[str, Finished] = field(default_factory=dict)
    digest: str = ""


@dataclass(frozen=True)
class ConfigFiles:
    """One configuration: the stems of the shards of each split. Several may share a stem."""

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
    groups : tuple of ShardGroup
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
    groups: tuple[ShardGroup, ...]
    configs: tuple[ConfigFiles, ...]
    card: CardPlan
    description: str
    eval_tasks: tuple[EvalTask, ...] = ()
    source: Mapping[str, Any] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    declared: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        stems = [stem for group in self.groups for stem in group.columns]
        if len(set(stems)) != len(stems):
            raise ValueError(f"two groups of {self.name} have the same stem: {stems}")
        for config in self.configs:
            for split, used in config.splits.items():
                if not split.isidentifier():
                    raise ValueError(f"a split's name must match \\w+, not {split!r}")
                if missing := set(used) - set(stems):
                    raise ValueError(f"configuration {config.name} names unknown stems {sorted(missing)}")
