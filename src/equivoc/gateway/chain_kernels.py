"""The compiled chain over whole databases that fit the answers: each step redraws a few people's values along a line.

A line shifts the people ``who`` by t times their steps, so that no answered sum changes. The values t that keep
everyone in the domain, within the answered MIN and MAX, and leave every such answer attained by someone, are equally
likely: all databases that fit are.
"""

# mypy: allow-untyped-defs, allow-untyped-decorators, allow-untyped-calls

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

_MOST_CRITICAL = 16
# Below this, a share is rounding.
_TINY = 1e-9
_NO_GOAL, SUM_GOAL, MAX_GOAL, MIN_GOAL = 0, 1, 2, 3


class ChainShape(NamedTuple):
    """What does not change during a chain; people are record numbers, values are steps above the least."""

    valid: NDArray[np.bool_]
    """Which steps are values of the domain."""
    gapless: bool
    """All of them are."""
    atom_at: NDArray[np.int64]
    """Where each atom's people begin in ``atom_people``. People of an atom are in the same sums."""
    atom_people: NDArray[np.int64]
    pair_atom: NDArray[np.int64]
    """The atoms in which pairs are redrawn, one entry per pair and sweep."""
    alone: NDArray[np.int64]
    """People who are in no answered sum: each is redrawn alone."""
    move_at: NDArray[np.int64]
    """Where each move begins in the two arrays below."""
    move_atom: NDArray[np.int64]
    move_step: NDArray[np.int64]
    extreme_at: NDArray[np.int64]
    """Where each person's MIN and MAX answers begin in ``extreme_of``."""
    extreme_of: NDArray[np.int64]


class Goal(NamedTuple):
    """An answer that a chain is led to: until then, lines prefer values that bring it nearer."""

    kind: int
    inside: NDArray[np.bool_]
    """The query set."""
    target: int
    chosen: int
    """For MIN and MAX: who attains the answer."""


@njit(cache=True, inline="always")
def _random(state):
    """The next number of splitmix64."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    z = state[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@njit(cache=True, inline="always")
def _below(state, count):
    """A whole number from 0 to count − 1, for counts below 2^32; the bias is below count/2^32."""
    return np.int64(((_random(state) >> np.uint64(32)) * np.uint64(count)) >> np.uint64(32))


@njit(cache=True)
def _fraction(state):
    return np.float64(_random(state) >> np.uint64(11)) / 9007199254740992.0


@njit(cache=True, inline="always")
def _beyond(goal, person, value):
    """How far a person's value is from what the goal asks of her."""
    found = 0
    if goal.inside[person]:
        if goal.kind == MAX_GOAL and value > goal.target:
            found += value - goal.target
        elif goal.kind == MIN_GOAL and value < goal.target:
            found += goal.target - value
    if person == goal.chosen:
        found += abs(value - goal.target)
    return found


@njit(cache=True, nogil=True)
def distance(x, goal):
    """How far a database is from the goal: for SUM with its sign, else 0 or more; 0: reached."""
    found = 0
    for person in range(len(x)):
        if goal.kind == SUM_GOAL:
            if goal.inside[person]:
                found += x[person]
        else:
            found += _beyond(goal, person, x[person])
    return found - goal.target if goal.kind == SUM_GOAL else found


@njit(cache=True, nogil=True)
def _towards(x, who, step, count, allowed, choices, weight, goal, away, state):
    """Choose among the allowed t, each step away from the goal e times less likely; also the new distance."""
    least = 1 << 60
    rate = 0
    if goal.kind == SUM_GOAL:
        for k in range(count):
            if goal.inside[who[k]]:
                rate += step[k]
    else:
        for k in range(count):
            away -= _beyond(goal, who[k], x[who[k]])
    for c in range(choices):
        if goal.kind == SUM_GOAL:
            far = abs(away + allowed[c] * rate)
        else:
            far = away
            for k in range(count):
                far += _beyond(goal, who[k], x[who[k]] + allowed[c] * step[k])
        weight[c] = far
        least = min(least, far)
    total = 0.0
    for c in range(choices):
        total += np.exp(least - weight[c])
    rest = _fraction(state) * total
    chosen = choices - 1
    for c in range(choices):
        rest -= np.exp(least - weight[c])
        if rest < 0:
            chosen = c
            break
    t = allowed[chosen]
    if goal.kind == SUM_GOAL:
        return t, away + t * rate
    for k in range(count):
        away += _beyond(goal, who[k], x[who[k]] + t * step[k])
    return t, away


@njit(cache=True, nogil=True)
def _falling(far, rate, count):
    """The sum of ``exp(−far − k·rate)`` over k from 0 to count − 1."""
    return np.exp(-far) * -np.expm1(-rate * count) / -np.expm1(-rate)


@njit(cache=True, nogil=True)
def _towards_sum(begin, end, rate, away, state):
    """Choose t from begin to end with weight ``exp(−|away + t·rate|)``, rate not 0.

    The weights fall by the same factor per step on both sides of the goal: two geometric distributions, cut off.
    """
    slope = np.float64(abs(rate))
    middle = np.int64(np.floor(-away / rate))
    last, first = min(middle, end), max(middle + 1, begin)
    left, right = last - begin + 1, end - first + 1
    far_left, far_right = np.float64(abs(away + last * rate)), np.float64(abs(away + first * rate))
    if left > 0 and right > 0:
        near = min(far_left, far_right)
        below = _falling(far_left - near, slope, left)
        above = _falling(far_right - near, slope, right)
        downwards = _fraction(state) * (below + above) < below
    else:
        downwards = left > 0
    count = left if downwards else right
    drawn = np.log1p(_fraction(state) * np.expm1(-slope * count)) / -slope
    k = min(np.int64(drawn), count - 1)
    return last - k if downwards else first + k


@njit(cache=True, nogil=True)
def _keeps_attained(shape, x, value, who, step, count, critical, criticals, t):
    """True if after a step of length t each critical MIN and MAX answer is attained by someone of the line."""
    for c in range(criticals):
        fits = False
        for k in range(count):
            i = who[k]
            if x[i] + t * step[k] == value[critical[c]]:
                for e in range(shape.extreme_at[i], shape.extreme_at[i + 1]):
                    if shape.extreme_of[e] == critical[c]:
                        fits = True
        if not fits:
            return False
    return True


@njit(cache=True, nogil=True)
def _find_critical(shape, x, value, attained, who, count, critical):
    """MIN and MAX answers that only people of this line attain; how many, −1 if there is no room for them."""
    found = 0
    for k in range(count):
        i = who[k]
        for e in range(shape.extreme_at[i], shape.extreme_at[i + 1]):
            q = shape.extreme_of[e]
            if x[i] != value[q]:
                continue
            own = 0
            for other in range(count):
                j = who[other]
                if x[j] == value[q]:
                    for f in range(shape.extreme_at[j], shape.extreme_at[j + 1]):
                        if shape.extreme_of[f] == q:
                            own += 1
            if own == attained[q]:
                if found == len(critical):
                    return -1
                critical[found] = q
                found += 1
    return found


@njit(cache=True, nogil=True)
def sweeps(shape, x, low, high, value, attained, count, state, law, pool, goal):
    """Run at most ``count`` sweeps in place, until the goal is reached.

    ``law`` (pools × steps + 1; empty: do not record) collects, for each line, the probabilities of the values that it
    could have led to, as differences of neighbouring values: the sums along a row are the probabilities. One loop holds
    all kinds of lines: passing the arrays to a function for each line took most of the time.
    """
    moves = len(shape.move_at) - 1
    longest = 2
    for move in range(moves):
        longest = max(longest, shape.move_at[move + 1] - shape.move_at[move])
    who, step = np.empty(longest, dtype=np.int64), np.empty(longest, dtype=np.int64)
    allowed = np.empty(2 * len(shape.valid) + 2, dtype=np.int64)
    weight = np.empty(2 * len(shape.valid) + 2)
    critical = np.empty(_MOST_CRITICAL, dtype=np.int64)
    aimed, recorded = goal.kind != _NO_GOAL, law.shape[0] > 0
    away = distance(x, goal) if aimed else 1
    alone, pairs = len(shape.alone), len(shape.pair_atom)
    for line in range(count * (alone + pairs + moves)):
        if away == 0:
            break
        line %= alone + pairs + moves
        if line < alone:
            people = 1
            who[0], step[0] = shape.alone[line], 1
        elif line < alone + pairs:
            people = 2
            atom = shape.pair_atom[line - alone]
            first = shape.atom_at[atom]
            size = shape.atom_at[atom + 1] - first
            one = _below(state, size)
            other = _below(state, size - 1)
            other += other >= one
            who[0], step[0] = shape.atom_people[first + one], 1
            who[1], step[1] = shape.atom_people[first + other], -1
        else:
            start = shape.move_at[line - alone - pairs]
            people = shape.move_at[line - alone - pairs + 1] - start
            for k in range(people):
                atom = shape.move_atom[start + k]
                size = shape.atom_at[atom + 1] - shape.atom_at[atom]
                who[k] = shape.atom_people[shape.atom_at[atom] + _below(state, size)]
                step[k] = shape.move_step[start + k]
        begin, end = -(1 << 60), 1 << 60
        plain, bound, rate = shape.gapless and (not aimed or goal.kind == SUM_GOAL), False, 0
        for k in range(people):
            i, s = who[k], step[k]
            if s == 1:
                begin, end = max(begin, low[i] - x[i]), min(end, high[i] - x[i])
            elif s == -1:
                begin, end = max(begin, x[i] - high[i]), min(end, x[i] - low[i])
            else:
                plain = False
                if s > 0:
                    begin = max(begin, -((x[i] - low[i]) // s))
                    end = min(end, (high[i] - x[i]) // s)
                else:
                    begin = max(begin, -((high[i] - x[i]) // -s))
                    end = min(end, (x[i] - low[i]) // -s)
            if shape.extreme_at[i] != shape.extreme_at[i + 1]:
                bound = True
            if aimed and goal.inside[i]:
                rate += s
        if plain and not bound:  # every t from begin to end is possible
            if rate == 0:
                t = begin + _below(state, end - begin + 1)
            else:
                t = _towards_sum(begin, end, rate, away, state)
                away += t * rate
            if recorded:
                share = 1.0 / (end - begin + 1)
                for k in range(people):
                    i = who[k]
                    reached = x[i] + (begin if step[k] == 1 else -end)
                    law[pool[i], reached] += share
                    law[pool[i], reached + end - begin + 1] -= share
            for k in range(people):
                x[who[k]] += t * step[k]
            continue
        criticals = 0
        if bound:
            criticals = _find_critical(shape, x, value, attained, who, people, critical)
            if criticals < 0:
                begin, end, criticals = 0, 0, 0
        choices = 0
        for t in range(begin, end + 1):
            fits = True
            for k in range(people):
                if not shape.valid[x[who[k]] + t * step[k]]:
                    fits = False
            if fits and t != 0 and criticals:
                fits = _keeps_attained(shape, x, value, who, step, people, critical, criticals, t)
            if fits:
                allowed[choices] = t
                choices += 1
        if choices == 0:
            continue
        if aimed:
            t, away = _towards(x, who, step, people, allowed, choices, weight, goal, away, state)
        else:
            t = allowed[_below(state, choices)]
        if recorded:
            share = 1.0 / choices
            for k in range(people):
                i = who[k]
                for c in range(choices):
                    reached = x[i] + allowed[c] * step[k]
                    law[pool[i], reached] += share
                    law[pool[i], reached + 1] -= share
        for k in range(people):
            i = who[k]
            new = x[i] + t * step[k]
            for e in range(shape.extreme_at[i], shape.extreme_at[i + 1]):
                q = shape.extreme_of[e]
                attained[q] += (new == value[q]) - (x[i] == value[q])
            x[i] = new


@njit(cache=True, nogil=True)
def someone_disclosed(law, pools, least_h0):
    """True if a row of ``law``, as a distribution, has less than ``least_h0`` bits, or one value only.

    Looks at the rows ``pools``; ``law`` as ``sweeps`` collects it. A row that nothing was added to belongs to people
    who cannot move: disclosed.
    """
    values = law.shape[1] - 1
    for row in pools:
        share = total = greatest = 0.0
        for value in range(values):
            share += law[row, value]
            if share > _TINY:
                total += share
                greatest = max(greatest, share)
        if total == 0.0 or greatest > (1 - _TINY) * total:
            return True
        share = spread = 0.0
        for value in range(values):
            share += law[row, value]
            if share > _TINY:
                spread -= share / total * np.log2(share / total)
        if spread < least_h0 - _TINY:
            return True
    return False
