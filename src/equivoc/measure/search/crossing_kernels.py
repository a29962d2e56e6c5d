"""The point at which an older window start becomes better than a newer one. Compiled.

Two starts, ``apart`` (δ) in cumulative probability, differ in cost by ``handicap`` (c). The costs are equal
when the newer one's window has mass u, φ(u + δ) − φ(u) = c with φ(q) = −q ln q. With v = u/δ this is

    (v + 1) ln(v + 1) − v ln v = −ln δ − c/δ = y,

one increasing function of one variable. Its inverse v(y) is tabulated with its slope, for cubic Hermite
interpolation (relative error below 1e-12 from y = ¼ on; below, Newton steps are added). Beyond the table
v = e^(y−1) − ½ + e^(1−y)/24 is as good.
"""

# mypy: allow-untyped-defs, allow-untyped-decorators, allow-untyped-calls
from __future__ import annotations

import math

import numpy as np
from numba import njit

from equivoc.measure.search.logarithm_kernels import log

NEVER = 9.0
"""Larger than any cumulative probability."""
TABLE_END = 8.0
STEPS_PER_NAT = 1024.0


def _table():
    """Rows k: v(y) and its slope per step, at y = k / STEPS_PER_NAT."""
    y = np.arange(int(TABLE_END * STEPS_PER_NAT) + 1) / STEPS_PER_NAT
    v = np.maximum(np.exp(y[1:] - 1.0) - 0.5, 1e-3)
    for _ in range(60):  # Newton on a convex function, kept positive
        better = v - (np.log1p(v) + v * np.log1p(1 / v) - y[1:]) / np.log1p(1 / v)
        v = np.maximum(better, 0.05 * v)
    table = np.zeros((len(y), 2))
    table[1:, 0] = v
    table[1:, 1] = 1.0 / np.log1p(1 / v) / STEPS_PER_NAT
    return table


TABLE = _table()


@njit(cache=True, nogil=True, error_model="numpy")
def _newton(y, v):
    """v with (v + 1) ln(v + 1) − v ln v = y, from a guess; no step goes below a twentieth of the previous value."""
    for _ in range(60):
        slope = math.log1p(1.0 / v)
        better = max(v - (math.log1p(v) + v * slope - y) / slope, 0.05 * v)
        if abs(better - v) <= 1e-15 * better:
            return better
        v = better
    return v


@njit(cache=True, nogil=True, error_model="numpy")
def overtaken_after(slope, apart):
    """The mass u at which the older of two starts overtakes the newer: φ(u + apart) − φ(u) = slope · apart.

    ``apart`` is the probability between the two starts, ``slope`` the newer one's cost less the older one's, divided by
    that. −1: the newer one is never ahead.
    """
    if apart <= 0.0:
        return NEVER if slope < 0.0 else -1.0
    y = -log(apart) - slope
    if y <= 0.0:
        return -1.0
    if y >= TABLE_END:
        if y > 80.0:
            return NEVER
        middle = math.exp(y - 1.0)
        return apart * (middle + 1.0 / (24.0 * middle) - 0.5)
    z = y * STEPS_PER_NAT
    k = int(z)
    if k < 1:  # where the inverse bends sharply
        return apart * _newton(y, 0.01 * y)
    f = z - k
    v0, slope0, slope1 = TABLE[k, 0], TABLE[k, 1], TABLE[k + 1, 1]
    rise = TABLE[k + 1, 0] - v0
    v = v0 + f * (slope0 + f * ((3.0 * rise - 2.0 * slope0 - slope1) + f * (slope0 + slope1 - 2.0 * rise)))
    if y < 0.25:
        v = _newton(y, v)
    return apart * v
