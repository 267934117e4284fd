"""The wheel holds every file of the four folders, and works where the repository is not."""

from __future__ import annotations

import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

FOLDERS = ("metrics", "dataset_builders", "scripts", "cards")


@pytest.fixture(scope="module")
def wheel(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel built from the tracked files alone."""
    source = tmp_path_factory.mktemp("source")
    for name in _source_files(repository):
        target = source / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes((repository / name).read_bytes())
    output = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-m", "build", "--wheel", "--outdir", str(output), str(source)],
        check=True,
        capture_output=True,
    )
    (built,) = output.glob("*.whl")
    return built


def _source_files(repository: Path) -> list[str]:
    """Files that git tracks, or would track, and that exist."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=repository,
        check=True,
        capture_output=True,
        text=True,
    )
    return [name for name in listed.stdout.split("\0") if name and (repository / name).is_file()]


@pytest.mark.install
@pytest.mark.xdist_group("install")
def test_wheel_holds_every_file(repository: Path, wheel: Path) -> None:
    expected = {f"lookcheck/{name}" for name in _source_files(repository) if name.split("/")[0] in FOLDERS}
    with zipfile.ZipFile(wheel) as archive:
        found = {name for name in archive.namelist() if name.startswith("lookcheck/")}
    assert expected
    assert found == expected


@pytest.mark.install
@pytest.mark.xdist_group("install")
def test_wheel_works_in_a_fresh_environment(wheel: Path, tmp_path: Path) -> None:
    # The dependencies come from the running environment, through a .pth file: what is tested is
    # that our own files are all in the wheel, not that the package index answers.
    environment = tmp_path / "venv"
    venv.create(environment, with_pip=False, symlinks=True)
    (site,) = environment.glob("lib/python*/site-packages")
    subprocess.run(
        [
            sys.executable,
            "-m",
            "pip",
            "install",
            "-q",
            "--no-deps",
            "--no-index",
            "--target",
            str(site),
            str(wheel),
        ],
        check=True,
        capture_output=True,
    )
    # An environment may stand on another, so there may be several. Plain lines in a .pth file add folders
    # without running the .pth files in them, so the editable install of the running environment stays out.
    here = [path for path in sys.path if path.endswith("site-packages")]
    (site / "dependencies.pth").write_text("\n".join(here) + "\n")
    program = (
        "import lookcheck.metrics.grove, lookcheck.metrics.soft_vqa_acc, lookcheck.metrics.salart_chain\n"
        "import lookcheck.metrics.perturbed_pope\n"
        "import lookcheck.dataset_builders.core.jsonl, lookcheck.scripts.cli\n"
        "print(lookcheck.metrics.grove.__file__)\n"
    )
    python = environment / "bin" / "python"
    result = subprocess.run([python, "-c", program], cwd=tmp_path, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    assert result.stdout.startswith(str(site))
    # Answers, samples and card templates come out of the wheel as well.
    for command in (
        ["demo", "--json", "--no-samples"],
        ["build", "salart-vqa", "--source", "sample", "--output", "salart"],
    ):
        done = subprocess.run(
            [python, "-m", "lookcheck.scripts.cli", *command], cwd=tmp_path, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
