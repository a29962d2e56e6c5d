"""Dense rows over one small grid, LANES of them side by side. Compiled."""

# mypy: allow-untyped-defs, allow-untyped-decorators, allow-untyped-calls

from __future__ import annotations

import math

import numpy as np
from numba import njit

from equivoc.measure.distribution import NATS_PER_BIT, TIE_ROUNDING
from equivoc.measure.jump_kernels import SMALL, best_window, exact_area, plain_workspace, reach
from equivoc.measure.partition_kernels import least_cost, phi

compiled = njit(cache=True, nogil=True, error_model="numpy")

LANES = 64


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract"})
def _entropy_terms(cum, end, start, out, begin):
    """−q ln q of the LANES masses between two boundaries, into out[begin:]; the compiler makes vector code of it."""
    lanes, high, low, to = np.uintp(LANES), np.uintp(end), np.uintp(start), np.uintp(begin)
    for a in range(lanes):
        out[to + a] = phi(cum[high + a] - cum[low + a])


@njit(cache=True, nogil=True, fastmath={"nnan", "nsz"})
def _least_costs(terms, starts, cost, here, settled):
    """The recurrence for LANES rows at once: cost[i] = min over j of cost[j] + terms[(j, i)], for i from settled on.

    −q log q is subadditive: neighbouring groups that one window covers are never better than their union. So a group
    that is not the last starts before the window that ends with the last value, and the values that one window covers
    from the first value on are one group. This stays true for longer windows: the first boundary that still needs the
    search is returned, to continue from there. On an even grid this saves two thirds of the sums.

    Flat arrays and four starts at a time: this is what keeps the loop in vector registers.
    """
    lanes, n = np.uintp(LANES), len(starts)
    for i in range(settled, n + 1):
        row = (i * (i - 1)) // 2
        j, past = starts[i - 1], i if i == n else min(i, starts[n - 1])
        if j == 0:
            settled, past = i + 1, 1
        to, c0, t0 = np.uintp(i * LANES), np.uintp(j * LANES), np.uintp((row + j) * LANES)
        if j >= past:
            for a in range(lanes):
                cost[to + a] = 1e300
            continue
        for a in range(lanes):
            here[a] = cost[c0 + a] + terms[t0 + a]
        j += 1
        while j + 4 <= past:
            c0, t0 = np.uintp(j * LANES), np.uintp((row + j) * LANES)
            c1, t1 = c0 + lanes, t0 + lanes
            c2, t2 = c1 + lanes, t1 + lanes
            c3, t3 = c2 + lanes, t2 + lanes
            for a in range(lanes):
                u = cost[c0 + a] + terms[t0 + a]
                v = cost[c1 + a] + terms[t1 + a]
                w = cost[c2 + a] + terms[t2 + a]
                z = cost[c3 + a] + terms[t3 + a]
                u = v if v < u else u
                w = z if z < w else w
                u = w if w < u else u
                h = here[a]
                here[a] = u if u < h else h
            j += 4
        while j < past:
            c0, t0 = np.uintp(j * LANES), np.uintp((row + j) * LANES)
            for a in range(lanes):
                u = cost[c0 + a] + terms[t0 + a]
                h = here[a]
                here[a] = u if u < h else h
            j += 1
        for a in range(lanes):
            cost[to + a] = here[a]
    return settled


@compiled
def _every_level(terms, starts, steps, cost, here, block, lanes, h0, area, entropies):
    """H at every break point for one block of lanes: the least cost, in bits.

    A row sums to 1 only up to rounding. The cost of the whole row in one window, which should be 0, is subtracted, so
    that a wide grid does not multiply this error.
    """
    levels, n = starts.shape
    whole = (n * (n - 1)) // 2 * LANES
    keep = entropies.shape[1] == levels + 1
    for a in range(lanes):
        area[block + a] = 0.0
    cost[:LANES] = 0.0
    settled = 1
    for e in range(levels):
        settled = _least_costs(terms, starts[e], cost, here, settled)
        for a in range(lanes):
            h = max((cost[n * LANES + a] - terms[whole + a]) / NATS_PER_BIT, 0.0)
            area[block + a] += h * steps[e]
            if e == 0:
                h0[block + a] = h
            if keep:
                entropies[block + a, e] = h
    if keep:
        for a in range(lanes):
            entropies[block + a, levels] = 0.0


@compiled
def dense_rows(rows, totals, which, starts, steps, h0, area, entropies):
    """H at every break point of the grid for dense rows, LANES at a time. A weight is divided by its row's total.

    ``starts[e, i]`` is the first grid position a window of the e-th break point that ends at i can cover, ``steps``
    the distances to the next break point. ``entropies`` is filled where it has columns. Bits.
    """
    count, n = len(which), rows.shape[1]
    cum = np.zeros((n + 1) * LANES)
    terms = np.empty((n * (n + 1)) // 2 * LANES)
    cost, here = np.empty((n + 1) * LANES), np.empty(LANES)
    for block in range(0, count, LANES):
        lanes = min(LANES, count - block)
        for a in range(LANES):
            row = which[block + min(a, lanes - 1)]
            for i in range(n):
                cum[(i + 1) * LANES + a] = cum[i * LANES + a] + rows[row, i] / totals[row]
        k = 0
        for i in range(1, n + 1):
            for j in range(i):
                _entropy_terms(cum, i * LANES, j * LANES, terms, k)
                k += LANES
        _every_level(terms, starts, steps, cost, here, block, lanes, h0, area, entropies)


# Sparse rows over one grid, one at a time on their own values. Compiled.

FEW = 64
"""Up to this many values, trying every window is faster than the near-linear search."""


@compiled
def _support(weights, positions, begin, end, grid, total, x, cum):
    """A row's support as sorted values and cumulative probabilities; returns its size."""
    s = 0
    cum[0] = 0.0
    dense = len(positions) == 0
    for t in range(begin, end):
        if weights[t] > 0:
            x[s] = grid[t - begin if dense else positions[t]]
            cum[s + 1] = cum[s] + weights[t] / total
            s += 1
    return s


@compiled
def sparse_rows(weights, positions, bounds, totals, which, grid, room, h0, area, spread):
    """h0 and ε_max of the rows ``which``, and the exact area of those whose support is at most SMALL (else NaN)."""
    x, cum = np.empty(room), np.empty(room + 1)
    workspace = plain_workspace(min(room, SMALL))
    for q in range(len(which)):
        r = which[q]
        s = _support(weights, positions, bounds[r], bounds[r + 1], grid, totals[r], x, cum)
        h = 0.0
        for t in range(bounds[r], bounds[r + 1]):
            h += phi(weights[t] / totals[r])
        h0[q] = h / NATS_PER_BIT
        spread[q] = x[s - 1] - x[0]
        if s == 1:
            h0[q] = 0.0
            area[q] = 0.0
        elif s == 2:
            area[q] = h / NATS_PER_BIT * spread[q]
        elif s <= SMALL:
            rounding = TIE_ROUNDING * max(abs(x[0]), abs(x[s - 1]))
            area[q] = exact_area(x[:s], cum[: s + 1], h, rounding, workspace) / NATS_PER_BIT
        else:
            area[q] = np.nan


@compiled
def sparse_entropies(weights, positions, bounds, totals, which, grid, room, eps, out):
    """H(ε) in bits of the rows ``which``, for every ε of ``eps`` (one column each)."""
    x, cum = np.empty(room), np.empty(room + 1)
    cost = np.empty(room + 1)
    for q in range(len(which)):
        r = which[q]
        s = _support(weights, positions, bounds[r], bounds[r + 1], grid, totals[r], x, cum)
        for e in range(len(eps)):
            limit = reach(x[0], x[s - 1], eps[e])
            if x[s - 1] - x[0] <= limit:
                out[q, e] = 0.0
            elif s > FEW:
                out[q, e] = least_cost(cum[: s + 1], x[:s], x[:s], limit) / NATS_PER_BIT
            else:
                cost[0] = 0.0
                k = 0
                for i in range(1, s + 1):
                    while x[i - 1] - x[k] > limit:
                        k += 1
                    least = math.inf
                    for j in range(k, i):
                        least = min(least, cost[j] + phi(cum[i] - cum[j]))
                    cost[i] = least
                out[q, e] = max(cost[s] / NATS_PER_BIT, 0.0)


@compiled
def sparse_hits(weights, positions, bounds, totals, which, grid, room, eps, out, low, high):
    """V(ε) of the rows ``which`` and the grid values between which its heaviest window lies."""
    x, cum = np.empty(room), np.empty(room + 1)
    for q in range(len(which)):
        r = which[q]
        s = _support(weights, positions, bounds[r], bounds[r + 1], grid, totals[r], x, cum)
        mass, a, b = best_window(x[:s], cum[: s + 1], eps)
        out[q], low[q], high[q] = min(mass, 1.0), x[a], x[b]


# Hashes of rows, and bitwise comparison of rows. Compiled.


@njit(cache=True, nogil=True)
def row_hashes(weights, positions, bounds, out):
    """A 64-bit hash of every row; equal rows have equal hashes."""
    bits = weights.view(np.uint64)
    dense = len(positions) == 0
    for r in range(len(bounds) - 1):
        h = np.uint64(0x9E3779B97F4A7C15)
        begin = bounds[r]
        for t in range(begin, bounds[r + 1]):
            if weights[t] > 0:
                h ^= bits[t] + np.uint64(t - begin if dense else positions[t]) * np.uint64(0xC2B2AE3D27D4EB4F)
                h ^= h >> np.uint64(29)
                h *= np.uint64(0xBF58476D1CE4E5B9)
                h ^= h >> np.uint64(32)
        out[r] = h


@njit(cache=True, nogil=True)
def same_rows(weights, positions, bounds, representative, out):
    """True if every row is bitwise equal to the row that represents it."""
    dense = len(positions) == 0
    for r in range(len(bounds) - 1):
        q = representative[r]
        same = bounds[r + 1] - bounds[r] == bounds[q + 1] - bounds[q]
        if same and q != r:
            shift = bounds[q] - bounds[r]
            for t in range(bounds[r], bounds[r + 1]):
                if weights[t] != weights[t + shift] or (not dense and positions[t] != positions[t + shift]):
                    same = False
                    break
        out[r] = same
