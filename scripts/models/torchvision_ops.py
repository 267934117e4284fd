"""torchvision beside a torch without CUDA: PyPI's wheel can't be imported there, nor can transformers."""

from __future__ import annotations

from importlib.util import find_spec
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

    if torch.version.cuda is not None:
        return
    # A library is undefined again as soon as nobody holds it.
    library = torch.library.Library("torchvision", "DEF")  # type: ignore[no-untyped-call]
    _kept.append(library)
    for name in ("nms", "qnms"):
        try:
            signature = f"{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor"
            library.define(signature)  # type: ignore[no-untyped-call]
        except RuntimeError:
            # A build of torchvision for this torch has it already.
            return
