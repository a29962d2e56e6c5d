"""The records on which models of a table are trained: those of a file, or as many as a table counts in each cell."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from equivoc.information_loss.shown_table import ShownTable

MOST_RECORDS = 500_000
"""Of a table that counts more, so many records are drawn, with probabilities by the counts."""


@dataclass(frozen=True, eq=False)
class ModelRecords:
    """The row of each record in the table, and the weight of each record."""

    rows: NDArray[np.int64] = field(repr=False)
    weights: NDArray[np.float64] = field(repr=False)


def model_records(table: ShownTable, seed: int) -> ModelRecords:
    """Every row of a file once; every cell of a table as often as it counts, negative counts as 0."""
    if table.of_records:
        return ModelRecords(np.arange(len(table)), np.ones(len(table)))
    counts = np.maximum(table.weights, 0.0)
    total = counts.sum()
    if total > MOST_RECORDS:
        drawn = np.random.default_rng(seed).choice(len(counts), size=MOST_RECORDS, p=counts / total)
        return ModelRecords(drawn, np.full(MOST_RECORDS, total / MOST_RECORDS))
    rows = np.repeat(np.arange(len(counts)), counts.astype(np.int64))
    return ModelRecords(rows, np.ones(len(rows)))
