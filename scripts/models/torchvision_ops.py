"""torchvision beside a torch without CUDA: PyPI's wheel can't be imported there, nor can transformers."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType
from typing import Any

_kept: list[Any] = []


def define_missing_ops() -> None:
    """Declare the two operators that torchvision registers a kernel for while it is imported.

    PyPI's torchvision is built for CUDA; beside a CPU build of torch its library isn't loaded, so
    ``import torchvision`` ends with "operator torchvision::nms does not exist", and every class of
    transformers with it. Declared, they let the import pass: resizing and image processors work,
    ``torchvision.ops.nms`` itself still raises. Call before transformers is imported; a second call does
    nothing.
    """
    if _kept or find_spec("torch") is None or find_spec("torchvision") is None:
        return
    import torch

    if torch.version.cuda is not None or hasattr(torch.ops.torchvision, "nms"):
        return
    library = torch.library.Library("torchvision", "DEF")  # type: ignore[no-untyped-call]
    for name in ("nms", "qnms"):
        signature = f"{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor"
        library.define(signature)  # type: ignore[no-untyped-call]
    # A library is undefined again as soon as nobody holds it.
    _kept.append(library)


def define_when_imported() -> None:
    """Do so as soon as anything imports torchvision, `evaluate` among others; until then it costs nothing."""
    if "torchvision" not in sys.modules and not any(isinstance(it, _Watch) for it in sys.meta_path):
        sys.meta_path.insert(0, _Watch())


class _Watch(MetaPathFinder):
    """Finds nothing itself; it only notices the import."""

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name == "torchvision" and self in sys.meta_path:
            sys.meta_path.remove(self)
            define_missing_ops()
        return None
