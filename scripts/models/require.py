"""The packages of the extra `models`, asked for before work begins."""

from __future__ import annotations

import importlib
from importlib.metadata import PackageNotFoundError, version

from lookcheck.dataset_builders.core.errors import InputError
from lookcheck.scripts.models.torchvision_ops import define_missing_ops


def require(*packages: str) -> None:
    """Refuse to go on without the packages of the extra `models`.

    Raises
    ------
    InputError
        Naming the first that can't be imported.
    """
    define_missing_ops()
    for package in packages:
        try:
            importlib.import_module(package)
        except ImportError:
            raise InputError(f"this needs the package {package}: pip install 'lookcheck[models]'") from None


def installed_version(package: str) -> str | None:
    """Version of a package; None where it is not installed."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None
