"""Members' values in groups that do not overlap, each group on a short grid of its own. Compiled.

As `order_kernels`, in plain numbers in place of logarithms: weights are relative to the greatest of each group.
"""

# mypy: allow-untyped-defs, allow-untyped-decorators, allow-untyped-calls

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]


@njit(cache=True, nogil=True)
def _powers(weight: float, size: int, out: Floats) -> None:
    """weight^k / k! for k = 0 … size: k members at one level, in any order."""
    out[0] = 1.0
    for k in range(1, size + 1):
        out[k] = out[k - 1] * weight / k


@njit(cache=True, nogil=True)
def _accepted(aim: float, spread: float, reach: float, out: Floats) -> int:
    """How well each sum of rounded values agrees with the real one; the greatest that does at all."""
    last = -1
    for t in range(len(out)):
        apart = t - aim
        out[t] = 0.0
        if abs(apart) <= reach:
            out[t] = 1.0 if spread == 0.0 else np.exp(-0.5 * (apart / spread) ** 2)
            last = t
    return last


@njit(cache=True, nogil=True)
def _begun(steps: Codes, weights: Floats, start: Floats, size: int, last: int, power: Floats) -> Floats:
    """``[i, c, t]``: the weight of all ways to put c members with sum t at the first i levels."""
    levels = len(steps)
    table = np.zeros((levels, size, last + 1))
    table[0, 0, 0] = 1.0
    for i in range(levels - 1):
        _powers(weights[i], size, power)
        table[i + 1] = table[i]
        for c in range(size - 1):
            begin = c * steps[0]
            for k in range(1, size - c):
                factor = power[k] * start[i] if c == 0 else power[k]
                shift = k * steps[i]
                end = min(c * steps[i], last - shift)
                for t in range(begin, end + 1):
                    table[i + 1, c + k, t + shift] += table[i, c, t] * factor
    return table


@njit(cache=True, nogil=True)
def _greatest(
    steps: Codes, weights: Floats, start: Floats, size: int, begun: Floats, accepted: Floats, power: Floats
) -> Floats:
    """For each level, the weight of all complete groups whose greatest member has it."""
    levels, last = len(steps), begun.shape[2] - 1
    ends = np.zeros(levels)
    for i in range(levels):
        _powers(weights[i], size, power)
        for c in range(size):
            k = size - c
            factor = power[k] * start[i] if c == 0 else power[k]
            shift = k * steps[i]
            for t in range(c * steps[0], min(c * steps[i], last - shift) + 1):
                ends[i] += begun[i, c, t] * factor * accepted[t + shift]
    return ends


@njit(cache=True, nogil=True)
def _counted(
    steps: Codes,
    weights: Floats,
    start: Floats,
    stop: Floats,
    size: int,
    begun: Floats,
    accepted: Floats,
    power: Floats,
    found: Floats,
    least: Floats,
) -> None:
    """The expected number of members at each level, and the weight of each as the least one, both up to a factor."""
    levels, last = len(steps), begun.shape[2] - 1
    after = np.zeros((size, last + 1))  # the weight of all ways to complete c members with sum t from here on
    rest, expected = np.zeros(last + 1), np.zeros(last + 1)
    for i in range(levels - 1, -1, -1):
        _powers(weights[i], size, power)
        for c in range(
            size
        ):  # ascending: what is completed from c on uses more members than c, not yet overwritten
            begin, end = c * steps[0], min(c * steps[i], last)
            rest[begin : end + 1] = 0.0
            expected[begin : end + 1] = 0.0
            for k in range(1, size - c + 1):
                shift, most = k * steps[i], min(end, last - k * steps[i])
                if c + k < size:
                    for t in range(begin, most + 1):
                        way = power[k] * after[c + k, t + shift]
                        rest[t] += way
                        expected[t] += k * way
                else:
                    for t in range(begin, most + 1):
                        way = power[k] * accepted[t + shift] * stop[i]
                        rest[t] += way
                        expected[t] += k * way
            if c == 0:
                least[i] = rest[0]
                found[i] += start[i] * expected[0]
            else:
                for t in range(begin, end + 1):
                    found[i] += begun[i, c, t] * expected[t]
                    after[c, t] += rest[t]


@njit(cache=True, nogil=True)
def _to_one(weights: Floats) -> None:
    """Divide by the largest; if all are 0, nothing is known from the neighbour, and all become 1."""
    largest = weights.max()
    if largest > 0:
        weights /= largest
    else:
        weights[:] = 1.0


@njit(cache=True, nogil=True)
def near_members_in_order(
    steps: Codes,
    weights: Floats,
    sizes: Codes,
    aims: Floats,
    spreads: Floats,
    reaches: Floats,
    begin: Codes,
    end: Codes,
) -> Floats:
    """P(a member of the group has the level), for the levels of each group's window, one group after the other.

    Group j's window are the levels from ``begin[j]`` to before ``end[j]``; ``steps`` and ``weights`` are its levels'
    places in steps from the lowest one, and their priors. Its members' steps add up to ``aims[j]``, with an error of
    standard deviation ``spreads[j]`` (0: none) and at most ``reaches[j]``. A row of zeros: no members have this sum.
    """
    groups = len(sizes)
    where = np.zeros(groups + 1, dtype=np.int64)
    where[1:] = np.cumsum(end - begin)
    power = np.zeros(sizes.max() + 1)
    start, found = np.zeros(where[-1]), np.zeros(where[-1])
    start[: where[1]] = 1.0
    for j in range(groups):
        a, b = where[j], where[j + 1]
        if j == groups - 1:
            break
        accepted = np.zeros(int(aims[j] + reaches[j]) + 1)
        last = _accepted(aims[j], spreads[j], reaches[j], accepted)
        begun = _begun(steps[a:b], weights[a:b], start[a:b], sizes[j], max(last, 0), power)
        ends = _greatest(steps[a:b], weights[a:b], start[a:b], sizes[j], begun, accepted, power)
        below, done = 0.0, 0
        for i in range(end[j + 1] - begin[j + 1]):
            while done < b - a and begin[j] + done <= begin[j + 1] + i:
                below += ends[done]
                done += 1
            start[b + i] = below
        _to_one(start[b : where[j + 2]])
    stop = np.ones(where[groups] - where[groups - 1])
    for j in range(groups - 1, -1, -1):
        a, b = where[j], where[j + 1]
        accepted = np.zeros(int(aims[j] + reaches[j]) + 1)
        last = _accepted(aims[j], spreads[j], reaches[j], accepted)
        begun = _begun(steps[a:b], weights[a:b], start[a:b], sizes[j], max(last, 0), power)
        least = np.zeros(b - a)
        _counted(
            steps[a:b],
            weights[a:b],
            start[a:b],
            stop,
            sizes[j],
            begun,
            accepted,
            power,
            found[a:b],
            least,
        )
        total = found[a:b].sum()
        if total > 0:
            found[a:b] /= total
        if j > 0:
            lower = end[j - 1] - begin[j - 1]
            stop = np.zeros(lower)
            above, done = 0.0, b - a - 1
            for i in range(lower - 1, -1, -1):
                while done >= 0 and begin[j] + done >= begin[j - 1] + i:
                    above += least[done]
                    done -= 1
                stop[i] = above
            _to_one(stop)
    return found
