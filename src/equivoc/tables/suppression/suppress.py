"""Suppression on arrays: unsafe cells and their protection in, a pattern out, checked by the attacker's intervals."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from equivoc.errors import InputError
from equivoc.systems.grids import decimal_places
from equivoc.systems.programs import UnsolvableError
from equivoc.tables.adding_up import check_adds_up
from equivoc.tables.attacker import CellIntervals, cell_intervals, cell_name, has_negatives
from equivoc.tables.cell_table import CellTable
from equivoc.tables.suppression.problem import Certificates, Goal, SuppressionProblem, suppression_problem
from equivoc.tables.suppression.search import UnprotectableError, search

# The final check of a pattern: for every goal, deviations that prove it, and the attacker's intervals.

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


# Programs have tolerances. If the final check finds a goal missed by them, all levels are raised by the next share.
_TIGHTER = (0.0, 1e-6, 1e-4)
# Up to this many cells to decide on, the optimum is searched for in tables that are no network, too.
_FEW = 150
# Of the time limit; the rest is for the final check.
_TIME_TO_SEARCH = 0.9


@dataclass(frozen=True, eq=False)
class Suppressed:
    """A protected pattern, what it costs, and what the attacker can compute."""

    pattern: Booleans = field(repr=False)
    """True for suppressed cells."""
    added: float
    """The cost of suppressed cells that are neither unsafe nor in ``must``."""
    bound: float
    """No protected pattern has a smaller added cost."""
    proven: bool
    in_time: bool
    intervals: CellIntervals = field(repr=False)
    from_zero: bool
    """Whether the attacker knows that cells are at least 0."""


def suppress(
    table: CellTable,
    *,
    unsafe: Booleans,
    protection: Floats,
    cost: Floats,
    must: Booleans | None = None,
    must_not: Booleans | None = None,
    from_largest: Floats | None = None,
    singles: bool = True,
    time_limit: float = 60.0,
) -> Suppressed:
    """The cheapest protected pattern that is found within ``time_limit`` seconds.

    ``protection``: how far above and below its value the attacker's bounds of each unsafe cell must lie.
    ``from_largest``: the same if the attacker is the cell's largest contributor and alone in another cell; None:
    ``protection``.
    """
    deadline = perf_counter() + _TIME_TO_SEARCH * time_limit
    nothing = np.zeros(len(table), dtype=bool)
    must, must_not = nothing if must is None else must, nothing if must_not is None else must_not
    _check(table, unsafe, protection, must, must_not)
    from_zero = not has_negatives(table)
    if not (unsafe | must).any():
        return Suppressed(nothing, 0.0, 0.0, True, True, cell_intervals(table, nothing), from_zero)
    bounds: list[float] = []
    for tighter in _TIGHTER[0 if decimal_places(table.values) is not None else 1 :]:
        problem = suppression_problem(
            table,
            unsafe=unsafe,
            protection=protection,
            cost=cost,
            must=must,
            must_not=must_not,
            from_largest=protection if from_largest is None else from_largest,
            singles=singles,
            tighter=tighter,
        )
        try:
            found = search(problem, exact=problem.network or len(problem.free) <= _FEW, deadline=deadline)
            bounds.append(found.bound * problem.unit)
            intervals = verified_intervals(table, problem, found.pattern)
        except UnprotectableError as error:
            raise _unprotectable(table, error.goal, must_not) from None
        except ShortfallError:
            continue
        # What was not enough by a tolerance still bounds the cost from below.
        return Suppressed(
            found.pattern,
            found.added * problem.unit,
            bounds[0],
            found.proven and len(bounds) == 1,
            found.in_time,
            intervals,
            from_zero,
        )
    raise UnsolvableError(
        "no choice of withheld cells passed the final check: the totals are of too different size to compute with. Use "
        "a unit in which the smallest unsafe cell is no less than a billionth of the grand total, or merge categories "
        "(eq.Redesign)."
    )


def _check(
    table: CellTable, unsafe: Booleans, protection: Floats, must: Booleans, must_not: Booleans
) -> None:
    negative = np.flatnonzero(~(protection >= 0) & unsafe)
    if len(negative):
        cell = int(negative[0])
        raise InputError(
            f"the protection of the cell {cell_name(table, cell)} is {protection[cell]:g}; it must be 0 or more."
        )
    for marked, what in ((unsafe, "is unsafe"), (must, "is in must")):
        both = np.flatnonzero(marked & must_not)
        if len(both):
            raise InputError(
                f"must_not holds the cell {cell_name(table, int(both[0]))}, which {what}: take it out of one."
            )
    check_adds_up(table)


def _unprotectable(table: CellTable, goal: Goal, must_not: Booleans) -> InputError:
    who = (
        ""
        if not goal.known
        else f" from the single contributor of the cell {cell_name(table, goal.known[-1])}"
    )
    what = (
        "allow some of the cells in must_not"
        if must_not.any()
        else "suppress the grand total too (must), or merge categories (eq.Redesign)"
    )
    return InputError(
        f"the unsafe cell {cell_name(table, goal.cell)} cannot be protected{who}: even with every other cell "
        f"suppressed its margins give it away; {what}."
    )
