"""The figures that have an interval, as sums of rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from .aggregate import FIGURES, PATTERNS
from .common import places_by_label
from .intervals import Figure, Path, ratio
from .samples import ATTRIBUTIONS
from .validation import ARTIFACT


def headline(rows: Sequence[Mapping[str, Any]]) -> dict[Path, Figure]:
    """The ten metrics, single questions, attribution, cross columns and patterns; all but the first by type.

    Parameters
    ----------
    rows : sequence of dict
        ``per_sample`` of a result.
    """
    figures: dict[Path, Figure] = {}

    def add(path: Path, places: Iterable[int], names: Iterable[str]) -> None:
        own = list(places)
        for name in names:
            field, roles = FIGURES[name]
            asked = [place for place in own if rows[place]["role"] in roles]
            figures[*path, name] = ratio(asked, [bool(rows[place][field]) for place in asked])
        images = [place for place in own if rows[place]["role"] == ARTIFACT]
        for key, field, values in (
            ("failure_attribution", "attribution", ATTRIBUTIONS),
            ("patterns", "pattern", PATTERNS),
        ):
            for value in values:
                figures[*path, key, value] = ratio(images, [rows[place][field] == value for place in images])
        for right, wrong in (("q4", "q3"), ("q3", "q4")):
            values_of = [rows[place][right] and not rows[place][wrong] for place in images]
            figures[*path, f"{right}_right_{wrong}_wrong"] = ratio(images, values_of)

    add((), range(len(rows)), FIGURES)
    typed = [place for place, row in enumerate(rows) if row["artifact_type"] is not None]
    artifact = [name for name in FIGURES if name.startswith("artifact")]
    for label, places in places_by_label(rows[place]["artifact_type"] for place in typed).items():
        add(("by_artifact_type", label), [typed[place] for place in places], artifact)
    return figures
