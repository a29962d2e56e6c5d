"""Which values of a domain lie within a record's bounds."""

import numpy as np
from numpy.typing import ArrayLike, NDArray


def candidate_span(values: ArrayLike, bounds: NDArray[np.float64]) -> NDArray[np.int64]:
    """For each ``[L, U]``, the half-open range of positions of the ascending ``values`` that it holds: n × 2.

    A value that misses a bound by no more than rounding (a billionth of the smallest gap between values, or
    the last few bits) counts as within it, so that ``0.1 + 0.2`` and ``0.3`` are one value.

    >>> candidate_span([10, 20, 30, 40], np.array([[10.0, 40.0], [20.0, 30.0], [25.0, 40.0]]))
    array([[0, 4],
           [1, 3],
           [2, 4]])
    """
    domain = np.asarray(values, dtype=np.float64)
    gap = float(np.min(np.diff(domain), initial=np.inf))
    last_bits = 8.0 * float(np.spacing(np.max(np.abs(domain))))
    slack = last_bits if np.isinf(gap) else min(gap / 2, max(1e-9 * gap, last_bits))
    first = np.searchsorted(domain, bounds[:, 0] - slack, side="left")
    past_last = np.searchsorted(domain, bounds[:, 1] + slack, side="right")
    return np.column_stack([first, past_last]).astype(np.int64)
