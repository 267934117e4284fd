"""How answers to Shades are scored."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lookcheck.dataset_builders.core.records import JsonRecord, read_records, refuse_unknown
from lookcheck.dataset_builders.scores.report import MODEL, Cell, Line, Report, Table


@dataclass(frozen=True)
class ScoreOptions:
    """Nothing can be chosen."""


class ShadesScorer:
    """See `lookcheck.dataset_builders.scores.scorer.Scorer`."""

    command = "shades"
    summary = "Score Shades: the share of right colours."
    references_help = "id and answer."
    predictions_help = "id and prediction."
    options: type[Any] = ScoreOptions
    beside: tuple[str, ...] = ()

    def read_references(self, path: Path) -> dict[str, JsonRecord]:
        """The answers of a file or of a built folder."""
        if not path.is_dir():
            return read_records(path)[0]
        from lookcheck.dataset_builders.parquet import reader

        return reader.read_records(reader.open_folder(path, "shades"), ["answer"])

    def score(
        self, references: dict[str, JsonRecord], source: str, predictions: Path, system: str, options: Any
    ) -> Report:
        """The share of right answers; a missing one is wrong."""
        given, _ = read_records(predictions)
        refuse_unknown(given, references, source)
        right = [
            id in given and given[id].text("prediction") == row.text("answer")
            for id, row in references.items()
        ]
        accuracy = sum(right) / len(right)
        table = Table("Shades, percent", {"accuracy": "right"}, [Line(MODEL, "", [Cell(accuracy)], system)])
        return Report(system, [table], {"accuracy": accuracy, "signature": f"shades|n:{len(right)}"})


SCORER = ShadesScorer()
