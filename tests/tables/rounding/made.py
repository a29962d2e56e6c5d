"""Tables made from their inner cells, for the tests of rounding."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from equivoc.tables.cell_table import CellTable, Dimension
from equivoc.tables.contributions import summed_up


def table_of(
    inner: ArrayLike, *, value: str | None = None, dimensions: Sequence[Dimension] = ()
) -> CellTable:
    """The table whose inner cells are this array, one axis per key; flat keys unless ``dimensions`` are given."""
    cells = np.asarray(inner, dtype=np.float64)
    keys = tuple(dimensions) or tuple(
        Dimension.flat(f"k{axis}", list(range(size))) for axis, size in enumerate(cells.shape)
    )
    shape = tuple(map(len, keys))
    numbers = np.arange(int(np.prod(shape))).reshape(shape)[np.ix_(*(key.leaves for key in keys))]
    totals = summed_up(cells.ravel(), numbers.ravel(), keys)
    return CellTable(
        keys,
        value,
        totals,
        np.maximum(np.rint(np.abs(totals)), 0).astype(np.int64),
        np.ones((len(totals), 2)),
        totals,
        np.zeros(len(totals), dtype=bool),
    )


TREE = Dimension("region", (None, "n", "n1", "n2", "s"), np.array([-1, 0, 1, 1, 0], dtype=np.int64))
"""Two subtotals: n (n1, n2) and s, a category by itself."""

NO_ROUNDING = [
    [[1, 0, 1], [0, 1, 1], [1, 1, 0]],
    [[1, 1, 0], [1, 1, 0], [0, 0, 0]],
    [[0, 1, 1], [1, 0, 1], [1, 1, 0]],
]
"""A three-way table of counts that has no zero-restricted controlled rounding to base 2: every line has 0 or 2 ones, of
which one must go up and one down, and some of them form an odd cycle."""
