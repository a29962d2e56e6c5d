"""Compiled sweeps of a Gibbs chain over the sums (and flags) of a component's atoms."""

# mypy: allow-untyped-defs, allow-untyped-decorators, allow-untyped-calls

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

# Sums whose weight is below exp(-_NEGLIGIBLE) of the largest are skipped where weights are log-concave.
_NEGLIGIBLE = 27.0
_MOST_NEEDED = 6


class ChainTables(NamedTuple):
    """What does not change during a chain. Atoms are places in the component."""

    low: NDArray[np.int64]
    high: NDArray[np.int64]
    log_weight: NDArray[np.float64]
    """All tables one after another: per sum, flags summed out; then, for atoms with flags, 4 × sums."""
    total_at: NDArray[np.int64]
    """Where each atom's table begins."""
    flags_at: NDArray[np.int64]
    """Where the table by flags begins; −1: no flags."""
    width: NDArray[np.int64]
    """Sums in each atom's table."""
    move_at: NDArray[np.int64]
    """Where each move begins in the two arrays below."""
    move_atom: NDArray[np.int64]
    move_step: NDArray[np.int64]
    extreme_at: NDArray[np.int64]
    """Where the extremes of each atom begin in the two arrays below."""
    extreme: NDArray[np.int64]
    extreme_flag: NDArray[np.int64]
    log_concave: bool
    plain: NDArray[np.bool_]
    """Atoms whose sum is recorded once per sweep; the others at every move, with its probabilities."""
    record_at: NDArray[np.int64]
    """Where the record of each atom begins: states × sums from its low to its high."""


@njit(cache=True, nogil=True)
def sweeps(tables, sums, states, covered, count, rng, record, first, second):
    """Run ``count`` sweeps in place; return the number of table look-ups.

    ``covered`` has the number of raised flags of each extreme. ``record`` collects probabilities (empty: nothing is
    recorded), ``first`` and ``second`` the sums' first and second moments.
    """
    longest = 1
    for a in range(len(sums)):
        longest = max(longest, tables.high[a] - tables.low[a] + 1)
    weight = np.empty(longest)
    moves = len(tables.move_at) - 1
    spent = count * len(sums)
    for sweep in range(count):
        # Neighbouring sweeps say nearly the same: probabilities are recorded in every other one.
        recorded = record if sweep % 2 == 0 else record[:0]
        for move in range(moves):
            spent += _move(tables, sums, states, covered, move, rng, weight, recorded)
        for a in range(len(sums)):
            first[a] += sums[a]
            second[a] += float(sums[a]) * sums[a]
        if len(record):
            for a in range(len(sums)):
                if tables.plain[a]:
                    width = tables.high[a] - tables.low[a] + 1
                    record[tables.record_at[a] + states[a] * width + sums[a] - tables.low[a]] += 1.0
    return spent


@njit(cache=True, nogil=True)
def _move(tables, sums, states, covered, move, rng, weight, record):
    """Draw the length of one move, and the flags of its atoms, from their exact conditional distribution."""
    start, stop = tables.move_at[move], tables.move_at[move + 1]
    begin, end = -(1 << 60), 1 << 60
    flagged = 0
    for k in range(start, stop):
        a, step = tables.move_atom[k], tables.move_step[k]
        if step > 0:
            begin = max(begin, -((sums[a] - tables.low[a]) // step))
            end = min(end, (tables.high[a] - sums[a]) // step)
        elif step < 0:
            begin = max(begin, -((tables.high[a] - sums[a]) // -step))
            end = min(end, (sums[a] - tables.low[a]) // -step)
        if tables.flags_at[a] >= 0:
            flagged += 1
    if begin == -(1 << 60):
        begin = end = 0
    if flagged == 0:
        if begin == end:
            if len(record):
                weight[0] = 1.0
                _record(tables, sums, start, stop, 0, 0, weight, record)
            return stop - start
        first, last = _plain_weights(tables, sums, start, stop, begin, end, weight)
        seen = weight[first - begin : last - begin + 1]
        length = first + _draw(seen, len(seen), rng)
        if len(record):
            _record(tables, sums, start, stop, first, last, seen, record)
        for k in range(start, stop):
            sums[tables.move_atom[k]] += length * tables.move_step[k]
        return (last - first + 1) * (stop - start)
    return _flagged_move(tables, sums, states, covered, start, stop, begin, end, rng, weight)


@njit(cache=True, nogil=True)
def _plain_log(tables, sums, start, stop, length):
    log = 0.0
    for k in range(start, stop):
        a = tables.move_atom[k]
        log += tables.log_weight[tables.total_at[a] + sums[a] + length * tables.move_step[k]]
    return log


@njit(cache=True, nogil=True)
def _plain_weights(tables, sums, start, stop, begin, end, weight):
    """Weights of the lengths first … last, relative to the largest, into ``weight`` at length − begin."""
    first, last = begin, end
    if tables.log_concave:
        # Away from the largest weight they only fall: walk from 0 until they are negligible.
        peak = _plain_log(tables, sums, start, stop, 0)
        weight[-begin] = peak
        last = 0
        while last < end:
            log = _plain_log(tables, sums, start, stop, last + 1)
            if log < peak - _NEGLIGIBLE:
                break
            peak = max(peak, log)
            last += 1
            weight[last - begin] = log
        first = 0
        while first > begin:
            log = _plain_log(tables, sums, start, stop, first - 1)
            if log < peak - _NEGLIGIBLE:
                break
            peak = max(peak, log)
            first -= 1
            weight[first - begin] = log
    else:
        for place in range(end - begin + 1):
            weight[place] = 0.0
        for k in range(start, stop):
            a, step = tables.move_atom[k], tables.move_step[k]
            at = tables.total_at[a] + sums[a] + begin * step
            for place in range(end - begin + 1):
                weight[place] += tables.log_weight[at + place * step]
        peak = -np.inf
        for place in range(end - begin + 1):
            peak = max(peak, weight[place])
    for place in range(first - begin, last - begin + 1):
        weight[place] = np.exp(weight[place] - peak)
    return first, last


@njit(cache=True, nogil=True)
def _draw(weight, count, rng):
    total = 0.0
    for place in range(count):
        total += weight[place]
    left = rng.random() * total
    chosen = -1
    for place in range(count):
        if weight[place] > 0:
            chosen = place
            left -= weight[place]
            if left < 0:
                break
    return chosen


@njit(cache=True, nogil=True)
def _record(tables, sums, start, stop, first, last, weight, record):
    """Add each length's probability to the sums that it leads to."""
    total = 0.0
    for place in range(last - first + 1):
        total += weight[place]
    for k in range(start, stop):
        a, step = tables.move_atom[k], tables.move_step[k]
        if step == 0 or tables.plain[a]:
            continue
        at = tables.record_at[a] + sums[a] - tables.low[a] + first * step
        for place in range(last - first + 1):
            record[at + place * step] += weight[place] / total


@njit(cache=True, nogil=True)
def _flagged_move(tables, sums, states, covered, start, stop, begin, end, rng, weight):
    """The same with flags: an extreme that nobody outside the move attains must be attained inside."""
    needed = np.empty(_MOST_NEEDED, np.int64)
    count = _take_flags_off(tables, states, covered, start, stop, needed)
    if count < 0:
        return _fixed_flags_move(tables, sums, states, covered, start, stop, begin, end, rng, weight)
    full = (1 << count) - 1
    size = stop - start
    paths = np.zeros((size + 1, full + 1))
    peak = -np.inf
    for length in range(begin, end + 1):
        log = _plain_log(tables, sums, start, stop, length)
        if log > -np.inf and count:
            _flag_paths(tables, sums, start, stop, length, needed, count, paths)
            reached = paths[size, full]
            log = log + np.log(reached) if reached > 0 else -np.inf
        weight[length - begin] = log
        peak = max(peak, log)
    for place in range(end - begin + 1):
        weight[place] = np.exp(weight[place] - peak)
    length = begin + _draw(weight, end - begin + 1, rng)
    _flag_paths(tables, sums, start, stop, length, needed, count, paths)
    goal = full
    for k in range(stop - 1, start - 1, -1):
        a = tables.move_atom[k]
        value = sums[a] + length * tables.move_step[k]
        if tables.flags_at[a] >= 0:
            goal = _draw_state(tables, states, a, value, needed, count, paths[k - start], goal, rng)
        sums[a] = value
    _put_flags_on(tables, states, covered, start, stop)
    return (end - begin + 1) * size * (1 + 4 * (count > 0) * (full + 1))


@njit(cache=True, nogil=True)
def _take_flags_off(tables, states, covered, start, stop, needed):
    """Forget the flags of the move's atoms; list the extremes that nobody else attains (−1: too many to list)."""
    for k in range(start, stop):
        a = tables.move_atom[k]
        for e in range(tables.extreme_at[a], tables.extreme_at[a + 1]):
            if states[a] & tables.extreme_flag[e]:
                covered[tables.extreme[e]] -= 1
    count = 0
    for k in range(start, stop):
        a = tables.move_atom[k]
        for e in range(tables.extreme_at[a], tables.extreme_at[a + 1]):
            if covered[tables.extreme[e]] == 0:
                seen = False
                for i in range(count):
                    seen = seen or needed[i] == tables.extreme[e]
                if not seen:
                    if count == _MOST_NEEDED:
                        return -1
                    needed[count] = tables.extreme[e]
                    count += 1
    return count


@njit(cache=True, nogil=True)
def _put_flags_on(tables, states, covered, start, stop):
    for k in range(start, stop):
        a = tables.move_atom[k]
        for e in range(tables.extreme_at[a], tables.extreme_at[a + 1]):
            if states[a] & tables.extreme_flag[e]:
                covered[tables.extreme[e]] += 1


@njit(cache=True, nogil=True)
def _reaches(tables, a, state, needed, count):
    """The needed extremes that the atom attains in this state, one bit each."""
    found = 0
    for e in range(tables.extreme_at[a], tables.extreme_at[a + 1]):
        if state & tables.extreme_flag[e]:
            for i in range(count):
                if needed[i] == tables.extreme[e]:
                    found |= 1 << i
    return found


@njit(cache=True, nogil=True)
def _flag_paths(tables, sums, start, stop, length, needed, count, paths):
    """Probabilities of the sets of needed extremes that the first atoms of the move attain, given their sums."""
    paths[0, :] = 0.0
    paths[0, 0] = 1.0
    for k in range(start, stop):
        a = tables.move_atom[k]
        row = k - start
        if tables.flags_at[a] < 0:
            paths[row + 1, :] = paths[row, :]
            continue
        paths[row + 1, :] = 0.0
        value = sums[a] + length * tables.move_step[k]
        whole = tables.log_weight[tables.total_at[a] + value]
        for state in range(4):
            log = tables.log_weight[tables.flags_at[a] + state * tables.width[a] + value]
            if log > -np.inf:
                bits = _reaches(tables, a, state, needed, count)
                share = np.exp(log - whole)
                for reached in range(1 << count):
                    paths[row + 1, reached | bits] += paths[row, reached] * share


@njit(cache=True, nogil=True)
def _draw_state(tables, states, a, value, needed, count, path, goal, rng):
    """Draw the atom's flags, given that it and those before attain exactly ``goal``; return their share of it."""
    whole = tables.log_weight[tables.total_at[a] + value]
    option = np.zeros(4 << count)
    for state in range(4):
        log = tables.log_weight[tables.flags_at[a] + state * tables.width[a] + value]
        if log > -np.inf:
            bits = _reaches(tables, a, state, needed, count)
            for reached in range(1 << count):
                if reached | bits == goal:
                    option[state << count | reached] = path[reached] * np.exp(log - whole)
    chosen = _draw(option, len(option), rng)
    states[a] = chosen >> count
    return chosen & ((1 << count) - 1)


@njit(cache=True, nogil=True)
def _fixed_flags_move(tables, sums, states, covered, start, stop, begin, end, rng, weight):
    """The move with all flags kept as they are."""
    peak = -np.inf
    for length in range(begin, end + 1):
        log = 0.0
        for k in range(start, stop):
            a = tables.move_atom[k]
            at = tables.total_at[a]
            if tables.flags_at[a] >= 0:
                at = tables.flags_at[a] + states[a] * tables.width[a]
            log += tables.log_weight[at + sums[a] + length * tables.move_step[k]]
        weight[length - begin] = log
        peak = max(peak, log)
    for place in range(end - begin + 1):
        weight[place] = np.exp(weight[place] - peak)
    length = begin + _draw(weight, end - begin + 1, rng)
    for k in range(start, stop):
        sums[tables.move_atom[k]] += length * tables.move_step[k]
    _put_flags_on(tables, states, covered, start, stop)
    return (end - begin + 1) * (stop - start)
