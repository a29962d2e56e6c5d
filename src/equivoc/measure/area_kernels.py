"""An estimate of the area from few, cheap evaluations of H. Compiled.

H is evaluated in the interval of ε with the largest uncertainty (width × drop of H). At a
tolerance ε the values are first joined in cells of ε/CELLS, so that a large tolerance costs little, however many values
there are. docs/method.md, section 8.
"""

# mypy: allow-untyped-defs, allow-untyped-decorators, allow-untyped-calls

from __future__ import annotations

import math

import numpy as np

from equivoc.measure.partition_kernels import compiled, least_costs

# Groups values into cells, so that the cost of H at a large tolerance depends on the number of cells.
# Compiled.


@compiled
def cells_of(x, width, begins):
    """Cut the values' range into cells of this width; how many hold a value, and where each of those begins."""
    n, count, i = len(x), 0, 0
    while i < n:
        border = x[0] + (math.floor((x[i] - x[0]) / width) + 1.0) * width
        begins[count] = i
        count += 1
        i += 1
        while i < n and x[i] < border:
            i += 1
    begins[count] = n
    return count


@compiled
def bounds_at(x, cum, eps, width):
    """A lower and an upper bound of H(ε) in nats, from cells of this width; exact H if cells would save little.

    For the lower bound a window covers every cell that it touches; for the upper bound only cells that lie inside it.
    """
    n = len(x)
    cost, source, begins = np.empty(n + 1), np.empty(n + 1, np.int32), np.empty(n + 1, np.int32)
    count = cells_of(x, width, begins) if width > 0.0 else n
    if count > n // 3:
        exact = least_costs(cum, x, x, eps, cost, source)
        return exact, exact
    sums, lows, highs = np.empty(count + 1), np.empty(count), np.empty(count)
    sums[0] = 0.0
    for c in range(count):
        sums[c + 1], lows[c], highs[c] = cum[begins[c + 1]], x[begins[c]], x[begins[c + 1] - 1]
    low = least_costs(sums, lows, highs, eps, cost, source)
    return low, least_costs(sums, highs, lows, eps, cost, source)


CELLS = 40
"""Cells per window."""
STRETCH = 0.2 / CELLS
"""Windows over cells are lengthened by this, because they can end only at the end of a cell."""
SETTLED = 0.005
"""The expected relative error of the area at which the estimate is accepted."""
MOST = 120
"""Evaluations, at most."""
LEAST_DOUBT = 0.5
"""Factor for an interval's expected error if H in its middle is as predicted; not 0, because that may be chance."""


@compiled
def _entropy(x, cum, eps, workspace):
    """H(ε) in nats, of values in cells. A cell counts as spread evenly, with its own mean and standard deviation."""
    begins, sums, ends, starts, cost, source = workspace
    n = len(x)
    count = cells_of(x, eps / CELLS, begins)
    if count > 0.8 * n:
        return least_costs(cum, x, x, eps, cost, source)
    sums[0] = 0.0
    for c in range(count):
        begin, end = begins[c], begins[c + 1]
        first, mass = x[begin], cum[end] - cum[begin]
        sums[c + 1], starts[c], ends[c] = cum[end], first, first
        if end - begin > 1 and mass > 0.0:
            mean = square = 0.0
            for t in range(begin + 1, end):
                p, d = cum[t + 1] - cum[t], x[t] - first
                mean += p * d
                square += p * d * d
            mean /= mass
            half = math.sqrt(3.0 * max(square / mass - mean * mean, 0.0))
            starts[c], ends[c] = first + max(mean - half, 0.0), min(first + mean + half, x[end - 1])
    return least_costs(sums[: count + 1], ends[:count], starts[:count], eps * (1.0 + STRETCH), cost, source)


@compiled
def _between(a, b, high, low):
    """∫ H from a to b if H falls evenly with ln ε from ``high`` to ``low``; with ε itself from a = 0 on."""
    if a == 0.0:
        return 0.5 * b * (high + low)
    return b * low - a * high + (high - low) / math.log(b / a) * (b - a)


@compiled
def estimated_area(x, cum, h0):
    """An estimate of the area under H in nats × unit; ``h0`` is H(0) in nats."""
    n = len(x)
    workspace = (
        np.empty(n + 1, np.int32),
        np.empty(n + 1),
        np.empty(n),
        np.empty(n),
        np.empty(n + 1),
        np.empty(n + 1, np.int32),
    )
    eps, level, doubt = np.zeros(MOST + 2), np.zeros(MOST + 2), np.zeros(MOST + 2)
    level[0], eps[1] = h0, x[n - 1] - x[0]
    doubt[0] = h0 * eps[1]
    total = 0.0
    for last in range(1, MOST + 1):
        total, squares, k = 0.0, 0.0, 0
        for t in range(last):
            total += _between(eps[t], eps[t + 1], level[t], level[t + 1])
            squares += doubt[t] * doubt[t]
            k = t if doubt[t] > doubt[k] else k
        if math.sqrt(squares / 12.0) <= SETTLED * total:
            break
        a, b, high, low = eps[k], eps[k + 1], level[k], level[k + 1]
        middle = math.sqrt(a) * math.sqrt(b) if a > 0.0 else 0.25 * b
        h = min(max(_entropy(x, cum, middle, workspace), low), high)
        share = 1.0
        if a > 0.0 and high > low:
            surprise = abs(2.0 * h - high - low) / (high - low)
            share = LEAST_DOUBT + (1.0 - LEAST_DOUBT) * surprise
        for t in range(last, k, -1):
            eps[t + 1], level[t + 1], doubt[t + 1] = eps[t], level[t], doubt[t]
        eps[k + 1], level[k + 1] = middle, h
        doubt[k] = share * (middle - a) * (high - h)
        doubt[k + 1] = share * (b - middle) * (h - low)
    return total
