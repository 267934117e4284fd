"""The walks in CONTRIBUTING lead somewhere: files and names exist, each step is named by one before it."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

MAP = ".github/CONTRIBUTING.md"
STEP = re.compile(r"`([\w./]+\.py)::([\w.]+)`")


def _text() -> str:
    return (Path(__file__).parents[2] / MAP).read_text(encoding="utf-8")


def _walks() -> dict[str, list[tuple[str, str]]]:
    part = _text().partition("## Walks\n")[2].partition("\n## ")[0]
    title, *found = re.split(r"^### (.*)$", part, flags=re.MULTILINE)
    assert "::" in title
    return {name: STEP.findall(text) for name, text in zip(found[::2], found[1::2], strict=True)}


def _defines(path: Path, name: str) -> bool:
    body: list[ast.stmt] = ast.parse(path.read_text(encoding="utf-8")).body
    for part in name.split("."):
        for node in body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name == part:
                body = node.body
                break
            if isinstance(node, ast.AnnAssign) and getattr(node.target, "id", None) == part:
                return True
        else:
            return False
    return True


def test_all_that_is_named_is_there(repository: Path) -> None:
    named = STEP.findall(_text())
    assert len(named) >= 18
    assert [step for step in named if not _defines(repository / step[0], step[1])] == []
    for path in re.findall(r"`((?:\.ci|\.github|tests|metrics|dataset_builders|scripts)/[\w./]*)`", _text()):
        assert (repository / path).exists() or "NAME" in path, path


@pytest.mark.parametrize("walk", _walks())
def test_a_walk_opens_six_files_at_most_and_each_is_named_before(repository: Path, walk: str) -> None:
    steps = _walks()[walk]
    files = [path for path, _ in steps]
    assert 3 <= len(files) == len(set(files)) <= 6
    for number, (path, name) in enumerate(steps[1:], 1):
        before = "".join((repository / file).read_text(encoding="utf-8") for file in files[:number])
        module = path.removesuffix(".py").replace("/", ".")
        # A method is called on what the step before holds; the table of data sets names their modules.
        known = (name.split(".")[-1], name.split(".")[0], f"lookcheck.{module}")
        assert any(re.search(rf"\b{re.escape(word)}\b", before) for word in known), path
