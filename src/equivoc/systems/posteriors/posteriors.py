"""The posterior of a person of each atom, given all answers: the entry to the methods of this folder.

People's values are independent draws from a prior on the domain, conditioned on every answer. With N_m the weight of an
atom's sum (:mod:`.sum_tables`), a database has the weight Π N_m(s) over its atoms' sums, and given the sum a person has
``P(d) = prior(d) · N_(m−1)(s − d) / N_m(s)``: only sums are counted or sampled.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from equivoc.systems.bounds.parts import PersonBounds
from equivoc.systems.grids import checked_prior
from equivoc.systems.posteriors.components import Component, Parts, parts
from equivoc.systems.posteriors.exact import COUNTED, AtomPosteriors, Method, exact_sums
from equivoc.systems.posteriors.gibbs import AGREED, sample
from equivoc.systems.posteriors.moments import count_moments
from equivoc.systems.posteriors.sum_tables import SumTable, sum_tables
from equivoc.systems.system import AnswerSystem

WORK = 6e9
# Transitions of an exact method are stored: at most this many, and at most this share of all work.
_MOST_STORED = 6e6
_EXACT_SHARE = 1 / 100
_MOST_TABLE_ENTRIES = 3e7


@dataclass(eq=False)
class _Found:
    """The figures, filled component by component."""

    probabilities: NDArray[np.float64]
    method: list[Method]
    error: NDArray[np.float64]
    promised: NDArray[np.bool_]
    left_out: NDArray[np.bool_]
    notes: list[str] = field(default_factory=list)
    waiting: list[Component] = field(default_factory=list)
    """Components that no exact method could do."""


@dataclass(frozen=True, eq=False)
class _Problem:
    """What the caller gave."""

    system: AnswerSystem
    belief: NDArray[np.float64]
    bounds: PersonBounds | None
    methods: tuple[Method, ...]
    work: float
    seed: int
    target: float


def atom_posteriors(
    system: AnswerSystem,
    *,
    prior: ArrayLike,
    bounds: PersonBounds | None = None,
    seed: int = 0,
    work: float = WORK,
    target: float = 0.002,
    methods: Sequence[Method] = COUNTED,
    progress: Callable[[str], None] | None = None,
) -> AtomPosteriors:
    """P(a person of each atom has each value | all answers).

    ``prior`` has a probability for each of ``system.grid.positions`` (all equal: every database that fits is equally
    likely). ``bounds``, if known, save work. ``work``: elementary steps (table look-ups) that may be spent, about 1e8
    in a second. Sampling stops when every standard error is at most ``target``. ``methods``: those that are tried, in
    the order of `COUNTED`. The same input and seed give the same figures, however many threads work.
    ContradictionError if no database gives all answers.
    """
    belief = checked_prior(prior, len(system.grid.positions))
    limits = None if bounds is None else (bounds.sum_low, bounds.sum_high)
    split = parts(system, belief, limits)
    counted, left_out = _count_moments(system, split, belief, work)
    incomplete = np.zeros(len(system.atoms), dtype=bool)
    for component in split.components:
        if any(known.question in left_out for known in component.moments):
            incomplete[component.atoms] = True
    if left_out:
        kept = tuple(known for known in system.moments if known.question not in left_out)
        split = parts(replace(system, moments=kept), belief, limits)
    found = _Found(
        np.tile(belief, (len(system.atoms), 1)),
        ["prior"] * len(system.atoms),
        np.zeros(len(system.atoms)),
        np.ones(len(system.atoms), dtype=bool),
        incomplete,
    )
    if left_out:
        found.notes.append(
            f"These figures leave out the MEDIAN or variance of {_named(system, left_out)}: too many databases to "
            "count."
        )
    for atom, person in counted.items():
        _store(found, split, atom, person, "counting")
    problem = _Problem(system, belief, bounds, tuple(methods), work, seed, target)
    plain = [c for c in split.components if not c.moments]
    tables = component_tables(system, split, plain, belief)
    for component in plain:
        if progress is not None:
            progress(f"{len(component.atoms)} atoms")
        _solve(component, split, tables, found, problem)
    # Components that are sampled share the work by their numbers of atoms; small ones get a twentieth.
    atoms = sum(len(component.atoms) for component in found.waiting)
    for component in found.waiting:
        if progress is not None:
            progress(f"sampling {len(component.atoms)} atoms")
        _sample(component, split, tables, found, problem, work * max(len(component.atoms) / atoms, 0.05))
    found.error[incomplete] = np.nan
    found.promised[incomplete] = False
    return AtomPosteriors(
        found.probabilities, tuple(found.method), found.error, found.promised, incomplete, tuple(found.notes)
    )


def _named(system: AnswerSystem, numbers: set[int]) -> str:
    """Questions by the numbers of their statements, from 1; without questions by their own numbers."""
    thing, named = "question", sorted(numbers)
    if system.questions:
        thing, named = "statement", sorted({system.questions[number].statement + 1 for number in numbers})
    return f"{thing}{'' if len(named) == 1 else 's'} {', '.join(map(str, named))}"


def _count_moments(
    system: AnswerSystem, split: Parts, belief: NDArray[np.float64], work: float
) -> tuple[dict[int, NDArray[np.float64]], set[int]]:
    """A person's distribution in atoms of components with moments; and the questions that are too large to count."""
    counted: dict[int, NDArray[np.float64]] = {}
    left_out: set[int] = set()
    for component in split.components:
        if component.moments:
            people = count_moments(
                system, component, split.domains, belief, most=min(work * _EXACT_SHARE, _MOST_STORED)
            )
            if people is None:
                left_out |= {known.question for known in component.moments}
            else:
                counted |= dict(zip(component.atoms.tolist(), people, strict=True))
    return counted, left_out


def component_tables(
    system: AnswerSystem, split: Parts, components: Sequence[Component], belief: NDArray[np.float64]
) -> dict[int, SumTable]:
    """The table of each atom of these components; atoms whose table would be too large are left out."""
    wanted = {
        int(atom): (split.domains[atom], int(system.atoms.sizes[atom]))
        for component in components
        for atom in component.atoms
        if split.domains[atom].steps * system.atoms.sizes[atom] <= _MOST_TABLE_ENTRIES
    }
    with np.errstate(divide="ignore"):
        made = sum_tables(dict.fromkeys(wanted.values()), np.log(belief))
    return {atom: made[kind] for atom, kind in wanted.items() if kind in made}


def _solve(
    component: Component, split: Parts, tables: dict[int, SumTable], found: _Found, problem: _Problem
) -> None:
    if any(int(atom) not in tables for atom in component.atoms):
        _by_bounds(component, split, found, problem)
        return
    own = tuple(tables[int(atom)] for atom in component.atoms)
    most = min(problem.work * _EXACT_SHARE, _MOST_STORED)
    exact = exact_sums(component, own, methods=problem.methods, most=most)
    if exact is not None:
        for place, atom in enumerate(component.atoms):
            person = own[place].person(exact.marginals[place][None], first=int(component.low[place]))[0]
            _store(found, split, int(atom), person, exact.method)
        return
    if "Gibbs sampling" in problem.methods:
        found.waiting.append(component)
    else:
        _by_bounds(component, split, found, problem)


def _sample(
    component: Component,
    split: Parts,
    tables: dict[int, SumTable],
    found: _Found,
    problem: _Problem,
    work: float,
) -> None:
    own = tuple(tables[int(atom)] for atom in component.atoms)
    sampled = sample(component, own, seed=problem.seed, work=work, target=problem.target)
    if sampled is None:
        _by_bounds(component, split, found, problem)
        return
    rough = sampled.r_hat > AGREED
    for place, atom in enumerate(component.atoms):
        name: Method = "Gibbs sampling, rough" if rough[place] else "Gibbs sampling"
        _store(found, split, int(atom), sampled.person[place], name)
        found.error[atom] = np.nan if rough[place] else sampled.error[place]
        found.promised[atom] = sampled.promised
    if rough.any():
        found.notes.append(
            f"Sampling of {len(component.atoms)} groups of people ended before the chains agreed on {rough.sum()} of "
            f"them (R-hat up to {sampled.r_hat.max():.3g}, where at most {AGREED:g} counts as agreement): their "
            "figures are rough, those of the chain that leaves the least uncertainty. More work may settle them."
        )


def _store(found: _Found, split: Parts, atom: int, person: NDArray[np.float64], method: Method) -> None:
    found.probabilities[atom] = 0.0
    found.probabilities[atom, list(split.domains[atom].columns)] = person
    found.method[atom] = method


def _by_bounds(component: Component, split: Parts, found: _Found, problem: _Problem) -> None:
    """The prior on what bounds leave: those of the caller, and those of the atom's own sum."""
    positions = problem.system.grid.positions
    for place, atom in enumerate(component.atoms.tolist()):
        domain, others = split.domains[atom], int(problem.system.atoms.sizes[atom]) - 1
        steps = np.array(domain.positions)
        left = (steps <= component.high[place]) & (steps >= component.low[place] - others * domain.steps)
        if problem.bounds is not None:
            values = positions[list(domain.columns)]
            left &= (values >= problem.bounds.low[atom]) & (values <= problem.bounds.high[atom])
        weight = np.where(left, problem.belief[list(domain.columns)], 0.0)
        _store(found, split, atom, weight / weight.sum(), "bounds")
        found.error[atom] = np.nan
        found.promised[atom] = False
    found.notes.append(
        f"The answers over {len(component.atoms)} atoms were too many for the work limit: "
        "the figures of these people use their bounds only."
    )
