"""The compiled search for predicates that fit exactly one record."""

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit

Ints = npt.NDArray[np.signedinteger[Any]]
Floats = npt.NDArray[np.float64]

# A condition's sign: a number or category equals the value, is null, or lies on one side of the value.
EQUAL, NULL, AT_MOST, AT_LEAST = 0, 1, 2, 3


@njit(cache=True, nogil=True)
def fits(value: float, sign: int, wanted: float) -> bool:
    """Whether a value meets a condition; null (NaN) meets only NULL."""
    if sign == NULL:
        return value != value
    if sign == AT_MOST:
        return value <= wanted
    if sign == AT_LEAST:
        return value >= wanted
    return value == wanted


@njit(cache=True, nogil=True)
def fitting(
    columns: Floats,
    attributes: Ints,
    signs: Ints,
    values: Floats,
    wanted: int,
    most_work: int,
    counts: Ints,
) -> tuple[int, int]:
    """Count the records, one per column of ``columns``, that fit each predicate, one per row; 2 stands for more.

    A record is left at the first condition that it does not meet, a predicate at its second record. Stops after
    ``wanted`` predicates that fit exactly one record, or when ``most_work`` records have been looked at. Returns how
    many predicates were counted, and how many records were looked at.
    """
    found = 0
    work = 0
    for at in range(len(attributes)):
        if found == wanted or work >= most_work:
            return at, work
        count = 0
        for record in range(columns.shape[1]):
            work += 1
            met = True
            for c in range(attributes.shape[1]):
                if not fits(columns[attributes[at, c], record], signs[at, c], values[at, c]):
                    met = False
                    break
            if met:
                count += 1
                if count == 2:
                    break
        counts[at] = count
        found += count == 1
    return len(attributes), work
