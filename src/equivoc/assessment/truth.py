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
    return np.asarray(entries[entry_numbers(classes, classes.of_record, classes.people.codes)])


def entry_numbers(classes: Classes, of: NDArray[Any], codes: NDArray[Any]) -> NDArray[np.int64]:
    """The entry of ``classes.counts`` of each record, given its class and the code of its value."""
    counts = classes.counts
    # Rows come one after the other, and columns ascend within a row, so the entries' codes ascend.
    entry = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr)) * counts.shape[1] + counts.indices
    return np.asarray(np.searchsorted(entry, of.astype(np.int64) * counts.shape[1] + codes))


def members(classes: Classes) -> tuple[Any, NDArray[np.int64]]:
    """The people of the classes by value, and the class of each entry."""
    counts = classes.counts
    return counts, np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
