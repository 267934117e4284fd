"""Twelve chains made offline: five edited photographs, the five before the edit, two clean references."""

from __future__ import annotations

from lookcheck.dataset_builders.salart_vqa.sample.source import declared_counts, sample_source

__all__ = ["declared_counts", "sample_source"]
