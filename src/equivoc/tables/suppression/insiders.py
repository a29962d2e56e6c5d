"""Single contributors as attackers: whoever is alone in a cell knows it, and may compute her neighbours' cells."""

from __future__ import annotations

import numpy as np

from equivoc.tables.cell_table import CellTable
from equivoc.tables.suppression.problem import Goal


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


def insider_goals(table: CellTable, goals: tuple[Goal, ...]) -> tuple[Goal, ...]:
    """The goals, and again for every single contributor who is alone in a cell that adds up with the goal's cell.

    Two suppressed cells of one contributor each in one relation are the exact-disclosure problem: each of the two
    computes the other from the total. The largest contributor of the goal's cell is left out: it is she whom its
    protection protects.
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
        neighbours = np.unique(by_relation[rows].indices)
        for cell in neighbours:
            if int(cell) not in known and not _is_largest(table, int(cell), known[-1], hers):
                more += [Goal(g.cell, g.sign, g.level, known) for g in of_cell.get(int(cell), ())]
    return (*goals, *more)


def _is_largest(table: CellTable, cell: int, alone: int, hers: float) -> bool:
    """Whether the contributor of the cell ``alone`` is in ``cell``, and nobody there contributes as much."""
    if table.value is None or table.top.shape[1] < 2 or table.people[cell] < 2:
        return False
    nodes, inside = np.unravel_index(cell, table.shape), np.unravel_index(alone, table.shape)
    contained = all(
        int(node) in dimension.path[int(below)]
        for dimension, node, below in zip(table.dimensions, nodes, inside, strict=True)
    )
    largest, second = np.abs(table.top[cell, :2])
    return contained and hers >= largest > second
