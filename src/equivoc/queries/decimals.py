"""Finds the number of decimal places of numbers, so that their sums can be exact."""

import numpy as np
from numpy.typing import NDArray

MOST_PLACES = 9
# Extra headroom where a number mistaken for a decimal would cause an error: a double is rarely a short decimal
# by chance unless its last decimal place is close to its last bit.
BEYOND_CHANCE = 4096.0
_EXACT_INTEGERS = 2.0**53


def decimal_places(numbers: NDArray[np.float64], *, headroom: float = 1.0) -> int | None:
    """The fewest decimal places that write every number exactly, or None if there are too many.

    "Exactly" means that the double closest to the written decimal is the number itself. Counted in units of
    the last place, such numbers are integers, and float64 adds integers without error up to 2^53;
    ``headroom`` is how many times the largest of them the caller's sums may reach.

    >>> decimal_places(np.array([10.0, 250.0])), decimal_places(np.array([0.1, 0.25]))
    (0, 2)
    >>> decimal_places(np.array([1 / 3])) is None
    True
    """
    largest = float(np.max(np.abs(numbers), initial=0.0))
    for places in range(MOST_PLACES + 1):
        factor = 10.0**places
        if largest * factor * headroom >= _EXACT_INTEGERS:
            return None
        if np.array_equal(np.rint(numbers * factor) / factor, numbers):
            return places
    return None
