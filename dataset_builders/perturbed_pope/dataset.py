"""Perturbed POPE as every command sees it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from lookcheck.dataset_builders.perturbed_pope import constants

if TYPE_CHECKING:
    from lookcheck.dataset_builders.display.view import View
    from lookcheck.dataset_builders.parquet.check import Checker


class PerturbedPOPESet:
    """See `lookcheck.dataset_builders.dataset.DataSet`."""

    name = constants.NAME
    title = constants.PRETTY_NAME
    id_column: Mapping[str, str] = {"": "id"}

    def checker(self) -> Checker:
        """The rules of the rows of a built folder."""
        from lookcheck.dataset_builders.perturbed_pope.checking import PerturbedPopeChecker

        return PerturbedPopeChecker()

    def view(self) -> View:
        """How rows are shown."""
        from lookcheck.dataset_builders.perturbed_pope.view import VIEW

        return VIEW

    def needs_rights(self, source: Mapping[str, Any]) -> str | None:
        """Why publishing rows of this source takes the rights of whoever does it."""
        return None


DATASET = PerturbedPOPESet()
