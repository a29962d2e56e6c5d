"""What the bounds of a cell say about its largest contributor, to an outsider and to the second largest."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from equivoc.errors import InputError, did_you_mean
from equivoc.measure.curves import curves
from equivoc.tables.attacker import has_negatives
from equivoc.tables.cell_table import CellTable

# The measure of posteriors that are uniform on an interval: of many cells or contributors at once.

Floats = NDArray[np.float64]

EVEN_POINTS = 256
"""Points of the even grid that stands for an interval whose possible values are not known."""
_EXACT_VALUES = 256
# Bounds from linear programs and float sums may miss a possible value by this share of the larger bound.
_CLOSE = 1e-9


@dataclass(frozen=True, eq=False)
class Figures:
    """The measure of one posterior per row. Smaller is riskier, except for ``hit``. NaN: nothing to measure."""

    h0: Floats = field(repr=False)
    """H(0) in bits."""
    area: Floats = field(repr=False)
    """A in bits times the attribute's unit."""
    eps_max: Floats = field(repr=False)
    """The distance between the smallest and the largest possible value, in the attribute's unit."""
    hit: Floats = field(repr=False)
    """The largest share of the posterior that a window of length ``eps`` covers. Larger is riskier."""


def figures_on_values(low: Floats, high: Floats, values: Floats, *, eps: float = 0.0) -> Figures:
    """Each row uniform on those of the ascending ``values`` that lie in its interval; NaN if none does.

    Areas of rows with more than 256 values are estimated (mostly within 1 %).

    >>> found = figures_on_values(np.array([10.0, 0.0]), np.array([30.0, 9.0]), np.array([10.0, 20.0, 40.0]))
    >>> found.h0.tolist(), found.area.tolist(), found.hit.tolist()
    ([1.0, nan], [10.0, nan], [0.5, nan])
    """
    first, last = values_within(low, high, values)
    found = last > first
    h0, area, spread, hit = (np.full(len(low), np.nan) for _ in range(4))
    if found.any():
        from scipy import sparse

        sizes = (last - first)[found]
        starts = np.append(0, np.cumsum(sizes))
        columns = np.arange(starts[-1]) - np.repeat(starts[:-1] - first[found], sizes)
        ones = np.ones(len(columns), dtype=np.int64)
        rows = sparse.csr_array((ones, columns, starts), shape=(len(sizes), len(values)))
        measured = curves(values, rows, counts=True, tolerance=None)
        h0[found], area[found], spread[found] = measured.h0, measured.area, measured.eps_max
        hit[found] = measured.hit(eps)
    return Figures(h0, area, spread, hit)


def figures_on_steps(count: NDArray[np.int64], step: Floats, *, eps: float = 0.0) -> Figures:
    """Each row uniform on ``count`` values, ``step`` apart; NaN for a count of 0.

    >>> found = figures_on_steps(np.array([5]), np.array([2.0]), eps=2)
    >>> float(found.h0[0].round(3)), float(found.area[0].round(3)), found.hit.tolist()
    (2.322, 11.073, [0.4])
    """
    distinct, of = np.unique(count, return_inverse=True)
    alone = [_even_figures(int(k)) for k in distinct]
    h0, area = (np.array([each[at] for each in alone])[of] for at in (0, 1))
    spread = np.where(count > 0, (np.maximum(count, 1) - 1) * step, np.nan)
    covered = np.where(step > 0, np.floor(eps / np.where(step > 0, step, 1.0) * (1 + _CLOSE)) + 1, np.inf)
    hit = np.where(count > 0, np.minimum(covered / np.maximum(count, 1), 1.0), np.nan)
    return Figures(h0, area * step, spread, hit)


def figures_between(low: Floats, high: Floats, *, eps: float = 0.0) -> Figures:
    """Each row uniform on 256 even steps from ``low`` to ``high``, inclusive; one value if they are equal.

    With an infinite bound h0, area and eps_max are inf and the hit rate is 0. H(0) of such a grid is 8 bits by
    construction, so only area, eps_max and the hit rate say how narrow the interval is.

    >>> found = figures_between(np.array([0.0, 7.0]), np.array([510.0, 7.0]), eps=10)
    >>> found.h0.round(6).tolist(), found.hit.tolist(), found.eps_max.tolist()
    ([8.0, 0.0], [0.0234375, 1.0], [510.0, 0.0])
    """
    width = np.asarray(high - low)
    point = width <= _CLOSE * np.maximum(np.maximum(np.abs(low), np.abs(high)), np.finfo(np.float64).tiny)
    unlimited, known = np.isinf(width), np.isfinite(width)
    step = np.where(known & ~point, width, 0.0) / (EVEN_POINTS - 1)
    count = np.where(known, np.where(point, 1, EVEN_POINTS), 0)
    found = figures_on_steps(count, step, eps=eps)
    h0, area, spread = (np.where(unlimited, np.inf, each) for each in (found.h0, found.area, found.eps_max))
    return Figures(h0, area, spread, np.where(unlimited, 0.0, found.hit))


def values_within(low: Floats, high: Floats, values: Floats) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """For each interval, the places of its values among the ascending ``values``: from the first up to the last."""
    slack = _CLOSE * np.maximum(np.abs(np.nan_to_num(low)), np.abs(np.nan_to_num(high)))
    first = np.searchsorted(values, np.where(np.isnan(low), np.inf, low - slack), side="left")
    last = np.searchsorted(values, np.where(np.isnan(high), -np.inf, high + slack), side="right")
    return first.astype(np.int64), np.maximum(first, last).astype(np.int64)


def _even_figures(count: int) -> tuple[float, float]:
    """H(0) and A of the uniform distribution on ``count`` values, 1 apart; NaN if there is none.

    With ε from m − 1 to m, windows hold m values each and the last one the remainder. The sum of these entropies is
    what the measure computes; it is used where the measure would only estimate.
    """
    if count < 1:
        return np.nan, np.nan
    if count <= _EXACT_VALUES:
        measured = curves(np.arange(count), np.ones((1, count), dtype=np.int64), counts=True)
        return float(measured.h0[0]), float(measured.area[0])
    size = np.arange(1, count)
    whole = count // size
    share, rest = size / count, (count - whole * size) / count
    left = -rest * np.log2(np.where(rest > 0, rest, 1.0))
    return float(np.log2(count)), float(np.sum(-whole * share * np.log2(share) + left))


@dataclass(frozen=True, eq=False)
class ContributorIntervals:
    """The interval of the largest contribution x_1 of every cell; NaN for cells without contributors or bounds."""

    low: Floats = field(repr=False)
    """The least possible x_1, in the attribute's unit."""
    high: Floats = field(repr=False)
    """The greatest possible x_1. A wider interval is safer."""
    values: Floats | None = field(repr=False)
    """The values that a contribution can take, ascending; None: not known, even steps stand for them."""
    insider: bool

    @property
    def note(self) -> str:
        """Which values the posterior is uniform on, in a sentence."""
        return (
            f"The attribute's possible values are not known: the posterior is uniform on {EVEN_POINTS} even steps "
            "of the interval, so its H(0) is 8 bits whatever the width."
            if self.values is None
            else f"The posterior is uniform on those of the attribute's {len(self.values):,} values that lie in the "
            "interval."
        )

    def posterior(self, cell: int) -> tuple[Floats, Floats]:
        """The possible values of x_1 in one cell, and their probabilities (all equal)."""
        low, high = self.low[cell : cell + 1], self.high[cell : cell + 1]
        if not np.isfinite(low).all() or not np.isfinite(high).all():
            raise InputError(f"cell {cell} has no finite interval of its largest contributor.")
        if self.values is None:
            found = np.unique(np.linspace(low[0], high[0], EVEN_POINTS))
        else:
            first, last = values_within(low, high, self.values)
            found = self.values[int(first[0]) : int(last[0])]
        return found, np.full(len(found), 1 / max(len(found), 1))

    def figures(self, *, eps: float = 0.0) -> Figures:
        """The measure of every cell's posterior of x_1; ``hit`` for windows of length ``eps``."""
        if self.values is None:
            return figures_between(self.low, self.high, eps=eps)
        return figures_on_values(self.low, self.high, self.values, eps=eps)


def largest_contributor(
    table: CellTable, low: ArrayLike, high: ArrayLike, *, insider: bool = True
) -> ContributorIntervals:
    """The interval of the largest contribution x_1 of each cell, whose total lies between ``low`` and ``high``.

    ``low`` and ``high`` have an entry for each cell of the table (NaN: no bounds, no answer). She knows how many
    contributors, n, the cell has (if the table does not say, an outsider has no lower bound and an insider no answer).
    With contributions of 0 or more,

    - an outsider: low/n ≤ x_1 ≤ high;
    - the second largest (``insider``), who knows x_2 and that she is the second largest:
      max(x_2, low − (n − 1)·x_2) ≤ x_1 ≤ high − x_2.

    With negative contributions, largest means largest in absolute value, and n − 2 others can take away as much as they
    can add: for an insider, x_1 lies within (n − 2)·|x_2| of the interval from low − x_2 to high − x_2, and |x_1| ≥
    |x_2| (an interval that holds both signs keeps the values between −|x_2| and |x_2|); for an outsider there is no
    limit but the attribute's values. A cell with one contributor has no insider: x_1 is the total. With survey weights
    of w or more, totals are divided by w for the upper bound, and the total gives no lower bound, for she does not know
    the weights.

    A posterior on it is uniform: on the domain of ``table.source``, if every largest contribution is in it, otherwise
    on even steps.

    >>> from equivoc.tables.cell_table import Dimension
    >>> row = Dimension.flat("branch", ["steel", "paper"])
    >>> totals, top = np.array([151.0, 111.0, 40.0]), np.array([[60.0, 50.0], [60.0, 50.0], [30.0, 10.0]])
    >>> people, waived = np.array([5, 3, 2]), np.zeros(3, dtype=bool)
    >>> table = CellTable((row,), "turnover", totals, people, top, totals, waived)
    >>> found = largest_contributor(table, table.values, table.values)  # the cells themselves are published
    >>> found.low.tolist(), found.high.tolist()
    ([50.0, 50.0, 30.0], [101.0, 61.0, 30.0])
    """
    lows, highs = (_per_cell(table, name, given) for name, given in (("low", low), ("high", high)))
    if table.value is None:
        raise InputError(
            "the table counts people, so nobody contributes a value; give value=… to tabulate to sum an attribute."
        )
    if insider and table.top.shape[1] < 2:
        raise InputError(
            "the table has no second largest contributions (table.top); tabulate it from the people."
        )
    people = table.people.astype(np.float64)
    values = _possible_values(table)
    lows, highs = _unweighted(table, lows, highs)
    alone = people == 1
    second = np.where(people > 1, table.top[:, 1], 0.0) if insider else np.zeros(len(table))
    if has_negatives(table):
        least, most = _signed(lows, highs, people, second, insider=insider)
        if values is not None:
            least, most = np.maximum(least, values[0]), np.minimum(most, values[-1])
    elif insider:
        least, most = np.maximum(second, lows - (people - 1) * second), highs - second
    else:
        least, most = np.where(people > 0, np.maximum(lows, 0.0) / np.maximum(people, 1), 0.0), highs
    least, most = np.where(alone, lows, least), np.where(alone, highs, most)
    asked = (people > 0 if insider else people != 0) & ~np.isnan(lows) & ~np.isnan(highs)
    least, most = (np.where(asked, each, np.nan) for each in (least, most))
    _check_possible(table, least, most)
    # Float sums may leave the greatest value just below the least.
    return ContributorIntervals(least, np.maximum(least, most), values, insider)


def _signed(
    lows: Floats, highs: Floats, people: Floats, second: Floats, *, insider: bool
) -> tuple[Floats, Floats]:
    """The bounds when contributions may be negative."""
    if not insider:
        return np.full(len(lows), -np.inf), np.full(len(lows), np.inf)
    size = np.abs(second)
    others = np.maximum(people - 2, 0) * size
    least, most = lows - second - others, highs - second + others
    # |x_1| ≥ |x_2|: an end between −|x_2| and |x_2| moves to the nearest possible value within the interval.
    least, most = (
        np.where(least > -size, np.maximum(least, size), least),
        np.where(most < size, np.minimum(most, -size), most),
    )
    return least, most


def _possible_values(table: CellTable) -> Floats | None:
    """The attribute's domain; None without one, or if contributions are not in it (those of holdings are sums)."""
    attribute: Any = None
    if table.source is not None and table.value in table.source.attributes:
        attribute = table.source.attributes[table.value]
    if attribute is None or not attribute.numeric:
        return None
    values = np.asarray(attribute.values, dtype=np.float64)
    known = table.top[table.people > 0, :1]
    return values if np.isin(known, values).all() else None


def _unweighted(table: CellTable, lows: Floats, highs: Floats) -> tuple[Floats, Floats]:
    """Bounds of the unweighted total, from the smallest survey weight."""
    weights = None if table.source is None else table.source.weights
    if weights is None or np.array_equal(
        table.values, table.contributions
    ):  # no weights, or they were not used
        return lows, highs
    smallest = float(np.min(weights))
    none = np.full(len(lows), -np.inf if has_negatives(table) else 0.0)
    if smallest <= 0:
        return none, np.full(len(highs), np.inf)
    return np.where(np.isnan(lows), np.nan, none), highs / smallest


def _per_cell(table: CellTable, name: str, given: ArrayLike) -> Floats:
    found = np.asarray(given, dtype=np.float64)
    if found.shape != (len(table),):
        raise InputError(
            f"{name} has the shape {found.shape}; give one number for each of the table's {len(table):,} cells."
        )
    return found


def _check_possible(table: CellTable, least: Floats, most: Floats) -> None:
    scale = np.maximum(np.abs(np.nan_to_num(table.values)), np.abs(np.nan_to_num(least)))
    with np.errstate(invalid="ignore"):
        wrong = np.flatnonzero(most < least - 1e-7 * np.maximum(scale, 1e-300))
    if len(wrong):
        labels = [d.labels[node] for d, node in zip(table.dimensions, table.nodes[wrong[0]], strict=True)]
        raise InputError(
            f"the bounds of the cell {', '.join('*' if label is None else str(label) for label in labels)} leave no "
            "possible value for its largest contributor; give bounds that contain the cell's total."
        )


# What a table of counts says about a person whose other keys are known: her category of one key.


@dataclass(frozen=True, eq=False)
class PersonPosteriors:
    """P(category | the other keys) for every combination of categories of the other keys."""

    key: str
    categories: tuple[Any, ...]
    others: tuple[tuple[Any, ...], ...] = field(repr=False)
    """Of each row, the categories of the other keys."""
    probabilities: Floats = field(repr=False)
    """Rows × categories; NaN where nobody is expected."""

    @property
    def h0(self) -> Floats:
        """H(0) of each row in bits. Smaller is riskier; 0: everyone in the row has the same category."""
        logs = np.log2(np.where(self.probabilities > 0, self.probabilities, 1.0))
        return np.asarray(-(self.probabilities * logs).sum(axis=1)) + 0.0

    @property
    def hit(self) -> Floats:
        """The probability of the likeliest category of each row. Larger is riskier."""
        return np.asarray(self.probabilities.max(axis=1))


def person_posteriors(table: CellTable, counts: Floats, key: str) -> PersonPosteriors:
    """The posterior of a person's category of ``key``, given her other keys: in proportion to the ``counts``.

    ``counts`` are what the intruder expects of each cell of the table (her posterior means); those below 0 count as 0.

    >>> from equivoc.tables.cell_table import Dimension
    >>> keys = Dimension.flat("town", ["A", "B"]), Dimension.flat("ill", ["no", "yes"])
    >>> counts = np.array([10.0, 7, 3, 4, 4, 0, 6, 3, 3])
    >>> table = CellTable(keys, None, counts, counts.astype(np.int64), np.ones((9, 1)), counts, np.zeros(9, dtype=bool))
    >>> found = person_posteriors(table, counts, "ill")
    >>> found.others, found.probabilities.tolist(), found.h0.tolist()
    ((('A',), ('B',)), [[1.0, 0.0], [0.5, 0.5]], [0.0, 1.0])
    """
    if key not in table.by:
        raise InputError(f"{key!r} is not a key of the table{did_you_mean(key, table.by)}")
    if table.value is not None:
        raise InputError(
            f"the table sums {table.value!r}, so it does not count people: tabulate with value=None."
        )
    at = table.by.index(key)
    leaves = [dimension.leaves for dimension in table.dimensions]
    inner = np.maximum(counts.reshape(table.shape)[np.ix_(*leaves)], 0.0)
    rows = np.moveaxis(inner, at, -1).reshape(-1, len(leaves[at]))
    totals = rows.sum(axis=1, keepdims=True)
    shares = np.divide(rows, totals, out=np.full(rows.shape, np.nan), where=totals > 0)
    labels = [[d.labels[int(leaf)] for leaf in d.leaves] for d in table.dimensions]
    others = [labels[axis] for axis in range(len(labels)) if axis != at]
    combinations = np.ndindex(*(len(each) for each in others))
    return PersonPosteriors(
        key,
        tuple(labels[at]),
        tuple(
            tuple(each[place] for each, place in zip(others, where, strict=True)) for where in combinations
        ),
        shares,
    )
