"""Scenes drawn by code, with exact masks."""

from __future__ import annotations

from lookcheck.dataset_builders.pictures.model import Picture


def scenes(count: int = 24) -> tuple[Picture, ...]:
    """The first `count` drawn scenes."""
    return ()[:count]
