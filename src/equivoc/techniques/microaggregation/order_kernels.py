"""Groups that do not overlap, from the lowest to the highest: the compiled loops, on logarithms throughout."""

# mypy: allow-untyped-defs, allow-untyped-decorators, allow-untyped-calls

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

NEGLIGIBLE = -60.0
"""The logarithm of a share of a sum that float64 cannot hold, nor a million of them."""


@njit(cache=True, nogil=True)
def _add(one: float, other: float) -> float:
    """The logarithm of the sum of two numbers given by theirs: only positive terms, so nothing cancels."""
    high, low = max(one, other), min(one, other)
    return high if low == -np.inf else high + np.log1p(np.exp(low - high))


@njit(cache=True, nogil=True)
def _log_shares(most: int) -> Floats:
    """log 1/k! for k = 0 … most. Counts divided by factorials multiply without binomials."""
    shares = np.zeros(most + 1)
    for k in range(1, most + 1):
        shares[k] = shares[k - 1] - np.log(k)
    return shares


@njit(cache=True, nogil=True)
def _begun(steps: Codes, logs: Floats, start: Floats, size: int, total: int, shares: Floats) -> Floats:
    """``[i, c, t]``: the weight of all ways in which c members have the first i levels and add up to t, over c!.

    Whoever has the outermost level of them brings its weight ``start`` in. ``steps`` are the levels, going up or down,
    ``logs`` the logarithms of their priors, by which each member who has a level is weighted.
    What the other members cannot complete to ``total`` with the levels that follow is left out.
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
    """The weight of all ways to complete the group at each level, relative to the greatest."""
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
    """The weight of all ways in which two parts add up to a total."""
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
    """P(a member has each level): the expected number of members there, by its share in all levels' numbers.

    ``below`` and ``above`` are tables of those who have lower and higher levels, the latter counted from the top;
    ``least`` and ``most`` are the weights of a level as the group's least and greatest.
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
    """For each of ``count`` levels from ``begin`` on, the weight of the ``ends`` up to it; they start at ``offset``."""
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
    """P(a member of each group has each level), groups × levels, when no member is above one of the next group.

    Group j has ``sizes[j]`` members who add up to ``sums[j]``; its levels are ``begin[j]`` … ``end[j]`` − 1 at most.
    ``log_prior`` has the logarithms (finite ones) of the prior that members are drawn from. Where no draws have these
    sums, the result is NaN.
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
            # Counted from the top, levels go up again: the last of a group comes first.
            ends = _ended(down, logs_down, from_top, sizes[j], total, shares, above)
            most = _accumulated(ends, -end[j], -end[j - 1], end[j - 1] - begin[j - 1])[::-1].copy()
    return found
