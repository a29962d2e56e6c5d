"""Whether the kernels are compiled. Numba caches them on disk; the first run compiles for up to ten seconds."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path


def kernels_are_compiled(module: str = "equivoc.measure.lanes.sparse_kernels") -> bool:
    """True if Numba's cache holds a compiled kernel of this module, or if there is no cache to check."""
    kernels = import_module(module)
    folders = {
        getattr(getattr(kernel, "_cache", None), "cache_path", None) for kernel in vars(kernels).values()
    }
    found = [Path(folder) for folder in folders if folder]
    name = module.rsplit(".", 1)[1]
    return not found or any(any(folder.glob(f"{name}.*.nbi")) for folder in found)
