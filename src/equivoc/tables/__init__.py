"""Tables of counts and totals: their cells, rules for unsafe cells, methods that protect them, the attacker."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from equivoc.tables.cell_rounding import CellRounding
    from equivoc.tables.noisy_counts import NoisyCells
    from equivoc.tables.redesign import Redesign
    from equivoc.tables.rules import PQ, Dominance, PPercent, Threshold
    from equivoc.tables.suppression.cell_suppression import CellSuppression

# Where each public name lives, loaded on first use.
_HOMES = {
    "CellRounding": "equivoc.tables.cell_rounding",
    "CellSuppression": "equivoc.tables.suppression.cell_suppression",
    "Dominance": "equivoc.tables.rules",
    "NoisyCells": "equivoc.tables.noisy_counts",
    "PPercent": "equivoc.tables.rules",
    "PQ": "equivoc.tables.rules",
    "Redesign": "equivoc.tables.redesign",
    "Threshold": "equivoc.tables.rules",
}

__all__ = [
    "PQ",
    "CellRounding",
    "CellSuppression",
    "Dominance",
    "NoisyCells",
    "PPercent",
    "Redesign",
    "Threshold",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'equivoc.tables' has no attribute {name!r}")
    found = getattr(import_module(_HOMES[name]), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
