"""What the bounds of a cell say about its largest contributor, to an outsider and to the second largest."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from equivoc.errors import InputError
from equivoc.tables.attacker.equations import has_negatives
from equivoc.tables.cell_table import CellTable
from equivoc.tables.interval_posteriors import (
    EVEN_POINTS,
    Figures,
    figures_between,
    figures_on_values,
    values_within,
)

Floats = NDArray[np.float64]


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

    >>> from equivoc.tables.dimension import Dimension
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
