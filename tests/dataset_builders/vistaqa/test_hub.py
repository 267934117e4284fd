"""A downloaded repository: the layouts that are understood, and what is said of others."""

from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from hashlib import sha1
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import ModuleType
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lookcheck.dataset_builders.core.errors import InputError
from lookcheck.dataset_builders.parquet.writer import write_folder
from lookcheck.dataset_builders.vistaqa.hub import locate
from lookcheck.dataset_builders.vistaqa.plan import plan_source
from lookcheck.dataset_builders.vistaqa.sources import VistaQASource, jobs_of


@pytest.fixture
def repository(upstream: ModuleType, tmp_path: Path) -> Path:
    """Five records below other folders, beside files that are not meant."""
    folder = tmp_path / "repository"
    for number in range(5):
        upstream.write(folder / "VistaQA" / "deep", number, upstream.record(number))
    (folder / "thumbnails").mkdir()
    shutil.copy(folder / "VistaQA" / "deep" / "images" / "1.png", folder / "thumbnails")
    (folder / "runs").mkdir()
    (folder / "runs" / "1.json").write_text("{}")
    (folder / "README.md").write_text("# VistaQA\n")
    return folder


def test_json_and_images_are_found(repository: Path, tmp_path: Path) -> None:
    deep = repository / "VistaQA" / "deep"
    assert locate(repository, tmp_path, "r") == (deep / "annotations", deep / "images")


@pytest.mark.parametrize("as_text", [False, True])
def test_parquet_gives_the_same_folder(
    upstream: ModuleType, repository: Path, tmp_path: Path, as_text: bool
) -> None:
    deep = repository / "VistaQA" / "deep"
    direct = VistaQASource(jobs_of(deep / "annotations", deep / "images"), {"kind": "hub"})
    write_folder(plan_source(direct, allow_partial=True), tmp_path / "direct")
    rows = []
    for path in sorted((deep / "annotations").iterdir()):
        record = json.loads(path.read_text())
        picture = (deep / "images" / record["image"]["file_name"]).read_bytes()
        record["image"] = {"bytes": picture, "path": record["image"]["file_name"]}
        record["id"] = path.stem
        if as_text:
            record["annotations"] = json.dumps(record["annotations"])
        rows.append(record)
    (tmp_path / "parquet" / "data").mkdir(parents=True)
    (tmp_path / "workspace").mkdir()
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "parquet" / "data" / "train-0.parquet")
    found = VistaQASource(
        jobs_of(*locate(tmp_path / "parquet", tmp_path / "workspace", "r")), {"kind": "hub"}
    )
    write_folder(plan_source(found, allow_partial=True), tmp_path / "unpacked")
    for path in (tmp_path / "direct" / "data").iterdir():
        assert (tmp_path / "unpacked" / "data" / path.name).read_bytes() == path.read_bytes()


def test_what_was_found_and_expected_is_said(tmp_path: Path) -> None:
    folder = tmp_path / "other"
    (folder / "data").mkdir(parents=True)
    (folder / "data" / "images.zip").write_bytes(b"")
    (folder / "data" / "1.json").write_text('{"image": {"file_name": "1.png"}}')
    pq.write_table(pa.table({"question": ["a"]}), folder / "a.parquet")
    with pytest.raises(InputError) as caught:
        locate(folder, tmp_path, "ORG/X at abc")
    assert str(caught.value).startswith("ORG/X at abc: no samples found; expected a folder of <integer>.json")
    assert str(caught.value).endswith("found 1 × ./*.parquet, 1 × data/*.json, 1 × data/*.zip")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"id": None}, "needs an integer"),
        ({"id": "../7"}, "needs an integer"),
        ({"image": {"bytes": None, "path": "7.png"}}, "holds no picture"),
    ],
)
def test_bad_parquet_rows_are_named(
    upstream: ModuleType, tmp_path: Path, change: dict[str, object], said: str
) -> None:
    row = upstream.record(7) | {"id": "7", "image": {"bytes": b"x", "path": "7.png"}} | change
    (tmp_path / "in").mkdir()
    (tmp_path / "workspace").mkdir()
    pq.write_table(pa.Table.from_pylist([row]), tmp_path / "in" / "train-0.parquet")
    with pytest.raises(InputError, match=f"train-0.parquet row 0.*{said}"):
        locate(tmp_path / "in", tmp_path / "workspace", "r")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"id": "²"}, "needs an integer in the column id or image_id, not '²'"),
        ({"id": 1.5}, "needs an integer in the column id or image_id, not 1.5"),
        ({"id": 2**62 * 1.0}, "needs an integer"),
        ({"image": b"bare bytes"}, "the column image holds no picture"),
        ({"question": b"\xff\x00"}, "expected text and numbers, found bytes"),
        ({"annotations": '[{"segmentation": '}, "annotations: not valid JSON"),
    ],
)
def test_wrong_types_in_parquet_are_one_sentence(
    upstream: ModuleType, tmp_path: Path, change: dict[str, Any], said: str
) -> None:
    record = upstream.record(7)
    (tmp_path / "in").mkdir()
    (tmp_path / "workspace").mkdir()
    stream = io.BytesIO()
    upstream.picture(7).save(stream, "PNG")
    row = {key: record[key] for key in ("question", "answer", "task_type", "task_domain", "num_instances")}
    row |= {"hallucination": 0, "annotations": record["annotations"], "id": 7}
    row |= {"image": {"bytes": stream.getvalue()}} | change
    pq.write_table(pa.Table.from_pylist([row]), tmp_path / "in" / "train-0.parquet")
    with pytest.raises(InputError) as caught:
        locate(tmp_path / "in", tmp_path / "workspace", "r")
    assert "train-0.parquet row 0" in str(caught.value)
    assert said in str(caught.value)


def test_counts_as_bytes_are_text(upstream: ModuleType, tmp_path: Path) -> None:
    record = upstream.record(7)
    for item in record["annotations"]:
        item["segmentation"]["counts"] = item["segmentation"]["counts"].encode()
    (tmp_path / "in").mkdir()
    (tmp_path / "workspace").mkdir()
    stream = io.BytesIO()
    upstream.picture(7).save(stream, "PNG")
    keys = ("question", "answer", "task_type", "task_domain", "num_instances", "hallucination", "annotations")
    row = {key: record[key] for key in keys} | {"id": 7, "image": {"bytes": stream.getvalue()}}
    pq.write_table(pa.Table.from_pylist([row]), tmp_path / "in" / "train-0.parquet")
    found = VistaQASource(jobs_of(*locate(tmp_path / "in", tmp_path / "workspace", "r")), {"kind": "hub"})
    plan_source(found, allow_partial=True)


@pytest.mark.parametrize("share", [0.0, 0.5, 0.99])
def test_truncated_parquet_is_one_sentence(upstream: ModuleType, tmp_path: Path, share: float) -> None:
    (tmp_path / "in").mkdir()
    path = tmp_path / "in" / "train-0.parquet"
    pq.write_table(pa.table({"id": list(range(1000))}), path)
    path.write_bytes(path.read_bytes()[: int(share * path.stat().st_size)])
    with pytest.raises(InputError, match=r"train-0\.parquet: can't be read as Parquet"):
        locate(tmp_path / "in", tmp_path / "workspace", "r")


COMMIT = "0123456789abcdef0123456789abcdef01234567"


@pytest.fixture
def hub(repository: Path) -> Iterator[str]:
    """A Hub on this machine that serves `repository` as ORG/Data at one commit; gives its address."""
    files = {
        path.relative_to(repository).as_posix(): path.read_bytes()
        for path in sorted(repository.rglob("*"))
        if path.is_file()
    }

    class Handler(BaseHTTPRequestHandler):
        def do_HEAD(self) -> None:
            self._answer(with_body=False)

        def do_GET(self) -> None:
            self._answer(with_body=True)

        def _answer(self, *, with_body: bool) -> None:
            path = self.path.split("?")[0]
            headers = {"X-Repo-Commit": COMMIT}
            status, body = 200, b""
            if path in ("/api/datasets/ORG/Data/revision/main", f"/api/datasets/ORG/Data/revision/{COMMIT}"):
                siblings = [{"rfilename": name} for name in files]
                body = json.dumps({"id": "ORG/Data", "sha": COMMIT, "siblings": siblings}).encode()
            elif path == f"/api/datasets/ORG/Data/tree/{COMMIT}":
                entries = [
                    {"type": "file", "path": name, "size": len(data), "oid": sha1(data).hexdigest()}
                    for name, data in files.items()
                ]
                body = json.dumps(entries).encode()
            elif path.startswith(start := f"/datasets/ORG/Data/resolve/{COMMIT}/"):
                body = files[path.removeprefix(start)]
                headers["ETag"] = f'"{sha1(body).hexdigest()}"'
            else:
                status = 404
                headers["X-Error-Code"] = "RepoNotFound"
            self.send_response(status)
            for name, value in (headers | {"Content-Length": str(len(body))}).items():
                self.send_header(name, value)
            self.end_headers()
            if with_body:
                self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _build(hub: str, tmp_path: Path, *options: str) -> subprocess.CompletedProcess[str]:
    environment = {
        **os.environ,
        "HF_ENDPOINT": hub,
        "HF_HOME": str(tmp_path / "home"),
        "HF_HUB_DISABLE_XET": "1",
    }
    command = [sys.executable, "-m", "lookcheck.scripts.cli", "build", "vistaqa", "--source", "hub"]
    command += ["--output", str(tmp_path / "out"), *options]
    return subprocess.run(command, capture_output=True, text=True, env=environment)


def test_a_repository_is_downloaded_and_its_commit_recorded(
    hub: str, repository: Path, tmp_path: Path
) -> None:
    result = _build(hub, tmp_path, "--repository", "ORG/Data", "--allow-partial")
    assert result.returncode == 0, result.stderr
    manifest = json.loads((tmp_path / "out" / "lookcheck.json").read_text())
    assert manifest["source"] == {"kind": "hub", "repository": "ORG/Data", "revision": COMMIT}
    assert f"(`ORG/Data` at revision `{COMMIT}`)" in (tmp_path / "out" / "README.md").read_text()
    deep = repository / "VistaQA" / "deep"
    direct = VistaQASource(jobs_of(deep / "annotations", deep / "images"), {"kind": "folder"})
    write_folder(plan_source(direct, allow_partial=True), tmp_path / "direct")
    for path in (tmp_path / "direct" / "data").iterdir():
        assert (tmp_path / "out" / "data" / path.name).read_bytes() == path.read_bytes()


def test_a_missing_repository_is_one_sentence(hub: str, tmp_path: Path) -> None:
    result = _build(hub, tmp_path, "--repository", "ORG/None")
    assert result.returncode == 2
    assert result.stderr == "error: ORG/None: no such data set on the Hub, or it needs a token\n"
    assert not (tmp_path / "out").exists()
