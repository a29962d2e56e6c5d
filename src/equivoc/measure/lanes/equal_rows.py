"""Finds equal rows, so that each distinct row is measured once."""

from __future__ import annotations

import numpy as np

from equivoc.measure.input.rows import Ints, Rows


def distinct_rows(rows: Rows) -> tuple[Ints, Ints]:
    """The distinct rows, and for each row the number of the distinct row that it equals."""
    from equivoc.measure.lanes import equal_row_kernels as kernels

    prints = np.empty(len(rows), np.uint64)
    kernels.row_hashes(rows.weights, rows.positions, rows.bounds, prints)
    ascending = np.sort(prints)
    if not (ascending[1:] == ascending[:-1]).any():  # all rows are distinct
        every = np.arange(len(rows))
        return every, every
    _, representative, of = np.unique(prints, return_index=True, return_inverse=True)
    same = np.empty(len(rows), np.bool_)
    kernels.same_rows(rows.weights, rows.positions, rows.bounds, representative[of], same)
    if not same.all():  # different rows with the same hash: treat each as distinct
        strays = np.flatnonzero(~same)
        of[strays] = len(representative) + np.arange(len(strays))
        representative = np.concatenate((representative, strays))
    return representative.astype(np.int64), of.astype(np.int64)
