"""Are the kernels compiled? Numba keeps them on disk; the first run compiles them, which takes up to ten seconds."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path


def kernels_are_compiled(module: str = "equivoc.measure.lanes.sparse_kernels") -> bool:
    """Does Numba's cache hold a compiled kernel of this module? True also where there is no cache to look into."""
    kernels = import_module(module)
    folders = {
        getattr(getattr(kernel, "_cache", None), "cache_path", None) for kernel in vars(kernels).values()
    }
    found = [Path(folder) for folder in folders if folder]
    name = module.rsplit(".", 1)[1]
    return not found or any(any(folder.glob(f"{name}.*.nbi")) for folder in found)
