"""Lets processes that tests start import torchvision beside a CPU build of torch; see its docstring."""

import importlib.util
from pathlib import Path

# By path: a metric is tested in processes that know no lookcheck.
_path = Path(__file__).parents[2] / "scripts" / "models" / "torchvision_ops.py"
_spec = importlib.util.spec_from_file_location("torchvision_ops", _path)
if _spec is None or _spec.loader is None:
    raise ImportError(str(_path))
_module = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_module)
_module.define_when_imported()
