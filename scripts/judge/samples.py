"""What is to be judged: a data set's questions and reference answers, joined with answers by id."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lookcheck.dataset_builders.core.errors import InputError
from lookcheck.dataset_builders.core.records import JsonRecord, read_records, refuse_unknown

COLUMNS = ("id", "question", "answer")

# Signs that the normalisation drops although they can carry the meaning: -5 and 5, < 3 and > 3.
_SIGNS = frozenset("+-−–<>≤≥=≠±/\\^*.,:%$€£°'’")


@dataclass(frozen=True)
class Sample:
    """One triple to be judged.

    Attributes
    ----------
    id, question, reference : str
    candidate : str or None
        None where the answers hold nothing for this id.
    cut : bool
        Whether the answer ends within a thinking trace: there is no candidate then.
    """

    id: str
    question: str
    reference: str
    candidate: str | None
    cut: bool = False

    @property
    def triple(self) -> tuple[str, str, str]:
        """Question, reference, candidate ("" where missing)."""
        return self.question, self.reference, self.candidate or ""

    @property
    def exact(self) -> bool:
        """Whether candidate and reference are equal after soft accuracy's normalisation, ungated."""
        # numpy stands behind it: not for --help.
        from lookcheck.metrics.soft_vqa_acc import normalize_official

        candidate = normalize_official(self.candidate or "")
        return bool(candidate) and candidate == normalize_official(self.reference)

    @property
    def acceptable(self) -> bool:
        """Whether they are also equal in the signs that the normalisation drops."""
        return self.exact and _signs(self.reference) == _signs(self.candidate or "")


def join(
    rows: Iterable[tuple[str, dict[str, Any]]], answers: Path, name: str, thinking: str = "strip"
) -> list[Sample]:
    """Join a data set's rows with a file of answers.

    Parameters
    ----------
    rows : iterable of (where, row)
        Rows with id, question and answer.
    answers : Path
        JSON Lines: id, and prediction or answer (prediction where a line holds both).
    name : str
        The data set's name, for messages.
    thinking : {"strip", "keep"}
        Whether what stands before the last closing tag of a thinking trace is left out of an answer.

    Returns
    -------
    list of Sample
        In the data set's order; ids without an answer are kept.

    Raises
    ------
    InputError
        Naming place, id and value.
    """
    labels = _labels(rows, name)
    given, _ = read_records(answers)
    refuse_unknown(given, labels, name)
    return _samples(labels, {id: _candidate(record) for id, record in given.items()}, thinking)


def join_given(
    rows: Iterable[tuple[str, dict[str, Any]]],
    answers: Mapping[str, str],
    name: str,
    place: Path,
    thinking: str = "strip",
) -> list[Sample]:
    """Join the rows that have an answer with it; the others were not asked.

    Parameters
    ----------
    rows : iterable of (where, row)
        Rows with id, question and answer.
    answers : mapping of str to str
        By id.
    name : str
        The data set's name, for messages.
    place : Path
        Where the answers stand, for messages.
    thinking : {"strip", "keep"}

    Returns
    -------
    list of Sample
        In the data set's order.

    Raises
    ------
    InputError
        Naming place, id and value.
    """
    labels = _labels(rows, name)
    if strangers := answers.keys() - labels.keys():
        raise InputError(f"{place}: the id {min(strangers)!r} is not in {name}")
    return _samples({id: label for id, label in labels.items() if id in answers}, answers, thinking)


def _labels(rows: Iterable[tuple[str, dict[str, Any]]], name: str) -> dict[str, tuple[str, str]]:
    """Question and reference answer by id."""
    labels: dict[str, tuple[str, str]] = {}
    for where, row in rows:
        id = _id(row.get("id"), where)
        if id in labels:
            raise InputError(f"{where}: the id {id!r} stands twice")
        labels[id] = (_text(row, "question", id, where), _text(row, "answer", id, where))
    if not labels:
        raise InputError(f"{name}: no rows")
    return labels


def _samples(
    labels: Mapping[str, tuple[str, str]], answers: Mapping[str, str], thinking: str
) -> list[Sample]:
    from lookcheck.metrics.soft_vqa_acc.common import without_thoughts

    samples = []
    for id, (question, reference) in labels.items():
        answer, cut = answers.get(id), False
        if answer is not None and thinking == "strip":
            answer, _, cut = without_thoughts(answer)
        samples.append(Sample(id, question, reference, None if cut else answer, cut))
    return samples


def rows_of(
    dataset: str, *, config: str | None = None, split: str | None = None, revision: str | None = None
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Rows of a built folder, a Hub repository or a JSON Lines file; pictures are never read.

    Parameters
    ----------
    dataset : str
        A folder written by ``lookcheck build``, ``ORG/NAME`` on the Hub, or a ``.jsonl`` file.
    config, split, revision : str, optional
        The default configuration, its only split and the main branch if not given.

    Yields
    ------
    (str, dict)
        The row's place and its columns id, question and answer.

    Raises
    ------
    InputError
        If it can't be opened or lacks a column.
    """
    path = Path(dataset)
    if path.is_file():
        records, _ = read_records(path)
        for record in records.values():
            yield record.where, {**record.fields, "id": record.id}
        return
    if not path.is_dir() and (dataset.count("/") != 1 or dataset.startswith((".", "/"))):
        raise InputError(f"{dataset}: no such folder or file, and not a name like ORG/NAME")
    if (path / "lookcheck.json").is_file():
        from lookcheck.dataset_builders.parquet.reader import Choice, open_folder
        from lookcheck.dataset_builders.registry import data_set

        folder = open_folder(path)
        yield from data_set(folder.name, path).questions(folder, Choice(config, split))
        return
    import datasets
    from datasets.utils.logging import disable_progress_bar

    disable_progress_bar()
    try:
        if split is None:
            options = {} if path.is_dir() else {"revision": revision}
            splits = datasets.get_dataset_split_names(dataset, config, **options)
            if len(splits) != 1:
                raise InputError(f"{dataset}: has the splits {', '.join(splits)}; choose one with --split")
            split = splits[0]
        # Streaming with named columns reads only those columns of the Parquet files.
        stream = datasets.load_dataset(
            dataset, config, split=split, revision=revision, streaming=True, columns=list(COLUMNS)
        )
        for number, row in enumerate(stream):
            yield f"{dataset} row {number}", row
    except InputError:
        raise
    except Exception as error:
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise InputError(f"{dataset}: can't be read as a data set ({reason})") from None


def _id(value: Any, where: str) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int) or value == "":
        raise InputError(f"{where}: id is {value!r}; expected a non-empty string or an integer")
    return str(value)


def _text(row: dict[str, Any], key: str, id: str, where: str) -> str:
    value = row.get(key)
    if not isinstance(value, str) or not value.strip():
        raise InputError(f"{where}: id {id!r} has the {key} {value!r}; expected a text")
    return value


def _candidate(record: JsonRecord) -> str:
    key = next((key for key in ("prediction", "answer") if key in record.fields), None)
    if key is None:
        raise InputError(f"{record.where}: id {record.id!r} has neither 'prediction' nor 'answer'")
    return record.text(key)


def _signs(text: str) -> list[str]:
    # A stop at the end is punctuation, inside a number it isn't.
    return [character for character in text.strip().rstrip(".").strip() if character in _SIGNS]
