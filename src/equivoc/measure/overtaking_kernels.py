"""When does an older window start overtake a newer one? Read from the table of overtaking.py. Compiled."""

# mypy: allow-untyped-defs, allow-untyped-decorators, allow-untyped-calls
from __future__ import annotations

import math

import numpy as np
from numba import njit

from equivoc.measure.logarithm_kernels import log
from equivoc.measure.overtaking import STEPS_PER_NAT, TABLE_END

NEVER = 9.0
"""A cumulative probability that no boundary reaches."""


@njit(cache=True, nogil=True)
def _newton_step(y, v):
    """A better v for (v + 1) ln(v + 1) − v ln v = y, never less than a twentieth of the old one."""
    slope = math.log1p(1.0 / v)
    return max(v - (math.log1p(v) + v * slope - y) / slope, 0.05 * v)


@njit(cache=True, nogil=True)
def _inverse_near_zero(y):
    """v for y below the table's first step, where the inverse bends sharply."""
    v = 0.01 * y
    for _ in range(60):
        better = _newton_step(y, v)
        if abs(better - v) <= 1e-15 * better:
            return better
        v = better
    return v


@njit(cache=True, nogil=True, error_model="numpy", inline="always")
def overtaken_after(handicap, apart, table):
    """The mass u at which the older of two starts overtakes the newer: φ(u + apart) − φ(u) = handicap.

    ``apart`` is the probability between the two starts, ``handicap`` the newer one's cost less the older one's.
    −1: the newer one is never ahead.
    """
    if apart <= 0.0:
        return NEVER if handicap < 0.0 else -1.0
    y = -log(apart) - handicap / apart
    if y <= 0.0:
        return -1.0
    if y >= TABLE_END:
        if y > 80.0:
            return NEVER
        middle = math.exp(y - 1.0)
        return apart * (middle + 1.0 / (24.0 * middle) - 0.5)
    z = y * STEPS_PER_NAT
    k = np.uintp(z)
    if k < 1:
        return apart * _inverse_near_zero(y)
    f = z - k
    v0 = table[k, 0]
    rise = table[k + np.uintp(1), 0] - v0
    slope0 = table[k, 1]
    slope1 = table[k + np.uintp(1), 1]
    v = v0 + f * (slope0 + f * ((3.0 * rise - 2.0 * slope0 - slope1) + f * (slope0 + slope1 - 2.0 * rise)))
    if y < 0.25:  # the inverse bends too sharply there for a cubic alone
        v = _newton_step(y, v)
    return apart * v
