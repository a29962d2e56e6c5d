"""Members' values in groups that do not overlap, from the lowest to the highest group. Compiled; all weights are
logarithms."""

# mypy: allow-untyped-defs, allow-untyped-decorators, allow-untyped-calls

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

NEGLIGIBLE = -60.0
"""Terms whose logarithm is this far below the largest are left out: a million of them would not change a float64."""


@njit(cache=True, nogil=True)
def _add(one: float, other: float) -> float:
    """log(a + b) from log a and log b; both are positive, so there is no cancellation."""
    high, low = max(one, other), min(one, other)
    return high if low == -np.inf else high + np.log1p(np.exp(low - high))


@njit(cache=True, nogil=True)
def _log_shares(most: int) -> Floats:
    """log 1/k! for k = 0 … most. If counts are divided by factorials, products need no binomial coefficients."""
    shares = np.zeros(most + 1)
    for k in range(1, most + 1):
        shares[k] = shares[k - 1] - np.log(k)
    return shares


@njit(cache=True, nogil=True)
def _begun(steps: Codes, logs: Floats, start: Floats, size: int, total: int, shares: Floats) -> Floats:
    """``[i, c, t]``: the total weight of all assignments of the first i levels to c members with sum t, divided by c!.

    The weight of an assignment is the product of the members' priors and the weight ``start`` of its outermost level.
    ``steps`` are the levels, ascending or descending, ``logs`` the logarithms of their priors.
    Sums t that the other members cannot complete to ``total`` with the remaining levels are left out.
    """
    table = np.full((len(steps), size, total + 1), -np.inf)
    for i in range(len(steps) - 1):
        step = steps[i]
        for c in range(1, size):
            others = size - c
            first = max(c * min(step, steps[0]), total - others * max(steps[i + 1], steps[-1]))
            last = min(c * max(step, steps[0]), total - others * min(steps[i + 1], steps[-1]))
            for t in range(first, last + 1):
                most = min(c - 1, t // step) if step else c - 1
                alone = start[i] + shares[c] + c * logs[i] if t == c * step else -np.inf
                peak = alone
                for k in range(most + 1):
                    peak = max(peak, table[i, c - k, t - k * step] + shares[k] + k * logs[i])
                if peak > -np.inf:
                    ways = np.exp(alone - peak)
                    for k in range(most + 1):
                        term = table[i, c - k, t - k * step] + shares[k] + k * logs[i] - peak
                        if term > NEGLIGIBLE:
                            ways += np.exp(term)
                    table[i + 1, c, t] = peak + np.log(ways)
    return table


@njit(cache=True, nogil=True)
def _ended(
    steps: Codes, logs: Floats, start: Floats, size: int, total: int, shares: Floats, begun: Floats
) -> Floats:
    """For each level, the weight of all complete groups that end at it, relative to the greatest."""
    ends = np.full(len(steps), -np.inf)
    for i in range(len(steps)):
        if total == size * steps[i]:
            ends[i] = start[i] + shares[size] + size * logs[i]
        for k in range(1, size):
            rest = total - k * steps[i]
            if rest >= 0:
                ends[i] = _add(ends[i], begun[i, size - k, rest] + shares[k] + k * logs[i])
    greatest = ends.max()
    for i in range(len(ends)):
        ends[i] -= greatest
    return ends


@njit(cache=True, nogil=True)
def _product(lower: Floats, upper: Floats, total: int) -> float:
    """The weight of all pairs of a lower and an upper part whose sums add up to ``total``."""
    peak = -np.inf
    for t in range(total + 1):
        peak = max(peak, lower[t] + upper[total - t])
    if peak == -np.inf:
        return peak
    ways = 0.0
    for t in range(total + 1):
        term = lower[t] + upper[total - t] - peak
        if term > NEGLIGIBLE:
            ways += np.exp(term)
    return float(peak + np.log(ways))


@njit(cache=True, nogil=True)
def _members(
    steps: Codes,
    logs: Floats,
    size: int,
    total: int,
    shares: Floats,
    below: Floats,
    above: Floats,
    least: Floats,
    most: Floats,
) -> Floats:
    """P(a member has each level): the expected number of members at each level, normalised.

    ``below`` and ``above`` are the tables (`_begun`) of members with lower and higher levels, the latter from the top
    down; ``least`` and ``most`` are the weights of a level as the group's smallest and largest.
    """
    levels = len(steps)
    found = np.full(levels, -np.inf)
    for i in range(levels):
        for k in range(1, size + 1):
            rest = total - k * steps[i]
            if rest < 0:
                break
            weight = shares[k] + np.log(k) + k * logs[i]
            others = size - k
            if others == 0:
                if rest == 0:
                    found[i] = _add(found[i], weight + least[i] + most[i])
                continue
            found[i] = _add(found[i], weight + least[i] + above[levels - 1 - i, others, rest])
            found[i] = _add(found[i], weight + below[i, others, rest] + most[i])
            for c in range(1, others):
                found[i] = _add(
                    found[i], weight + _product(below[i, c], above[levels - 1 - i, others - c], rest)
                )
    greatest = found.max()
    for i in range(levels):
        found[i] = np.exp(found[i] - greatest)
    found /= found.sum()
    return found


@njit(cache=True, nogil=True)
def _accumulated(ends: Floats, offset: int, begin: int, count: int) -> Floats:
    """For each of ``count`` levels from ``begin`` on, the sum of ``ends`` (from level ``offset`` on) up to it."""
    sums = np.empty(count)
    whole = -np.inf
    done = 0
    for i in range(count):
        while done < len(ends) and offset + done <= begin + i:
            whole = _add(whole, ends[done])
            done += 1
        sums[i] = whole
    return sums


@njit(cache=True, nogil=True)
def members_in_order(
    positions: Codes, log_prior: Floats, sizes: Codes, sums: Codes, begin: Codes, end: Codes
) -> Floats:
    """Groups × levels: P(a member of the group has the level), if no member is above any member of the next group.

    Group j has ``sizes[j]`` members with the sum ``sums[j]``; their levels are within ``begin[j]`` … ``end[j]`` − 1.
    Members are drawn from a prior with the (finite) logarithms ``log_prior``. NaN if no draws have these sums.
    """
    groups, levels = len(sizes), len(positions)
    shares = _log_shares(sizes.max())
    where = np.zeros(groups + 1, dtype=np.int64)
    where[1:] = np.cumsum(end - begin)
    least = np.zeros(where[-1])
    for j in range(groups):
        steps = positions[begin[j] : end[j]] - positions[begin[j]]
        total = sums[j] - sizes[j] * positions[begin[j]]
        logs = log_prior[begin[j] : end[j]]
        start = least[where[j] : where[j + 1]]
        if j < groups - 1:
            begun = _begun(steps, logs, start, sizes[j], total, shares)
            ends = _ended(steps, logs, start, sizes[j], total, shares, begun)
            least[where[j + 1] : where[j + 2]] = _accumulated(
                ends, begin[j], begin[j + 1], end[j + 1] - begin[j + 1]
            )
    found = np.zeros((groups, levels))
    most = np.zeros(end[-1] - begin[-1])
    for j in range(groups - 1, -1, -1):
        steps = positions[begin[j] : end[j]] - positions[begin[j]]
        total = sums[j] - sizes[j] * positions[begin[j]]
        start = least[where[j] : where[j + 1]]
        logs = log_prior[begin[j] : end[j]]
        down, logs_down = np.ascontiguousarray(steps[::-1]), np.ascontiguousarray(logs[::-1])
        from_top = np.ascontiguousarray(most[::-1])
        below = _begun(steps, logs, start, sizes[j], total, shares)
        above = _begun(down, logs_down, from_top, sizes[j], total, shares)
        found[j, begin[j] : end[j]] = _members(
            steps, logs, sizes[j], total, shares, below, above, start, most
        )
        if j > 0:
            # Negative numbers make the levels ascend when counted from the top.
            ends = _ended(down, logs_down, from_top, sizes[j], total, shares, above)
            most = _accumulated(ends, -end[j], -end[j - 1], end[j - 1] - begin[j - 1])[::-1].copy()
    return found
