"""One component by an exact method: the probability of each atom's sum and flags."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from equivoc.queries.posteriors.components import Component
from equivoc.queries.posteriors.dynamic_programming import (
    MOST_EXTREMES,
    MOST_OPEN,
    Network,
    Options,
    count,
)
from equivoc.queries.posteriors.enumeration import attained_bits, enumerated
from equivoc.queries.posteriors.result import Method
from equivoc.queries.posteriors.sum_tables import SumTable


@dataclass(frozen=True, eq=False)
class ExactSums:
    """P(sum, flags | answers) of each atom of a component."""

    method: Method
    marginals: tuple[NDArray[np.float64], ...] = field(repr=False)
    """Per atom: states × sums from its low to its high."""


def exact_sums(
    component: Component,
    tables: tuple[SumTable, ...],
    *,
    methods: tuple[Method, ...],
    most: float,
) -> ExactSums | None:
    """By the first of the methods that applies and takes at most ``most`` elementary steps; None if none does."""
    if component.nested and "convolution" in methods:
        found = _by_counting(component, tables, "convolution", most)
        if found is not None:
            return found
    if "enumeration" in methods:
        marginals = enumerated(component, tables, most=most)
        if marginals is not None:
            return ExactSums("enumeration", marginals)
    if "dynamic programming" in methods:
        return _by_counting(component, tables, "dynamic programming", most)
    return None


def network(component: Component, tables: tuple[SumTable, ...]) -> tuple[Network, list[NDArray[np.int64]]]:
    """The component for dynamic programming; and the (state, sum) of each atom's options."""
    own: list[list[int]] = [[] for _ in component.atoms]
    for r, row in enumerate(component.rows):
        for atom in row.tolist():
            own[atom].append(r)
    bits = attained_bits(component)
    options, meaning = [], []
    for atom, table in enumerate(tables):
        low, high = int(component.low[atom]), int(component.high[atom])
        logs = table.log_weight[:, low : high + 1]
        sums, states = np.nonzero(np.isfinite(logs.T))
        amounts = np.broadcast_to((sums + low)[:, None], (len(sums), len(own[atom])))
        raised = np.array(bits[atom], dtype=np.int64)[states]
        options.append(Options(tuple(own[atom]), amounts, raised, logs[states, sums]))
        meaning.append(np.column_stack([states, sums + low]))
    return Network(tuple(options), component.totals, len(component.extremes)), meaning


def _by_counting(
    component: Component, tables: tuple[SumTable, ...], method: Method, most: float
) -> ExactSums | None:
    if len(component.extremes) > MOST_EXTREMES:
        return None
    # Each known sum of an atom is open before or after it.
    rows_of_atom = np.bincount(np.concatenate([np.empty(0, np.int64), *component.rows]), minlength=1)
    if rows_of_atom.max() > 2 * MOST_OPEN:
        return None
    whole, meaning = network(component, tables)
    counted = count(whole, most=most)
    if counted is None:
        return None
    marginals = []
    for atom, table in enumerate(tables):
        low, high = int(component.low[atom]), int(component.high[atom])
        spread = np.zeros((len(table.log_weight), high - low + 1))
        spread[meaning[atom][:, 0], meaning[atom][:, 1] - low] = counted.options[atom]
        marginals.append(spread)
    return ExactSums(method, tuple(marginals))


def draw_states(
    component: Component, tables: tuple[SumTable, ...], sums: NDArray[np.int64], rng: np.random.Generator
) -> NDArray[np.int64]:
    """States of the flags given all sums of the component, jointly."""
    bits = attained_bits(component)
    options = []
    for atom, table in enumerate(tables):
        logs = table.log_weight[:, sums[atom]]
        states = np.flatnonzero(logs > -np.inf)
        options.append(
            Options((), np.zeros((len(states), 0), np.int64), np.array(bits[atom])[states], logs[states])
        )
    counted = count(Network(tuple(options), (), len(component.extremes)), most=np.inf)
    assert counted is not None
    chosen = counted.draw(1, rng)[0]
    return np.array(
        [
            np.flatnonzero(t.log_weight[:, s] > -np.inf)[c]
            for t, s, c in zip(tables, sums, chosen, strict=True)
        ],
        dtype=np.int64,
    )
