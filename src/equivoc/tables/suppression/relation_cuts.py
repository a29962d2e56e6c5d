"""Inequalities from single relations, without a program: a suppressed cell needs others beside it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from equivoc.tables.suppression.cuts import VIOLATED, Cut, goal_cut
from equivoc.tables.suppression.problem import SuppressionProblem

Floats = NDArray[np.float64]


def goal_relation_cuts(problem: SuppressionProblem) -> list[Cut]:
    """For each goal and each relation of its cell: the other cells of the relation must make up for its deviation."""
    rows, columns = problem.relations, problem.relations.tocsc()
    cuts = []
    for goal in problem.goals:
        for row in columns.indices[columns.indptr[goal.cell] : columns.indptr[goal.cell + 1]]:
            part = slice(rows.indptr[row], rows.indptr[row + 1])
            cells, signs = rows.indices[part].astype(np.int64), rows.data[part]
            direction = -goal.sign * float(signs[cells == goal.cell][0]) * signs
            room = np.where(direction > 0, problem.room_above[cells], problem.room_below[cells])
            helps = problem.usable[cells] & (cells != goal.cell) & ~np.isin(cells, goal.known)
            cut = goal_cut(problem, cells, np.where(helps, room / goal.level, 0.0))
            if cut is not None:
                cuts.append(cut)
    return cuts


class LoneCells:
    """A cell that is the only suppressed one of a relation follows from it: publishing it changes nothing.

    So some cheapest pattern has ``y_k ≤ Σ y`` over the others of each relation (bridge-less inequalities of Fischetti
    and Salazar).
    """

    def __init__(self, problem: SuppressionProblem) -> None:
        usable = np.flatnonzero(problem.usable)
        part = abs(problem.relations[:, usable]).tocsr()
        part = part[np.flatnonzero(np.diff(part.indptr) > 0)]
        self.start, self.cells = part.indptr, usable[part.indices]
        self.free = ~problem.forced[self.cells]

    def violated(self, y: Floats) -> list[Cut]:
        """Inequalities that y violates, one for each relation at most."""
        if not len(self.cells):
            return []
        shares = y[self.cells]
        totals = np.add.reduceat(shares, self.start[:-1])
        largest = np.maximum.reduceat(np.where(self.free, shares, 0.0), self.start[:-1])
        cuts = []
        for row in np.flatnonzero(2 * largest > totals + VIOLATED):
            part = slice(self.start[row], self.start[row + 1])
            cells = self.cells[part]
            lone = int(np.argmax(np.where(self.free[part], shares[part], -1.0)))
            weights = np.ones(len(cells))
            weights[lone] = -1.0
            cuts.append(Cut(cells, weights, least=0.0))
        return cuts
