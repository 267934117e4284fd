"""Protocols as files: what they hold, and each way in which one can be wrong."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lookcheck.dataset_builders.core.errors import InputError
from lookcheck.dataset_builders.perturbed_pope import constants
from lookcheck.dataset_builders.registry import DATASETS
from lookcheck.dataset_builders.requests.loader import filled, read_protocol, read_protocols

SOUND = {
    "name": "sound",
    "version": 1,
    "dataset": "shades",
    "title": "A title.",
    "source": "own: a test",
    "prompt": "{question} Say so.",
    "max_new_tokens": 4,
    "parser": "strict",
}


def write(folder: Path, text: str | None = None, **changes: Any) -> Path:
    path = folder / "sound.yaml"
    fields = {key: value for key, value in {**SOUND, **changes}.items() if value is not ...}
    path.write_text(
        text
        if text is not None
        else "".join(f"{key}: {json.dumps(value)}\n" for key, value in fields.items())
    )
    return path


def test_the_protocols_are_those_of_the_papers() -> None:
    found = {name: item for data_set in DATASETS.values() for name, item in data_set.protocols().items()}
    asked = {name: filled(item, "Is there a dog in the image?") for name, item in found.items()}
    assert asked["pope-yes-no"] == "Is there a dog in the image? Answer yes or no only."
    assert asked["pope-yes-no-unknown"] == constants.UNKNOWN_OPTION.format(
        question="Is there a dog in the image?"
    )
    assert asked["pope-open-ended"] == constants.OPEN_ENDED
    assert found["pope-yes-no"].words == ("yes", "no")
    assert found["pope-yes-no-unknown"].words == ("yes", "no", "unknown")
    assert found["salart-chain"].max_new_tokens == found["salart-chain-json"].max_new_tokens == 4096
    assert [next(iter(data_set.protocols())) for data_set in DATASETS.values()] == [
        "vistaqa-hybrid",
        "salart-chain",
        "pope-yes-no",
    ]
    # What no paper publishes says so.
    assert all(item.source.startswith(("own: ", "arXiv ")) for item in found.values())
    assert found["vistaqa-hybrid"].source.startswith("own: ")


def test_the_hash_is_the_files(tmp_path: Path) -> None:
    path = write(tmp_path)
    assert read_protocol(path).sha256 == hashlib.sha256(path.read_bytes()).hexdigest()


def test_braces_in_a_question_stay(tmp_path: Path) -> None:
    assert (
        filled(read_protocol(write(tmp_path)), "Is {question} or {0} a set?")
        == "Is {question} or {0} a set? Say so."
    )


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"version": 0}, "version is 0; expected an integer of at least 1"),
        ({"version": True}, "version is True; expected an integer of at least 1"),
        ({"prompt": ...}, "the key 'prompt' is missing"),
        ({"prompt": " "}, "prompt is ' '; expected a text"),
        ({"prompt": "{question}{question}"}, "prompt has 2 places for the question; expected one, or none"),
        ({"max_new_tokens": -1}, "max_new_tokens is -1; expected an integer of at least 0"),
        ({"words": [True, False]}, "words is [True, False]; expected a list of lower-case words in quotes"),
        ({"words": ["Yes"]}, "words is ['Yes']; expected a list of lower-case words in quotes"),
        ({"picture_first": "no"}, "picture_first is 'no'; expected true or false"),
        ({"name": "other"}, "name is 'other'; expected the file's, 'sound'"),
        ({"promt": "x"}, "the key 'promt' is not known; there are name, version,"),
        ({"text": "prompt: a\nprompt: b\n"}, "the key 'prompt' stands twice"),
        ({"text": "- a\n"}, "expected keys with values"),
        ({"text": ""}, "expected keys with values"),
        ({"text": "a: ["}, "not YAML ("),
        (
            {"text": "prompt: !!python/object/apply:os.getcwd []\n"},
            "not YAML (could not determine a constructor",
        ),
    ],
)
def test_a_broken_protocol_is_one_sentence(tmp_path: Path, changes: dict[str, Any], said: str) -> None:
    path = write(tmp_path, **changes)
    with pytest.raises(InputError) as error:
        read_protocol(path)
    assert str(error.value).startswith(f"{path}: {said}")
    assert "\n" not in str(error.value)


def test_a_protocol_of_another_data_set_is_refused(tmp_path: Path) -> None:
    write(tmp_path)
    with pytest.raises(InputError, match="dataset is 'shades'; expected 'vistaqa'"):
        read_protocols(tmp_path, "vistaqa")


def test_the_command_lists_them(lookcheck: Callable[..., Any]) -> None:
    listed = lookcheck("protocols")
    assert listed.returncode == 0
    for data_set in DATASETS.values():
        for name in data_set.protocols():
            assert f"{name} 1" in listed.stdout
    shown = json.loads(lookcheck("protocols", "pope-yes-no", "--json").stdout)
    assert shown["pope-yes-no"]["prompt"] == "{question} Answer yes or no only."
    assert lookcheck("protocols", "nope").stderr.startswith(
        "error: no protocol 'nope'; there are vistaqa-hybrid,"
    )
