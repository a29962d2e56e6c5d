"""The final check of a pattern: for every goal, deviations that prove it, and the attacker's intervals."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from equivoc.tables.attacker.intervals import CellIntervals, cell_intervals
from equivoc.tables.cell_table import CellTable
from equivoc.tables.suppression.certificates import Certificates
from equivoc.tables.suppression.problem import Goal, SuppressionProblem

Booleans = NDArray[np.bool_]
Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# Of a level: how far proving deviations may miss the relations and the bounds.
_TOLERANCE = 1e-8
# Of a level: the rounding of value + level − value.
_ROUNDING = 1e-9


class ShortfallError(Exception):
    """A goal that the pattern does not meet."""

    def __init__(self, goal: Goal) -> None:
        super().__init__(goal)
        self.goal = goal


def verified_intervals(table: CellTable, problem: SuppressionProblem, pattern: Booleans) -> CellIntervals:
    """The attacker's intervals of all suppressed cells; ShortfallError if a goal is not met.

    Programs over large cells are less accurate than the levels of small ones. Deviations that prove a goal are in the
    goal's own units, so the intervals are widened to contain them.
    """
    programs = Certificates(problem, np.flatnonzero(pattern))
    programs.price(np.ones(len(pattern)))
    intervals = cell_intervals(table, pattern)
    low, high = intervals.low.copy(), intervals.high.copy()
    place = np.full(len(table), -1)
    place[intervals.cells] = np.arange(len(intervals.cells))
    proofs: dict[Goal, Integers] = {}
    for goal in sorted(problem.goals, key=lambda goal: (len(goal.known), goal.sign, goal.level)):
        general = proofs.get(replace(goal, known=()))
        if general is None or np.isin(general, goal.known).any():
            found = programs.cheapest(goal, pattern, deadline=np.inf)
            if found is None or not _proves(problem, pattern, goal, *found):
                raise ShortfallError(goal)
            general = found[0]
        if not goal.known:
            proofs[goal] = general
            at, value = place[goal.cell], float(table.values[goal.cell])
            if goal.sign > 0:
                high[at] = max(high[at], value + goal.level)
            else:
                low[at] = min(low[at], value - goal.level)
            _check_accuracy(intervals, int(at), value, goal)
    return replace(intervals, low=low, high=high)


def _proves(
    problem: SuppressionProblem, pattern: Booleans, goal: Goal, cells: Integers, deviations: Floats
) -> bool:
    """Whether these deviations, in levels, are what a table that agrees with everything published differs by."""
    if not pattern[cells].all() or np.isin(cells, goal.known).any():
        return False
    own = goal.sign * float(deviations[cells == goal.cell].sum())
    missed = float(np.max(np.abs(problem.relations[:, cells] @ deviations), initial=0.0))
    above = float(np.max(deviations - problem.room_above[cells] / goal.level, initial=0.0))
    below = float(np.max(-deviations - problem.room_below[cells] / goal.level, initial=0.0))
    return own >= 1 - _ROUNDING and max(missed, above, below) <= _TOLERANCE


def _check_accuracy(intervals: CellIntervals, at: int, value: float, goal: Goal) -> None:
    """The two computations must agree within the accuracy of the intervals."""
    reached = intervals.high[at] - value if goal.sign > 0 else value - intervals.low[at]
    if reached < goal.level * (1 - _TOLERANCE) - 10 * intervals.accuracy[at]:
        raise ShortfallError(goal)
