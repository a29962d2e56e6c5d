"""The measure on many posteriors at once, over one shared grid of values."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from equivoc.measure.area import certified_area, estimated_area, largest_error
from equivoc.measure.distribution import (
    Distribution,
    Floats,
    Ints,
    Rows,
    check_relative_gap,
    one_tolerance,
    read_grid_and_rows,
)
from equivoc.measure.lanes import dense_figures, distinct_rows, grid_differences, mostly_filled
from equivoc.parallel import over_pieces

EVEN_STEPS = 65
PIECE = 8192
Bools = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Curves:
    """H(ε), V(ε), H0, A and ε_max of many posteriors over one grid; one entry per row of the matrix.

    Entropies are in bits, areas in bits times the values' unit, ε in the values' unit. Smaller is riskier, except for
    the hit rate, where larger is.
    """

    values: Floats
    tolerance: float | None
    """The relative gap of certified areas; None if the areas of rows with many values are estimated."""
    _rows: Rows = field(repr=False)
    _distinct: Ints = field(repr=False)
    _of: Ints = field(repr=False)

    def __len__(self) -> int:
        return len(self._of)

    def rows(self, of: Ints) -> Curves:
        """The measure on these rows, by number; a row may come several times and is computed once."""
        return replace(self, _of=self._of[of])

    @property
    def h0(self) -> Floats:
        """H(0) of every row, in bits."""
        return self._figures[0][self._of]

    @property
    def area(self) -> Floats:
        """A of every row: exact up to 256 values; beyond, the middle of ``area_bounds``, or an estimate."""
        return self._figures[1][self._of]

    @property
    def area_bounds(self) -> Floats:
        """Rows × 2: certified lower and upper bound of A; equal where the area is exact, NaN where it is estimated."""
        return self._figures[2][self._of]

    @property
    def estimated(self) -> Bools:
        """True where the area is an estimate: only with ``tolerance=None`` and more than 256 values."""
        return np.isnan(self.area_bounds[:, 0])

    @property
    def eps_max(self) -> Floats:
        """The spread of every row's values of positive probability."""
        return self._figures[3][self._of]

    def check_estimates(self, rows: int = 3, *, seed: int = 0) -> float:
        """Upper bound of the relative error of the estimated areas, over a few rows drawn at random.

        Each is compared with a certified area. 0.0 if no area is estimated.
        """
        return largest_error(self.sample_of_estimates(rows, np.random.default_rng(seed)))

    def sample_of_estimates(self, rows: int, rng: np.random.Generator) -> list[tuple[Distribution, float]]:
        """Some of the distinct rows whose area is estimated, drawn at random, with their estimates."""
        _, area, bounds, _ = self._figures
        estimated = rng.permutation(np.flatnonzero(np.isnan(bounds[:, 0])))
        return [(self._distribution(int(q)), float(area[q])) for q in estimated[:rows]]

    @cached_property
    def epsilons(self) -> Floats:
        """The break points that the rows share: the grid's distinct differences, or 65 even steps if those are many."""
        differences = grid_differences(self.values)
        if differences is None:
            return np.linspace(0.0, float(self.values[-1] - self.values[0]), EVEN_STEPS)
        return differences

    @property
    def break_points(self) -> Floats:
        """The same as ``epsilons``: tolerances, not budgets."""
        return self.epsilons

    @cached_property
    def entropies(self) -> Floats:
        """Rows × break points: H at every one of ``epsilons``, in bits."""
        if self._lanes:
            table = np.empty((len(self._distinct), len(self.epsilons)))
            dense_figures(self._rows, self._distinct, self.values, self.epsilons, table)
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
        from equivoc.measure.lane_kernels import sparse_hits

        one = one_tolerance("eps", eps)
        mass, low, high = (np.empty(len(self._distinct)) for _ in range(3))

        def work(part: slice) -> None:
            sparse_hits(*self._flat(part), one, mass[part], low[part], high[part])

        over_pieces(work, len(self._distinct), piece=self._piece)
        return mass[self._of], low[self._of], high[self._of]

    def right_guesses(self, eps: float, truths: Floats, bounds: Ints) -> Floats:
        """For each row and each of its true values, the chance that the intruder's best guess is within ε/2 of it.

        Row r has the true values ``truths[bounds[r]:bounds[r + 1]]``, ascending; they need not be on the grid. The best
        guess is the middle of the heaviest window, trimmed to the values that it covers; several equally heavy windows
        (to a relative 1e-12) are equally likely, so each counts for its share. Larger is riskier.

        >>> many = curves([1, 2, 3], [[1 / 3, 1 / 3, 1 / 3]])
        >>> many.right_guesses(1, np.array([1.0, 2.0, 3.0]), np.array([0, 3])).tolist()
        [0.5, 1.0, 0.5]
        """
        from equivoc.measure.guess_kernels import right_shares

        one = one_tolerance("eps", eps)
        rows, row_of = self._rows, self._distinct[self._of]
        order = np.argsort(row_of, kind="stable")
        out, longest = np.empty(len(truths)), rows.longest

        def work(part: slice) -> None:
            right_shares(
                rows.weights,
                rows.positions,
                rows.bounds,
                row_of,
                order[part],
                self.values,
                longest,
                one,
                truths,
                bounds,
                out,
            )

        over_pieces(work, len(order), piece=_piece(len(order)))
        return out

    def surprises(self, eps: float, truths: Floats, bounds: Ints) -> Floats:
        """For each row and each of its true values, −log2 of the mass of the optimal window at ε that holds it (bits).

        Row r has the true values ``truths[bounds[r]:bounds[r + 1]]``, values of the grid. Where several partitions are
        optimal, those found from either end are averaged. inf: the row rules the value out. Smaller is riskier.

        >>> many = curves([1, 2, 8], [[0.25, 0.25, 0.5]])
        >>> many.surprises(1, np.array([1.0, 8.0]), np.array([0, 2])).tolist()
        [1.0, 1.0]
        """
        from equivoc.measure.guess_kernels import surprises
        from equivoc.measure.jumps import surprise_of_values

        one = one_tolerance("eps", eps)
        rows, row_of = self._rows, self._distinct[self._of]
        order = np.argsort(row_of, kind="stable")
        places, out = np.array(truths, dtype=np.float64), np.empty(len(truths))
        weights = np.asarray(rows.weights, dtype=np.float64)

        def work(part: slice) -> None:
            row = weights, rows.positions, rows.bounds, rows.totals
            surprises(*row, row_of, order[part], self.values, one, places, bounds, out)

        over_pieces(work, len(order), piece=_piece(len(order)))
        many = np.flatnonzero(
            np.isnan(out[np.minimum(bounds[:-1], max(len(out) - 1, 0))]) & (np.diff(bounds) > 0)
        )
        for which in np.unique(self._of[many]).tolist():
            distribution = self._distribution(int(which))
            bits = surprise_of_values(distribution, one)
            for row in many[self._of[many] == which].tolist():
                asked = places[bounds[row] : bounds[row + 1]]
                at = np.minimum(np.searchsorted(distribution.values, asked), len(bits) - 1)
                out[bounds[row] : bounds[row + 1]] = np.where(
                    distribution.values[at] == asked, bits[at], np.inf
                )
        return out

    @property
    def _unique(self) -> bool:
        return len(self._distinct) == len(self._of) and bool((self._of == np.arange(len(self._of))).all())

    @property
    def _piece(self) -> int:
        """Distinct rows per thread and call."""
        return _piece(len(self._distinct))

    @cached_property
    def _lanes(self) -> bool:
        """True if rows are computed side by side: the grid must not have many more differences than values."""
        return mostly_filled(self._rows) and len(self.epsilons) <= 4 * len(self.values)

    @cached_property
    def _figures(self) -> tuple[Floats, Floats, Floats, Floats]:
        """h0, area, area bounds and ε_max of the distinct rows."""
        if self._lanes:
            none = np.empty((len(self._distinct), 0))
            h0, area, spread = dense_figures(self._rows, self._distinct, self.values, self.epsilons, none)
            return h0, area, np.column_stack((area, area)), spread
        return self._sparse_figures()

    def _flat(self, part: slice) -> tuple[Floats, NDArray[np.int32], Ints, Floats, Ints, Floats, int]:
        rows = self._rows
        which = self._distinct[part]
        return rows.weights, rows.positions, rows.bounds, rows.totals, which, self.values, rows.longest

    def _sparse_figures(self) -> tuple[Floats, Floats, Floats, Floats]:
        from equivoc.measure.lane_kernels import sparse_rows

        h0, area, spread = (np.empty(len(self._distinct)) for _ in range(3))

        def work(part: slice) -> None:
            sparse_rows(*self._flat(part), h0[part], area[part], spread[part])

        over_pieces(work, len(self._distinct), piece=self._piece)
        bounds = np.column_stack((area, area))
        large = np.flatnonzero(np.isnan(area))
        if self.tolerance is None:

            def estimate(part: slice) -> None:
                for q in large[part]:
                    area[q] = estimated_area(self._distribution(int(q)))

            over_pieces(estimate, len(large), piece=1)
        else:
            bounds[large] = self._certified(large, self.tolerance)
            area[large] = bounds[large].mean(axis=1)
        return h0, area, bounds, spread

    def _certified(self, which: Ints, gap: float) -> Floats:
        """Certified bounds of the areas of these distinct rows."""
        bounds = np.empty((len(which), 2))

        def certify(part: slice) -> None:
            for place, q in zip(range(len(which))[part], which[part], strict=True):
                bounds[place] = certified_area(self._distribution(int(q)), gap).bounds

        over_pieces(certify, len(which), piece=1)
        return bounds

    def _distribution(self, which: int) -> Distribution:
        """The distribution of a distinct row."""
        rows, row = self._rows, int(self._distinct[which])
        part = slice(int(rows.bounds[row]), int(rows.bounds[row + 1]))
        weights = rows.weights[part] / rows.totals[row]
        values = self.values if rows.dense else self.values[rows.positions[part]]
        return Distribution(values[weights > 0], weights[weights > 0])

    def _entropies_at(self, eps: Floats) -> Floats:
        from equivoc.measure.lane_kernels import sparse_entropies

        out = np.empty((len(self._distinct), len(eps)))

        def work(part: slice) -> None:
            sparse_entropies(*self._flat(part), eps, out[part])

        over_pieces(work, len(self._distinct), piece=self._piece)
        return out


def curves(values: ArrayLike, matrix: Any, *, counts: bool = False, tolerance: float | None = 1e-3) -> Curves:
    """The measure on every row of ``matrix``: one posterior per row, over the shared ``values``.

    ``matrix`` is a table or a scipy sparse array of probabilities, or of whole counts with ``counts=True`` (a row's
    probabilities are then its counts divided by their sum). Equal rows are computed once. The cost of a row
    depends on its own values, not on the grid.

    Rows of up to 256 values get an exact area. Beyond, the area is certified to the relative gap ``tolerance``; with
    ``tolerance=None`` it is estimated, mostly within 1 % and several hundred times faster: ``estimated`` marks these
    rows, and ``check_estimates`` bounds their error.

    >>> many = curves([77, 80, 107], [[.5, .5, 0], [.5, 0, .5]])
    >>> many.h0.tolist(), many.area.tolist()
    ([1.0, 1.0], [3.0, 30.0])
    """
    gap = None if tolerance is None else check_relative_gap(tolerance, exact_allowed=False)
    grid, rows = read_grid_and_rows(values, matrix, counts=counts)
    distinct, of = distinct_rows(rows)
    return Curves(grid, gap, rows, distinct, of)


def _piece(rows: int) -> int:
    """Rows per thread and call: small enough that all cores have work."""
    return max(1, min(PIECE, rows // 8))
