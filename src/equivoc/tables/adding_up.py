"""Checks that the totals of a table are the sums of their parts."""

from __future__ import annotations

import numpy as np

from equivoc.errors import InputError
from equivoc.number_format import exact
from equivoc.tables.attacker.equations import cell_name
from equivoc.tables.cell_table import CellTable

ROUNDING = 1e-12
"""Sums of doubles may differ by this share of what is added."""


def check_adds_up(table: CellTable) -> None:
    """InputError that names the first total that differs from the sum of its parts, if all of them are known."""
    relations, unknown = table.relations, np.isnan(table.values)
    values = np.where(unknown, 0.0, table.values)
    known = (abs(relations) @ unknown.astype(np.float64)) == 0
    differences = relations @ values
    wrong = np.flatnonzero(known & (np.abs(differences) > ROUNDING * (abs(relations) @ np.abs(values))))
    if not wrong.size:
        return
    row = relations[[int(wrong[0])]]
    total, part = int(row.indices[row.data < 0][0]), int(row.indices[row.data > 0][0])
    over = table.by[int(np.flatnonzero(table.nodes[total] != table.nodes[part])[0])]
    total_value = float(table.values[total])
    # Nine decimals: what is left of the rounding error of the sum is not shown.
    parts = float(np.round(total_value + differences[wrong[0]], 9))
    more = f" ({wrong.size - 1:,} more totals do not add up)" if wrong.size > 1 else ""
    raise InputError(
        f"the margin {cell_name(table, total)} is {exact(total_value)}, but its parts over {over!r} add up to "
        f"{exact(parts)}, a difference of {exact(float(np.round(parts - total_value, 9)))}{more}: correct the table."
    )
