"""Temporary files and folders are private; what is finished is meant to be read."""

from __future__ import annotations

import os
from pathlib import Path


def make_readable(path: Path) -> None:
    """Give a finished file or folder the permissions that the user's umask leaves to new ones."""
    umask = os.umask(0)
    os.umask(umask)
    path.chmod((0o777 if path.is_dir() else 0o666) & ~umask)
