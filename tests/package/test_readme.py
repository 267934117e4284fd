"""README's examples run as they stand, and print what README says they print."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def _examples(readme: str) -> list[tuple[str, str, str]]:
    """Triples of language, program and the text block that follows it at once (or "")."""
    found = list(BLOCK.finditer(readme))
    examples = []
    for index, match in enumerate(found):
        shown = ""
        if index + 1 < len(found) and found[index + 1][1] == "text":
            between = readme[match.end() : found[index + 1].start()]
            shown = found[index + 1][2] if not between.strip() else ""
        if match[1] in {"python", "bash"}:
            examples.append((match[1], match[2], shown))
    return examples


README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
EXAMPLES = [
    (language, program, shown)
    for language, program, shown in _examples(README)
    # Installing and the benchmarks are run by hand and by .ci/run, not inside the suite.
    if "pip install" not in program
]

WITHOUT_TRANSFORMERS = """
import sys

class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == "transformers":
            raise ImportError("README's first command does not install transformers")

sys.meta_path.insert(0, Blocker())
"""


def test_readme_has_examples() -> None:
    assert len([1 for language, _, _ in EXAMPLES if language == "python"]) >= 2
    assert len([1 for language, _, _ in EXAMPLES if language == "bash"]) >= 1
    assert "pip install -e . && lookcheck demo" in README
    assert "pip install -e '.[test]' && pytest" in README


def test_the_examples_run_in_order_in_one_folder(repository: Path, tmp_path: Path) -> None:
    # Later examples use what earlier ones made, as a reader would.
    (tmp_path / "metrics").symlink_to(repository / "metrics")
    # evaluate imports transformers, and with it torch, wherever they are installed.
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text(WITHOUT_TRANSFORMERS)
    environment = {
        **os.environ,
        "HF_HUB_OFFLINE": "1",
        "HF_HOME": str(tmp_path / "hf"),
        "PYTHONPATH": str(tmp_path / "site"),
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
    }
    for language, program, shown in EXAMPLES:
        run = {"python": [sys.executable, "-c"], "bash": ["bash", "-euo", "pipefail", "-c"]}[language]
        result = subprocess.run(
            [*run, program], cwd=tmp_path, env=environment, capture_output=True, text=True
        )
        assert result.returncode == 0, f"{program}\n{result.stderr}"
        assert result.stdout, program
        if shown:
            assert result.stdout == shown
