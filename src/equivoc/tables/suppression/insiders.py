"""Single contributors as attackers: whoever is alone in a cell knows it, and may compute her neighbours' cells."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from equivoc.tables.cell_table import CellTable
from equivoc.tables.suppression.problem import Goal

Floats = NDArray[np.float64]


def known_to_singles(table: CellTable) -> list[tuple[int, ...]]:
    """Of each single contributor, the cells that she is alone in: an inner cell, and totals that hold nobody else."""
    found = []
    for cell in np.flatnonzero(table.inner & (table.people == 1)):
        nodes = np.unravel_index(cell, table.shape)
        paths = [d.path[int(node)] for d, node in zip(table.dimensions, nodes, strict=True)]
        grid = np.ix_(*[np.array(path) for path in paths])
        above = np.arange(len(table)).reshape(table.shape)[grid].ravel()
        found.append(tuple(int(one) for one in np.sort(above[table.people[above] == 1])))
    return found


def insider_goals(
    table: CellTable, goals: tuple[Goal, ...], from_largest: Floats, *, from_zero: bool
) -> tuple[Goal, ...]:
    """The goals, and again for every single contributor who is alone in a cell that adds up with the goal's cell.

    Two suppressed cells of one contributor each in one relation are the exact-disclosure problem: each of the two
    computes the other from the total. If she is herself the largest contributor of the goal's cell, the next largest
    must be protected from her: ``from_largest`` has the levels. She knows that the cell is no less than what she
    contributes, if no contribution is negative (``from_zero``), so it need not seem to be less.
    """
    touching = abs(table.relations).tocsc()
    by_relation = abs(table.relations)
    of_cell: dict[int, list[Goal]] = {}
    for goal in goals:
        of_cell.setdefault(goal.cell, []).append(goal)
    more = []
    for known in known_to_singles(table):
        hers = float(np.abs(table.top[known[-1], :1]).sum())
        rows = np.unique(touching[:, list(known)].indices)
        for cell in set(np.unique(by_relation[rows].indices).tolist()) - set(known):
            inside = _contains(table, cell, known[-1])
            for goal in of_cell.get(cell, ()):
                level = goal.level
                if inside and _is_largest(table, cell, hers):
                    level = min(level, float(from_largest[cell]))
                if inside and goal.sign < 0 and from_zero:
                    level = min(level, float(table.values[cell] - table.values[known[-1]]))
                if level > 0:
                    more.append(Goal(cell, goal.sign, level, known))
    return (*goals, *more)


def _contains(table: CellTable, cell: int, inner: int) -> bool:
    """Whether the inner cell is part of ``cell``."""
    nodes, below = np.unravel_index(cell, table.shape), np.unravel_index(inner, table.shape)
    return all(
        int(node) in dimension.path[int(leaf)]
        for dimension, node, leaf in zip(table.dimensions, nodes, below, strict=True)
    )


def _is_largest(table: CellTable, cell: int, hers: float) -> bool:
    """Whether nobody else in the cell contributes as much; False for counts, to which nobody contributes a value."""
    if table.value is None or table.top.shape[1] < 2:
        return False
    largest, second = np.abs(table.top[cell, :2])
    return bool(hers >= largest > second)
