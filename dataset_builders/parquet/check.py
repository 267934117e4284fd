"""The rules that a built folder must keep, for any data set."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Protocol

import datasets
import pyarrow.parquet as pq
import yaml  # type: ignore[import-untyped]

from lookcheck.dataset_builders.core.errors import Fault, InputError
from lookcheck.dataset_builders.core.jsonl import read_json, read_text
from lookcheck.dataset_builders.core.processes import Track, no_track
from lookcheck.dataset_builders.parquet.card import count_columns, digest_of
from lookcheck.dataset_builders.parquet.check_parquet import check_file, iterate_rows
from lookcheck.dataset_builders.parquet.listing import MANIFEST, extra_files, refuse_unbuilt

# Names that the Hub takes as evaluation_framework: packages/tasks/src/eval.ts of huggingface.js, August 2026.
FRAMEWORKS: Final = frozenset(
    """
    exgentic inspect-ai math-arena mteb olmocr-bench harbor ifstruct pier redline-bench archipelago benchflow
    apex-evals screenspot-pro swe-bench swe-bench-pro nemo-evaluator yc-bench open-asr-leaderboard mdpbench
    real5-omnidocbench parsebench video-mme-v2 claw-eval researchclawbench pbench wildclawbench wbench
    nanofold mmmu extractbench
    """.split()  # noqa: SIM905
)


class Checker(Protocol):
    """Rules of one data set."""

    def row(self, row: dict[str, Any]) -> list[Fault]:
        """Faults of one row; labels are names, pictures ``{"bytes": …, "path": …}``."""

    def finish(self) -> list[Fault]:
        """Faults that only show when all rows have been seen."""


class Rules(Protocol):
    """What a check asks a data set."""

    @property
    def id_column(self) -> Mapping[str, str]:
        """From configuration to the column that names a row, `id` in all others."""

    def checker(self) -> Checker:
        """The rules of the rows."""


@dataclass
class Checked:
    """What a check found; `notes` are worth knowing and no fault."""

    files: int = 0
    rows: int = 0
    faults: list[Fault] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def check_folder(
    folder: Path, data_sets: Mapping[str, Rules] | None = None, track: Track = no_track
) -> Checked:
    """Check a built folder.

    Parameters
    ----------
    folder : Path
    data_sets : mapping, optional
        By name, as ``lookcheck.json`` has it.
    track : callable
        Shows progress.

    Raises
    ------
    InputError
        If `folder` is no folder, or nothing in it was built.
    """
    refuse_unbuilt(folder)
    report = Checked()
    faults = report.faults
    manifest = _read_manifest(folder, faults)
    _check_files(folder, manifest, report)
    configs = read_configs(folder, faults)
    _check_eval(folder, configs, faults)
    _check_names(folder, configs, faults)
    check_digests(folder, configs, faults)
    # In the order of the card: what others are compared with comes first.
    files = list(
        dict.fromkeys(path for splits in configs.values() for paths in splits.values() for path in paths)
    )
    report.files = len(files)
    sound = {}
    for path in files:
        found, features = check_file(path, folder)
        faults += found
        if features is not None:
            sound[path] = features
    _check_counts(configs, sound, manifest, folder, faults)
    rules = (data_sets or {}).get(str(manifest.get("name")))
    checker = rules.checker() if rules is not None else None
    if checker is None:
        report.notes.append("no rules are known for the rows of this data set; the files were checked")
    named = rules.id_column if rules else {}
    id_columns = {
        path: named.get(config, "id")
        for config, splits in configs.items()
        for paths in splits.values()
        for path in paths
    }
    step = track("checking rows", sum(pq.read_metadata(path).num_rows for path in sound))
    for path, features in sound.items():
        for found, row in iterate_rows(path, folder, features, id_columns.get(path, "id")):
            report.rows += 1
            faults += found
            if checker is not None and row is not None:
                faults += checker.row(row)
            step()
    if checker is not None:
        faults += checker.finish()
    return report


def _read_manifest(folder: Path, faults: list[Fault]) -> dict[str, Any]:
    try:
        manifest = read_json(folder / MANIFEST)
    except InputError as error:
        faults.append(Fault(MANIFEST, "manifest", str(error)))
        return {}
    missing = [key for key in ("name", "version", "source", "built", "files") if key not in manifest]
    if missing:
        faults.append(Fault(MANIFEST, "manifest", f"lacks {missing}"))
    return dict(manifest)


def _check_files(folder: Path, manifest: Mapping[str, Any], report: Checked) -> None:
    """What the build wrote must be there, as files of their own; what else is there is not published."""
    listed = manifest.get("files")
    if not isinstance(listed, list):
        return
    for name in map(str, listed):
        if (folder / name).resolve() != folder.resolve() / name or name.startswith("/"):
            # It would be published, whatever it is.
            report.faults.append(Fault(name, "link", "is a link, or lies outside the folder"))
        elif not (folder / name).is_file():
            report.faults.append(Fault(name, "file-missing", f"{MANIFEST} lists it, but it is not there"))
    if extra := extra_files(folder, listed):
        shown = ", ".join(extra[:5]) + (", …" if len(extra) > 5 else "")
        report.notes.append(f"not of the build, and not published: {shown}")


def _front_matter(folder: Path) -> dict[str, Any]:
    text = read_text(folder / "README.md")
    found = re.match(r"---\n(.*?)\n---\n", text, re.DOTALL)
    if not found:
        raise InputError("no YAML between two lines of ---")
    try:
        front = yaml.safe_load(found[1])
    except yaml.YAMLError as error:
        raise InputError(f"the YAML can't be read ({' '.join(str(error).split())})") from None
    if not isinstance(front, dict) or not isinstance(front.get("configs"), list) or not front["configs"]:
        raise InputError("the YAML has no list of configs")
    return front


def read_configs(folder: Path, faults: list[Fault]) -> dict[str, dict[str, list[Path]]]:
    """Configurations of README.md: name → split → files."""
    try:
        front = _front_matter(folder)
    except InputError as error:
        faults.append(Fault("README.md", "card", str(error)))
        return {}
    configs: dict[str, dict[str, list[Path]]] = {}
    for entry in front["configs"]:
        try:
            name, data_files = entry["config_name"], entry["data_files"]
            splits = {item["split"]: item["path"] for item in data_files}
        except (TypeError, KeyError):
            faults.append(Fault("README.md", "config", f"a config must name its data_files: {entry!r}"))
            continue
        if name in configs:
            faults.append(Fault("README.md", "config", f"the config {name} stands twice"))
        configs[name] = {}
        for split, patterns in splits.items():
            if not re.fullmatch(r"\w+", str(split)):
                faults.append(Fault("README.md", "split", f"a split's name must match \\w+, not {split!r}"))
            paths: list[Path] = []
            for pattern in [patterns] if isinstance(patterns, str) else patterns:
                matched = sorted(folder.glob(pattern))
                if not matched:
                    faults.append(Fault("README.md", "config", f"{name}: no file matches {pattern}"))
                paths += matched
            configs[name][split] = paths
    return configs


def _check_eval(folder: Path, configs: Mapping[str, Mapping[str, Any]], faults: list[Fault]) -> None:
    path = folder / "eval.yaml"
    if not path.exists():
        return
    try:
        content = yaml.safe_load(read_text(path))
        framework, tasks = content.get("evaluation_framework"), content["tasks"]
        wanted = [(task["id"], task["config"], task["split"]) for task in tasks]
    except (yaml.YAMLError, InputError, TypeError, KeyError, AttributeError) as error:
        faults.append(Fault("eval.yaml", "eval", f"needs tasks with id, config and split ({error!r})"))
        return
    if framework is not None and framework not in FRAMEWORKS:
        message = f"evaluation_framework {framework!r} is not registered with the Hub; leave it out"
        faults.append(Fault("eval.yaml", "eval", message))
    for id, config, split in wanted:
        if split not in configs.get(config, {}):
            faults.append(Fault("eval.yaml", "eval", f"task {id}: no config {config!r} with split {split!r}"))


def _check_names(folder: Path, configs: Mapping[str, Mapping[str, list[Path]]], faults: list[Fault]) -> None:
    used = {path for splits in configs.values() for paths in splits.values() for path in paths}
    shards: dict[tuple[str, int], set[int]] = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.suffix == ".part":
            faults.append(Fault(name, "unfinished", "a file of a build that did not end"))
        if path.suffix != ".parquet":
            continue
        if path not in used:
            faults.append(Fault(name, "orphan", "no config reads this file"))
        found = re.fullmatch(r"(.+)-(\d{5})-of-(\d{5})", path.stem)
        if not found:
            faults.append(Fault(name, "shard-name", "must end in -0000i-of-0000n.parquet"))
            continue
        shards.setdefault((found[1], int(found[3])), set()).add(int(found[2]))
    for (stem, total), numbers in shards.items():
        if missing := sorted(set(range(total)) - numbers):
            faults.append(Fault(f"data/{stem}", "shard-missing", f"shards {missing} of {total} are missing"))


def check_digests(
    folder: Path,
    configs: Mapping[str, Mapping[str, Sequence[Path]]],
    faults: list[Fault],
) -> None:
    """The files of each configuration against the digest that the card gives it."""
    if not configs:
        return
    stated = {
        entry.get("config_name"): entry.get("description") for entry in _front_matter(folder)["configs"]
    }
    for name, splits in configs.items():
        if stated.get(name) is None:
            continue
        found = f"files {digest_of(path for paths in splits.values() for path in paths)}"
        if stated[name] != found:
            message = f"{name}: the card says {stated[name]!r}, but these are {found}"
            faults.append(Fault("README.md", "digest", message))


def _check_counts(
    configs: Mapping[str, Mapping[str, list[Path]]],
    sound: Mapping[Path, datasets.Features],
    manifest: Mapping[str, Any],
    folder: Path,
    faults: list[Fault],
) -> None:
    stated_counts = manifest.get("built")
    built: dict[str, Any] = stated_counts if isinstance(stated_counts, dict) else {}
    for name, splits in configs.items():
        for split, paths in splits.items():
            kinds = [sound[path] for path in paths if path in sound]
            if any(kind != kinds[0] for kind in kinds):
                faults.append(Fault(name, "features", "the files of this config differ in their columns"))
            elif kinds and len(kinds) == len(paths):
                stated = (built.get(name) or {}).get(split)
                found = count_columns(paths, kinds[0])
                if stated != found:
                    faults.append(Fault(name, "count", f"{MANIFEST} says {stated}, the files have {found}"))
    declared = manifest.get("declared") or {}
    rows = max((split["rows"] for config in built.values() for split in config.values()), default=0)
    if declared.get("rows", rows) != rows and "partial build" not in _card(folder):
        message = f"{rows} of {declared['rows']} rows, but the card does not call it a partial build"
        faults.append(Fault("README.md", "partial", message))


def _card(folder: Path) -> str:
    try:
        return read_text(folder / "README.md")
    except InputError:
        return ""
