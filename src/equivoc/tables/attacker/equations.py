"""The attacker's system of sums: suppressed cells are unknown, published cells and relations are known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equivoc.errors import InputError
from equivoc.queries.decimals import BEYOND_CHANCE, decimal_places
from equivoc.tables.cell_table import CellTable
from equivoc.tables.coded_rows import rows_of

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

    >>> from equivoc.tables.dimension import Dimension
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
