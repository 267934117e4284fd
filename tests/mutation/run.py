"""Change the metrics' code in small ways and see the tests fail: ``python tests/mutation/run.py --sample 600 --seed 0``.

Cosmic Ray's operators make the mutants of the pure modules of ``metrics/``. Each is run against the fast tests of
its folder in a process forked from one that has pytest and the libraries loaded; what differs only in
annotations or docstrings is no mutant. Exit status 1 if too few are killed.
"""

from __future__ import annotations

import argparse
import ast

# Loaded once, before the forks.
import doctest  # noqa: F401
import importlib.machinery
import json
import os
import random
import resource
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import hypothesis
import hypothesis.extra.numpy
import numpy
import pytest
import scipy.optimize
from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator, operator_names
from PIL import Image
from pycocotools import mask

LOADED = (hypothesis.extra.numpy, numpy, scipy.optimize, Image, mask)
HERE = Path(__file__).parent
REPOSITORY = HERE.parents[1]
# Without those that need to be told what to change.
OPERATORS = [
    name for name in sorted(operator_names()) if not getattr(get_operator(name), "arguments", tuple)()
]
CONFIG: dict[str, Any] = json.loads((HERE / "config.json").read_text(encoding="utf-8"))


class Mutant(NamedTuple):
    """One place in one module where one operator changes one thing."""

    metric: str
    module: str
    operator: str
    occurrence: int

    @property
    def path(self) -> Path:
        return REPOSITORY / "metrics" / self.metric / f"{self.module}.py"


def modules() -> Iterator[tuple[str, str]]:
    """The pure modules; what is the same in every folder once."""
    for metric in CONFIG["metrics"]:
        for path in sorted((REPOSITORY / "metrics" / metric).glob("*.py")):
            if path.stem in {"__init__", "app", metric} or (path.stem == "common" and metric != "grove"):
                continue
            yield metric, path.stem


def mutants() -> list[Mutant]:
    """Every mutant that the operators make."""
    found = []
    for metric, module in modules():
        nodes = list(ast_nodes(get_ast(Mutant(metric, module, "", 0).path.read_text(encoding="utf-8"))))
        for operator in OPERATORS:
            made = get_operator(operator)()
            number = sum(len(list(made.mutation_positions(node))) for node in nodes)
            found += [Mutant(metric, module, operator, occurrence) for occurrence in range(number)]
    return found


def meaning(source: str) -> str:
    """The code without what has no effect when it runs: annotations, and the belts beside the braces."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.arg | ast.AnnAssign):
            node.annotation = ast.Constant(None)
        elif isinstance(node, ast.FunctionDef):
            node.returns = None
        elif isinstance(node, ast.Call):
            # The lists were checked to be of one length before.
            node.keywords = [keyword for keyword in node.keywords if keyword.arg != "strict"]
    return ast.dump(tree)


def survives(mutant: Mutant, source: str) -> bool:
    """Whether the folder's fast tests pass with this source; in a process of its own."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            resource.setrlimit(resource.RLIMIT_CPU, (CONFIG["limit_seconds"],) * 2)
            status = _test(mutant, source)
        finally:
            os._exit(min(status, 100))
    deadline = time.monotonic() + 4 * CONFIG["limit_seconds"]
    while True:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return status == 0
        if time.monotonic() > deadline:
            os.kill(child, 9)
        time.sleep(0.02)


def _test(mutant: Mutant, source: str) -> int:
    silent = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silent, 1)
    os.dup2(silent, 2)
    os.chdir(REPOSITORY)
    name = f"lookcheck.metrics.{mutant.metric}.{mutant.module}"
    read = importlib.machinery.SourceFileLoader.get_code

    def get_code(self: importlib.machinery.SourceFileLoader, fullname: str) -> Any:
        if fullname == name:
            return compile(source, str(mutant.path), "exec")
        return read(self, fullname)

    importlib.machinery.SourceFileLoader.get_code = get_code  # type: ignore[method-assign]
    folder = Path("tests/metrics")
    tests = [str(folder / mutant.metric / test) for test in CONFIG["metrics"][mutant.metric]]
    others = [other for other in CONFIG["metrics"] if other != mutant.metric and mutant.module != "common"]
    unwanted = " or ".join([*CONFIG["skipped"], *others])
    options = [
        "-x",
        "-q",
        "-o",
        "addopts=--import-mode=importlib",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:xdist",
    ]
    options += ["-p", "no:timeout", "-p", "no:benchmark", "--hypothesis-profile=mutation"]
    options += ["-m", "not app and not install", "-k", f"not ({unwanted})"]
    return int(pytest.main([*options, str(folder / CONFIG["common"]), *tests]))


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--sample", type=int, help="so many mutants, drawn at random; default: all")
    arguments.add_argument("--seed", type=int, default=0)
    arguments.add_argument("--metric", choices=list(CONFIG["metrics"]))
    chosen = arguments.parse_args()
    hypothesis.settings.register_profile(
        "mutation", max_examples=25, deadline=None, derandomize=True, database=None,
        phases=[hypothesis.Phase.explicit, hypothesis.Phase.generate],
    )  # fmt: skip
    everything = [one for one in mutants() if chosen.metric in (None, one.metric)]
    random.Random(chosen.seed).shuffle(everything)
    killed: Counter[str] = Counter()
    tried: Counter[str] = Counter()
    begin = time.monotonic()
    for mutant in everything:
        if chosen.sample and tried.total() >= chosen.sample:
            break
        original = mutant.path.read_text(encoding="utf-8")
        source = mutate_code(original, get_operator(mutant.operator)(), mutant.occurrence)
        try:
            if source is None or meaning(source) == meaning(original):
                continue
        except SyntaxError:
            continue
        tried[mutant.metric] += 1
        if tried.total() % 50 == 0:
            print(f"{tried.total()} tried, {killed.total()} killed", flush=True)
        if survives(mutant, source):
            print(f"survived: {mutant.metric}/{mutant.module}.py {mutant.operator.split('/')[1]}", flush=True)
            lines = zip(original.split("\n"), source.split("\n"), strict=False)
            for number, (before, after) in enumerate(lines, start=1):
                if before != after:
                    print(f"  {number}: {before.strip()}\n    -> {after.strip()}", flush=True)
                    break
        else:
            killed[mutant.metric] += 1
    for metric in tried:
        print(f"{metric}: {killed[metric]} of {tried[metric]} killed")
    share = killed.total() / tried.total()
    seconds = time.monotonic() - begin
    print(
        f"{killed.total()} of {tried.total()} mutants killed, {share:.1%}, in {seconds:.0f} s (seed {chosen.seed})"
    )
    return 0 if share >= CONFIG["at_least"] else 1


if __name__ == "__main__":
    sys.exit(main())
