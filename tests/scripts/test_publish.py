"""Publishing over real HTTP to a Hub on 127.0.0.1, each command and each reader in a process of its own."""

from __future__ import annotations

import doctest
import hashlib
import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import huggingface_hub.constants
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from huggingface_hub import HfApi
from PIL import Image

from lookcheck.dataset_builders.parquet.writer import write_folder
from lookcheck.dataset_builders.vistaqa.plan import plan_source
from lookcheck.dataset_builders.vistaqa.sources import folder_source
from lookcheck.scripts.publish import hub as publish_hub
from lookcheck.scripts.publish import standing
from lookcheck.scripts.publish.standing import Standing, look

TOKEN = "hf_loopbackSECRETtoken0123456789"
SHARDS = ("data/counting-00000-of-00001.parquet", "data/ocr-00000-of-00001.parquet")
BLOCK = """
import sys
class Blocker:
    def find_spec(self, name, path=None, target=None):
        # evaluate imports transformers, and with it torch, wherever they are installed.
        if name.split(".")[0] in ("lookcheck", "transformers"):
            raise ImportError("this process has no " + name)
sys.meta_path.insert(0, Blocker())
"""


def upstream() -> Any:
    path = Path(__file__).parents[1] / "dataset_builders" / "vistaqa" / "upstream.py"
    spec = importlib.util.spec_from_file_location("upstream_for_publish", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def build(folder: Path, tasks: Sequence[str] = ("counting", "counting", "OCR", "OCR")) -> Path:
    """A folder as the builders write it, with a file for each task."""
    source = folder.parent / "in" / folder.name
    for number, task in enumerate(tasks):
        upstream().write(source, number, upstream().record(number, task))
    found = folder_source(source / "annotations", source / "images")
    write_folder(plan_source(found, allow_partial=True, overlays=False), folder)
    (folder / ".hidden").write_text("not for others")
    return folder


@pytest.fixture
def built(tmp_path: Path) -> Path:
    return build(tmp_path / "built")


def run(hub: Any, folder: Path, *command: str, **changed: str) -> subprocess.CompletedProcess[str]:
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("HF_")},
        "HF_ENDPOINT": hub.url,
        "HF_TOKEN": TOKEN,
        "HF_HUB_DISABLE_XET": "1",
        "HF_HOME": str(folder / "hf"),
        "COLUMNS": "200",
        **changed,
    }
    done = subprocess.run(
        [sys.executable, *command], cwd=folder, env=environment, capture_output=True, text=True, timeout=900
    )
    assert TOKEN not in done.stdout + done.stderr
    return done


def publish(hub: Any, folder: Path, *options: str, **changed: str) -> subprocess.CompletedProcess[str]:
    command = ("-m", "lookcheck.scripts.publish", "--dataset", str(folder), "--to", "org/Small", *options)
    return run(hub, folder.parent, *command, **changed)


def digests(files: dict[str, bytes]) -> dict[str, str]:
    return {path: hashlib.sha256(content).hexdigest() for path, content in files.items()}


def local(folder: Path) -> dict[str, bytes]:
    names = ("README.md", "eval.yaml", "lookcheck.json", *SHARDS)
    files = {name: (folder / name).read_bytes() for name in names}
    # The published card names the repository.
    assert files["README.md"].count(b"ORG/VistaQA") == 2
    return {**files, "README.md": files["README.md"].replace(b"ORG/VistaQA", b"org/Small")}


def test_published_folder_is_loaded_plain_and_streaming(loopback_hub: Any, built: Path) -> None:
    done = publish(loopback_hub, built)
    assert done.returncode == 0, done.stderr
    repo = loopback_hub.repos["datasets", "org/Small"]
    assert repo.private is True
    assert digests(repo.files) == digests(local(built))
    assert loopback_hub.tokens == {f"Bearer {TOKEN}"}
    code = """
import json
from datasets import load_dataset
for streaming in (False, True):
    rows = load_dataset("org/Small", split="test", streaming=streaming)
    print(json.dumps([[r["id"], r["image"].size, r["image"].getpixel((0, 0))] for r in rows]))
"""
    read = run(loopback_hub, built.parent, "-c", code)
    assert read.returncode == 0, read.stderr
    pixels = [list(upstream().picture(number).getpixel((0, 0))) for number in range(4)]
    # In the order of the tasks: OCR comes before counting.
    rows = [[f"{number:04d}", [24, 16], pixels[number]] for number in (2, 3, 0, 1)]
    assert [json.loads(line) for line in read.stdout.splitlines()] == [rows, rows]


@pytest.mark.parametrize(
    ("broken", "shown"),
    [
        ("junk", "can't be read as Parquet"),
        ("absent", "no file matches data/counting-*.parquet"),
        ("answer", "0000: answer is empty"),
        ("manifest", "lookcheck.json: lacks"),
    ],
)
def test_a_broken_folder_is_not_published(loopback_hub: Any, built: Path, broken: str, shown: str) -> None:
    if broken == "junk":
        (built / SHARDS[0]).write_bytes(b"twelve bytes")
    elif broken == "absent":
        (built / SHARDS[0]).unlink()
    elif broken == "answer":
        table = pq.read_table(built / SHARDS[0], partitioning=None)
        column = pa.array(["", *table["answer"].to_pylist()[1:]])
        place = table.column_names.index("answer")
        pq.write_table(table.set_column(place, "answer", column), built / SHARDS[0], write_page_index=True)
    else:
        (built / "lookcheck.json").write_text('{"name": "vistaqa"}')
    for options in ([], ["--dry-run"]):
        done = publish(loopback_hub, built, *options)
        assert (done.returncode, done.stdout) == (2, "")
        assert shown in done.stderr
    assert loopback_hub.requests == []


@pytest.mark.parametrize("fault", ["put", "commit"])
def test_broken_upload_repeated_ends_whole(loopback_hub: Any, built: Path, fault: str) -> None:
    if fault == "put":
        loopback_hub.break_put = 2
    else:
        loopback_hub.break_commit = True
    broken = publish(loopback_hub, built)
    assert broken.returncode == 2, broken.stderr
    # The library says above it which request it tried again.
    assert broken.stderr.splitlines()[-1].startswith("error: org/Small: ")
    assert "goes on where it stopped" in broken.stderr
    assert "Traceback" not in broken.stderr
    repo = loopback_hub.repos["datasets", "org/Small"]
    assert repo.files == {}
    loopback_hub.heal()
    kept = len(loopback_hub.objects)
    before = loopback_hub.puts
    again = publish(loopback_hub, built)
    assert again.returncode == 0, again.stderr
    assert digests(repo.files) == digests(local(built))
    assert loopback_hub.puts - before == 2 - kept


def test_a_dry_run_only_reads_and_shows_all(loopback_hub: Any, built: Path) -> None:
    done = publish(loopback_hub, built, "--dry-run", "--json")
    files = [{"path": path, "bytes": len(content)} for path, content in sorted(local(built).items())]
    total = sum(len(content) for content in local(built).values())
    shown = {"repo": "org/Small", "repo_type": "dataset", "visibility": "private", "bytes": total}
    changed: dict[str, Any] = {"deleted": [], "replaced": [], "kept": [], "notes": []}
    assert json.loads(done.stdout) == {**shown, **changed, "files": files, "uploaded": False}
    table = publish(loopback_hub, built, "--dry-run")
    assert "dataset org/Small (private)" in table.stdout
    assert SHARDS[1] in table.stdout
    assert {method for method, _ in loopback_hub.requests} == {"GET"}
    unreached = publish(loopback_hub, built, "--dry-run", HF_ENDPOINT="http://127.0.0.1:9")
    assert unreached.returncode == 0
    assert "note: what lies there is not known: org/Small: no connection to 127.0.0.1" in unreached.stdout


def test_vistaqa_is_public_only_with_the_rights(loopback_hub: Any, built: Path) -> None:
    refused = publish(loopback_hub, built, "--public")
    assert refused.returncode == 2
    assert "--i-have-the-rights" in refused.stderr
    assert loopback_hub.requests == []
    assert publish(loopback_hub, built, "--public", "--i-have-the-rights").returncode == 0
    assert loopback_hub.repos["datasets", "org/Small"].private is False
    again = publish(loopback_hub, built)
    assert again.returncode == 2
    assert "org/Small is public and a private upload was asked for" in again.stderr
    manifest = json.loads((built / "lookcheck.json").read_text())
    (built / "lookcheck.json").write_text(json.dumps({**manifest, "source": {"kind": "sample"}}))
    assert publish(loopback_hub, built, "--public").returncode == 0


def test_a_shard_of_an_earlier_version_goes(loopback_hub: Any, built: Path) -> None:
    assert publish(loopback_hub, built).returncode == 0
    few = build(built.parent / "few", ["counting"])
    told = publish(loopback_hub, few, "--dry-run")
    assert f"deleted there: {SHARDS[1]}\n" in told.stdout
    assert SHARDS[1] in loopback_hub.repos["datasets", "org/Small"].files
    assert publish(loopback_hub, few).returncode == 0
    stored = sorted(loopback_hub.repos["datasets", "org/Small"].files)
    assert stored == ["README.md", SHARDS[0], "eval.yaml", "lookcheck.json"]


FOREIGN = {
    "README.md": b"# mine",
    "data/counting-mine.parquet": b"x",
    "old/a.parquet": b"y",
    ".gitattributes": b"",
}


def test_files_of_others_stay(loopback_hub: Any, built: Path) -> None:
    assert publish(loopback_hub, built).returncode == 0
    repo = loopback_hub.repos["datasets", "org/Small"]
    # Another data set's files are no earlier upload of this one.
    there = {**FOREIGN, "lookcheck.json": b'{"name": "salart_vqa", "files": ["old/a.parquet"]}'}
    repo.files = dict(there)
    refused = publish(loopback_hub, built)
    assert refused.returncode == 2
    assert "holds README.md, data/counting-mine.parquet, lookcheck.json" in refused.stderr
    assert "--replace" in refused.stderr
    assert repo.files == there
    told = publish(loopback_hub, built, "--dry-run")
    assert (
        "in the way, refused without --replace there: README.md, data/counting-mine.parquet, " in told.stdout
    )
    assert "kept there: old/a.parquet\n" in told.stdout
    done = publish(loopback_hub, built, "--replace", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["kept"] == ["old/a.parquet"]
    assert repo.files == {**local(built), "old/a.parquet": b"y", ".gitattributes": b""}
    # From now on it is ours, and what was kept is still kept.
    assert publish(loopback_hub, built).returncode == 0
    assert repo.files["old/a.parquet"] == b"y"


@pytest.mark.parametrize(
    ("manifest", "ours"),
    [
        (None, set()),
        ("{", set()),
        ("[]", set()),
        ('{"name": "small"}', set()),
        ('{"name": "small", "files": "README.md"}', set()),
        ('{"name": "other", "files": ["README.md"]}', set()),
        ('{"name": "small", "files": ["README.md", "gone", 7, ".gitattributes"]}', {"README.md"}),
    ],
)
def test_what_was_published_before_is_known_by_its_own_list(
    loopback_hub: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, manifest: str | None, ours: set[str]
) -> None:
    # A commit of this Hub has the same name in each test, and would be found in the cache.
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path))
    api = HfApi(endpoint=loopback_hub.url, token=TOKEN)
    assert look(api, "org/Small", "dataset", "small") is None
    api.create_repo("org/Small", repo_type="dataset", private=True)
    files = {**FOREIGN, **({} if manifest is None else {"lookcheck.json": manifest.encode()})}
    loopback_hub.repos["datasets", "org/Small"].files = files
    found = look(api, "org/Small", "dataset", "small")
    assert found == Standing(True, frozenset(files) - {".gitattributes"}, frozenset(ours))


def test_rows_too_large_for_the_viewer_are_told_and_can_be_published(
    loopback_hub: Any, tmp_path: Path
) -> None:
    record = upstream().record(3, evidence=False)
    record["image"] |= {"width": 1100, "height": 1000}
    upstream().write(tmp_path, 3, record)
    noise = np.random.default_rng(1).integers(0, 256, (1000, 1100, 3), dtype=np.uint8)
    Image.fromarray(noise).save(tmp_path / "images" / "3.png")
    command = ("-m", "lookcheck.scripts", "build", "vistaqa", "--source", "folder", "--allow-partial")
    folders = ("--annotations", "annotations", "--images", "images", "--output", "built")
    done = run(loopback_hub, tmp_path, *command, *folders)
    assert done.returncode == 0, done.stderr
    assert "1 rows of 3 MB or more, which the Hub's viewer does not show: 0003\n" in done.stdout
    refused = publish(loopback_hub, tmp_path / "built")
    assert refused.returncode == 2
    assert "--large-rows publishes those of 3 MB all the same" in refused.stderr
    assert "0003: 3," in refused.stderr
    assert publish(loopback_hub, tmp_path / "built", "--large-rows").returncode == 0


def test_only_what_was_built_is_uploaded(loopback_hub: Any, built: Path, tmp_path: Path) -> None:
    (tmp_path / "id_rsa").write_text("secret")
    (built / "key.pem").write_text("secret")
    (built / "link").symlink_to(tmp_path / "id_rsa")
    done = publish(loopback_hub, built)
    assert done.returncode == 0, done.stderr
    assert "note: not of the build, and not uploaded: key.pem, link\n" in done.stdout
    assert loopback_hub.repos["datasets", "org/Small"].files == local(built)
    manifest = json.loads((built / "lookcheck.json").read_text())
    for name in ("link", "../id_rsa", str(tmp_path / "id_rsa")):
        listed = {**manifest, "files": [*manifest["files"], name]}
        (built / "lookcheck.json").write_text(json.dumps(listed))
        refused = publish(loopback_hub, built)
        assert refused.returncode == 2
        assert f"{name}: is a link, or lies outside the folder [link]" in refused.stderr
    assert loopback_hub.repos["datasets", "org/Small"].commits == 1


@pytest.mark.parametrize(
    ("status", "meaning"),
    [(401, "not valid"), (403, "may not write there"), (404, "no such"), (500, "a fault of the server")],
)
def test_refusals_are_one_sentence(loopback_hub: Any, built: Path, status: int, meaning: str) -> None:
    loopback_hub.status = status
    done = publish(loopback_hub, built)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert f"127.0.0.1 answered {status}" in done.stderr
    assert meaning in done.stderr


def test_no_hub_no_token_and_a_malformed_token(loopback_hub: Any, built: Path) -> None:
    refused = publish(loopback_hub, built, HF_ENDPOINT="http://127.0.0.1:9")
    assert refused.returncode == 2
    assert "no connection to 127.0.0.1" in refused.stderr
    without = publish(loopback_hub, built, HF_TOKEN="")
    assert without.returncode == 2
    assert "no token" in without.stderr
    for odd in ("\x01", "é", "…"):
        malformed = publish(loopback_hub, built, HF_TOKEN=TOKEN + odd)
        assert malformed.returncode == 2
        assert malformed.stderr.startswith("error: the token of HF_TOKEN or `hf auth login` has a character")
        assert malformed.stderr.count("\n") == 1
    assert loopback_hub.repos == {}


def test_a_folder_that_is_not_built_is_refused_with_what_it_lacks(loopback_hub: Any, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    done = publish(loopback_hub, tmp_path / "empty")
    assert done.returncode == 2
    assert done.stderr.strip().endswith("it lacks lookcheck.json, README.md, a Parquet file")


def test_names_that_are_no_repository_are_refused() -> None:
    for name in ("Small", "a/b/c", "org/-x", "org/a--b", "org/"):
        with pytest.raises(publish_hub.InputError, match="--to"):
            publish_hub.check_repo(name)


def test_doctests() -> None:
    for module in (publish_hub, standing):
        result = doctest.testmod(module)
        assert result.attempted > 0
        assert result.failed == 0


SOFT = """
answers = [["cat"] * 2 + ["dog"] * 8, ["red"] * 10]
options = {"predictions": ["cat", "red"], "references": answers}
"""
GROVE = """
half, left = {"size": [2, 4], "counts": "08"}, {"size": [2, 4], "counts": "044"}
predictions = [{"verdict": "yes", "masks": [left]}, {"verdict": "no", "masks": []}]
options = {"predictions": predictions, "references": [{"masks": [half]}, {"masks": []}]}
"""


@pytest.mark.parametrize(("name", "data"), [("soft_vqa_acc", SOFT), ("grove", GROVE)])
def test_a_metric_scores_on_its_own(loopback_hub: Any, tmp_path: Path, name: str, data: str) -> None:
    command = ("-m", "lookcheck.scripts.publish_metric", name, "--to")
    wrong = run(loopback_hub, tmp_path, *command, "org/other")
    assert wrong.returncode == 2
    assert f"must be named {name}" in wrong.stderr
    assert loopback_hub.requests == []
    done = run(loopback_hub, tmp_path, *command, f"org/{name}")
    assert done.returncode == 0, done.stderr
    space = loopback_hub.repos["spaces", f"org/{name}"]
    assert (space.private, space.sdk) == (True, "gradio")
    source = Path(__file__).parents[2] / "metrics" / name
    own = json.loads(space.files.pop("lookcheck.json"))
    assert own == {"name": name, "files": sorted([*space.files, "lookcheck.json"])}
    assert space.files == {path.name: path.read_bytes() for path in source.iterdir() if path.is_file()}
    # A module of somebody else would be imported beside the metric's.
    space.files |= {"mine.py": b"", "notes.md": b"mine", "lookcheck.json": json.dumps(own).encode()}
    refused = run(loopback_hub, tmp_path, *command, f"org/{name}")
    assert refused.returncode == 2
    assert f"org/{name}: holds mine.py, which lookcheck did not publish there" in refused.stderr
    del space.files["mine.py"]
    assert run(loopback_hub, tmp_path, *command, f"org/{name}").returncode == 0
    assert space.files["notes.md"] == b"mine"
    over_http = f"""
import evaluate
print(evaluate.load("org/{name}").compute(**options)["{name}"])
"""
    read = run(loopback_hub, tmp_path, "-c", BLOCK + data + over_http)
    assert read.returncode == 0, read.stderr
    direct = f"from lookcheck.metrics.{name} import compute\nprint(compute(**options)['{name}'])"
    called = run(loopback_hub, tmp_path, "-c", data + direct)
    assert called.returncode == 0, called.stderr
    assert 0 < float(read.stdout) < 1
    assert read.stdout == called.stdout
