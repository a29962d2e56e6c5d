"""What follows from the answers to some questions: bounds and posteriors of every atom."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from equivoc.errors import InputError
from equivoc.systems.smallest_sets import smallest_sufficient_set
from equivoc.systems.system import ContradictionError

if TYPE_CHECKING:
    from equivoc.data.microdata import Microdata
    from equivoc.systems.bounds.parts import PersonBounds
    from equivoc.systems.posteriors.exact import AtomPosteriors, Method
    from equivoc.systems.system import AnswerSystem, Question

# A quick proof that a value does not follow: another database with the same answers and another value for the
# person.
#
# Two people of one atom can exchange their values. Otherwise the sums of atoms are moved along whole-number
# directions that keep all known sums, one person of each atom taking the change. What is found is checked
# against all answers.

MOST_ENTRIES = 40_000
"""Rows × atoms of the known sums: larger systems are not searched for directions."""
MOST_MOVES = 40
LONGEST_MOVE = 12
"""Multiples of a direction that are tried, both ways."""


def has_another_value(system: AnswerSystem, positions: NDArray[np.int64], person: int) -> bool:
    """True if some database gives the same answers and the person another value. False: none was found.

    ``positions`` is a database that gives the answers, in steps above the least value. Without medians and variances.
    """
    from equivoc.systems.bounds.bounds import fits

    if system.moments or not fits(system, positions):
        return False
    alike = positions[system.atoms.of_person == system.atoms.of_person[person]]
    if (alike != positions[person]).any():
        return True
    return any(fits(system, moved) for moved in _moved(system, positions, person))


def _moved(system: AnswerSystem, positions: NDArray[np.int64], person: int) -> Iterator[NDArray[np.int64]]:
    """Databases with other sums of atoms that keep all known sums, as far as the domain allows."""
    allowed = set(system.grid.positions.tolist())
    for direction in _directions(system, int(system.atoms.of_person[person])):
        members = [
            np.array([person])
            if atom == system.atoms.of_person[person]
            else np.flatnonzero(system.atoms.of_person == atom)
            for atom in direction
        ]
        for length in range(1, LONGEST_MOVE + 1):
            for sign in (length, -length):
                moved = positions.copy()
                for inside, step in zip(members, direction.values(), strict=True):
                    able = [one for one in inside if int(moved[one]) + sign * step in allowed]
                    if not able:
                        break
                    moved[able[0]] += sign * step
                else:
                    yield moved


def _directions(system: AnswerSystem, atom: int) -> Iterator[dict[int, int]]:
    """Changes of the atoms' sums that keep all known sums and change this atom's, the shortest first."""
    from equivoc.systems.integer_solutions import integer_solutions

    rows, atoms = system.matrix.shape
    if rows * atoms > MOST_ENTRIES:
        return
    try:
        solved = integer_solutions(system.matrix.toarray(), system.totals)
    except OverflowError:
        return
    if solved is None:
        return
    found = np.asarray(solved.moves.toarray())
    found = found[found[:, atom] != 0]
    for row in found[np.argsort(np.abs(found).sum(axis=1), kind="stable")][:MOST_MOVES]:
        yield {int(at): int(row[at]) for at in np.flatnonzero(row)}


# What each method of a posterior promises, in words.

EXACT = ("prior", "convolution", "enumeration", "dynamic programming", "counting")
"""Methods whose probabilities are exact up to rounding."""
MEANINGS = {
    "prior": "exact: no answer that is used says anything about these people; the prior stands",
    "convolution": "exact: the query sets are disjoint or nested, and sums of people are convolved",
    "enumeration": "exact: the sums that fit the answers have few free dimensions, and all are counted",
    "dynamic programming": "exact: all sums that fit the answers are counted, one group of people after the other",
    "counting": "exact: all values that fit, medians and variances included, are counted",
    "Gibbs sampling": "sampled, with a standard error that is a promise: the moves reach every database that fits",
    "Gibbs sampling, checked": "sampled; several chains from different starts agree, but it is not proved that they "
    "reach every database that fits",
    "Gibbs sampling, rough": "sampled, and not reliable: the chains do not agree. The figures are those of the chain "
    "that leaves the least uncertainty; she may know more, or less",
    "incomplete": "a MEDIAN or variance of these people, or of people linked with them, is left out. She may know more",
    "bounds": "only bounded: the work limit was reached, and the prior stands between the bounds. She may know more",
}
"""The method as `Audit.frame` names it, and what its figures promise."""


UNSETTLED = ("incomplete", "bounds", "Gibbs sampling, rough")
"""Methods whose figures may show less risk than there is: no requirement is met by them."""


def named_methods(found: AtomPosteriors) -> NDArray[Any]:
    """The method of each atom as `Audit.frame` names it."""
    named = [
        method_name(method, promised=bool(promised), left_out=bool(left_out))
        for method, promised, left_out in zip(found.method, found.promised, found.left_out, strict=True)
    ]
    return np.array(named, dtype=object)


def method_name(method: str, *, promised: bool, left_out: bool = False) -> str:
    """The name in `Audit.frame`.

    >>> method_name("Gibbs sampling", promised=False), method_name("enumeration", promised=True)
    ('Gibbs sampling, checked', 'enumeration')
    """
    if left_out:
        return "incomplete"
    return "Gibbs sampling, checked" if method == "Gibbs sampling" and not promised else method


Floats = NDArray[np.float64]
EXACT_TRIED: tuple[Method, ...] = ("convolution", "enumeration", "dynamic programming", "counting")
TEST_WORK = 1e8
"""Elementary steps of a test whether some answers leave a person one value."""
MOST_SETS = 100
"""Sets of statements that are tried to find a contradicting one, where medians or variances contradict."""
MOST_CELLS = 600
"""Atoms × values, up to which such a test solves whole-number programs."""
MOST_COUNTED = 200_000
"""People × steps of the domain, up to which such a test counts databases."""


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
        """What follows from all answers; ContradictionError, with a smallest contradicting set, if no database fits."""
        from equivoc.systems.bounds.bounds import person_bounds, require_possible
        from equivoc.systems.posteriors.posteriors import WORK, atom_posteriors

        system = self._system(self.questions, np.arange(len(self.people)))
        orders = self._orders(system, np.arange(len(self.people)))
        require_possible(system, orders=orders, truth=system.grid.positions[self.people.codes])
        bounds = person_bounds(system, orders=orders)
        work = WORK if self.work is None else self.work
        try:
            found = atom_posteriors(system, prior=self.prior, bounds=bounds, seed=self.seed, work=work)
        except ContradictionError:
            raise self._contradiction() from None
        inside = within_bounds(found.probabilities, self.prior, system.grid.positions, bounds)
        return Conclusions(system, bounds, replace(found, probabilities=inside), self.prior)

    def _contradiction(self) -> InputError:
        """The error for answers that no database with positive probability gives: the prior's fault, or theirs."""
        from equivoc.systems.system import ContradictionError

        if not self.prior.all():
            value = self.people.attribute.text(self.people.values[int(np.argmin(self.prior))])
            return InputError(
                f"the prior rules the answers out: no database without values of probability 0, such as {value}, "
                "gives all of them; give such values a small probability."
            )
        statements = sorted({each.statement for each in self.questions})
        found = smallest_sufficient_set(statements, self._impossible, work=MOST_SETS)
        chosen = statements if found is None else found.items
        return ContradictionError.between(
            [each for each in self.questions if each.statement in chosen],
            smallest=found is not None and found.smallest,
        )

    def _impossible(self, statements: frozenset[int]) -> bool | None:
        """True if no database gives the answers to these statements; None if that is not known."""
        from equivoc.systems.posteriors.posteriors import atom_posteriors

        asked = [each for each in self.questions if each.statement in statements]
        try:
            system = self._system(asked, np.arange(len(self.people)))
            atom_posteriors(system, prior=self.prior, seed=self.seed, methods=EXACT_TRIED, work=TEST_WORK)
        except InputError:
            return True
        return False

    def certain(self, statements: frozenset[int], person: int) -> bool | None:
        """Whether the answers to these statements (numbers from 0) alone leave one value for the person.

        None if no exact method can tell.
        """
        from equivoc.systems.posteriors.posteriors import atom_posteriors

        possible = int(np.count_nonzero(self.prior))
        asked = linked_to(
            person, [each for each in self.questions if each.statement in statements], len(self.people)
        )
        # Only people in a query set matter; fewer people make every test faster.
        inside = np.unique(np.concatenate([np.zeros(0, np.int64), *(each.members for each in asked)]))
        place = int(np.searchsorted(inside, person))
        if place == len(inside) or inside[place] != person:
            return possible == 1
        moved = [replace(each, members=np.searchsorted(inside, each.members)) for each in asked]
        system = self._system(moved, inside)
        own = system.grid.positions[self.people.codes[inside]]
        # Values of probability 0 are not in the bounds: only posteriors leave them out.
        every_value = possible == len(self.prior)
        if every_value and has_another_value(system, own, place):
            return False
        atom = int(system.atoms.of_person[place])
        bounded = one_value_left(system, atom, orders=self._orders(system, inside))
        if bounded or (bounded is False and every_value):
            return bounded
        if system.grid.steps * len(inside) > MOST_COUNTED:
            return None
        found = atom_posteriors(system, prior=self.prior, seed=self.seed, methods=EXACT_TRIED, work=TEST_WORK)
        if found.method[atom] not in EXACT:
            return None
        return bool(np.count_nonzero(found.probabilities[atom]) == 1)

    def near_to(self, person: int) -> list[int]:
        """The statements (numbers from 0) whose sets are linked to hers by common people, the nearest first."""
        found = linked_to(person, self.questions, len(self.people))
        return list(dict.fromkeys(each.statement for each in found))

    def _system(self, questions: Sequence[Question], records: NDArray[np.int64]) -> AnswerSystem:
        from equivoc.systems.constraints import answer_system

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


def one_value_left(system: AnswerSystem, atom: int, *, orders: Sequence[NDArray[np.int64]]) -> bool | None:
    """Whether the bounds of a person of one atom are equal; None if that cannot be told from bounds."""
    from equivoc.systems.bounds.programs import cell_count, person_range
    from equivoc.systems.bounds.solving import solved_parts

    ranges, solved = solved_parts(system, orders=orders)
    if ranges.floor[atom] == ranges.cap[atom]:
        return True
    if system.moments:  # they are left out of bounds
        return None
    piece = next((each for each in solved if atom in each.part.atoms), None)
    if piece is None:
        return False
    inside = piece.part.atoms
    at = int(np.searchsorted(inside, atom))
    if piece.exact or piece.attained.open_ends(ranges.floor[inside], ranges.cap[inside])[at]:
        return False
    if cell_count(piece.part, system.grid.positions) > MOST_CELLS:
        return None
    ends = person_range(piece.part, system.grid.positions, at)
    return None if ends is None else ends[0] == ends[1]


def linked_to(person: int, questions: Sequence[Question], people: int) -> list[Question]:
    """The questions whose query sets are linked to the person by common members, the nearest and smallest first.

    Counts and empty query sets say nothing about values and are left out.
    """
    waiting = [each for each in questions if each.people and each.aggregate != "count"]
    reached = np.zeros(people, dtype=np.bool_)
    reached[person] = True
    found: list[Question] = []
    while True:
        hit = [bool(reached[each.members].any()) for each in waiting]
        if not any(hit):
            return found
        near = [each for each, is_hit in zip(waiting, hit, strict=True) if is_hit]
        found += sorted(near, key=lambda each: (each.people, each.statement))
        for each in near:
            reached[each.members] = True
        waiting = [each for each, is_hit in zip(waiting, hit, strict=True) if not is_hit]


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
