"""How often best guesses are right: per class, and record by record."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equivoc.data.classes import Classes

Floats = NDArray[np.float64]
Shares = Mapping[float, Floats]
"""For each tolerance and entry of ``classes.counts``, the chance that her guess is right (`ClassFigures.right`)."""


def true_hits(classes: Classes, shares: Shares) -> dict[float, Floats]:
    """Per class and tolerance: the share of its people whose true value is within ε/2 of the best guess."""
    counts, row = members(classes)
    return {
        e: np.bincount(row, weights=counts.data * share, minlength=counts.shape[0]) / classes.sizes
        for e, share in shares.items()
    }


def of_records(classes: Classes, entries: Floats) -> Floats:
    """Figures of the entries of ``classes.counts``, record by record."""
    counts, row = members(classes)
    span = counts.shape[1]
    entry = row * span + counts.indices  # ascending: rows one after the other, columns ascending within a row
    wanted = classes.of_record.astype(np.int64) * span + classes.people.codes
    return np.asarray(entries[np.searchsorted(entry, wanted)])


def members(classes: Classes) -> tuple[Any, NDArray[np.int64]]:
    """The people of the classes by value, and the class of each entry."""
    counts = classes.counts
    return counts, np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
