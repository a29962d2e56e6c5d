"""All integer points of a component whose equations leave at most two dimensions free, with their weights."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from equivoc.systems.integer_solutions import integer_solutions
from equivoc.systems.posteriors.components import Component
from equivoc.systems.posteriors.dynamic_programming import MOST_EXTREMES, MOST_OPEN, Network, Options, count
from equivoc.systems.posteriors.sum_tables import SumTable
from equivoc.systems.system import ContradictionError

# The posterior of a person of each atom, and how it was found.

Method = Literal[
    "prior",
    "convolution",
    "enumeration",
    "dynamic programming",
    "counting",
    "Gibbs sampling",
    "Gibbs sampling, rough",
    "bounds",
]
COUNTED: tuple[Method, ...] = ("convolution", "enumeration", "dynamic programming", "Gibbs sampling")
"""The methods that are tried, in this order."""


@dataclass(frozen=True, eq=False)
class AtomPosteriors:
    """P(a person of the atom has the value | all answers), one row per atom.

    People of one atom have the same posterior. The rows are those of ``system.atoms``, the columns those of
    ``system.grid.positions``.
    """

    probabilities: NDArray[np.float64] = field(repr=False)
    """Atoms × |D|. Each row sums to 1."""
    method: tuple[Method, ...] = field(repr=False)
    """How each atom's row was found. "prior": the atom is in no answer. "bounds": nothing fitted the work limit, and
    the row is the prior on the values that bounds leave. "Gibbs sampling, rough": the chains do not agree, and the row
    is that of the chain that leaves the least uncertainty."""
    error: NDArray[np.float64] = field(repr=False)
    """The standard error of each atom's largest probability: 0 if exact, estimated if sampled, NaN for "bounds",
    for "Gibbs sampling, rough", and where ``left_out``."""
    promised: NDArray[np.bool_] = field(repr=False)
    """True: the error is proved to be one (exact methods; sampling whose moves reach every database that fits).
    False: checked by several chains from different starts only."""
    left_out: NDArray[np.bool_] = field(repr=False)
    """True: a MEDIAN or variance of people linked with the atom's is left out, so that the row may show more
    uncertainty than there is."""
    notes: tuple[str, ...] = ()
    """What these figures leave out, in sentences."""


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
        raise ContradictionError()
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

    None if there are too many points; ContradictionError if nothing fits.
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
        raise ContradictionError()
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


# One component by an exact method: the probability of each atom's sum and flags.


@dataclass(frozen=True, eq=False)
class ExactSums:
    """P(sum, flags | answers) of each atom of a component."""

    method: Method
    marginals: tuple[NDArray[np.float64], ...] = field(repr=False)
    """Per atom: states × sums from its low to its high."""


def exact_sums(
    component: Component,
    tables: tuple[SumTable, ...],
    *,
    methods: tuple[Method, ...],
    most: float,
) -> ExactSums | None:
    """By the first of the methods that applies and takes at most ``most`` elementary steps; None if none does."""
    if component.nested and "convolution" in methods:
        found = _by_counting(component, tables, "convolution", most)
        if found is not None:
            return found
    if "enumeration" in methods:
        marginals = enumerated(component, tables, most=most)
        if marginals is not None:
            return ExactSums("enumeration", marginals)
    if "dynamic programming" in methods:
        return _by_counting(component, tables, "dynamic programming", most)
    return None


def network(component: Component, tables: tuple[SumTable, ...]) -> tuple[Network, list[NDArray[np.int64]]]:
    """The component for dynamic programming; and the (state, sum) of each atom's options."""
    own: list[list[int]] = [[] for _ in component.atoms]
    for r, row in enumerate(component.rows):
        for atom in row.tolist():
            own[atom].append(r)
    bits = attained_bits(component)
    options, meaning = [], []
    for atom, table in enumerate(tables):
        low, high = int(component.low[atom]), int(component.high[atom])
        logs = table.log_weight[:, low : high + 1]
        sums, states = np.nonzero(np.isfinite(logs.T))
        amounts = np.broadcast_to((sums + low)[:, None], (len(sums), len(own[atom])))
        raised = np.array(bits[atom], dtype=np.int64)[states]
        options.append(Options(tuple(own[atom]), amounts, raised, logs[states, sums]))
        meaning.append(np.column_stack([states, sums + low]))
    return Network(tuple(options), component.totals, len(component.extremes)), meaning


def _by_counting(
    component: Component, tables: tuple[SumTable, ...], method: Method, most: float
) -> ExactSums | None:
    if len(component.extremes) > MOST_EXTREMES:
        return None
    # Each known sum of an atom is open before or after it.
    rows_of_atom = np.bincount(np.concatenate([np.empty(0, np.int64), *component.rows]), minlength=1)
    if rows_of_atom.max() > 2 * MOST_OPEN:
        return None
    whole, meaning = network(component, tables)
    counted = count(whole, most=most)
    if counted is None:
        return None
    marginals = []
    for atom, table in enumerate(tables):
        low, high = int(component.low[atom]), int(component.high[atom])
        spread = np.zeros((len(table.log_weight), high - low + 1))
        spread[meaning[atom][:, 0], meaning[atom][:, 1] - low] = counted.options[atom]
        marginals.append(spread)
    return ExactSums(method, tuple(marginals))


def draw_states(
    component: Component, tables: tuple[SumTable, ...], sums: NDArray[np.int64], rng: np.random.Generator
) -> NDArray[np.int64]:
    """States of the flags given all sums of the component, jointly."""
    bits = attained_bits(component)
    options = []
    for atom, table in enumerate(tables):
        logs = table.log_weight[:, sums[atom]]
        states = np.flatnonzero(logs > -np.inf)
        options.append(
            Options((), np.zeros((len(states), 0), np.int64), np.array(bits[atom])[states], logs[states])
        )
    counted = count(Network(tuple(options), (), len(component.extremes)), most=np.inf)
    assert counted is not None
    chosen = counted.draw(1, rng)[0]
    return np.array(
        [
            np.flatnonzero(t.log_weight[:, s] > -np.inf)[c]
            for t, s, c in zip(tables, sums, chosen, strict=True)
        ],
        dtype=np.int64,
    )
