"""What a released table of cells costs those who use it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equivoc.errors import InputError
from equivoc.information_loss.differences import Loss
from equivoc.tables.cell_rounding import RoundedTable
from equivoc.tables.cell_table import CellTable
from equivoc.tables.redesign import RedesignedTable
from equivoc.tables.release import TableRelease
from equivoc.text import exact, probability

Floats = NDArray[np.float64]

TABLE_MEASURES = (
    "cell_error",
    "cells_suppressed",
    "total_suppressed",
    "rounding_distance",
    "cells_lost",
)
"""The names of the measures of tables. "cell_error" applies to every release and is the default for ranking."""


def table_losses(table: CellTable, release: Any) -> list[Loss]:
    """The losses of a released table, each 0 for a table that is published as it is.

    - cell_error: Σ|v' − v| / Σ|v| over the inner cells, v the true value and v' what a user would take for it: the
      published value, the middle of the interval of a withheld cell, an equal share of a merged one.
    - cells_suppressed: the share of all cells, margins included, that are withheld.
    - total_suppressed: the share of Σ|v| over the inner cells that belongs to withheld ones.
    - rounding_distance: the mean of |v' − v| over all cells, in bases; of rounded tables only.
    - cells_lost: the share of inner cells that a redesign merged away.
    """
    if not isinstance(release, TableRelease):
        raise InputError(
            f"release is a {type(release).__name__}; make one with eq.CellSuppression(rule=…).release(table)."
        )
    original = release.original if isinstance(release, RedesignedTable) else release.cells
    if original is not table and (original.by, original.shape) != (table.by, table.shape):
        raise InputError("the release was made from another table; give the one that it was made from.")
    if np.isnan(table.values).any():
        raise InputError("the table has cells without a value, so what a release of it loses is not known.")
    return list(_losses(table, release))


def table_loss_frame(table: CellTable, losses: Iterable[Loss]) -> Any:
    """Losses as a frame of the kind that the people came in; pandas for a table from elsewhere."""
    rows = list(losses)
    columns: dict[str, Any] = {
        name: [getattr(row, name) for row in rows] for name in ("measure", "attribute", "value", "meaning")
    }
    if table.source is not None:
        return table.source.like(columns)
    import pandas as pd

    return pd.DataFrame(columns)


def _losses(table: CellTable, release: TableRelease) -> Iterator[Loss]:
    attribute = table.value or ""
    inner, sizes = table.inner, np.abs(table.values)
    whole = float(sizes[inner].sum())
    apart = float(np.abs(estimated_inner(table, release) - table.values[inner]).sum())
    error = apart / whole if whole else 0.0 if apart == 0 else float("inf")
    yield Loss(
        "cell_error",
        attribute,
        error,
        f"a user's values of the inner cells are off by {probability(error)} times the true ones in total, withheld "
        "cells taken at the middle of their interval and merged ones as equal shares",
        "relative error",
    )
    hidden = release.withheld
    cells = float(hidden.mean())
    yield Loss(
        "cells_suppressed",
        attribute,
        cells,
        f"{hidden.sum():,} of {len(hidden):,} cells, margins included, are withheld",
        "share of the cells",
    )
    # The inner cells of a redesign are others; it withholds none of them.
    withheld = 0.0 if isinstance(release, RedesignedTable) else float(sizes[inner & hidden].sum())
    share = withheld / whole if whole else 0.0
    yield Loss(
        "total_suppressed",
        attribute,
        share,
        f"a share of {probability(share)} of the total belongs to withheld inner cells",
        "share of the total",
    )
    if isinstance(release, RoundedTable):
        base = release.rounded.base
        distance = float(np.mean(np.abs(release.values - table.values))) / base
        yield Loss(
            "rounding_distance",
            attribute,
            distance,
            f"a cell is off by {probability(distance)} times the base {exact(base)} on average",
            "bases",
        )
    if isinstance(release, RedesignedTable):
        before, after = int(inner.sum()), int(release.cells.inner.sum())
        yield Loss(
            "cells_lost",
            attribute,
            1 - after / before,
            f"{before - after:,} of {before:,} inner cells were merged with others",
            "share of the inner cells",
        )


def estimated_inner(table: CellTable, release: TableRelease) -> Floats:
    """What a user takes for each inner cell of the original table, in the attribute's unit.

    A withheld cell without limits is taken for 0.
    """
    if isinstance(release, RedesignedTable):
        merged = release.merged_into
        return np.asarray(
            (release.values / np.maximum(np.bincount(merged, minlength=len(release.values)), 1))[merged]
        )
    values = release.values
    if release.withheld.any():
        low, high = release.bounds
        with np.errstate(invalid="ignore"):
            middle = (low + high) / 2
        values = np.where(release.withheld, np.where(np.isfinite(middle), middle, 0.0), values)
    return np.asarray(values[table.inner])
