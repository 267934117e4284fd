"""What a stranger sees in the repository: a fixed top level and nothing private."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

TOP_LEVEL = {
    "LICENSE",
    "NOTICE",
    "README.md",
    "cards",
    "dataset_builders",
    "metrics",
    "pyproject.toml",
    "scripts",
    "tests",
}


def _tracked(repository: Path) -> list[str]:
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=repository, check=True, capture_output=True, text=True
    )
    return [name for name in listed.stdout.split("\0") if name]


def test_top_level_is_fixed(repository: Path) -> None:
    top = {name.split("/")[0] for name in _tracked(repository)}
    assert {name for name in top if not name.startswith(".")} == TOP_LEVEL


def test_no_machine_paths_and_no_unsafe_calls(repository: Path) -> None:
    # Assembled, so that this file does not match itself.
    patterns = [
        r"(?<![\w.])/(" + "work|root|home|tmp)" + r"/\w",
        "trust_remote_code" + r"\s*=\s*True",
        "pickle" + r"\.loads?\(",
    ]
    found = []
    for name in _tracked(repository):
        path = repository / name
        if path.suffix not in {".py", ".md", ".toml", ".jinja", ".txt", ".html", ".js"} or not path.is_file():
            continue
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            found += [f"{name}:{number}: {line.strip()}" for pattern in patterns if re.search(pattern, line)]
    assert found == []


def test_no_test_holds_a_clock_against_the_product(repository: Path) -> None:
    # Seconds depend on the machine and on what else runs there; they are measured in tests/benchmarks.
    # time.monotonic stays, for the deadline of a wait.
    clock = re.compile(
        r"\b(perf_" + r"counter|process_" + r"time|thread_" + r"time|get" + r"rusage|time\.time\()"
    )
    found = []
    for name in _tracked(repository):
        if name.startswith("tests/") and name.endswith(".py") and not name.startswith("tests/benchmarks/"):
            lines = (repository / name).read_text(encoding="utf-8").splitlines()
            found += [f"{name}:{number}" for number, line in enumerate(lines, 1) if clock.search(line)]
    assert found == []
