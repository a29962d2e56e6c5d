"""What a table of counts says about a person whose other keys are known: her category of one key."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equivoc.did_you_mean import did_you_mean
from equivoc.errors import InputError
from equivoc.tables.cell_table import CellTable

Floats = NDArray[np.float64]


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

    >>> from equivoc.tables.dimension import Dimension
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
