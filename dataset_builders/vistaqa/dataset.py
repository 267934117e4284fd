"""VistaQA as every command sees it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from lookcheck.dataset_builders.scores.scorer import Scorer
from lookcheck.dataset_builders.vistaqa import constants
from lookcheck.dataset_builders.vistaqa.scoring import SCORER

if TYPE_CHECKING:
    from lookcheck.dataset_builders.display.view import View
    from lookcheck.dataset_builders.parquet.check import Checker
    from lookcheck.dataset_builders.parquet.reader import BuiltFolder, Choice


class VistaQASet:
    """See `lookcheck.dataset_builders.dataset.DataSet`."""

    name = constants.NAME
    title = constants.PRETTY_NAME
    scorer: Scorer[Any] = SCORER
    id_column: Mapping[str, str] = {"": "id"}

    def checker(self) -> Checker:
        """The rules of the rows of a built folder."""
        from lookcheck.dataset_builders.vistaqa.checking import VistaQAChecker

        return VistaQAChecker()

    def view(self) -> View:
        """How rows are shown."""
        from lookcheck.dataset_builders.vistaqa.view import VIEW

        return VIEW

    def questions(self, folder: BuiltFolder, choice: Choice) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield the place of each chosen row and its texts."""
        from lookcheck.dataset_builders.parquet.reader import read_questions

        return read_questions(folder, choice, {name: name for name in ("id", "question", "answer")})

    def needs_rights(self, source: Mapping[str, Any]) -> str | None:
        """Why publishing rows of this source takes the rights of whoever does it."""
        if source.get("kind") == "sample":
            return None
        return "VistaQA states no licence"


DATASET = VistaQASet()
