"""equivoc: how closely can an intruder pin down a person's confidential value?

>>> import equivoc as eq
>>> eq.curve([77, 80], [.5, .5]).area
3.0
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from equivoc.errors import InputError
from equivoc.version import __version__

if TYPE_CHECKING:
    from equivoc.measure.curve import Curve, Window, curve
    from equivoc.measure.entropy import entropy_at
    from equivoc.measure.many import Curves, curves

# Where each public name lives. Loaded on first use, so that `import equivoc` stays as light as `import numpy`.
_HOMES = {
    "Curve": "equivoc.measure.curve",
    "Window": "equivoc.measure.curve",
    "curve": "equivoc.measure.curve",
    "entropy_at": "equivoc.measure.entropy",
    "Curves": "equivoc.measure.many",
    "curves": "equivoc.measure.many",
}

__all__ = ["Curve", "Curves", "InputError", "Window", "__version__", "curve", "curves", "entropy_at"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'equivoc' has no attribute {name!r}")
    found = getattr(import_module(_HOMES[name]), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
