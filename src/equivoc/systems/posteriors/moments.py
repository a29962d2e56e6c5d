"""Components with a MEDIAN or a variance: all databases counted, with the counters that these answers need.

Variance: m · Σ x² − (Σ x)² is known, so the sums of x and of x² are counted. Median of 2k + 1 people: at most k are
below it and at most k above. Median of 2k people: the two middle values u ≤ v have a known sum; each pair is counted
apart.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import product

import numpy as np
from numpy.typing import NDArray

from equivoc.systems.posteriors.components import Component
from equivoc.systems.posteriors.dynamic_programming import (
    Check,
    Network,
    Options,
    count,
    number_states,
    sum_by,
)
from equivoc.systems.posteriors.exact import attained_bits
from equivoc.systems.posteriors.sum_tables import AtomDomain
from equivoc.systems.system import AnswerSystem, ContradictionError, KnownMoment

_MOST_CASES = 2_000


@dataclass(frozen=True, eq=False)
class _Counters:
    """What one moment counts, in one case of its middle values."""

    amounts: NDArray[np.int64]
    """|D| × counters: what a person with each value adds."""
    allowed: NDArray[np.bool_]
    """Per value."""
    check: Check = field(repr=False)
    """With counters 0, 1, …; renumbered when the network is made."""


def count_moments(
    system: AnswerSystem,
    component: Component,
    domains: tuple[AtomDomain, ...],
    prior: NDArray[np.float64],
    *,
    most: float,
) -> list[NDArray[np.float64]] | None:
    """A person's distribution in each atom of the component; None if it takes more than ``most`` steps."""
    cases = [_moment_cases(system, known) for known in component.moments]
    if np.prod([float(len(case)) for case in cases]) > _MOST_CASES:
        return None
    logs: list[float] = []
    people: list[list[NDArray[np.float64]]] = []
    for case in product(*cases):
        try:
            found = _one_case(system, component, domains, prior, case, most)
        except ContradictionError:
            continue
        if found is None:
            return None
        log_total, distributions, spent = found
        most -= spent
        logs.append(log_total)
        people.append(distributions)
    if not logs:
        raise ContradictionError()
    share = np.exp(np.array(logs) - max(logs))
    share /= share.sum()
    return [
        np.asarray(sum(s * own[place] for s, own in zip(share, people, strict=True)), dtype=np.float64)
        for place in range(len(component.atoms))
    ]


def _moment_cases(system: AnswerSystem, known: KnownMoment) -> list[_Counters]:
    positions = system.grid.positions
    size = int(system.atoms.sizes[known.atoms].sum())
    everyone = np.ones(len(positions), dtype=bool)
    if known.kind == "variance":
        spread = np.column_stack([positions, positions**2])
        value = known.value
        return [_Counters(spread, everyone, Check((0, 1), lambda n: size * n[:, 1] - n[:, 0] ** 2 == value))]
    if size % 2:
        return [_one_middle(positions, known.value, (size - 1) // 2)] if known.value % 2 == 0 else []
    half = size // 2
    found = []
    for low in positions.tolist():
        high = known.value - low
        if high == low:
            found.append(_one_middle(positions, known.value, half - 1))
        elif high > low and high in positions:
            counted = np.column_stack([positions <= low, positions == low, positions == high]).astype(
                np.int64
            )
            apart = (positions <= low) | (positions >= high)
            holds = Check((0, 1, 2), lambda n: (n[:, 0] == half) & (n[:, 1] > 0) & (n[:, 2] > 0))
            found.append(_Counters(counted, apart, holds))
    return found


def _one_middle(positions: NDArray[np.int64], twice: int, most: int) -> _Counters:
    """At most ``most`` people below the value, and at most as many above."""
    counted = np.column_stack([2 * positions < twice, 2 * positions > twice]).astype(np.int64)
    everyone = np.ones(len(positions), dtype=bool)
    return _Counters(counted, everyone, Check((0, 1), lambda n: (n[:, 0] <= most) & (n[:, 1] <= most)))


@dataclass(frozen=True, eq=False)
class _Folded:
    """All totals that an atom's people can have, and how the last person leads to each."""

    totals: NDArray[np.int64]
    """Totals × counters; the first column is the sum above the floor."""
    flags: NDArray[np.int64]
    log: NDArray[np.float64]
    before: NDArray[np.float64]
    """Log weight before the last person, of each step."""
    value: NDArray[np.int64]
    """The last person's value in each step, as a place in the atom's domain."""
    after: NDArray[np.int64]

    def person(self, share: NDArray[np.float64], log_prior: NDArray[np.float64]) -> NDArray[np.float64]:
        """P(value) of one person, given the probability of each total."""
        weight = np.exp(self.before + log_prior[self.value] - self.log[self.after]) * share[self.after]
        found = np.bincount(self.value, weights=weight, minlength=len(log_prior))
        return np.asarray(found / found.sum(), dtype=np.float64)


def _fold(
    adds: NDArray[np.int64],
    bits: NDArray[np.int64],
    log_prior: NDArray[np.float64],
    people: int,
    most: float,
) -> _Folded | None:
    totals = np.zeros((1, adds.shape[1]), dtype=np.int64)
    flags, log = np.zeros(1, dtype=np.int64), np.zeros(1)
    values = np.flatnonzero(log_prior > -np.inf)
    spent = 0
    for _ in range(people):
        spent += len(log) * len(values)
        if spent > most:
            return None
        source = np.repeat(np.arange(len(log)), len(values))
        value = np.tile(values, len(log))
        reached, raised = totals[source] + adds[value], flags[source] | bits[value]
        after, example = number_states(reached, raised)
        before = log[source]
        totals, flags = reached[example], raised[example]
        log = sum_by(after, before + log_prior[value], len(example))
    return _Folded(totals, flags, log, before, value, after)


def _one_case(
    system: AnswerSystem,
    component: Component,
    domains: tuple[AtomDomain, ...],
    prior: NDArray[np.float64],
    case: tuple[_Counters, ...],
    most: float,
) -> tuple[float, list[NDArray[np.float64]], float] | None:
    """The log weight of all databases in this case, each atom's distribution, and the steps spent."""
    first = len(component.rows)
    checks, numbers = [], []
    for counters in case:
        own = tuple(range(first, first + counters.amounts.shape[1]))
        checks.append(Check(own, counters.check.holds))
        numbers.append(own)
        first += len(own)
    bits = attained_bits(component)
    folded, options, kept, priors = [], [], [], []
    for place, atom in enumerate(component.atoms.tolist()):
        columns = np.array(domains[atom].columns)
        inside = [i for i, known in enumerate(component.moments) if atom in known.atoms]
        allowed = np.ones(len(columns), dtype=bool)
        for i in inside:
            allowed &= case[i].allowed[columns]
        with np.errstate(divide="ignore"):
            log_prior = np.where(allowed, np.log(prior[columns]), -np.inf)
        if not allowed.any():
            raise ContradictionError()
        adds = np.column_stack(
            [np.array(domains[atom].positions), *(case[i].amounts[columns] for i in inside)]
        )
        table = _fold(adds, domains[atom].bits(), log_prior, int(system.atoms.sizes[atom]), most)
        if table is None:
            return None
        rows = tuple(r for r, row in enumerate(component.rows) if place in row)
        taken = np.flatnonzero(
            (table.totals[:, 0] >= component.low[place]) & (table.totals[:, 0] <= component.high[place])
        )
        if not len(taken):
            raise ContradictionError()
        own_counters = rows + tuple(n for i in inside for n in numbers[i])
        amounts = np.column_stack([*(table.totals[taken, :1] for _ in rows), table.totals[taken, 1:]])
        if amounts.shape[1]:
            order = np.argsort(amounts[:, 0], kind="stable")
            taken, amounts = taken[order], amounts[order]
        options.append(
            Options(own_counters, amounts, np.array(bits[place])[table.flags[taken]], table.log[taken])
        )
        folded.append(table)
        kept.append(taken)
        priors.append(log_prior)
    totals = (*component.totals, *(None for own in numbers for _ in own))
    counted = count(Network(tuple(options), totals, len(component.extremes), tuple(checks)), most=most)
    if counted is None:
        return None
    people = []
    for place, table in enumerate(folded):
        share = np.zeros(len(table.log))
        share[kept[place]] = counted.options[place]
        people.append(table.person(share, priors[place]))
    return counted.log_total, people, float(counted.transitions)
