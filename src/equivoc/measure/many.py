"""The measure on many posteriors at once, over one shared grid of values."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from equivoc.measure.area import certified_area
from equivoc.measure.breakpoints import last_of_ties
from equivoc.measure.distribution import (
    TIE_ROUNDING,
    TIE_SHARE,
    Distribution,
    Floats,
    check_relative_gap,
    one_tolerance,
)
from equivoc.measure.overtaking import overtaking_table
from equivoc.measure.parallel import cores, on_one_core, over_pieces
from equivoc.measure.rows import Ints, Rows, distinct_rows, read_grid_and_rows

MOST_DIFFERENCES = 4096
"""A grid with more distinct differences than this is tabulated at EVEN_STEPS tolerances only."""
EVEN_STEPS = 65
WIDEST_DENSE_GRID = 64
PIECE = 8192


@dataclass(frozen=True, eq=False)
class Curves:
    """H(ε), V(ε), H0, A and ε_max of many posteriors over one grid; one entry per row of the matrix.

    Entropies are in bits, areas in bits times the values' unit, ε in the values' unit. Smaller is riskier, except for
    the hit rate, where larger is.
    """

    values: Floats
    tolerance: float
    _rows: Rows = field(repr=False)
    _distinct: Ints = field(repr=False)
    _of: Ints = field(repr=False)

    def __len__(self) -> int:
        return len(self._of)

    @property
    def h0(self) -> Floats:
        """H(0) of every row, in bits."""
        return self._figures[0][self._of]

    @property
    def area(self) -> Floats:
        """A of every row: exact, or the middle of ``area_bounds`` where a row has more than 256 values."""
        bounds = self._figures[1]
        return (0.5 * (bounds[:, 0] + bounds[:, 1]))[self._of]

    @property
    def area_bounds(self) -> Floats:
        """Rows × 2: certified lower and upper bound of A; equal where the area is exact."""
        return self._figures[1][self._of]

    @property
    def eps_max(self) -> Floats:
        """The spread of every row's values of positive probability."""
        return self._figures[2][self._of]

    @cached_property
    def epsilons(self) -> Floats:
        """The break points that the rows share: the grid's distinct differences, or 65 even steps if those are many."""
        differences = grid_differences(self.values)
        if differences is None:
            return np.linspace(0.0, float(self.values[-1] - self.values[0]), EVEN_STEPS)
        return differences

    @cached_property
    def entropies(self) -> Floats:
        """Rows × break points: H at every one of ``epsilons``, in bits."""
        if self._lanes:
            table = np.empty((len(self._distinct), len(self.epsilons)))
            self._dense_figures(table)
        else:
            table = self._entropies_at(self.epsilons)
        return table if self._unique else table[self._of]

    def at(self, eps: float) -> Floats:
        """H(ε) of every row, in bits."""
        one = np.array([one_tolerance("eps", eps)])
        column: Floats = self._entropies_at(one)[self._of, 0]
        return column

    def hit(self, eps: float) -> Floats:
        """V(ε) of every row: the largest mass that one window of length ε covers. Larger is riskier."""
        return self.best_windows(eps)[0]

    def best_windows(self, eps: float) -> tuple[Floats, Floats, Floats]:
        """V(ε) of every row, and the lowest and highest value that the heaviest window covers."""
        from equivoc.measure import many_kernels as kernels

        one = one_tolerance("eps", eps)
        rows, grid = self._rows, self.values
        mass, low, high = (np.empty(len(self._distinct)) for _ in range(3))

        def work(part: slice) -> None:
            kernels.sparse_hits(*self._flat(part), grid, rows.longest, one, mass[part], low[part], high[part])

        over_pieces(work, len(self._distinct), piece=PIECE)
        return mass[self._of], low[self._of], high[self._of]

    def right_guesses(self, eps: float, truths: Floats, bounds: Ints) -> Floats:
        """For each row and each of its true values, the chance that the intruder's best guess is within ε/2 of it.

        Row r has the true values ``truths[bounds[r]:bounds[r + 1]]``, ascending; they need not be of the grid. The best
        guess is the middle of the heaviest window, trimmed to the values that it covers; of several equally heavy
        ones (to a relative 1e-12) she takes any, so each counts for its share. Larger is riskier.

        >>> many = curves([1, 2, 3], [[1 / 3, 1 / 3, 1 / 3]])
        >>> many.right_guesses(1, np.array([1.0, 2.0, 3.0]), np.array([0, 3])).tolist()
        [0.5, 1.0, 0.5]
        """
        from equivoc.measure.guess_kernels import right_shares

        one = one_tolerance("eps", eps)
        rows, row_of = self._rows, self._distinct[self._of]
        order = np.argsort(row_of, kind="stable")
        out = np.empty(len(truths))

        def work(part: slice) -> None:
            right_shares(
                rows.weights,
                rows.positions,
                rows.bounds,
                row_of,
                order[part],
                self.values,
                rows.longest,
                one,
                truths,
                bounds,
                out,
            )

        over_pieces(work, len(order), piece=PIECE)
        return out

    @property
    def _unique(self) -> bool:
        return len(self._distinct) == len(self._of) and bool((self._of == np.arange(len(self._of))).all())

    @cached_property
    def _lanes(self) -> bool:
        """Are the rows dense and the grid small enough to work on several rows side by side?"""
        n = len(self.values)
        if not self._rows.dense or not 1 < n <= WIDEST_DENSE_GRID or len(self.epsilons) > 4 * n:
            return False
        sample = self._rows.matrix()[:: max(1, len(self._rows) // 1000)]
        return bool(np.count_nonzero(sample) > sample.size / 3)

    @cached_property
    def _figures(self) -> tuple[Floats, Floats, Floats]:
        """h0, area bounds and ε_max of the distinct rows."""
        return (
            self._dense_figures(np.empty((len(self._distinct), 0))) if self._lanes else self._sparse_figures()
        )

    def _flat(self, part: slice) -> tuple[NDArray[Any], NDArray[np.int32], Ints, Floats, Ints]:
        rows = self._rows
        return rows.weights, rows.positions, rows.bounds, rows.totals, self._distinct[part]

    def _dense_figures(self, entropies: Floats) -> tuple[Floats, Floats, Floats]:
        from equivoc.measure import many_kernels as kernels
        from equivoc.measure.window_kernels import window_starts

        grid, table, which, totals = self.values, self._rows.matrix(), self._distinct, self._rows.totals
        starts = np.stack([window_starts(grid, e)[1:] for e in self.epsilons[:-1]])
        steps = np.diff(self.epsilons)
        h0, area, spread = (np.empty(len(which)) for _ in range(3))

        def work(part: slice) -> None:
            kernels.dense_rows(
                table, totals, which[part], starts, steps, h0[part], area[part], entropies[part]
            )
            kernels.dense_spreads(table, which[part], grid, spread[part])
            # One value is certain, even where its probability is a rounding error short of 1.
            certain = spread[part] == 0
            h0[part][certain] = area[part][certain] = entropies[part][certain] = 0.0

        over_pieces(work, len(which), piece=PIECE)
        return h0, np.column_stack((area, area)), spread

    def _sparse_figures(self) -> tuple[Floats, Floats, Floats]:
        from equivoc.measure import many_kernels as kernels

        longest, table = self._rows.longest, overtaking_table()
        h0, area, spread = (np.empty(len(self._distinct)) for _ in range(3))

        def work(part: slice) -> None:
            kernels.sparse_rows(
                *self._flat(part), self.values, longest, table, h0[part], area[part], spread[part]
            )

        over_pieces(work, len(self._distinct), piece=max(64, min(PIECE, len(self._distinct) // 8)))
        bounds = np.column_stack((area, area))
        large = np.flatnonzero(np.isnan(area))

        def certify(part: slice) -> None:
            for q in large[part]:
                bounds[q] = certified_area(self._distribution(int(self._distinct[q])), self.tolerance).bounds

        def certify_alone(part: slice) -> None:
            with on_one_core():
                certify(part)

        if len(large) < cores():  # too few to go round: each has all cores for itself
            certify(slice(None))
        else:
            over_pieces(certify_alone, len(large), piece=1)
        return h0, bounds, spread

    def _distribution(self, row: int) -> Distribution:
        rows = self._rows
        part = slice(int(rows.bounds[row]), int(rows.bounds[row + 1]))
        weights = rows.weights[part] / rows.totals[row]
        values = self.values if rows.dense else self.values[rows.positions[part]]
        return Distribution(values[weights > 0], weights[weights > 0])

    def _entropies_at(self, eps: Floats) -> Floats:
        from equivoc.measure import many_kernels as kernels

        longest, table = self._rows.longest, overtaking_table()
        out = np.empty((len(self._distinct), len(eps)))

        def work(part: slice) -> None:
            kernels.sparse_entropies(*self._flat(part), self.values, longest, table, eps, out[part])

        over_pieces(work, len(self._distinct), piece=PIECE)
        return out


def curves(values: ArrayLike, matrix: Any, *, counts: bool = False, tolerance: float = 1e-3) -> Curves:
    """The measure on every row of ``matrix``: one posterior per row, over the shared ``values``.

    ``matrix`` is a table or a scipy sparse array of probabilities, or of whole counts with ``counts=True`` (a row's
    probabilities are then its counts divided by their sum). Equal rows
    are computed once. A row costs what its own support costs, whatever the grid. Rows with more than 256 values get an
    area certified to ``tolerance``; all others an exact one.

    >>> many = curves([77, 80, 107], [[.5, .5, 0], [.5, 0, .5]])
    >>> many.h0.tolist(), many.area.tolist()
    ([1.0, 1.0], [3.0, 30.0])
    """
    gap = check_relative_gap(tolerance, exact_allowed=False)
    grid, rows = read_grid_and_rows(values, matrix, counts=counts)
    distinct, of = distinct_rows(rows)
    return Curves(grid, gap, rows, distinct, of)


def grid_differences(grid: Floats) -> Floats | None:
    """The grid's distinct differences, ascending from 0; None if there are more than MOST_DIFFERENCES.

    Differences that only rounding tells apart count as one, the largest of them.
    """
    rounding = TIE_ROUNDING * max(abs(float(grid[0])), abs(float(grid[-1])))
    found = np.zeros(1)
    for lag in range(1, len(grid)):
        found = np.unique(np.concatenate((found, grid[lag:] - grid[:-lag])))
        if len(found) > MOST_DIFFERENCES:
            surely = 1 + np.count_nonzero(np.diff(found) > np.minimum(rounding, TIE_SHARE * found[:-1]))
            if surely > MOST_DIFFERENCES or len(found) > 16 * MOST_DIFFERENCES:
                return None
    distinct = found[last_of_ties(found, rounding)]
    return distinct if len(distinct) <= MOST_DIFFERENCES else None
