"""`lookcheck build`: one subcommand per data set."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import typer

from lookcheck.dataset_builders.dataset import DataSet, Work
from lookcheck.dataset_builders.registry import DATASETS, command_name
from lookcheck.scripts import console
from lookcheck.scripts.option_objects import with_option_objects


@dataclass(frozen=True)
class Common:
    """What every build can be told."""

    output: Annotated[Path, typer.Option(help="New folder to write.")]
    num_proc: Annotated[int, typer.Option(min=1, help="Processes that make rows.")] = 1
    json: Annotated[bool, typer.Option("--json", help="Print what was built as JSON.")] = False


def build_command(data_set: DataSet) -> Callable[..., None]:
    """The command that builds a data set."""

    def build(options: Any, common: Common) -> None:
        # `datasets` takes seconds to import: not for --help.
        from lookcheck.dataset_builders.parquet.writer import refuse_output, write_folder

        refuse_output(common.output)
        with TemporaryDirectory(prefix="lookcheck-") as name, console.tracking(quiet=common.json) as track:
            plan = data_set.plan(options, Work(Path(name), common.num_proc, track))
            manifest = write_folder(plan, common.output, num_proc=common.num_proc, track=track)
        if common.json:
            print(console.to_json(manifest))
        else:
            lines = [*_counts(manifest, common.output), *data_set.built(manifest), *_large(manifest)]
            print("\n".join(lines))

    name = command_name(data_set)
    build.__annotations__ = {"options": data_set.build_options, "common": Common, "return": None}
    build.__doc__ = (
        f"Build {data_set.title}: check everything, then write Parquet, README.md and eval.yaml.\n\n"
        f"Example:\n\n\b\n  lookcheck build {name} --source sample --output {name}"
    )
    return with_option_objects(build)


def _counts(manifest: Mapping[str, Any], output: Path) -> list[str]:
    """What was built, a line for each configuration."""
    lines = [f"{manifest['name']} {manifest['version']} in {output}"]
    for config, splits in manifest["built"].items():
        lines += [f"  {config} / {split}: {counted['rows']:,} rows" for split, counted in splits.items()]
    return lines


def _large(manifest: Mapping[str, Any]) -> list[str]:
    ids = manifest.get("large_rows", [])
    if not ids:
        return []
    shown = ", ".join(ids[:5]) + (", …" if len(ids) > 5 else "")
    return [
        f"  {len(ids):,} rows of 3 MB or more, which the Hub's viewer does not show: {shown}",
        "  (lookcheck publish takes them with --large-rows)",
    ]


app = console.new_app("Build a data set as a folder that load_dataset reads and the Hub shows.")
for _data_set in DATASETS.values():
    app.command(command_name(_data_set), short_help=f"Build {_data_set.title}.")(build_command(_data_set))


@app.callback()
def _group() -> None:
    """Keep the name of the data set in the command even while there is only one."""


if __name__ == "__main__":
    console.run(app)
