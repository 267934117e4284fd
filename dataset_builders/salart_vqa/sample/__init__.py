"""Twelve chains made offline.

Four photographs and a drawing, each before and after a local edit, and two more clean references.
"""

from __future__ import annotations

from lookcheck.dataset_builders.salart_vqa.sample.source import declared_counts, sample_source

__all__ = ["declared_counts", "sample_source"]
