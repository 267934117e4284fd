"""Reads the protocols of a data set: ``protocols/NAME.yaml``, checked key by key."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from lookcheck.dataset_builders.core.errors import InputError
from lookcheck.dataset_builders.core.jsonl import read_text
from lookcheck.dataset_builders.requests.protocol import AskingProtocol

QUESTION = "{question}"
"""Where the row's question goes in a prompt."""


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _is_count(least: int) -> Callable[[object], bool]:
    return lambda value: isinstance(value, int) and not isinstance(value, bool) and value >= least


def _is_words(value: object) -> bool:
    return isinstance(value, list) and all(
        isinstance(word, str) and word and word == word.strip().lower() for word in value
    )


# From key to whether it must be there, what it must be, and the check.
_KEYS: Mapping[str, tuple[bool, str, Callable[[object], bool]]] = {
    "name": (True, "a text", _is_text),
    "version": (True, "an integer of at least 1", _is_count(1)),
    "dataset": (True, "a text", _is_text),
    "title": (True, "a text", _is_text),
    "source": (True, "a text", _is_text),
    "prompt": (True, "a text", _is_text),
    "max_new_tokens": (True, "an integer of at least 0", _is_count(0)),
    "parser": (True, "a text", _is_text),
    "picture_first": (False, "true or false", lambda value: isinstance(value, bool)),
    "words": (False, "a list of lower-case words in quotes", _is_words),
    "options": (False, "a mapping", lambda value: isinstance(value, dict)),
}


def read_protocol(path: Path) -> AskingProtocol:
    """Read one protocol.

    Raises
    ------
    InputError
        Naming file and key: for what is no YAML, a key that is missing, unknown, given twice or of the
        wrong kind, a name that is not the file's, and a prompt with several places for the question.
    """
    # yaml takes its time to import: not for --help.
    import yaml  # type: ignore[import-untyped]

    text = read_text(path)
    try:
        keys = _top_keys(yaml.compose(text, Loader=yaml.SafeLoader))
        found: Any = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise InputError(f"{path}: not YAML ({' '.join(str(error).split())})") from None
    if not isinstance(found, dict):
        raise InputError(f"{path}: expected keys with values")
    for key in keys:
        if keys.count(key) > 1:
            raise InputError(f"{path}: the key {key!r} stands twice")
        if key not in _KEYS:
            raise InputError(f"{path}: the key {key!r} is not known; there are {', '.join(_KEYS)}")
    for key, (needed, wanted, is_right) in _KEYS.items():
        if key not in found:
            if needed:
                raise InputError(f"{path}: the key {key!r} is missing")
        elif not is_right(found[key]):
            raise InputError(f"{path}: {key} is {found[key]!r}; expected {wanted}")
    if found["name"] != path.stem:
        raise InputError(f"{path}: name is {found['name']!r}; expected the file's, {path.stem!r}")
    if (places := found["prompt"].count(QUESTION)) > 1:
        raise InputError(f"{path}: prompt has {places} places for the question; expected one, or none")
    if found.get("words"):
        found["words"] = tuple(found["words"])
    return AskingProtocol(**found, sha256=hashlib.sha256(text.encode()).hexdigest())


def read_protocols(folder: Path, dataset: str) -> dict[str, AskingProtocol]:
    """All protocols of a folder by name; those with ``default: true`` among their options first.

    Raises
    ------
    InputError
        As `read_protocol`, and for a protocol of another data set.
    """
    found = [read_protocol(path) for path in sorted(folder.glob("*.yaml"))]
    for protocol in found:
        if protocol.dataset != dataset:
            where = folder / f"{protocol.name}.yaml"
            raise InputError(f"{where}: dataset is {protocol.dataset!r}; expected {dataset!r}")
    found.sort(key=lambda protocol: not (protocol.options or {}).get("default", False))
    return {protocol.name: protocol for protocol in found}


def filled(protocol: AskingProtocol, question: str) -> str:
    """The prompt with the question in its place; braces in the question stay what they are."""
    return protocol.prompt.replace(QUESTION, question)


def _top_keys(node: Any) -> list[str]:
    """Keys of the top mapping as they are written, those that stand twice included."""
    pairs = node.value if node is not None and node.id == "mapping" else []
    return [str(key.value) for key, _ in pairs]
