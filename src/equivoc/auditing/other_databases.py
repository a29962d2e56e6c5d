"""A quick proof that a value does not follow: another database with the same answers and another value for the person.

Two people of one atom can exchange their values. Otherwise the sums of atoms are moved along whole-number directions
that keep all known sums, one person of each atom taking the change. What is found is checked against all answers.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from equivoc.queries.answers.system import AnswerSystem

MOST_ENTRIES = 40_000
"""Rows × atoms of the known sums: larger systems are not searched for directions."""
MOST_MOVES = 40
LONGEST_MOVE = 12
"""Multiples of a direction that are tried, both ways."""


def has_another_value(system: AnswerSystem, positions: NDArray[np.int64], person: int) -> bool:
    """True if some database gives the same answers and the person another value. False: none was found.

    ``positions`` is a database that gives the answers, in steps above the least value. Without medians and variances.
    """
    from equivoc.queries.bounds.contradictions import fits

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
    from equivoc.queries.posteriors.integer_solutions import integer_solutions

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
