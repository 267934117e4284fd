"""A fourth data set is one folder, one template and one line: then every command knows it."""

from __future__ import annotations

import ast
import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

TOKEN = "hf_loopbackSECRETtoken0123456789"
SHADES = Path(__file__).parent / "shades"


@pytest.fixture(scope="module")
def tree(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package with one more data set."""
    root = tmp_path_factory.mktemp("tree") / "lookcheck"
    for folder in ("metrics", "dataset_builders", "scripts", "cards"):
        shutil.copytree(repository / folder, root / folder, ignore=shutil.ignore_patterns("__pycache__"))
    # The folder and the template.
    shutil.copytree(SHADES, root / "dataset_builders" / "shades", ignore=shutil.ignore_patterns("*.jinja"))
    shutil.copy(SHADES / "shades.md.jinja", root / "cards")
    # The line.
    registry = root / "dataset_builders" / "registry.py"
    lines = registry.read_text().splitlines(keepends=True)
    lines.insert(lines.index('    "perturbed_pope",\n') + 1, '    "shades",\n')
    registry.write_text("".join(lines))
    return root.parent


def run(tree: Path, place: Path, *arguments: str, **changed: str) -> subprocess.CompletedProcess[str]:
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("HF_")},
        # Before the finder of an editable install, which knows no fourth.
        "PYTHONPATH": os.pathsep.join([str(tree), os.environ["PYTHONPATH"]]),
        "HF_HOME": str(place / "hf"),
        **changed,
    }
    command = [sys.executable, "-m", "lookcheck.scripts", *arguments]
    return subprocess.run(command, cwd=place, env=environment, capture_output=True, text=True, timeout=900)


@pytest.fixture(scope="module")
def built(tree: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which the sample is built, with answers to it."""
    place = tmp_path_factory.mktemp("shades")
    done = run(tree, place, "build", "shades", "--source", "sample", "--output", "built")
    assert done.returncode == 0, done.stderr
    assert done.stdout == "shades 1.0.0 in built\n  default / test: 3 rows\n"
    answers = {"red": "red", "green": "blue", "blue": "blue"}
    lines = [json.dumps({"id": id, "prediction": text}) for id, text in answers.items()]
    (place / "answers.jsonl").write_text("\n".join(lines))
    return place


def test_build_refuses_as_the_data_set_says(tree: Path, tmp_path: Path) -> None:
    done = run(tree, tmp_path, "build", "shades", "--source", "folder", "--output", "built")
    assert (done.returncode, done.stderr) == (2, "error: --folder DIR goes with --source folder\n")
    assert "shades" in run(tree, tmp_path, "build", "--help").stdout


def test_check_holds_its_rules(tree: Path, built: Path, tmp_path: Path) -> None:
    done = run(tree, built, "check", "--dataset", "built")
    assert (done.returncode, done.stdout) == (0, "built: 1 files, 3 rows, all rules kept\n")
    broken = tmp_path / "broken"
    shutil.copytree(built / "built", broken)
    (path,) = broken.glob("data/*.parquet")
    table = pq.read_table(path, partitioning=None)
    answers = pa.array(["green", *table["answer"].to_pylist()[1:]])
    pq.write_table(table.set_column(3, "answer", answers), path, write_page_index=True)
    done = run(tree, tmp_path, "check", "--dataset", "broken", "--json")
    assert done.returncode == 2
    faults = [(fault["id"], fault["message"]) for fault in json.loads(done.stdout)["faults"]]
    assert ("blue", "'green' is not the colour (0, 0, 220)") in faults


def test_view_shows_it(tree: Path, built: Path, tmp_path: Path) -> None:
    done = run(tree, built, "view", "--dataset", "built", "--output", str(tmp_path / "page"))
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "page" / "index.html").read_text()
    assert "Shades" in page
    assert page.count("Which colour is the picture?") >= 3


def test_score_takes_the_folder_and_a_file(tree: Path, built: Path) -> None:
    (built / "references.jsonl").write_text('{"id": "red", "answer": "red"}\n')
    for given, shown in ((("--dataset", "built"), 2 / 3), (("--references", "references.jsonl"), None)):
        done = run(tree, built, "score", "shades", *given, "--predictions", "answers.jsonl", "--json")
        if shown is None:
            assert done.returncode == 2
            assert "the id 'green' is not in references.jsonl" in done.stderr
        else:
            assert json.loads(done.stdout)["accuracy"] == shown


@pytest.fixture
def judge() -> Iterator[str]:
    """An OpenAI-compatible server that says yes to equal colours."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            asked = body["messages"][-1]["content"]
            # Two answers stand in the prompt: green twice unlike, red and blue twice alike.
            content = "yes" if asked.count("red") > 1 or "green" not in asked else "no"
            message = {"role": "assistant", "content": content}
            reply = {
                "id": "x", "object": "chat.completion", "created": 0, "model": body["model"],
                "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
            }  # fmt: skip
            data = json.dumps(reply).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    server.shutdown()
    server.server_close()


def test_judge_asks_its_questions(tree: Path, built: Path, judge: str, tmp_path: Path) -> None:
    output = tmp_path / "verdicts.jsonl"
    server = ("--backend", "openai", "--base-url", judge, "--model", "any", "--method", "generate")
    files = ("--dataset", "built", "--answers", "answers.jsonl", "--output", str(output))
    done = run(tree, built, "judge", "run", *files, *server, "--top-logprobs", "0")
    assert done.returncode == 0, done.stderr
    rows = [json.loads(line) for line in output.read_text().splitlines()[1:]]
    assert {row["id"]: row["verdict"] for row in rows} == {"red": "yes", "green": "no", "blue": "yes"}


def test_publish_uploads_it_and_anybody_loads_it(
    tree: Path, built: Path, loopback_hub: Any, tmp_path: Path
) -> None:
    hub = {"HF_ENDPOINT": loopback_hub.url, "HF_TOKEN": TOKEN, "HF_HUB_DISABLE_XET": "1"}
    done = run(tree, built, "publish", "--dataset", "built", "--to", "org/Shades", "--public", **hub)
    assert done.returncode == 0, done.stderr
    program = (
        "import datasets\n"
        "rows = datasets.load_dataset('org/Shades', split='test')\n"
        "print([(row['id'], row['image'].getpixel((0, 0))) for row in rows])"
    )
    environment = {**os.environ, **hub, "HF_HOME": str(tmp_path / "hf")}
    read = subprocess.run(
        [sys.executable, "-c", program], env=environment, cwd=tmp_path, capture_output=True, text=True
    )
    assert read.stdout == "[('blue', (0, 0, 220)), ('green', (0, 160, 0)), ('red', (200, 0, 0))]\n"


def test_no_command_names_a_data_set(repository: Path) -> None:
    """Neither by import nor in a string; comments and documentation may."""
    folders = [path.parent.name for path in (repository / "dataset_builders").glob("*/dataset.py")]
    assert len(folders) == 3
    names = {name for folder in folders for name in (folder, folder.replace("_", "-"))}
    for path in sorted((repository / "scripts").rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        documentation = {
            id(node.body[0].value)
            for node in ast.walk(tree)
            if isinstance(node, ast.Module | ast.FunctionDef | ast.ClassDef)
            and node.body
            and isinstance(node.body[0], ast.Expr)
        }
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                used = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                used = [f"{node.module}.{alias.name}" for alias in node.names]
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                used = [] if id(node) in documentation else [node.value]
            else:
                continue
            said = [f".{text.lower()}." for text in used]
            metrics = [text for text in said if not text.startswith(".lookcheck.metrics.")]
            found = [name for name in names for text in metrics if name in text]
            assert not found, f"{path}:{node.lineno} names {found}"
