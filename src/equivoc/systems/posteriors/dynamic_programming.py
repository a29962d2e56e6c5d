"""Exact weights of all databases that fit, atom by atom: the state is the partial sum of every open known sum.

An option is what one atom contributes: amounts to the counters that it takes part in, bits of the extremes
that it attains, and a log weight. Atoms are added in an order that keeps few counters open. A forward and a backward
pass give each option's probability; both passes and the draws use the same stored transitions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from equivoc.systems.system import ContradictionError

MOST_OPEN = 14
MOST_EXTREMES = 62
# Mixed-radix numbers of states stay below this.
_LARGEST_KEY = 2**62


@dataclass(frozen=True, eq=False)
class Options:
    """What one atom may contribute; sorted by the first column of ``amounts``."""

    counters: tuple[int, ...]
    amounts: NDArray[np.int64]
    """Options × counters."""
    bits: NDArray[np.int64]
    """The extremes that each option attains, one bit each."""
    log_weight: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Check:
    """A condition on counters that have no known total."""

    counters: tuple[int, ...]
    holds: Callable[[NDArray[np.int64]], NDArray[np.bool_]]
    """From values (states × these counters) to which of them may stay."""


@dataclass(frozen=True, eq=False)
class Network:
    """Atoms' options, the totals that counters must reach (None: see the checks), and the extremes to attain."""

    atoms: tuple[Options, ...]
    totals: tuple[int | None, ...]
    extremes: int
    """How many extremes; all of their bits must be raised by some atom."""
    checks: tuple[Check, ...] = ()


@dataclass(frozen=True, eq=False)
class _Step:
    atom: int
    source: NDArray[np.int64] = field(repr=False)
    option: NDArray[np.int64] = field(repr=False)
    target: NDArray[np.int64] = field(repr=False)


@dataclass(frozen=True, eq=False)
class Counted:
    """The result: the probability of every option of every atom."""

    options: tuple[NDArray[np.float64], ...] = field(repr=False)
    log_total: float
    transitions: int
    _steps: tuple[_Step, ...] = field(repr=False)
    _shares: tuple[NDArray[np.float64], ...] = field(repr=False)

    def draw(self, draws: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """Draws × atoms: the number of each atom's option, jointly from the distribution."""
        result = np.empty((draws, len(self.options)), dtype=np.int64)
        state = np.zeros(draws, dtype=np.int64)
        for step, share in zip(self._steps, self._shares, strict=True):
            # Transitions are sorted by source; `share` are their probabilities given the source.
            start = np.searchsorted(step.source, state)
            stop = np.searchsorted(step.source, state, side="right")
            upto = np.concatenate([[0.0], np.cumsum(share)])
            wanted = upto[start] + rng.random(draws) * (upto[stop] - upto[start])
            taken = np.clip(np.searchsorted(upto, wanted, side="right") - 1, start, stop - 1)
            # Rounding can end on a transition of probability 0: take the likeliest one instead.
            for bad in np.flatnonzero(share[taken] <= 0):
                taken[bad] = start[bad] + int(np.argmax(share[start[bad] : stop[bad]]))
            result[:, step.atom] = step.option[taken]
            state = step.target[taken]
        return result


def count(network: Network, *, most: float) -> Counted | None:
    """Sum over all databases that fit; None if it would take more than ``most`` transitions.

    The number of transitions of a step is known before it is made. ContradictionError if nothing fits.

    >>> atom = Options((0,), np.array([[0], [1]]), np.zeros(2, np.int64), np.log([0.5, 0.5]))
    >>> [p.tolist() for p in count(Network((atom, atom), (1,), 0), most=100).options]
    [[0.5, 0.5], [0.5, 0.5]]
    """
    if network.extremes > MOST_EXTREMES:
        return None
    order = _order(network)
    if order is None:
        return None
    passed = _forward(network, order, most)
    if passed is None:
        return None
    steps, forward = passed
    return _backward(network, steps, forward)


def _order(network: Network) -> list[int] | None:
    """Atoms so that few counters and extremes are open at once; None if many are."""
    touching: dict[int, list[int]] = {}
    own: list[set[int]] = []
    for atom, options in enumerate(network.atoms):
        things = set(options.counters)
        raised = int(np.bitwise_or.reduce(options.bits, initial=0))
        things |= {-1 - bit for bit in range(network.extremes) if raised >> bit & 1}
        own.append(things)
        for thing in things:
            touching.setdefault(thing, []).append(atom)
    left = {thing: len(atoms) for thing, atoms in touching.items()}
    done = [False] * len(own)
    opened: set[int] = set()
    order: list[int] = []
    waiting = sorted(range(len(own)), key=lambda a: (len(own[a]), a))
    place = 0
    while len(order) < len(own):
        candidates = {a for thing in opened for a in touching[thing] if not done[a]}
        if candidates:
            best = min(
                candidates, key=lambda a: (_opens(own[a], opened, left), len(network.atoms[a].bits), a)
            )
        else:
            while done[waiting[place]]:
                place += 1
            best = waiting[place]
        done[best] = True
        order.append(best)
        for thing in own[best]:
            left[thing] -= 1
            opened.discard(thing) if left[thing] == 0 else opened.add(thing)
        if sum(thing >= 0 for thing in opened) > MOST_OPEN:
            return None
    return order


def _opens(things: set[int], opened: set[int], left: dict[int, int]) -> int:
    return sum((left[t] > 1) and t not in opened for t in things) - sum(
        (left[t] == 1) and t in opened for t in things
    )


@dataclass(eq=False)
class _States:
    """The partial sums so far: one row per state."""

    counters: list[int]
    values: NDArray[np.int64]
    bits: NDArray[np.int64]
    log: NDArray[np.float64]


def _forward(
    network: Network, order: Sequence[int], most: float
) -> tuple[tuple[_Step, ...], list[NDArray[np.float64]]] | None:
    last = _last_touch(network, order)
    least, greatest = _remaining(network, order)
    closing = _closing_extremes(network, order)
    states = _States([], np.zeros((1, 0), dtype=np.int64), np.zeros(1, dtype=np.int64), np.zeros(1))
    steps: list[_Step] = []
    logs = [states.log]
    spent = 0
    for when, atom in enumerate(order):
        options = network.atoms[atom]
        begin, end = _window(states, options, network.totals, least[when], greatest[when])
        spent += int(np.maximum(end - begin, 0).sum())
        if spent > most:
            return None
        states, step = _advance(network, states, atom, begin, end, when, last, closing[when])
        steps.append(step)
        logs.append(states.log)
        if not len(states.log):
            raise ContradictionError()
    return tuple(steps), logs


def _last_touch(network: Network, order: Sequence[int]) -> dict[int, int]:
    """When each counter can be closed: after its last atom, or with its check."""
    last: dict[int, int] = {}
    for when, atom in enumerate(order):
        for counter in network.atoms[atom].counters:
            last[counter] = when
    for check in network.checks:
        together = max(last.get(c, 0) for c in check.counters)
        last.update(dict.fromkeys(check.counters, together))
    return last


def _remaining(network: Network, order: Sequence[int]) -> tuple[list[dict[int, int]], list[dict[int, int]]]:
    """Per step, what the atoms after it add to each counter: least and greatest."""
    low: dict[int, int] = {}
    high: dict[int, int] = {}
    least: list[dict[int, int]] = []
    greatest: list[dict[int, int]] = []
    for atom in reversed(order):
        options = network.atoms[atom]
        least.append({c: low.get(c, 0) for c in options.counters})
        greatest.append({c: high.get(c, 0) for c in options.counters})
        for place, counter in enumerate(options.counters):
            low[counter] = low.get(counter, 0) + int(options.amounts[:, place].min())
            high[counter] = high.get(counter, 0) + int(options.amounts[:, place].max())
    return least[::-1], greatest[::-1]


def _closing_extremes(network: Network, order: Sequence[int]) -> list[int]:
    """Per step, the bits of the extremes whose last atom it adds."""
    closing = [0] * len(order)
    for bit in range(network.extremes):
        touch = [w for w, a in enumerate(order) if (network.atoms[a].bits >> bit & 1).any()]
        if not touch:
            raise ContradictionError("answers contradict each other: nobody can have a MIN or MAX.")
        closing[touch[-1]] |= 1 << bit
    return closing


def _window(
    states: _States,
    options: Options,
    totals: Sequence[int | None],
    least: dict[int, int],
    greatest: dict[int, int],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """For each state, the options (a stretch of them) whose first amount can still reach the totals."""
    count = len(states.log)
    if not options.counters:
        return np.zeros(count, dtype=np.int64), np.full(count, len(options.bits), dtype=np.int64)
    first = options.amounts[:, 0]
    low = np.full(count, first[0], dtype=np.int64)
    high = np.full(count, first[-1], dtype=np.int64)
    for place, counter in enumerate(options.counters):
        total = totals[counter]
        if total is None or (place and not np.array_equal(options.amounts[:, place], first)):
            continue
        partial = states.values[:, states.counters.index(counter)] if counter in states.counters else 0
        low = np.maximum(low, total - greatest[counter] - partial)
        high = np.minimum(high, total - least[counter] - partial)
    return np.searchsorted(first, low), np.searchsorted(first, high, side="right")


def _advance(
    network: Network,
    states: _States,
    atom: int,
    begin: NDArray[np.int64],
    end: NDArray[np.int64],
    when: int,
    last: dict[int, int],
    closing: int,
) -> tuple[_States, _Step]:
    options = network.atoms[atom]
    width = np.maximum(end - begin, 0)
    source = np.repeat(np.arange(len(width)), width)
    option = np.arange(len(source)) - np.repeat(np.cumsum(width) - width, width) + begin[source]
    counters = list(states.counters) + [c for c in options.counters if c not in states.counters]
    values = np.zeros((len(source), len(counters)), dtype=np.int64)
    values[:, : len(states.counters)] = states.values[source]
    for place, counter in enumerate(options.counters):
        values[:, counters.index(counter)] += options.amounts[option, place]
    bits = states.bits[source] | options.bits[option]
    keep = (bits & closing) == closing
    for column, counter in enumerate(counters):
        total = network.totals[counter]
        if total is not None:
            keep &= values[:, column] <= total
            if last[counter] == when:
                keep &= values[:, column] == total
    for check in network.checks:
        if last[check.counters[0]] == when:
            keep &= check.holds(values[:, [counters.index(c) for c in check.counters]])
    stay = [column for column, counter in enumerate(counters) if last[counter] > when]
    source, option = source[keep], option[keep]
    values, bits = values[keep][:, stay], bits[keep] & ~closing
    target, example = number_states(values, bits)
    log = sum_by(target, states.log[source] + options.log_weight[option], len(example))
    after = _States([counters[c] for c in stay], values[example], bits[example], log)
    return after, _Step(atom, source, option, target)


def number_states(
    values: NDArray[np.int64], bits: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Equal states get equal numbers; and one example of each."""
    key, span = np.zeros(len(bits), dtype=np.int64), 1
    for column in [bits, *values.T]:
        if not len(column):
            break
        low, width = int(column.min()), int(column.max()) - int(column.min()) + 1
        if width == 1:
            continue
        if span > _LARGEST_KEY // width:
            _, key = np.unique(key, return_inverse=True)
            span = len(key)
            if width > _LARGEST_KEY // span:
                _, column = np.unique(column, return_inverse=True)
                low, width = 0, len(column)
        key, span = key * width + (column - low), span * width
    _, example, target = np.unique(key, return_index=True, return_inverse=True)
    return target.reshape(-1), example


def sum_by(group: NDArray[np.int64], log: NDArray[np.float64], groups: int) -> NDArray[np.float64]:
    """log Σ exp(log) per group, −inf for an empty one."""
    peak = np.full(groups, -np.inf)
    np.maximum.at(peak, group, log)
    safe = np.where(peak > -np.inf, peak, 0.0)
    total = np.bincount(group, weights=np.exp(log - safe[group]), minlength=groups)
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(total) + safe, dtype=np.float64)


def _backward(network: Network, steps: tuple[_Step, ...], forward: list[NDArray[np.float64]]) -> Counted:
    after = np.zeros(len(forward[-1]))
    log_total = float(np.logaddexp.reduce(forward[-1]))
    found: list[NDArray[np.float64]] = [np.empty(0)] * len(network.atoms)
    shares: list[NDArray[np.float64]] = []
    for when in range(len(steps) - 1, -1, -1):
        step, weights = steps[when], network.atoms[steps[when].atom].log_weight
        log = weights[step.option] + after[step.target]
        share = np.exp(forward[when][step.source] + log - log_total)
        spread = np.bincount(step.option, weights=share, minlength=len(weights))
        found[step.atom] = spread.astype(np.float64)
        after = sum_by(step.source, log, len(forward[when]))
        safe = np.where(after > -np.inf, after, 0.0)
        shares.append(np.exp(log - safe[step.source]))
    return Counted(
        tuple(found), log_total, sum(len(step.source) for step in steps), steps, tuple(shares[::-1])
    )
