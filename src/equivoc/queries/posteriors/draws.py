"""Draws of whole databases that give all answers, from the answers and the prior alone."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from equivoc.errors import InputError
from equivoc.queries.answers.system import AnswerSystem
from equivoc.queries.bounds.record import PersonBounds
from equivoc.queries.checked_prior import checked_prior
from equivoc.queries.posteriors.atom_posteriors import component_tables
from equivoc.queries.posteriors.components import Component, parts
from equivoc.queries.posteriors.exact_components import exact_sums
from equivoc.queries.posteriors.gibbs import prepare
from equivoc.queries.posteriors.gibbs_kernels import sweeps
from equivoc.queries.posteriors.people_kernels import split_sums
from equivoc.queries.posteriors.sum_tables import AtomDomain, SumTable, log_weights

_EXACT: tuple[Literal["convolution", "enumeration", "dynamic programming"], ...] = (
    "convolution",
    "enumeration",
    "dynamic programming",
)
_MOST_EXACT = 2e6


def draw_databases(
    system: AnswerSystem,
    *,
    draws: int,
    rng: np.random.Generator,
    prior: ArrayLike,
    start: Literal["canonical"] = "canonical",
    bounds: PersonBounds | None = None,
    warm_up: int = 100,
    between: int = 4,
    exact_work: float = _MOST_EXACT,
) -> NDArray[np.int32]:
    """Databases that give all answers, weighted by the prior: draws × people, positions on the grid.

    Every draw meets every answer. Components that ``exact_work`` steps can count are drawn independently; the others
    come from one Gibbs chain that begins at a canonical point (an integer program's solution, a function of the answers
    alone), after ``warm_up`` sweeps and ``between`` sweeps from draw to draw: those draws are not quite independent.
    The same input and generator give the same bytes. InputError if a MEDIAN or variance is among the answers.
    """
    if start != "canonical":
        raise InputError(f'start is {start!r}; draws can only start at "canonical".')
    if system.moments:
        raise InputError(
            f"question {system.moments[0].question} is a median or variance; databases can only be drawn "
            "from answers to SUM, AVG, COUNT, MIN and MAX."
        )
    belief = checked_prior(prior, len(system.grid.positions))
    split = parts(system, belief, None if bounds is None else (bounds.sum_low, bounds.sum_high))
    tables = component_tables(system, split, split.components, belief)
    sums = np.zeros((draws, len(system.atoms)), dtype=np.int64)
    states = np.zeros_like(sums)
    for component in split.components:
        if any(int(atom) not in tables for atom in component.atoms):
            raise _too_large()
        own = tuple(tables[int(atom)] for atom in component.atoms)
        exact = exact_sums(component, own, methods=_EXACT, most=exact_work)
        drawn = (
            exact.draw(draws, rng)
            if exact is not None
            else _from_chain(component, own, draws, rng, warm_up=warm_up, between=between)
        )
        sums[:, component.atoms], states[:, component.atoms] = drawn
    result = np.empty((draws, len(system.atoms.of_person)), dtype=np.int32)
    by_atom = np.argsort(system.atoms.of_person, kind="stable")
    ends = np.cumsum(system.atoms.sizes)
    free = set(split.free.tolist())
    split_tables: dict[tuple[AtomDomain, int], NDArray[np.float64]] = {}
    for atom, end in enumerate(ends.tolist()):
        people = by_atom[end - int(system.atoms.sizes[atom]) : end]
        if atom in free:
            result[:, people] = rng.choice(system.grid.positions, (draws, len(people)), p=belief)
        else:
            values = _people(tables[atom], sums[:, atom], states[:, atom], rng, split_tables)
            result[:, people] = values + split.domains[atom].floor
    return result


def _from_chain(
    component: Component,
    tables: tuple[SumTable, ...],
    draws: int,
    rng: np.random.Generator,
    *,
    warm_up: int,
    between: int,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    ready = prepare(component, tables, seed=0, chains=1)
    if ready is None:
        raise _too_large()
    sums, states = (part.copy() for part in ready.starts[0])
    covered = ready.covered(states)
    all_sums = np.empty((draws, len(sums)), dtype=np.int64)
    all_states = np.empty_like(all_sums)
    nothing, unused = np.empty(0), np.zeros((2, len(sums)))
    sweeps(ready.tables, sums, states, covered, warm_up, rng, nothing, *unused)
    for draw in range(draws):
        sweeps(ready.tables, sums, states, covered, between, rng, nothing, *unused)
        all_sums[draw], all_states[draw] = sums, states
    return all_sums, all_states


def _too_large() -> InputError:
    return InputError(
        "the answers cover too many people or values to draw databases: round the confidential attribute to a "
        "coarser grid."
    )


def _people(
    table: SumTable,
    sums: NDArray[np.int64],
    states: NDArray[np.int64],
    rng: np.random.Generator,
    made: dict[tuple[AtomDomain, int], NDArray[np.float64]],
) -> NDArray[np.int64]:
    """Values of the atom's people above the floor, draws × people: halve the atom until one person is left."""
    made.setdefault((table.domain, table.people), table.log_weight)
    missing = {half for half in _halves(table.people) if (table.domain, half) not in made}
    if missing:
        smaller = log_weights(table.domain, missing, table.log_prior)
        if smaller is None:
            raise _too_large()
        made |= {(table.domain, people): logs for people, logs in smaller.items()}
    result = np.empty((len(sums), table.people), dtype=np.int64)
    waiting = [(0, table.people, sums, states)]
    while waiting:
        first, people, total, state = waiting.pop()
        if people == 1:
            result[:, first] = total
            continue
        half = people // 2
        left, left_state, right_state = split_sums(
            made[table.domain, half], made[table.domain, people - half], total, state, rng
        )
        waiting.append((first, half, left, left_state))
        waiting.append((first + half, people - half, total - left, right_state))
    return result


def _halves(people: int) -> set[int]:
    """The sizes that repeated halving leads to."""
    found: set[int] = set()
    sizes = {people}
    while sizes:
        sizes = {half for size in sizes if size > 1 for half in (size // 2, size - size // 2)} - found
        found |= sizes
    return found
