"""Which room imports which: no circles, commands above data sets, data sets above the floor."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

# Commands, and what these stand on, start without any of these: help and errors come at once.
HEAVY = (
    "PIL",
    "datasets",
    "evaluate",
    "gradio",
    "numpy",
    "pandas",
    "pyarrow",
    "pycocotools",
    "scipy",
    "skimage",
    "torch",
    "transformers",
)
# Rooms that still import each other; the list may only shrink.
CIRCLES: set[frozenset[str]] = set()


def _room(module: str, rooms: set[str]) -> str | None:
    """The room of a dotted name below ``lookcheck``: the longest that holds it."""
    parts = module.split(".")
    for length in range(len(parts), 0, -1):
        if (name := ".".join(parts[:length])) in rooms:
            return name
    return None


def _rooms(repository: Path) -> dict[str, list[Path]]:
    """Files by room: each folder of the second level, and each file beside these, is one."""
    rooms: dict[str, list[Path]] = {}
    for top in ("metrics", "dataset_builders", "scripts", "cards"):
        for path in sorted((repository / top).rglob("*.py")):
            parts = path.relative_to(repository).with_suffix("").parts
            # A package's own file imports what it likes of what it holds; only the roots have nothing in them.
            name = top if parts[1] == "__init__" else f"{top}.{parts[1]}"
            rooms.setdefault(name, []).append(path)
    return rooms


def _imports(path: Path, repository: Path) -> set[str]:
    """Dotted names below ``lookcheck`` that a file imports, also inside functions; for types alone too."""
    package = path.relative_to(repository).parent.parts
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                above = package[: len(package) - node.level + 1]
                base = ".".join(("lookcheck", *above, *([node.module] if node.module else [])))
            found |= {f"{base}.{alias.name}" for alias in node.names}
    return {name.removeprefix("lookcheck.") for name in found if name.startswith("lookcheck.")}


@pytest.fixture(scope="module")
def graph(repository: Path) -> dict[str, set[str]]:
    """From each room to those it imports."""
    rooms = _rooms(repository)
    return {
        name: {
            room
            for path in paths
            for module in _imports(path, repository)
            if (room := _room(module, set(rooms))) is not None and room != name
        }
        for name, paths in rooms.items()
    }


def test_no_circle_between_rooms(graph: dict[str, set[str]]) -> None:
    graph = {name: set(imported) for name, imported in graph.items()}
    found: set[frozenset[str]] = set()
    while True:
        try:
            TopologicalSorter(graph).prepare()
            break
        except CycleError as error:
            circle = error.args[1]
            found.add(frozenset(circle))
            # Each circle is named once: without one of its arrows the next comes to light.
            graph[circle[1]].discard(circle[0])
    assert found == CIRCLES


def test_commands_stand_above_all_and_data_sets_beside_each_other(graph: dict[str, set[str]]) -> None:
    data_sets = {name for name in graph if f"{name}.dataset" in _modules(name)}
    assert {"dataset_builders.vistaqa", "dataset_builders.salart_vqa"} <= data_sets
    for name, imported in graph.items():
        if not name.startswith("scripts"):
            assert not {other for other in imported if other.startswith("scripts")}, name
        if name.startswith("metrics."):
            assert imported == set(), name
        if name in data_sets:
            assert not imported & data_sets, name


def _modules(room: str) -> set[str]:
    folder = Path(__file__).parents[2] / room.replace(".", "/")
    return {f"{room}.{path.stem}" for path in folder.glob("*.py")}


PROBE = """
import json, sys
from lookcheck.scripts import console
from lookcheck.scripts.cli import app
try:
    console.run(app)
finally:
    print(json.dumps(sorted(name for name in sys.modules if "." not in name)), file=sys.stderr)
"""


@pytest.mark.parametrize(
    "command",
    [
        ("--help",),
        ("build", "--help"),
        ("build", "vistaqa", "--help"),
        ("score", "vistaqa", "--help"),
        ("judge", "run", "--help"),
        ("publish", "--help"),
        ("no-such-command",),
        ("check", "--dataset", "no-such-folder"),
        ("publish", "--dataset", "no-such-folder", "--to", "org/name"),
        ("view", "--dataset", "no-such-folder"),
        ("score", "vqa", "--references", "no-such-file", "--predictions", "none"),
    ],
    ids=" ".join,
)
def test_nothing_heavy_is_imported_for_help_or_an_error(command: tuple[str, ...]) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROBE, *command], capture_output=True, text=True, check=False
    )
    assert done.returncode in (0, 2)
    loaded = json.loads(done.stderr.splitlines()[-1])
    assert [name for name in HEAVY if name in loaded] == []
