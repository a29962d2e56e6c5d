"""What follows from the answers to some questions: bounds and posteriors of every atom."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from equivoc.auditing.methods import EXACT

if TYPE_CHECKING:
    from equivoc.data.microdata import Microdata
    from equivoc.queries.answers.question import Question
    from equivoc.queries.answers.system import AnswerSystem
    from equivoc.queries.bounds.record import PersonBounds
    from equivoc.queries.posteriors.result import AtomPosteriors, Method

Floats = NDArray[np.float64]
EXACT_TRIED: tuple[Method, ...] = ("convolution", "enumeration", "dynamic programming", "counting")
TEST_WORK = 1e8
"""Elementary steps of a test whether some answers leave a person one value."""


class Conclusions(NamedTuple):
    """The constraints of the answers, and what they leave possible for a person of each atom."""

    system: AnswerSystem
    bounds_in_steps: PersonBounds
    posteriors: AtomPosteriors
    prior: Floats

    def bounds(self) -> tuple[Floats, Floats]:
        """The least and greatest value left for a person of each atom, in the attribute's unit.

        An exact posterior under a prior that rules out no value has the exact bounds as its ends.
        """
        grid, found = self.system.grid, self.posteriors
        columns = np.searchsorted(grid.positions, (self.bounds_in_steps.low, self.bounds_in_steps.high))
        if self.prior.all():
            exact = np.array([method in EXACT for method in found.method], dtype=np.bool_)
            some = found.probabilities[exact] > 0
            columns[0, exact] = np.argmax(some, axis=1)
            columns[1, exact] = some.shape[1] - 1 - np.argmax(some[:, ::-1], axis=1)
        values = grid.origin + grid.positions * grid.step
        return values[columns[0]], values[columns[1]]


@dataclass(frozen=True, eq=False)
class AnsweredQuestions:
    """The answered questions of a log, and the people they are about."""

    questions: tuple[Question, ...] = field(repr=False)
    people: Microdata = field(repr=False)
    prior: Floats = field(repr=False)
    """The probability of each value before any answer."""
    seed: int = 0
    """For figures that are sampled."""
    work: float | None = None
    """Elementary steps for the posteriors of one linked part of the people; None: the usual limit."""

    def conclusions(self) -> Conclusions:
        """What follows from all answers; InputError if they contradict each other."""
        from equivoc.queries.bounds.person_bounds import person_bounds
        from equivoc.queries.posteriors.atom_posteriors import WORK, atom_posteriors

        system = self._system(self.questions, np.arange(len(self.people)))
        bounds = person_bounds(system, orders=self._orders(system, np.arange(len(self.people))))
        work = WORK if self.work is None else self.work
        found = atom_posteriors(system, prior=self.prior, bounds=bounds, seed=self.seed, work=work)
        inside = within_bounds(found.probabilities, self.prior, system.grid.positions, bounds)
        return Conclusions(system, bounds, replace(found, probabilities=inside), self.prior)

    def certain(self, statements: frozenset[int], person: int) -> bool | None:
        """Whether the answers to these statements (numbers from 0) alone leave one value for the person.

        None if no exact method can tell.
        """
        from equivoc.queries.bounds.person_bounds import person_bounds
        from equivoc.queries.posteriors.atom_posteriors import atom_posteriors

        possible = int(np.count_nonzero(self.prior))
        asked = [each for each in self.questions if each.statement in statements and each.people]
        # Only people in a query set matter; fewer people make every test faster.
        inside = np.unique(np.concatenate([np.zeros(0, np.int64), *(each.members for each in asked)]))
        place = int(np.searchsorted(inside, person))
        if place == len(inside) or inside[place] != person:
            return possible == 1
        moved = [replace(each, members=np.searchsorted(inside, each.members)) for each in asked]
        system = self._system(moved, inside)
        atom = int(system.atoms.of_person[place])
        bounds = person_bounds(system, orders=self._orders(system, inside))
        if bounds.low[atom] == bounds.high[atom]:
            return True
        if bounds.exact[atom] and possible == len(self.prior):
            return False
        found = atom_posteriors(
            system, prior=self.prior, bounds=bounds, seed=self.seed, methods=EXACT_TRIED, work=TEST_WORK
        )
        if found.method[atom] not in EXACT:
            return None
        return bool(np.count_nonzero(found.probabilities[atom]) == 1)

    def near_to(self, person: int) -> list[int]:
        """The statements (numbers from 0) whose sets are linked to hers by common people, the nearest first."""
        sets = [each for each in self.questions if each.people and each.aggregate != "count"]
        reached = np.zeros(len(self.people), dtype=np.bool_)
        reached[person] = True
        found: dict[int, None] = {}
        waiting = list(range(len(sets)))
        while True:
            hit = [at for at in waiting if reached[sets[at].members].any()]
            if not hit:
                return list(found)
            for at in sorted(hit, key=lambda at: (sets[at].people, sets[at].statement)):
                found.setdefault(sets[at].statement)
            for at in hit:
                reached[sets[at].members] = True
            waiting = sorted(set(waiting) - set(hit))

    def _system(self, questions: Sequence[Question], records: NDArray[np.int64]) -> AnswerSystem:
        from equivoc.queries.answers.constraints import answer_system

        values = self.people.values
        truth = values[self.people.codes[records]]
        return answer_system(questions, values=values, people=len(records), truth=truth)

    def _orders(self, system: AnswerSystem, records: NDArray[np.int64]) -> list[NDArray[np.int64]]:
        """The atoms in the order of each key: where all query sets are ranges of one key, bounds are exact."""
        orders = []
        for key in self.people.keys:
            least = np.full(len(system.atoms), np.iinfo(np.int64).max)
            np.minimum.at(least, system.atoms.of_person, self.people.key_codes(key)[records].astype(np.int64))
            orders.append(least)
        return orders


def within_bounds(
    probabilities: Floats, prior: Floats, positions: NDArray[np.int64], bounds: PersonBounds
) -> Floats:
    """The posteriors without the values that the bounds rule out, which only methods that are not exact leave in."""
    columns = np.arange(len(positions))
    first, last = (np.searchsorted(positions, end)[:, None] for end in (bounds.low, bounds.high))
    inside = (columns >= first) & (columns <= last)
    kept = np.where(inside, probabilities, 0.0)
    lost = kept.sum(axis=1) == 0
    kept[lost] = np.where(inside[lost], prior, 0.0)
    changed = lost | ((probabilities > 0) & ~inside).any(axis=1)
    kept[changed] /= kept[changed].sum(axis=1, keepdims=True)
    return kept
