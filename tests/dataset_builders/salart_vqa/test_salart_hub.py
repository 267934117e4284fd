"""`--source hub`: either layout from a repository, the commit recorded, one sentence where it fails."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from lookcheck.dataset_builders.parquet.writer import write_folder
from lookcheck.dataset_builders.salart_vqa.plan import plan_source
from lookcheck.dataset_builders.salart_vqa.sources import folder_source

spec = importlib.util.spec_from_file_location(
    "salart_upstream_for_hub", Path(__file__).with_name("salart_upstream.py")
)
assert spec is not None
assert spec.loader is not None
upstream = importlib.util.module_from_spec(spec)
spec.loader.exec_module(upstream)


def serve(hub: Any, folder: Path, name: str = "org/SalArt") -> str:
    """Put a folder on the loopback Hub; gives its commit."""
    repo_type = sys.modules[type(hub).__module__].Repo
    repo = repo_type(private=False, commits=7)
    repo.files = {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
    hub.repos["datasets", name] = repo
    return str(repo.sha)


def build(hub: Any, folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    environment = {
        **os.environ,
        "HF_ENDPOINT": hub.url,
        "HF_HOME": str(folder / "home"),
        "HF_HUB_DISABLE_XET": "1",
    }
    command = [sys.executable, "-m", "lookcheck.scripts.cli", "build", "salart-vqa", "--source", "hub"]
    command += ["--output", str(folder / "out"), *options]
    return subprocess.run(command, capture_output=True, text=True, env=environment)


@pytest.fixture
def rows() -> list[dict[str, Any]]:
    """One row of each role."""
    roles = ("artifact", "clean_reference", "paired_generated_counterpart")
    return [upstream.row(number, upstream.label(number, role)) for number, role in enumerate(roles)]


@pytest.mark.parametrize("layout", ["parquet", "jsonl"])
def test_a_repository_is_downloaded_and_its_commit_recorded(
    loopback_hub: Any, rows: list[dict[str, Any]], tmp_path: Path, layout: str
) -> None:
    source = tmp_path / "in"
    if layout == "parquet":
        upstream.write_parquet(source, rows, shards=2)
        # What stands beside the Parquet files is neither wanted nor downloaded.
        (source / "images").mkdir()
        (source / "images" / "large.png").write_bytes(bytes(1000))
        (source / "checksums.jsonl").write_text('{"file": "data/test-00000-of-00002.parquet"}\n')
    else:
        upstream.write_jsonl(source, rows, [{"pair_id": "p"}] * 3)
    commit = serve(loopback_hub, source)
    done = build(
        loopback_hub, tmp_path, "--repository", "org/SalArt", "--revision", "main", "--allow-partial"
    )
    assert done.returncode == 0, done.stderr
    manifest = json.loads((tmp_path / "out" / "lookcheck.json").read_text())
    assert manifest["source"] == {
        "kind": "hub",
        "layout": layout,
        "repository": "org/SalArt",
        "revision": commit,
    }
    assert f"(`org/SalArt` at revision `{commit}`)" in (tmp_path / "out" / "README.md").read_text()
    assert not [path for _, path in loopback_hub.requests if path.endswith("large.png")]
    (tmp_path / "work").mkdir()
    direct = plan_source(
        folder_source(source / "data" if layout == "parquet" else source, tmp_path / "work"),
        allow_partial=True,
    )
    write_folder(direct, tmp_path / "direct")
    for path in (tmp_path / "direct" / "data").iterdir():
        assert (tmp_path / "out" / "data" / path.name).read_bytes() == path.read_bytes()


def test_a_missing_repository_is_one_sentence(loopback_hub: Any, tmp_path: Path) -> None:
    done = build(loopback_hub, tmp_path, "--repository", "org/None")
    assert done.returncode == 2
    assert done.stderr == "error: org/None: no such data set on the Hub, or it needs a token\n"
    assert not (tmp_path / "out").exists()


def test_a_repository_of_something_else_is_one_sentence(loopback_hub: Any, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "README.md").write_text("# Nothing\n")
    commit = serve(loopback_hub, tmp_path / "in")
    done = build(loopback_hub, tmp_path, "--repository", "org/SalArt", "--revision", "main")
    assert done.returncode == 2
    last = done.stderr.splitlines()[-1]
    assert last.startswith(f"error: org/SalArt at {commit}: no images found; expected Parquet with")
    assert last.endswith("found 1 × ./*.md")
