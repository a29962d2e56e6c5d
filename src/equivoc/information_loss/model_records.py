"""The records on which models of a table are trained: those of a file, or as many as a table counts in each cell."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from equivoc.information_loss.shown_table import ShownTable

MOST_RECORDS = 200_000
"""Of a larger file, so many records are drawn from a seed; of a table, with probabilities by its counts."""


def model_records(table: ShownTable, seed: int) -> NDArray[np.int64]:
    """Rows of the table: every record of a file once; every cell as often as it counts, negative counts as 0."""
    random = np.random.default_rng(seed)
    if table.of_records:
        if len(table) <= MOST_RECORDS:
            return np.arange(len(table))
        return np.sort(random.choice(len(table), size=MOST_RECORDS, replace=False))
    counts = np.maximum(table.weights, 0.0)
    total = counts.sum()
    if total <= MOST_RECORDS:
        return np.repeat(np.arange(len(counts)), counts.astype(np.int64))
    return np.sort(random.choice(len(counts), size=MOST_RECORDS, p=counts / total))
