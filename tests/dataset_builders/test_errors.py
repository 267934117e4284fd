"""Many faults of one cause are one line; pipes are not waited for."""

from __future__ import annotations

import doctest
import os
from pathlib import Path

import pytest

from lookcheck.dataset_builders.core import errors, images, masks
from lookcheck.dataset_builders.core.errors import Fault, IntegrityError


@pytest.mark.parametrize("module", [errors, masks])
def test_doctests_of_the_floor(module: object) -> None:
    result = doctest.testmod(module)  # type: ignore[arg-type]
    assert result.attempted > 0
    assert result.failed == 0


def test_a_thousand_refusals_of_one_cause_are_one_line() -> None:
    faults = [
        Fault(f"a.json:{n}", "image", f"the image '{n}.jpg' is missing (question {n})") for n in range(1000)
    ]
    faults[3:3] = [Fault("a.json:7", "text", "no text"), Fault("a.json:8", "image", "the image is 3 × 4")]
    error = IntegrityError("pope", faults)
    assert str(error).splitlines() == [
        "pope: 1002 faults, nothing was written",
        "1,000 × the image '0.jpg' is missing (question 0) [image]: "
        "a.json:0, a.json:1, a.json:2, a.json:3, a.json:4, …",
        "a.json:7: no text [text]",
        "a.json:8: the image is 3 × 4 [image]",
    ]
    assert len(error.faults) == 1002


def test_up_to_five_are_shown_one_by_one() -> None:
    faults = [Fault(str(n), "size", f"{n} is not {n + 1}") for n in range(5)]
    assert str(IntegrityError("a", faults)).splitlines()[1:] == [str(fault) for fault in faults]


def test_a_pipe_is_no_picture(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.jpg")
    with pytest.raises(OSError, match="no regular file"):
        images.read_picture(tmp_path / "a.jpg")
