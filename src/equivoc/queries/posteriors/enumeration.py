"""All integer points of a component whose equations leave at most two dimensions free, with their weights."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from equivoc.queries.exact_posterior import ImpossibleAnswersError
from equivoc.queries.posteriors.components import Component
from equivoc.queries.posteriors.integer_solutions import integer_solutions
from equivoc.queries.posteriors.sum_tables import SumTable

_MOST_EXTREMES = 8
_ENTRIES_AT_A_TIME = 2**22


def enumerate_points(component: Component, *, most: float) -> NDArray[np.int64] | None:
    """Points × atoms; None if more than two dimensions are free or the box around the points is too large."""
    rows, atoms = len(component.rows), len(component.atoms)
    if atoms - rows > 2 or rows * atoms > 1e6:
        return None
    matrix = np.zeros((rows, atoms), dtype=np.int64)
    for r, row in enumerate(component.rows):
        matrix[r, row] = 1
    # Atoms of a component without rows have a known sum.
    known = component.low == component.high
    try:
        solved = integer_solutions(
            np.vstack([matrix, np.eye(atoms, dtype=np.int64)[known]]),
            np.concatenate([component.totals, component.low[known]]).astype(np.int64),
        )
    except OverflowError:
        return None
    if solved is None:
        raise ImpossibleAnswersError("answers contradict each other: no database gives all of them.")
    if solved.moves.shape[0] > 2:
        return None
    point, moves, low, high = solved.point, solved.moves.toarray(), component.low, component.high
    if len(moves) == 0:
        points = point[None, :]
    elif len(moves) == 1:
        begin, end = _interval(point, moves[0], low, high)
        if (end - begin + 1.0) * atoms > most:
            return None
        points = point + np.arange(begin, end + 1)[:, None] * moves[0]
    else:
        found = _plane(point, moves, low, high, most / atoms)
        if found is None:
            return None
        points = found
    return points[np.all((points >= low) & (points <= high), axis=1)]


def _interval(
    point: NDArray[np.int64], move: NDArray[np.int64], low: NDArray[np.int64], high: NDArray[np.int64]
) -> tuple[int, int]:
    """The t for which point + t·move stays in the box."""
    up, down = move > 0, move < 0
    begin = np.concatenate(
        [-((point[up] - low[up]) // move[up]), -((high[down] - point[down]) // -move[down])]
    )
    end = np.concatenate([(high[up] - point[up]) // move[up], (point[down] - low[down]) // -move[down]])
    return int(begin.max()), int(end.min())


def _plane(
    point: NDArray[np.int64],
    moves: NDArray[np.int64],
    low: NDArray[np.int64],
    high: NDArray[np.int64],
    most: float,
) -> NDArray[np.int64] | None:
    """Two free dimensions: for each step along one, the interval along the other."""
    from scipy.optimize import linprog

    rows = np.vstack([moves.T, -moves.T]).astype(np.float64)
    limits = np.concatenate([high - point, point - low]).astype(np.float64)
    ends = []
    for sign in (1.0, -1.0):
        best = linprog([sign, 0.0], A_ub=rows, b_ub=limits, bounds=[(None, None)] * 2)
        if best.status == 2:
            return np.empty((0, len(point)), dtype=np.int64)
        if best.status != 0:
            return None
        ends.append(float(best.x[0]))
    # The program's ends are rounded outward; the box decides about each point.
    first, last = int(np.floor(ends[0] - 1e-6)), int(np.ceil(ends[1] + 1e-6))
    if last - first + 1 > most:
        return None
    found, counted = [], 0.0
    for step in range(first, last + 1):
        base = point + step * moves[0]
        begin, end = _interval(base, moves[1], low, high)
        counted += max(end - begin + 1, 0)
        if counted > most:
            return None
        if end >= begin:
            found.append(base + np.arange(begin, end + 1)[:, None] * moves[1])
    return np.vstack(found) if found else np.empty((0, len(point)), dtype=np.int64)


def enumerated(
    component: Component, tables: tuple[SumTable, ...], *, most: float
) -> tuple[NDArray[np.float64], ...] | None:
    """The probability of each atom's (flags, sum), states × sums from its low to its high, by weighing every point.

    None if there are too many points; ImpossibleAnswersError if nothing fits.
    """
    extremes = len(component.extremes)
    if extremes > _MOST_EXTREMES:
        return None
    points = enumerate_points(component, most=most / 4**extremes)
    if points is None:
        return None
    bits = attained_bits(component)
    log = np.concatenate(
        [_passes(points[part], tables, bits, extremes)[0][-1][:, -1] for part in _parts(points, extremes)]
        or [np.empty(0)]
    )
    peak = float(log.max(initial=-np.inf))
    if peak == -np.inf:
        raise ImpossibleAnswersError("answers contradict each other: no database gives all of them.")
    log_total = peak + float(np.log(np.exp(log - peak).sum()))
    marginals = [
        np.zeros((len(table.log_weight), int(h - low) + 1))
        for table, low, h in zip(tables, component.low, component.high, strict=True)
    ]
    for part in _parts(points, extremes):
        forward, backward = _passes(points[part], tables, bits, extremes)
        for atom, table in enumerate(tables):
            sums = points[part][:, atom]
            for state in range(len(table.log_weight)):
                own = table.log_weight[state, sums]
                log_here = np.full(len(sums), -np.inf)
                for covered in range(1 << extremes):
                    term = forward[atom][:, covered] + backward[atom + 1][:, covered | bits[atom][state]]
                    log_here = np.logaddexp(log_here, term + own)
                np.add.at(marginals[atom][state], sums - component.low[atom], np.exp(log_here - log_total))
    return tuple(marginals)


def attained_bits(component: Component) -> list[list[int]]:
    """For each atom and each state of its flags, the extremes that it attains, one bit each."""
    found = [[0] * 4 for _ in component.atoms]
    for bit, extreme in enumerate(component.extremes):
        for atom, flag in extreme:
            for state in range(4):
                if state & flag:
                    found[atom][state] |= 1 << bit
    return found


def _parts(points: NDArray[np.int64], extremes: int) -> list[slice]:
    per_point = max(1, points.shape[1] << (extremes + 1))
    at_a_time = max(1, _ENTRIES_AT_A_TIME // per_point)
    return [slice(start, start + at_a_time) for start in range(0, len(points), at_a_time)]


def _passes(
    points: NDArray[np.int64], tables: tuple[SumTable, ...], bits: list[list[int]], extremes: int
) -> tuple[list[NDArray[np.float64]], list[NDArray[np.float64]]]:
    """Per point, log weights over sets of attained extremes: of the atoms before each place, and of those from it on.

    ``forward[i]`` has the weight by the set that atoms 0 … i − 1 attain; ``backward[i]`` the weight with which atoms
    i, i + 1, … complete that set.
    """
    sets = 1 << extremes
    start = np.full((len(points), sets), -np.inf)
    start[:, 0] = 0.0
    forward = [start]
    for atom, table in enumerate(tables):
        after = np.full((len(points), sets), -np.inf)
        for state in range(len(table.log_weight)):
            own = table.log_weight[state, points[:, atom]]
            for covered in range(sets):
                to = covered | bits[atom][state]
                after[:, to] = np.logaddexp(after[:, to], forward[-1][:, covered] + own)
        forward.append(after)
    end = np.full((len(points), sets), -np.inf)
    end[:, sets - 1] = 0.0
    backward = [end]
    for atom in range(len(tables) - 1, -1, -1):
        before = np.full((len(points), sets), -np.inf)
        for state in range(len(tables[atom].log_weight)):
            own = tables[atom].log_weight[state, points[:, atom]]
            for covered in range(sets):
                to = covered | bits[atom][state]
                before[:, covered] = np.logaddexp(before[:, covered], backward[-1][:, to] + own)
        backward.append(before)
    return forward, backward[::-1]
