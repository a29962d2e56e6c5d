"""The methods that protect a table: their names, their rules, and a release of each."""

from __future__ import annotations

from typing import Any

from equivoc.errors import InputError
from equivoc.tables.cell_rounding import CellRounding
from equivoc.tables.cell_table import CellTable
from equivoc.tables.noisy_counts import NoisyCells
from equivoc.tables.redesign import Redesign
from equivoc.tables.release import TableRelease
from equivoc.tables.rules import Rule, as_rules
from equivoc.tables.suppression.cell_suppression import CellSuppression
from equivoc.techniques.unprotected import Unprotected
from equivoc.text import exact

METHODS = (CellSuppression, CellRounding, Redesign, NoisyCells, Unprotected)


def check_method(method: Any) -> None:
    """InputError unless this is a method that protects tables."""
    if not isinstance(method, METHODS):
        names = ", ".join(f"eq.{kind.__name__}" for kind in METHODS)
        raise InputError(f"{method!r} does not protect a table of cells; use {names}.")


def notation(method: Any) -> str:
    """The method and its parameters as text.

    >>> notation(CellRounding(5, "controlled")), notation(CellSuppression(rule=["p:10", "threshold:3"]))
    ('cell-rounding:base=5,method=controlled', 'cell-suppression:rule=p:10+threshold:3')
    """
    match method:
        case CellRounding():
            return f"cell-rounding:base={exact(method.base)},method={method.method}"
        case CellSuppression():
            cost = method.cost if isinstance(method.cost, str) else "given"
            more = "" if cost == "value" else f",cost={cost}"
            return (
                f"cell-suppression:rule={_rules(method.rule)}{more}{'' if method.singles else ',singles=no'}"
            )
        case Redesign():
            return f"redesign:rule={_rules(method.rule)}{'' if method.loss == 'entropy' else f',loss={method.loss}'}"
        case NoisyCells():
            most = method.most_per_contributor
            more = "" if most is None else f",most_per_contributor={most}"
            return f"noisy-cells:epsilon={exact(method.epsilon)}{more}"
    return "unprotected"


def rules_of(method: Any) -> tuple[Rule, ...]:
    """The rules by which the method calls cells unsafe; () if it uses none."""
    return as_rules(method.rule) if isinstance(method, (CellSuppression, Redesign)) else ()


def is_random(method: Any) -> bool:
    """True if two releases can differ."""
    return isinstance(method, NoisyCells) or (isinstance(method, CellRounding) and method.method == "random")


def released(method: Any, table: CellTable, *, seed: int) -> TableRelease:
    """A release of the table; ``seed`` is that of random methods."""
    if isinstance(method, Unprotected):
        return TableRelease(table, table.values.copy())
    found: TableRelease = method.release(table, seed) if is_random(method) else method.release(table)
    return found


def _rules(given: Any) -> str:
    return "+".join(rule.text for rule in as_rules(given))
