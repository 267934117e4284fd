"""SalArt-VQA as every command sees it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from lookcheck.dataset_builders.salart_vqa import constants
from lookcheck.dataset_builders.salart_vqa.scoring import SCORER
from lookcheck.dataset_builders.scores.scorer import Scorer

if TYPE_CHECKING:
    from lookcheck.dataset_builders.display.view import View
    from lookcheck.dataset_builders.parquet.check import Checker
    from lookcheck.dataset_builders.parquet.reader import BuiltFolder, Choice


class SalArtVQASet:
    """See `lookcheck.dataset_builders.dataset.DataSet`."""

    name = constants.NAME
    title = constants.PRETTY_NAME
    scorer: Scorer[Any] = SCORER
    id_column: Mapping[str, str] = {"images": "row_id", "": "id"}

    def checker(self) -> Checker:
        """The rules of the rows of a built folder."""
        from lookcheck.dataset_builders.salart_vqa.checking import SalArtVQAChecker

        return SalArtVQAChecker()

    def view(self) -> View:
        """How rows are shown."""
        from lookcheck.dataset_builders.salart_vqa.view import VIEW

        return VIEW

    def questions(self, folder: BuiltFolder, choice: Choice) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield the place of each chosen row and its texts."""
        from lookcheck.dataset_builders.parquet.reader import read_questions

        chosen = replace(choice, config=choice.config or "questions")
        return read_questions(folder, chosen, {"id": "id", "question": "prompt", "answer": "answer"})

    def needs_rights(self, source: Mapping[str, Any]) -> str | None:
        """Why publishing rows of this source takes the rights of whoever does it."""
        return None


DATASET = SalArtVQASet()
