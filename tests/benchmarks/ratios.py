"""Run ratios() of every bench_*.py of this folder and print them with their limits; exit 1 if one fails.

Each ratios() returns rows ``{"name", "measured", "limit", "rule"}``; the rule is "at least", "at most",
or "info" for an absolute time, which depends on the machine and is shown only. Names of benchmarks as
arguments restrict the run, for example ``python tests/benchmarks/ratios.py soft_vqa_acc``.
"""

from __future__ import annotations

import datetime
import importlib.util
import os
import platform
import sys
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

HERE = Path(__file__).parent


def load(path: Path) -> Any:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def holds(row: dict[str, Any]) -> bool | None:
    """Whether a row keeps its limit; None where it is information only."""
    if row["rule"] == "info":
        return None
    if row["rule"] == "at least":
        return bool(row["measured"] >= row["limit"])
    if row["rule"] == "at most":
        return bool(row["measured"] <= row["limit"])
    raise ValueError(f"{row['name']}: unknown rule {row['rule']!r}")


def processor() -> str:
    """The processor's name, where the system tells it."""
    information = Path("/proc/cpuinfo")
    if information.is_file():
        for line in information.read_text(encoding="utf-8", errors="replace").split("\n"):
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def main(names: list[str]) -> int:
    console = Console()
    paths = sorted(HERE.glob("bench_*.py"))
    known = [path.stem.removeprefix("bench_") for path in paths]
    for name in names:
        if name not in known:
            console.print(f"unknown benchmark {name!r}; there are {', '.join(known)}", markup=False)
            return 2
    rows: list[dict[str, Any]] = []
    for path, name in zip(paths, known, strict=True):
        if not names or name in names:
            with console.status(f"running {name}"):
                module = load(path)
                if hasattr(module, "ratios"):
                    rows += module.ratios()
    machine = f"{processor()}, {os.cpu_count()} cores, Python {platform.python_version()}"
    table = Table(title=f"{machine}, {datetime.date.today().isoformat()}", title_justify="left")
    table.add_column("name")
    for column in ("measured", "limit", "ok"):
        table.add_column(column, justify="right")
    for row in rows:
        kept = holds(row)
        limit = f"about {row['limit']:.2f}" if kept is None else f"{row['rule']} {row['limit']:.2f}"
        table.add_row(
            row["name"], f"{row['measured']:.2f}", limit, {None: "–", True: "yes", False: "NO"}[kept]
        )
    console.print(table)
    return 1 if not rows or any(holds(row) is False for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
