"""Controlled rounding: multiples of a base that add up in every margin and are as near to the cells as possible.

Each cell of v bases becomes ⌊v⌋ or ⌈v⌉ bases; a whole multiple stays (zero-restricted; Cox, 1987). With x_c = 1 for a
cell that goes up, the total distance is Σ (v − ⌊v⌋) + Σ (1 − 2(v − ⌊v⌋))·x_c, and the margins are equations in x. In
two-way tables the linear relaxation has whole-number solutions, so a solution always exists. In tables of three or more
keys it need not: then cells may go one base further, or more, until there is one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equivoc.systems.programs import Program, Solver, Status
from equivoc.tables.cell_table import CellTable

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

_WHOLE = 1e-6
# The search for a first solution may use this share of the time; improvement by neighbourhoods is faster after it.
_FIRST_SHARE = 1 / 6
# Categories that are free at once in a neighbourhood, and how many neighbourhoods in a row may bring nothing.
_FREE_CATEGORIES = 3
_PATIENCE = 30
_SEED = 20_250_101
"""Of the order of neighbourhoods: the same table is always searched in the same order."""


@dataclass(frozen=True, eq=False)
class ControlledRounding:
    """A rounding that adds up, and how good it is. Distances are in bases, summed over all cells, margins included."""

    steps: Integers = field(repr=False)
    """The released value of each cell, in bases."""
    distance: float
    """Σ |released − true|, in bases. Less is better."""
    bound: float
    """No rounding of this kind has a smaller distance."""
    wider: int | None
    """How many bases beyond its two neighbours a cell may have gone; None: no limit, as only sums of rounded inner
    cells were found in time."""
    timed_out: bool
    """True if the time limit ended the search."""

    @property
    def gap(self) -> float:
        """How far the distance can be above the least one, as a share of the bound; 0: proven least."""
        above = self.distance - self.bound
        return 0.0 if above <= _WHOLE else above / max(self.bound, _WHOLE)


def controlled_rounding(table: CellTable, bases: Floats, *, time_limit: float) -> ControlledRounding:
    """Round cells of ``bases`` (values divided by the base) so that the table's relations hold."""
    end = perf_counter() + time_limit
    timed_out = False
    for wider in (0, 1, 2, 4):
        program = _program(table, bases, wider)
        bound, found = _first_solution(program, end)
        if found is not None:
            found, stopped = _improved(table, program, found, bound, end)
            steps = program.released(found)
            distance = float(np.abs(steps - bases).sum())
            return ControlledRounding(
                steps, distance, min(bound + program.constant, distance), wider, stopped
            )
        timed_out = timed_out or perf_counter() >= end
        if timed_out:
            break
    return _sums_of_nearest(table, bases, timed_out=timed_out)


@dataclass(frozen=True, eq=False)
class _Program:
    """``min cost · x`` with ``matrix @ x = sums``, 0 ≤ x ≤ upper, x whole: x moves cells away from ``start``."""

    start: Integers
    """⌊v⌋ of each cell."""
    cell: Integers
    """The cell of each column."""
    sign: Integers
    """1: the column moves its cell up, −1: down."""
    cost: Floats
    upper: Floats
    matrix: Any
    sums: Floats
    constant: float
    """The distance of ``start``."""

    def released(self, x: Floats) -> Integers:
        moves = np.bincount(self.cell, self.sign * x, minlength=len(self.start))
        return self.start + np.rint(moves).astype(np.int64)


def _program(table: CellTable, bases: Floats, wider: int) -> _Program:
    from scipy import sparse

    close = np.maximum(1e-9, 1e-15 * np.abs(bases))  # a quotient this close to a whole number is that number
    start = np.floor(bases + close)
    share = np.where(bases - start < close, 0.0, bases - start)
    between = np.flatnonzero(share > 0)
    cells, signs, costs, uppers = (
        [between],
        [np.ones(len(between))],
        [1 - 2 * share[between]],
        [np.ones(len(between))],
    )
    if wider:
        every = np.arange(len(bases))
        # A cell of 0 or more is never released below 0.
        down = np.where(bases >= 0, np.minimum(wider, np.maximum(start, 0)), wider)
        cells += [every, every]
        signs += [np.ones(len(every)), -np.ones(len(every))]
        costs += [np.ones(len(every)), np.ones(len(every))]
        uppers += [np.full(len(every), float(wider)), down]
    cell, sign = np.concatenate(cells), np.concatenate(signs)
    matrix = sparse.csr_array(table.relations[:, cell] * sign[np.newaxis, :])
    return _Program(
        start.astype(np.int64),
        cell,
        sign.astype(np.int64),
        np.concatenate(costs),
        np.concatenate(uppers),
        matrix,
        -(table.relations @ start),
        float(share.sum()),
    )


def _first_solution(program: _Program, end: float) -> tuple[float, Floats | None]:
    """A lower bound of the cost, and a solution: the best one if it is found soon; None: there is none, or no time."""
    relaxed = _solved(program, np.arange(len(program.cell)), program.sums, end, whole=False)
    if relaxed.x is None:
        return -np.inf, None
    if np.abs(relaxed.x - np.rint(relaxed.x)).max(initial=0.0) < _WHOLE:
        return relaxed.bound, np.rint(relaxed.x)
    now = perf_counter()
    soon = now + (end - now) * _FIRST_SHARE
    every = np.arange(len(program.cell))
    found = _solved(program, every, program.sums, soon)
    if found.x is None and not found.impossible:
        found = _solved(program, every, program.sums, end, first=True)
    return max(relaxed.bound, found.bound), found.x


def _improved(
    table: CellTable, program: _Program, x: Floats, bound: float, end: float
) -> tuple[Floats, bool]:
    """A better solution from solving for some categories at a time, the rest fixed; True if time ran out."""
    without_success = 0
    for free in _neighbourhoods(table, program):
        if program.cost @ x <= bound + _WHOLE or without_success >= _PATIENCE:
            return x, False
        if perf_counter() >= end:
            return x, True
        fixed = np.setdiff1d(np.arange(len(x)), free)
        sums = program.sums - program.matrix[:, fixed] @ x[fixed]
        found = _solved(program, free, sums, min(end, perf_counter() + 3), start=x[free])
        without_success += 1
        if found.x is not None and program.cost[free] @ found.x < program.cost[free] @ x[free] - _WHOLE:
            x = x.copy()
            x[free] = found.x
            without_success = 0
    return x, False


def _neighbourhoods(table: CellTable, program: _Program) -> Iterator[Integers]:
    """Columns of the cells of a few categories of one key and of all its subtotals; endless, or none."""
    rng = np.random.default_rng(_SEED)
    keys = [at for at, d in enumerate(table.dimensions) if len(d.leaves) > _FREE_CATEGORIES]
    while keys:
        at = int(rng.choice(keys))
        dimension = table.dimensions[at]
        free = np.ones(len(dimension), dtype=bool)
        free[dimension.leaves] = False
        free[rng.choice(dimension.leaves, _FREE_CATEGORIES, replace=False)] = True
        yield np.flatnonzero(free[table.nodes[program.cell, at]])


@dataclass(frozen=True, eq=False)
class _Solved:
    x: Floats | None
    bound: float
    impossible: bool


def _solved(
    program: _Program,
    columns: Integers,
    sums: Floats,
    end: float,
    *,
    whole: bool = True,
    first: bool = False,
    start: Floats | None = None,
) -> _Solved:
    """The best x of these columns with these sums that HiGHS finds until ``end``; ``first``: any x will do."""
    left = end - perf_counter()
    if left <= 0:
        return _Solved(None, -np.inf, impossible=False)
    part = program.matrix[:, columns]
    rows = np.flatnonzero(np.diff(part.indptr) > 0)
    empty = np.setdiff1d(np.arange(part.shape[0]), rows)
    if np.abs(sums[empty]).max(initial=0.0) > _WHOLE:
        return _Solved(None, np.inf, impossible=True)
    if not len(columns):
        return _Solved(np.zeros(0), 0.0, impossible=False)
    part = part[rows]
    part_program = Program(
        part,
        least=sums[rows],
        most=sums[rows],
        cost=program.cost[columns],
        low=np.zeros(len(columns)),
        high=program.upper[columns],
        whole=len(columns) if whole else 0,
    )
    options = {"mip_max_improving_sols": 1} if first else {}
    solver = Solver(part_program, time_limit=left, mip_rel_gap=0.0, mip_abs_gap=_WHOLE, **options)
    if start is not None:
        solver.start_from(start)
    status = solver.run()
    optimal = status is Status.OPTIMAL
    bound = solver.objective if optimal else solver.bound if whole else -np.inf
    if status is Status.IMPOSSIBLE:
        return _Solved(None, np.inf, impossible=True)
    x = solver.x
    if len(x) != len(columns) or (not whole and not optimal):
        return _Solved(None, bound, impossible=False)
    if whole:
        x = np.rint(x)
        # What is released is checked, not believed.
        if np.abs(part @ x - sums[rows]).max(initial=0.0) > _WHOLE or (x < 0).any():
            return _Solved(None, bound, impossible=False)
        if (x > program.upper[columns]).any():
            return _Solved(None, bound, impossible=False)
    return _Solved(x, bound, impossible=False)


def _sums_of_nearest(table: CellTable, bases: Floats, *, timed_out: bool) -> ControlledRounding:
    """Inner cells to the nearest multiple, margins as their sums: always there, but margins may move far."""
    from equivoc.tables.contributions import summed_up

    inner = np.flatnonzero(table.inner)
    nearest = np.floor(bases[inner] + 0.5)
    steps = np.rint(summed_up(nearest, inner, table.dimensions)).astype(np.int64)
    distance = float(np.abs(steps - bases).sum())
    least = float(np.abs(np.floor(bases + 0.5) - bases).sum())
    return ControlledRounding(steps, distance, least, None, timed_out)
