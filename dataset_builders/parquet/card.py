"""README.md and eval.yaml of a folder, with counts taken from the built files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from hashlib import file_digest, sha256
from importlib.resources import files
from pathlib import Path
from typing import Any

import datasets
import jinja2
import pyarrow.parquet as pq
import yaml  # type: ignore[import-untyped]

from lookcheck.dataset_builders.parquet.plan import ConfigFiles, FolderPlan

_SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))


def count_columns(paths: Sequence[Path], features: datasets.Features) -> dict[str, Any]:
    """Count rows, and the values of each ClassLabel and bool column, in Parquet files.

    Returns
    -------
    dict
        ``{"rows": int, "<column>": {"<label>": int, …}, …}``; every label is listed, also with 0.
    """
    counted: dict[str, Any] = {"rows": 0}
    names: dict[str, list[Any]] = {}
    for column, kind in features.items():
        if isinstance(kind, datasets.ClassLabel):
            names[column] = list(kind.names)
        elif isinstance(kind, datasets.Value) and kind.dtype == "bool":
            names[column] = [False, True]
    for column, labels in names.items():
        counted[column] = {_label(label): 0 for label in labels}
    for path in paths:
        table = pq.read_table(path, columns=list(names), partitioning=None)
        counted["rows"] += pq.read_metadata(path).num_rows
        for column, labels in names.items():
            for value in table.column(column).to_pylist():
                if value is None:
                    counted[column]["null"] = counted[column].get("null", 0) + 1
                else:
                    # A label past the end is for `check` to complain of.
                    name = _label(labels[int(value)]) if 0 <= value < len(labels) else str(value)
                    counted[column][name] = counted[column].get(name, 0) + 1
    return counted


def _label(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def digest_of(paths: Iterable[Path]) -> str:
    """Digest of the bytes of files, in their order: 16 hexadecimal digits."""
    whole = sha256()
    for path in paths:
        with path.open("rb") as file:
            whole.update(file_digest(file, "sha256").digest())
    return whole.hexdigest()[:16]


def render_card(
    plan: FolderPlan,
    counts: Mapping[str, Any],
    digests: Mapping[str, str],
    stored: Mapping[str, Any] | None = None,
) -> str:
    """Render README.md: YAML front matter, then the template's text.

    Parameters
    ----------
    plan : FolderPlan
    counts : mapping
        From configuration to split to the result of `count_columns`.
    digests : mapping
        From configuration to the digest of its files.
    stored : mapping, optional
        From configuration to split to ``{"bytes": int, "picture_bytes": int}``: size of the files, and
        of the distinct pictures in the columns that are dictionary-encoded.
    """
    front = dict(plan.card.front_matter)
    rows = max(split["rows"] for config in counts.values() for split in config.values())
    front["size_categories"] = [next((name for limit, name in _SIZES if rows < limit), "n>1M")]
    front["configs"] = [_config_entry(config, digests[config.name]) for config in plan.configs]
    environment = jinja2.Environment(
        undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True
    )
    template = environment.from_string(
        files("lookcheck.cards").joinpath(plan.card.template).read_text(encoding="utf-8")
    )
    body = template.render(
        **plan.card.context,
        name=plan.name,
        version=plan.version,
        source=plan.source,
        options=plan.options,
        declared=plan.declared,
        counts=counts,
        stored=stored or {},
    )
    return f"---\n{_to_yaml(front)}---\n\n{body.strip()}\n"


def _config_entry(config: ConfigFiles, digest: str) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "config_name": config.name,
        # `datasets` knows a local folder in its cache by its last name and by this list alone, not by
        # its files: without the digest another build of the same name would load as the first.
        "description": f"files {digest}",
        "data_files": [
            {"split": split, "path": [f"data/{stem}-*.parquet" for stem in stems]}
            for split, stems in config.splits.items()
        ],
    }
    if config.default:
        entry["default"] = True
    return entry


def render_eval(plan: FolderPlan) -> str:
    """Render eval.yaml, which registers a benchmark with the Hub.

    Without ``evaluation_framework``: the Hub takes registered names only, and lookcheck is none of them.
    """
    return _to_yaml(
        {
            "name": plan.card.front_matter.get("pretty_name", plan.name),
            "description": plan.description,
            "tasks": [
                {"id": task.id, "config": task.config, "split": task.split} for task in plan.eval_tasks
            ],
        }
    )


def _to_yaml(value: Any) -> str:
    return str(yaml.safe_dump(value, sort_keys=False, allow_unicode=True, width=100))
