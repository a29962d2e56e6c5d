"""One exact H(ε) in O(n log n): concave least-weight subsequence with windows that expire. Compiled.

docs/method.md derives it. In short, with boundaries 0 … n between the sorted values, P the cumulative
probabilities, φ(q) = −q ln q (natural logarithms in here) and ``first[i]`` the furthest boundary from which one
window still reaches boundary i:

    D(i) = min over first[i] ≤ j < i of D(j) + φ(P_i − P_j).

Of two adjacent windows of an optimal partition the heavier one cannot be extended across their boundary. So a
window either starts as far left as it can, or it follows a window that ends as far right as it can (a boundary
called *tight* here), and only the second kind needs a search. φ is concave: of two tight starts the older one only
gains on the newer one as i moves right. Cutting the boundaries into blocks in which the window's start never
passes the block's own start leaves two searches without expiry, each kept as a stack of starts with the
cumulative probability at which the start below overtakes.
"""

# mypy: allow-untyped-defs, allow-untyped-decorators, allow-untyped-calls
from __future__ import annotations

import math

import numpy as np
from numba import njit

from equivoc.measure.distribution import TIE_ROUNDING, TIE_SHARE
from equivoc.measure.overtaking import STEPS_PER_NAT, TABLE_END

NEVER = 9.0
"""A cumulative probability that no boundary reaches."""


@njit(cache=True, nogil=True, inline="always")
def reach(lowest, highest, eps):
    """The largest difference that a window of length ε covers, between values from ``lowest`` to ``highest``.

    Ties are decided in favour of covering: a little more than ε (see TIE_ROUNDING), the same for every pair, so that
    H at ε with ties is H at the reach without.
    """
    return eps + min(TIE_ROUNDING * max(abs(lowest), abs(highest)), TIE_SHARE * eps)


@njit(cache=True, nogil=True, inline="always")
def phi(q):
    """−q ln q, and 0 at 0."""
    return -q * math.log(q) if q > 0.0 else 0.0


@njit(cache=True, nogil=True)
def window_starts(lows, highs, eps):
    """first[i]: the smallest boundary k such that one window of length ε covers the items k … i−1.

    An item is a value, or a group of neighbouring values from ``lows[i]`` to ``highs[i]``; a window covers a run of
    groups when it touches the first and the last one.
    """
    return starts_within(lows, highs, reach(lows[0], highs[-1], eps))


@njit(cache=True, nogil=True)
def starts_within(lows, highs, limit):
    """As window_starts, where ``limit`` is the largest difference that a window covers."""
    n = len(lows)
    first = np.empty(n + 2, np.int32)
    first[0] = 0
    k = 0
    for i in range(1, n + 1):
        while k < i - 1 and lows[i - 1] - highs[k] > limit:
            k += 1
        first[i] = k
    first[n + 1] = n
    return first


@njit(cache=True, nogil=True)
def values_within(x, limit):
    """How many values a window that starts at the first one covers."""
    reached = 1
    while reached < len(x) and x[reached] - x[0] <= limit:
        reached += 1
    return reached


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


@njit(cache=True, nogil=True, inline="always")
def overtaken_after(handicap, apart, table):
    """The mass u at which the older of two starts overtakes the newer: φ(u + apart) − φ(u) = handicap.

    ``apart`` is the probability between the two starts, ``handicap`` the newer one's cost less the older one's.
    −1: the newer one is never ahead.
    """
    if apart <= 0.0:
        return NEVER if handicap < 0.0 else -1.0
    y = -math.log(apart) - handicap / apart
    if y <= 0.0:
        return -1.0
    if y >= TABLE_END:
        if y > 80.0:
            return NEVER
        middle = math.exp(y - 1.0)
        return apart * (middle + 1.0 / (24.0 * middle) - 0.5)
    z = y * STEPS_PER_NAT
    k = int(z)
    if k < 1:
        return apart * _inverse_near_zero(y)
    f = z - k
    v0 = table[k, 0]
    rise = table[k + 1, 0] - v0
    slope0 = table[k, 1]
    slope1 = table[k + 1, 1]
    v = v0 + f * (slope0 + f * ((3.0 * rise - 2.0 * slope0 - slope1) + f * (slope0 + slope1 - 2.0 * rise)))
    if y < 0.25:  # the inverse bends too sharply there for a cubic alone
        v = _newton_step(y, v)
    return apart * v


@njit(cache=True, nogil=True)
def empty_stack(n):
    """Room for a stack of starts: cost, cumulative probability, where the one below overtakes, boundary."""
    return np.empty(n + 2), np.empty(n + 2), np.empty(n + 2), np.empty(n + 2, np.int32)


@njit(cache=True, nogil=True)
def before_block(cost, tight, cum, first, wanted, block, end, table, stack, best, origin):
    """For the boundaries block < i ≤ end: the best tight start that lies before ``block`` and still reaches i.

    Runs from right to left, so that starts only arrive (older ones later) and none expires.
    """
    at_cost, at_mass, until, start = stack
    top = 0
    lowest = cum[block + 1]
    j = block - 1
    for i in range(end, block, -1):
        if not wanted[i]:
            continue
        here = cum[i]
        while top > 0 and until[top] >= here:
            top -= 1
        while j >= first[i]:
            if tight[j]:
                c, m = cost[j], cum[j]
                ahead_down_to = -1.0
                while top > 0:
                    u = overtaken_after(at_cost[top] - c, at_mass[top] - m, table)
                    ahead_down_to = at_mass[top] + u
                    if u < 0.0 or ahead_down_to <= until[top] or ahead_down_to <= lowest:
                        top -= 1
                        ahead_down_to = -1.0
                    else:
                        break
                if ahead_down_to < here:
                    top += 1
                    at_cost[top], at_mass[top], until[top], start[top] = c, m, ahead_down_to, j
            j -= 1
        if top > 0:
            best[i] = at_cost[top] + phi(here - at_mass[top])
            origin[i] = start[top]
        else:
            best[i] = np.inf


@njit(cache=True, nogil=True)
def window_start_boundaries(first):
    """Which boundaries some window starts from because it can reach no further left (and the last one)."""
    n = len(first) - 2
    wanted = np.zeros(n + 1, np.bool_)
    for i in range(1, n + 1):
        wanted[first[i]] = True
    wanted[n] = True
    return wanted


@njit(cache=True, nogil=True)
def prefix_costs(cum, first, wanted, table):
    """D(i) in nats and the boundary its last window starts from, for every boundary i; and which are tight.

    Boundaries that no optimal partition needs have D = inf. ``cum`` may be a prefix of what ``first`` describes.
    """
    n = len(cum) - 1
    cost = np.empty(n + 1)
    origin = np.zeros(n + 1, np.int32)
    tight = np.zeros(n + 1, np.bool_)
    cost[0] = 0.0
    tight[0] = True
    best = np.empty(n + 1)
    stack = empty_stack(n)
    at_cost, at_mass, until, start = stack
    block = 0
    while block < n:
        end = block + 1
        while end < n and first[end + 1] <= block:
            end += 1
        before_block(cost, tight, cum, first, wanted, block, end, table, stack, best, origin)
        top = 0
        arrived = block
        highest = cum[end]
        for i in range(block + 1, end + 1):
            here = cum[i]
            # Windows that end here because they can go no further.
            ending = np.inf
            source = -1
            for k in range(first[i], first[i + 1]):
                if cost[k] < ending:
                    v = cost[k] + phi(here - cum[k])
                    if v < ending:
                        ending, source = v, k
            least = ending
            if wanted[i]:
                k = first[i]
                if cost[k] < least:
                    v = cost[k] + phi(here - cum[k])
                    if v < least:
                        least, source = v, k
                if best[i] < least:
                    least, source = best[i], origin[i]
                while top > 0 and until[top] <= here:
                    top -= 1
                while arrived < i:
                    if tight[arrived]:
                        c, m = cost[arrived], cum[arrived]
                        ahead_up_to = NEVER
                        while top > 0:
                            u = overtaken_after(c - at_cost[top], m - at_mass[top], table)
                            ahead_up_to = m + u
                            if u < 0.0 or ahead_up_to <= here:
                                ahead_up_to = -1.0
                                break
                            if ahead_up_to >= until[top] or ahead_up_to >= highest:
                                top -= 1
                                ahead_up_to = NEVER
                            else:
                                break
                        if ahead_up_to >= 0.0:
                            top += 1
                            at_cost[top], at_mass[top], until[top], start[top] = c, m, ahead_up_to, arrived
                    arrived += 1
                if top > 0 and at_cost[top] < least:
                    v = at_cost[top] + phi(here - at_mass[top])
                    if v < least:
                        least, source = v, start[top]
            cost[i] = least
            origin[i] = source
            tight[i] = ending <= least and least < np.inf
        block = end
    return cost, origin, tight


@njit(cache=True, nogil=True)
def join_halves(cost, tight, cum, first, suffix_cost, table):
    """H in nats from the costs of all prefixes up to a middle boundary and of all suffixes from it on.

    ``suffix_cost[t]`` belongs to boundary middle + t. Either a boundary lies at the middle, or one window crosses it.
    """
    middle = len(cost) - 1
    n = len(cum) - 1
    end = middle
    while end < n and first[end + 1] < middle:
        end += 1
    least = cost[middle] + suffix_cost[0]
    if end == middle:
        return least
    wanted = np.ones(end + 1, np.bool_)
    best = np.empty(end + 1)
    origin = np.empty(end + 1, np.int32)
    before_block(cost, tight, cum, first, wanted, middle, end, table, empty_stack(middle), best, origin)
    for i in range(middle + 1, end + 1):
        k = first[i]
        crossing = min(best[i], cost[k] + phi(cum[i] - cum[k]))
        least = min(least, crossing + suffix_cost[i - middle])
    return least


@njit(cache=True, nogil=True)
def widest_window(lows, highs, origin):
    """The largest diameter among the windows of the partition that ``origin`` describes."""
    widest = 0.0
    i = len(lows)
    while i > 0:
        j = origin[i]
        widest = max(widest, highs[i - 1] - lows[j])
        i = j
    return widest


@njit(cache=True, nogil=True)
def best_window(x, cum, eps):
    """V(ε): the mass of the heaviest window of length ε, and the items it covers (from, to); of several, the lowest."""
    heaviest, low, high = -1.0, 0, 0
    k = 0
    limit = reach(x[0], x[-1], eps)
    for i in range(len(x)):
        while x[i] - x[k] > limit:
            k += 1
        mass = cum[i + 1] - cum[k]
        if mass > heaviest + 1e-12:
            heaviest, low, high = mass, k, i
    return heaviest, low, high
