"""Who may import whom below `dataset_builders`, and what a real build leaves alone."""

from __future__ import annotations

import ast
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = "lookcheck.dataset_builders"
DATA_SETS = ("perturbed_pope", "salart_vqa", "vistaqa")


def _imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{name.name}" for name in node.names)


def _below(repository: Path, folder: str) -> dict[str, set[str]]:
    """From file to what it imports."""
    files = sorted((repository / folder).rglob("*.py"))
    assert files
    return {path.relative_to(repository).as_posix(): set(_imports(path)) for path in files}


@pytest.mark.parametrize("name", DATA_SETS)
def test_data_sets_do_not_import_each_other(repository: Path, name: str) -> None:
    others = tuple(f"{ROOT}.{other}." for other in DATA_SETS if other != name)
    for file, imported in _below(repository, f"dataset_builders/{name}").items():
        assert not [module for module in imported if module.startswith(others)], file


@pytest.mark.parametrize("room", ["core", "parquet", "display", "pictures"])
def test_rooms_below_the_data_sets_do_not_know_them(repository: Path, room: str) -> None:
    known = tuple(f"{ROOT}.{name}" for name in DATA_SETS)
    for file, imported in _below(repository, f"dataset_builders/{room}").items():
        assert not [module for module in imported if module.startswith(known)], file


def test_the_floor_stands_on_nothing_but_a_metric(repository: Path) -> None:
    for file, imported in _below(repository, "dataset_builders/core").items():
        own = [module for module in imported if module.startswith("lookcheck.")]
        assert all(module.startswith((f"{ROOT}.core", "lookcheck.metrics.grove.")) for module in own), file


def test_one_module_speaks_to_pycocotools_above_the_metric(repository: Path) -> None:
    users = {
        file
        for folder in ("dataset_builders", "scripts", "metrics")
        for file, imported in _below(repository, folder).items()
        if any(module.startswith("pycocotools") for module in imported)
    }
    assert {file for file in users if not file.startswith("metrics/grove/")} == {
        "dataset_builders/core/masks.py"
    }


BUILD = """
    import sys
    sys.path.insert(0, {helpers!r})
    from pathlib import Path
    from lookcheck.dataset_builders.parquet.writer import write_folder
    work = Path({work!r})
    {build}
    write_folder(plan, work / "built")
    print([name for name in sys.modules if name.startswith("lookcheck.dataset_builders.pictures")])
    """
BUILDS = {
    "vistaqa": """
    import upstream
    from lookcheck.dataset_builders.vistaqa.plan import plan_source
    from lookcheck.dataset_builders.vistaqa.sources import folder_source
    upstream.write(work, 7, upstream.record(7))
    plan = plan_source(folder_source(work / "annotations", work / "images"), allow_partial=True)
    """,
    "salart_vqa": """
    import salart_upstream
    from lookcheck.dataset_builders.salart_vqa.plan import plan_source
    from lookcheck.dataset_builders.salart_vqa.sources import folder_source
    label = salart_upstream.label(0, "clean_reference")
    salart_upstream.write_parquet(work / "in", [salart_upstream.row(0, label)])
    (work / "unpacked").mkdir()
    plan = plan_source(folder_source(work / "in", work / "unpacked"), allow_partial=True)
    """,
    "perturbed_pope": """
    import tiny_coco
    from lookcheck.dataset_builders.perturbed_pope.plan import plan_source
    from lookcheck.dataset_builders.perturbed_pope.sources import pope_source
    folder = tiny_coco.write(work / "source", splits=("random",))
    files = [(None, folder / "random.json")]
    plan = plan_source(
        pope_source(files, folder / "images", folder / "instances.json", described={"kind": "pope"}),
        ["black_mask"],
    )
    """,
}


@pytest.mark.parametrize("name", DATA_SETS)
def test_a_real_build_draws_no_picture(repository: Path, tmp_path: Path, name: str) -> None:
    """Everything but the samples works without the drawing code."""
    helpers = repository / "tests" / "dataset_builders" / name
    build = textwrap.dedent(BUILDS[name]).replace("\n", "\n    ")
    program = BUILD.format(helpers=str(helpers), work=str(tmp_path), build=build)
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, timeout=900
    )
    assert done.stdout == "[]\n", done.stderr
