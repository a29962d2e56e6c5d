"""The interval of each suppressed cell: its least and greatest value that agree with everything published."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from equivoc.errors import InputError
from equivoc.systems.grids import BEYOND_CHANCE, decimal_places
from equivoc.systems.sum_systems import (
    SumSystem,
    attained_range,
    components,
    is_forest,
    tighten,
    without_fixed,
)
from equivoc.systems.system import ContradictionError
from equivoc.tables.cell_table import CellTable
from equivoc.tables.tabulate import rows_of

# The attacker's system of sums: suppressed cells are unknown, published cells and relations are known.

Booleans = NDArray[np.bool_]
Floats = NDArray[np.float64]

# Published totals may differ from the sum of their parts by this share of the largest number: float64 sums.
_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class Equations:
    """``matrix @ x = sums`` for the suppressed cells x, in units of ``1/factor`` of the attribute's unit."""

    cells: NDArray[np.int64]
    """The suppressed cells: the unknowns."""
    matrix: Any
    """Relations × unknowns, a scipy CSR array of −1 and 1."""
    sums: Floats
    factor: float
    """Published values times this are whole numbers, if ``whole``; otherwise 1."""
    whole: bool
    largest: float
    """The largest published number, in the same units: the scale of rounding errors."""


def cell_name(table: CellTable, cell: int) -> str:
    """The labels of a cell, for messages; ``*`` for a margin.

    >>> from equivoc.tables.cell_table import Dimension
    >>> zeros = np.zeros(3)
    >>> one_way = CellTable((Dimension.flat("sex", ["F", "M"]),), None, zeros, zeros.astype(np.int64), zeros[:, None],
    ...     zeros, zeros.astype(bool))
    >>> cell_name(one_way, 2), cell_name(one_way, 0)
    ("sex = 'M'", 'sex = *')
    """
    nodes = np.unravel_index(cell, table.shape)
    labels = (dimension.labels[int(node)] for dimension, node in zip(table.dimensions, nodes, strict=True))
    words = ("*" if label is None else repr(label) for label in labels)
    return ", ".join(f"{name} = {word}" for name, word in zip(table.by, words, strict=True))


def has_negatives(table: CellTable) -> bool:
    """Whether any cell or any contribution is below 0; if so, 0 is no lower bound of a cell.

    A table keeps only its largest contributions, so those of its people are looked up, if it was made from people.
    """
    values = table.values[np.isfinite(table.values)]
    if np.any(values < 0) or np.any(table.top < 0):
        return True
    if table.source is None or table.value is None:
        return False
    if table.value in table.source.attributes:
        occurring = rows_of(table.source, [table.value], records=False).codes(table.value)
        return bool(table.source.of(table.value).values[occurring.min()] < 0)  # values ascend
    return any(level is not None and level < 0 for level in table.source.levels(table.value))


def equations(table: CellTable, suppressed: Booleans) -> Equations:
    """The relations that contain a suppressed cell; InputError if published cells do not add up."""
    unknown = np.flatnonzero(suppressed)
    published = np.where(suppressed, 0.0, table.values)
    missing = np.flatnonzero(~np.isfinite(published))
    if len(missing):
        raise InputError(
            f"the cell {cell_name(table, int(missing[0]))} has no value and is not among the suppressed ones."
        )
    places = decimal_places(published, headroom=4.0 * BEYOND_CHANCE)
    factor = 1.0 if places is None else 10.0**places
    units = published if places is None else np.rint(published * factor)
    largest = float(np.max(np.abs(units), initial=0.0))
    relations = table.relations
    of_unknown = relations[:, unknown]
    entries = np.diff(of_unknown.indptr)
    sums = -(relations @ units)
    wrong = np.flatnonzero(
        (entries == 0) & (np.abs(sums) > (0.0 if places is not None else _ROUNDING * largest))
    )
    if len(wrong):
        row = relations[[int(wrong[0])]]
        total = int(row.indices[row.data < 0][0])
        raise InputError(
            f"the parts of the total {cell_name(table, total)} add up to "
            f"{table.values[total] - sums[wrong[0]] / factor:g}, "
            f"not {table.values[total]:g}; correct the table."
        )
    rows = np.flatnonzero(entries > 0)
    return Equations(unknown, of_unknown[rows], sums[rows], factor, places is not None, largest)


# For unknowns scaled to 0 … 1: the solver's tolerance, and the error of a bound.
_FEASIBILITY = 1e-9
_ACCURACY = 10 * _FEASIBILITY
# Rounding of numbers of at most 1.
_LAST_BITS = 4 * float(np.finfo(np.float64).eps)
# A direction of unlimited growth has entries of about 1; less than this is rounding.
_DIRECTION = 1e-6


@dataclass(frozen=True, eq=False)
class CellIntervals:
    """What the attacker knows of some suppressed cells: each lies between ``low`` and ``high``."""

    cells: NDArray[np.int64]
    """The cells' numbers in the table."""
    low: Floats = field(repr=False)
    """The least possible value of each cell, in the attribute's unit; −inf: no limit."""
    high: Floats = field(repr=False)
    """The greatest possible value of each cell; inf: no limit. A wider interval is safer."""
    accuracy: Floats = field(repr=False)
    """The possible error of each cell's bounds: 0 where they are exact whole units."""

    @property
    def width(self) -> Floats:
        """``high − low``; 0: the cell is disclosed."""
        return self.high - self.low


def cell_intervals(
    table: CellTable,
    suppressed: ArrayLike | None = None,
    *,
    lower: ArrayLike | None = None,
    upper: ArrayLike | None = None,
    known: Mapping[int, float] | None = None,
    cells: ArrayLike | None = None,
) -> CellIntervals:
    """The attacker's interval of each suppressed cell, from the published cells, the margins and the bounds.

    ``suppressed`` marks the cells that are not published (None: those without a value). Each is at least ``lower``
    (None: 0, or no bound if the table has negative contributions) and at most ``upper`` (None: no bound of its own).
    ``known`` are an insider's own contributions by cell: such a cell is at least her value; a cell with no other
    contributor is known to her. ``cells`` limits the answer to some cells.

    Two linear programs a cell, but most are not solved: bounds are propagated along relations first, parts of the
    table without a common unknown are separate, and a bound that a known solution attains is final.

    >>> from equivoc.tables.cell_table import Dimension
    >>> row, column = Dimension.flat("row", [1, 2]), Dimension.flat("column", [1, 2])
    >>> values = np.array([10.0, 4, 6, 3, 1, 2, 7, 3, 4])  # total, column totals; row 1: 3 = 1 + 2; row 2: 7 = 3 + 4
    >>> people, top = np.full(9, 5), np.zeros((9, 2))
    >>> table = CellTable((row, column), "pay", values, people, top, values, np.zeros(9, dtype=bool))
    >>> found = cell_intervals(table, np.isin(np.arange(9), [4, 5, 7, 8]))
    >>> found.low.tolist(), found.high.tolist()
    ([0.0, 0.0, 1.0, 3.0], [3.0, 3.0, 4.0, 6.0])
    """
    mask = _mask(table, suppressed)
    asked = np.flatnonzero(mask) if cells is None else np.atleast_1d(np.asarray(cells, dtype=np.int64))
    if np.any(asked < 0) or np.any(asked >= len(table)) or not mask[asked].all():
        raise InputError("cells holds a cell that is not suppressed; ask for suppressed cells only.")
    known_equations = equations(table, mask)
    lows, highs = _own_bounds(table, known_equations, lower=lower, upper=upper, known=known or {})
    try:
        low, high, accuracy = _ranges(known_equations, lows, highs)
    except ContradictionError:
        raise InputError(
            "the published cells contradict each other or the bounds: no values of the suppressed cells add up to "
            "the published totals. Check the table, lower, upper and known."
        ) from None
    place = np.searchsorted(known_equations.cells, asked)
    return CellIntervals(asked, low[place], high[place], accuracy[place])


def _mask(table: CellTable, suppressed: ArrayLike | None) -> NDArray[np.bool_]:
    mask = np.isnan(table.values) if suppressed is None else np.asarray(suppressed)
    if mask.dtype != np.bool_ or mask.shape != (len(table),):
        raise InputError(f"suppressed needs True or False for each of the {len(table)} cells of the table.")
    return mask


def _own_bounds(
    table: CellTable,
    system: Equations,
    *,
    lower: ArrayLike | None,
    upper: ArrayLike | None,
    known: Mapping[int, float],
) -> tuple[Floats, Floats]:
    """Each unknown's own bounds, in the system's units."""
    least = (-np.inf if has_negatives(table) else 0.0) if lower is None else lower
    greatest = np.inf if upper is None else upper
    lows, highs = (
        np.broadcast_to(np.asarray(bound, dtype=np.float64), len(table)).copy() for bound in (least, greatest)
    )
    if np.isnan(lows).any() or np.isnan(highs).any():
        raise InputError("lower and upper must be numbers, one for all cells or one for each cell.")
    for cell, own in known.items():
        if table.people[cell] == 1:
            lows[cell] = highs[cell] = own
        elif np.isfinite(lows[cell]):
            # The others' contributions are not negative where there is a lower bound.
            lows[cell] = max(lows[cell], own)
    crossed = np.flatnonzero(lows > highs)
    if len(crossed):
        cell = int(crossed[0])
        raise InputError(f"lower is above upper for the cell {cell_name(table, cell)}.")
    return lows[system.cells] * system.factor, highs[system.cells] * system.factor


def _ranges(system: Equations, lows: Floats, highs: Floats) -> tuple[Floats, Floats, Floats]:
    """Least and greatest value of each unknown and their accuracy, in the attribute's unit."""
    lows, highs = lows.copy(), _limited_by_totals(system, lows, highs)
    low, high, accuracy = lows.copy(), highs.copy(), np.zeros(len(lows))
    rounding = 0.0 if system.whole else 1e-15 * system.largest
    whole = SumSystem(system.matrix, system.sums, lows, highs, rounding)
    for rows, columns in components(whole):
        if not len(rows):
            continue
        found = _part_ranges(whole.part(rows, columns))
        low[columns], high[columns], accuracy[columns] = found
    if system.whole:
        low, high, accuracy = _whole_where_close(low, high, accuracy)
    # −0 would be printed.
    return low / system.factor + 0.0, high / system.factor + 0.0, accuracy / system.factor


def _limited_by_totals(system: Equations, lows: Floats, highs: Floats) -> Floats:
    """Upper bounds from totals: a part of a known total is at most the total, if no part is below 0."""
    highs = highs.copy()
    if np.any(lows < 0):
        return highs
    matrix = system.matrix.tocoo()
    part, row = matrix.col[matrix.data > 0], matrix.row[matrix.data > 0]
    total_row, total = matrix.row[matrix.data < 0], matrix.col[matrix.data < 0]
    while True:
        limit = system.sums.copy()
        limit[total_row] += highs[total]
        before = highs.copy()
        np.minimum.at(highs, part, limit[row])
        if np.any(highs < 0):
            highs = np.maximum(highs, np.minimum(lows, 0.0))
        if np.array_equal(highs, before):
            return highs


def _part_ranges(part: SumSystem) -> tuple[Floats, Floats, Floats]:
    """Least and greatest value of each unknown of a connected part, and their accuracy."""
    if np.isinf(part.low).any() or np.isinf(part.high).any():
        return _unlimited_ranges(part)
    scale = _power_of_two(float(np.max(np.maximum(np.abs(part.low), np.abs(part.high)), initial=0.0)))
    if part.rounding >= scale:
        # The cells are smaller than the rounding errors of the sums beside them, which then say nothing about them.
        return part.low, part.high, np.full(len(part.low), 10 * part.rounding)
    scaled = _scaled(part, scale)
    tightened, settled = tighten(scaled)
    low, high = tightened.low.copy(), tightened.high.copy()
    accuracy = np.full(len(low), scaled.rounding * 10)
    rest, position = without_fixed(tightened)
    for rows, columns in components(rest):
        smaller = rest.part(rows, columns)
        if settled and is_forest(smaller):
            continue
        # Cells of very different size need tolerances of their own: what is left has narrower bounds.
        finer = _power_of_two(float(np.max(smaller.high - smaller.low)))
        shift = smaller.low
        moved = SumSystem(
            smaller.matrix,
            (smaller.sums - smaller.matrix @ shift) / finer,
            np.zeros(len(shift)),
            (smaller.high - shift) / finer,
            max(_FEASIBILITY, smaller.rounding / finer),
        )
        found_low, found_high = attained_range(moved)
        unknown = position[columns]
        low[unknown], high[unknown] = shift + finer * found_low, shift + finer * found_high
        accuracy[unknown] = finer * max(_ACCURACY, 10 * moved.rounding) + _LAST_BITS
    return scale * low, scale * high, scale * accuracy


def _unlimited_ranges(part: SumSystem) -> tuple[Floats, Floats, Floats]:
    """The same for unknowns without finite bounds: those that can grow for ever are found first."""
    sizes = np.abs(np.concatenate([part.sums, part.low, part.high]))
    scale = _power_of_two(float(np.max(sizes[np.isfinite(sizes)], initial=0.0)))
    scaled = _scaled(part, scale)
    directions = replace(
        scaled,
        sums=np.zeros(len(part.sums)),
        low=np.where(np.isfinite(part.low), 0.0, -1.0),
        high=np.where(np.isfinite(part.high), 0.0, 1.0),
        rounding=_FEASIBILITY,
    )
    down, up = attained_range(directions)
    falls, grows = down < -_DIRECTION, up > _DIRECTION
    low, high = attained_range(
        replace(scaled, rounding=max(_FEASIBILITY, scaled.rounding)),
        enough=(np.where(falls, np.inf, scaled.low), np.where(grows, -np.inf, scaled.high)),
    )
    accuracy = np.full(len(low), max(_ACCURACY, 10 * scaled.rounding))
    return scale * low, scale * high, scale * accuracy


def _scaled(part: SumSystem, scale: float) -> SumSystem:
    rounding = max(1e-15, part.rounding / scale)
    return SumSystem(part.matrix, part.sums / scale, part.low / scale, part.high / scale, rounding)


def _power_of_two(size: float) -> float:
    """A scale at or above the size; a power of two scales without rounding."""
    return float(2.0 ** np.ceil(np.log2(max(size, np.finfo(np.float64).tiny))))


def _whole_where_close(low: Floats, high: Floats, accuracy: Floats) -> tuple[Floats, Floats, Floats]:
    """Bounds within their accuracy of a whole number of units, made whole; their accuracy is 0."""
    near_low, near_high = np.rint(low), np.rint(high)
    # Infinite bounds are close to themselves.
    exact_low, exact_high = (
        np.isclose(near, bound, rtol=0.0, atol=accuracy)
        for near, bound in ((near_low, low), (near_high, high))
    )
    accuracy = np.where(exact_low & exact_high, 0.0, accuracy)
    return np.where(exact_low, near_low, low), np.where(exact_high, near_high, high), accuracy
