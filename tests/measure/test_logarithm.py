"""The kernels' own logarithm, against the C library's."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numba import njit

from equivoc.measure.partition_kernels import log, phi


@njit
def both(q: float) -> tuple[float, float]:
    return log(q), phi(q)


UNIT = 2.0**-53
"""Half a unit in the last place of 1: what one operation may be off by, relatively."""


@settings(max_examples=1000)
@given(st.floats(1e-307, 2.0))
@example(1.0)
@example(math.nextafter(1.0, 0.0))
@example(math.sqrt(0.5))
@example(math.nextafter(math.sqrt(0.5), 0.0))
@example(0.1328125)
def test_off_by_no_more_than_its_operations_round(q: float) -> None:
    """Sixteen units, relatively. With q = 2^e · m and t = ln m = s · (2 + 2z/3 + …), counted in units:

    m − 1 is exact, m + 1 and the quotient round: s is off by 2. The series adds to 2 at most 0.02, whose own errors
    count a hundredth, in three sums, and leaves out 0.2: 3.5. Their product rounds: t is off by 6.5 of |t|.
    ln 2 as a double is off by 0.3, e · ln 2 rounds, the last sum rounds: 1.3 · |e ln 2| + 6.5 · |t| + 1 · |ln q|.
    If e = 0, then t = ln q: 7.5 of |ln q|. Else |t| ≤ ½ ln 2 ≤ |ln q|, so |e ln 2| ≤ 2 |ln q|: 10.1 of |ln q|.
    The C library's logarithm is off by up to 2, and −q ln q rounds once on each side: 14.1, and 16 leave some room for
    products of errors. Operations that are fused round less often.
    """
    found, loss = both(q)
    exact = math.log(q)
    assert abs(found - exact) <= 16 * UNIT * abs(exact)
    assert abs(loss + q * exact) <= 16 * UNIT * q * abs(exact)


def test_the_error_is_small_for_all_exponents() -> None:
    """Evenly spread over the exponents and between √½ and √2, where two terms of the series too few would show."""
    q = np.concatenate(
        [2.0 ** np.linspace(-1000.3, 1, 5000), np.linspace(math.sqrt(0.5), math.sqrt(2), 5000)]
    )
    exact = [math.log(each) for each in q]
    errors = [abs(both(each)[0] - true) / max(abs(true), UNIT) for each, true in zip(q, exact, strict=True)]
    assert np.mean(errors) <= 2 * UNIT  # 0.7 were seen; 10 without the last two terms of the series


def test_phi_of_zero_is_zero() -> None:
    assert both(0.0)[1] == 0.0
