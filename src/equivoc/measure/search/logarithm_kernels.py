"""φ(q) = −q ln q without a function call, so that the compiler can vectorise it. Compiled.

q = 2^e · m with √½ ≤ m < √2, read off q's bits; ln m = 2 artanh s with s = (m − 1)/(m + 1), by its series. |s| is at
most 0.1716, so ten terms leave less than 1e-16. A check for division by zero would prevent vectorisation: callers use
NumPy's error model.
"""

# mypy: allow-untyped-defs, allow-untyped-decorators, allow-untyped-calls, disable-error-code="call-arg"
from __future__ import annotations

import math

import numpy as np
from numba import njit, types
from numba.extending import intrinsic

LN2 = math.log(2.0)
ROOT_HALF = np.int64(0x3FE6A09E667F3BCD)
TWO_52 = np.int64(0x4330000000000000)
MANTISSA = np.int64(0xFFFFFFFFFFFFF)
C1, C3, C5, C7, C9, C11, C13, C15, C17, C19 = (2.0 / k for k in range(1, 20, 2))


def _reinterpreted(given, wanted):
    """The signature of a function that reads the bits of one type as another, and its code."""

    def code(context, builder, signature, args):
        return builder.bitcast(args[0], context.get_value_type(wanted))

    return wanted(given), code


@intrinsic
def _bits(typing_context, number):
    """The 64 bits of a double, as an integer."""
    return _reinterpreted(types.float64, types.int64)


@intrinsic
def _double(typing_context, bits):
    """The double that has these 64 bits."""
    return _reinterpreted(types.int64, types.float64)


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract"}, inline="always")
def log(q):
    """ln q for positive q; an arbitrary finite number otherwise. The exponent is read as the last bits of 2^52 + e."""
    b = _bits(q) - ROOT_HALF
    e = _double(((b >> np.int64(52)) + np.int64(1023)) | TWO_52) - 4503599627371519.0
    m = _double((b & MANTISSA) + ROOT_HALF)
    s = (m - 1.0) / (m + 1.0)
    z = s * s
    z2 = z * z
    low = (C1 + z * C3) + z2 * (C5 + z * C7)
    high = (C9 + z * C11) + z2 * ((C13 + z * C15) + z2 * (C17 + z * C19))
    return e * LN2 + s * (low + z2 * z2 * high)


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract"}, inline="always")
def phi(q):
    """−q ln q, and 0 at 0."""
    return -q * log(q)
