"""What a data set shows without a model: what never looks, beside an oracle that looks with noise."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

import numpy as np

# An oracle answers right, and finds an instance, this often.
HIT_RATE = 0.8


@dataclass(frozen=True)
class Policy:
    """What one policy answers to all rows, and what else the metric is told of it."""

    predictions: Sequence[Any]
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Trial:
    """What a metric is given.

    Attributes
    ----------
    ids : sequence of str
    references : sequence
    policies : mapping of str to Policy
        The oracle first.
    """

    ids: Sequence[str]
    references: Sequence[Any]
    policies: Mapping[str, Policy]


@dataclass(frozen=True)
class Demonstration:
    """How a data set's sample is scored.

    Attributes
    ----------
    metric : str
        A folder of `lookcheck.metrics`.
    config : str
        The configuration that is loaded.
    columns : tuple of str
        Those that are read.
    figures : mapping of str to str
        From heading to the place in the metric's result, ``"with_evidence.grove"``.
    trial : callable
        Makes the trial of the rows; a ClassLabel is its name.
    about : str
        What people should know about the policies.
    """

    metric: str
    config: str
    columns: tuple[str, ...]
    figures: Mapping[str, str]
    trial: Callable[[Sequence[Mapping[str, Any]]], Trial]
    about: str


def chance_of(*parts: str) -> np.random.Generator:
    """Chance from names alone, so that the same row always meets the same luck."""
    digest = sha256("/".join(parts).encode()).digest()
    return np.random.default_rng(int.from_bytes(digest[:8], "little"))


def hits(chance: np.random.Generator) -> bool:
    """Whether an oracle is right this time."""
    return bool(chance.random() < HIT_RATE)
