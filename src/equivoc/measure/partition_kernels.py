"""One exact H(ε) in near-linear time: the least cost of every prefix. Compiled.

D(i) = min over j of D(j) + φ(P_i − P_j), where one window covers the items j … i − 1. φ is concave: of two starts j the
older one only improves relative to the newer one as i moves right. So without expiry a stack of starts, each with
the cumulative probability at which the one below becomes better, has the best one on top. Windows make old starts
expire, so boundaries are cut into blocks. For a boundary of a block that begins at ``begin``, the starts before
``begin`` only expire (searched from right to left, where they only arrive), and those from ``begin`` on only arrive.
docs/method.md, section 5.
"""

# mypy: allow-untyped-defs, allow-untyped-decorators, allow-untyped-calls, disable-error-code="call-arg"

from __future__ import annotations

import math

import numpy as np
from numba import njit, types
from numba.extending import intrinsic

# φ(q) = −q ln q without a function call, so that the compiler can vectorise it. Compiled.
#
# q = 2^e · m with √½ ≤ m < √2, read off q's bits; ln m = 2 artanh s with s = (m − 1)/(m + 1), by its series.
# |s| is at most 0.1716, so ten terms leave less than 1e-16. A check for division by zero would prevent
# vectorisation: callers use NumPy's error model.

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


# The point at which an older window start becomes better than a newer one. Compiled.
#
# Two starts, ``apart`` (δ) in cumulative probability, differ in cost by ``handicap`` (c). The costs are equal
# when the newer one's window has mass u, φ(u + δ) − φ(u) = c with φ(q) = −q ln q. With v = u/δ this is
#
#     (v + 1) ln(v + 1) − v ln v = −ln δ − c/δ = y,
#
# one increasing function of one variable. Its inverse v(y) is tabulated with its slope, for cubic Hermite
# interpolation (relative error below 1e-12 from y = ¼ on; below, Newton steps are added). Beyond the table
# v = e^(y−1) − ½ + e^(1−y)/24 is as good.

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


compiled = njit(cache=True, nogil=True, error_model="numpy")


@compiled
def _through(cost, cum, j, i):
    """The cost of the best prefix up to i whose last window starts at j."""
    return cost[j] + phi(cum[i] - cum[j])


@compiled
def _better(cost, cum, j, i, best, source):
    """The smaller of ``best`` and the cost through j; j is recorded if its cost is smaller."""
    through = _through(cost, cum, j, i)
    if through < best:
        source[i] = j
        return through
    return best


@compiled
def _note(cum, i, stack, until, top, source):
    """Record the best start for i in the search from right to left; returns the top of the stack."""
    while top > 0 and until[top] >= cum[i]:
        top -= 1
    source[i] = stack[top] if top >= 0 else i - 1
    return top


@compiled
def _push_older(cost, cum, start, here, lowest, stack, until, slopes, top):
    """Push a start older than all others on the stack of the search from right to left; returns the top of the stack.

    It leads at ``here`` and further left down to a crossing point. One that is no corner of the lower convex hull of
    the points (P, D) between its neighbours on the stack is never best and is popped without computing that point.
    """
    while top >= 0 and until[top] >= here:
        top -= 1
    slope, ahead_down_to = np.inf, -1.0
    while top >= 0:
        best = stack[top]
        apart = cum[best] - cum[start]
        slope = (cost[best] - cost[start]) / apart
        if slope < slopes[top]:
            u = overtaken_after(slope, apart)
            ahead_down_to = cum[best] + u
            if u >= 0.0 and ahead_down_to > until[top] and ahead_down_to > lowest:
                break
        top -= 1
        slope, ahead_down_to = np.inf, -1.0
    if ahead_down_to < here:
        top += 1
        until[top], slopes[top], stack[top] = ahead_down_to, slope, start
    return top


@compiled
def _push_newer(cost, cum, start, here, highest, stack, until, slopes, top):
    """Push the newest start on the stack of the search from left to right; returns the top of the stack."""
    slope, ahead_up_to = -np.inf, NEVER
    while top >= 0:
        best = stack[top]
        apart = cum[start] - cum[best]
        slope = (cost[start] - cost[best]) / apart
        if slope > slopes[top]:
            u = overtaken_after(slope, apart)
            ahead_up_to = cum[start] + u
            if u < 0.0 or ahead_up_to <= here:
                return top
            if ahead_up_to < until[top] and ahead_up_to < highest:
                break
        top -= 1
        slope, ahead_up_to = -np.inf, NEVER
    top += 1
    until[top], slopes[top], stack[top] = ahead_up_to, slope, start
    return top


@compiled
def _window_starts(ends, starts, limit):
    """first[i]: the smallest boundary from which one window reaches i; and which boundaries are such a first[i]."""
    n = len(ends)
    first, is_start = np.empty(n + 2, np.int64), np.zeros(n + 2, np.bool_)
    k = 0
    first[0] = 0
    for i in range(1, n + 1):
        while ends[i - 1] - starts[k] > limit:
            k += 1
        first[i] = k
        is_start[k] = True
    first[n + 1] = n
    is_start[n] = True
    return first, is_start


@compiled
def least_costs(cum, ends, starts, limit, cost, source):
    """D of every boundary in nats, and the boundary at which the last window of each prefix starts.

    One window covers the items k … i if ``ends[i] - starts[k] <= limit``: both are the values themselves, or what a
    window has to reach of cells of values.

    Of two adjacent windows of an optimal partition the heavier one cannot be extended across their boundary. So a
    boundary j is only worth a search if the window before it may end there because it reaches no further
    (first[j + 1] > first[j]) and it leads to a boundary from which a window reaches no further back; all other windows
    cannot be extended on one side at least, and there are few of those.
    """
    n = len(ends)
    first, is_start = _window_starts(ends, starts, limit)
    stack, until, slopes = np.empty(n + 1, np.int64), np.empty(n + 1), np.empty(n + 1)
    cost[0], source[0] = 0.0, 0
    begin = 1
    while begin <= n and first[begin] == 0:
        cost[begin], source[begin] = phi(cum[begin]), 0
        begin += 1
    while begin <= n:
        stop = begin  # the block: boundaries whose windows reach back beyond ``begin``
        while stop <= n and first[stop] < begin:
            stop += 1
        i, top = stop - 1, -1
        for j in range(begin - 1, first[begin] - 1, -1):
            if first[j + 1] > first[j]:
                while first[i] > j:
                    top = _note(cum, i, stack, until, top, source)
                    i -= 1
                top = _push_older(cost, cum, j, cum[i], cum[begin], stack, until, slopes, top)
        while i >= begin:
            top = _note(cum, i, stack, until, top, source)
            i -= 1
        top = -1
        for i in range(begin, stop):
            best, older = _through(cost, cum, first[i], i), np.int64(source[i])
            source[i] = first[i]
            if is_start[i]:
                best = _better(cost, cum, older, i, best, source)
                while top > 0 and until[top] <= cum[i]:
                    top -= 1
                if top >= 0:
                    best = _better(cost, cum, stack[top], i, best, source)
            else:
                for j in range(first[i] + 1, first[i + 1]):
                    best = _better(cost, cum, j, i, best, source)
            cost[i] = best
            if i + 1 < stop and first[i + 1] > first[i]:
                top = _push_newer(cost, cum, i, cum[i + 1], cum[stop - 1], stack, until, slopes, top)
        begin = stop
    return cost[n]


@compiled
def least_cost(cum, ends, starts, limit):
    """H in nats."""
    return least_costs(cum, ends, starts, limit, np.empty(len(cum)), np.empty(len(cum), np.int32))


@compiled
def widest_window(x, source):
    """The largest diameter among the windows of the optimal partition."""
    widest, i = 0.0, len(x)
    while i > 0:
        widest = max(widest, x[i - 1] - x[source[i]])
        i = source[i]
    return widest
