"""When does an older window start overtake a newer one? A table that spares the kernels most logarithms.

Two starts, ``apart`` (δ) in cumulative probability, differ in cost by ``handicap`` (c). The older one draws level
when the newer one's window has mass u, φ(u + δ) − φ(u) = c with φ(q) = −q ln q. With v = u/δ this is

    (v + 1) ln(v + 1) − v ln v = −ln δ − c/δ = y,

one increasing function of one variable. Its inverse v(y) is tabulated with its slope, for cubic Hermite
interpolation (relative error below 1e-12 from y = ¼ on; below, one Newton step is added). Beyond the table
v = e^(y−1) − ½ + e^(1−y)/24 is as good.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

TABLE_END = 8.0
STEPS_PER_NAT = 1024.0


@cache
def overtaking_table() -> NDArray[np.float64]:
    """Rows k: v(y) and its slope per step, at y = k / STEPS_PER_NAT."""
    y = np.arange(int(TABLE_END * STEPS_PER_NAT) + 1) / STEPS_PER_NAT
    v = np.maximum(np.exp(y[1:] - 1.0) - 0.5, 1e-3)
    for _ in range(60):  # Newton on a convex function, kept positive
        better = v - (np.log1p(v) + v * np.log1p(1 / v) - y[1:]) / np.log1p(1 / v)
        v = np.maximum(better, 0.05 * v)
    table = np.zeros((len(y), 2))
    table[1:, 0] = v
    table[1:, 1] = 1.0 / np.log1p(1 / v) / STEPS_PER_NAT
    table.flags.writeable = False
    return table
