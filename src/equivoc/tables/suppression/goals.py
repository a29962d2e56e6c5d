"""From a table, its unsafe cells and their protection to the suppression problem."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from equivoc.queries.decimals import decimal_places
from equivoc.tables.attacker.equations import has_negatives
from equivoc.tables.cell_table import CellTable
from equivoc.tables.suppression.insiders import insider_goals
from equivoc.tables.suppression.problem import Goal, SuppressionProblem

Booleans = NDArray[np.bool_]
Floats = NDArray[np.float64]


def suppression_problem(
    table: CellTable,
    *,
    unsafe: Booleans,
    protection: Floats,
    cost: Floats,
    must: Booleans,
    must_not: Booleans,
    from_largest: Floats,
    singles: bool = True,
    tighter: float = 0.0,
) -> SuppressionProblem:
    """Which cells to suppress so that each unsafe cell may be its protection above and below its value.

    Below means down to 0 where a cell is smaller than its protection and there are no negative contributions. Cells
    that are empty or 0 are known and cannot help; the grand total is published unless it is unsafe or in ``must``.
    ``singles``: goals hold for single contributors too; ``from_largest`` is the protection from those who are the
    largest contributor themselves. ``tighter`` raises all levels by this share.
    """
    negative = has_negatives(table)
    network = is_network(table)
    room_below = np.full(len(table), np.inf) if negative else table.values.copy()
    levels = _levels(table, protection, whole=network) * (1 + tighter)
    below = levels if negative else np.minimum(levels, table.values)
    goals = tuple(
        Goal(int(cell), sign, float(level[cell]))
        for cell in np.flatnonzero(unsafe)
        for sign, level in ((1, levels), (-1, below))
        if level[cell] > 0
    )
    allowed = (table.people > 0) & (negative | (table.values != 0)) & ~must_not
    allowed[0] = False
    return SuppressionProblem(
        table.relations,
        room_below,
        np.full(len(table), np.inf),
        cost,
        forced=unsafe | must,
        allowed=allowed,
        goals=insider_goals(
            table, goals, _levels(table, from_largest, whole=network) * (1 + tighter), from_zero=not negative
        )
        if singles
        else goals,
        network=network,
    )


def is_network(table: CellTable) -> bool:
    """Whether the table has at most two keys, and at most one of them subtotals: then corners of the attacker's
    polytope are whole if the table is."""
    nested = [bool((dimension.parents > 0).any()) for dimension in table.dimensions]
    return len(nested) <= 2 and sum(nested) <= 1


def _levels(table: CellTable, protection: Floats, *, whole: bool) -> Floats:
    """In a network of whole units the greatest deviations are whole too, and so may be what is asked of them."""
    places = decimal_places(table.values) if whole else None
    if places is None:
        return protection
    factor = 10.0**places
    # A protection that is whole but for the rounding of its formula stays as it is.
    return np.asarray(np.ceil(np.round(protection * factor, 9)) / factor)
