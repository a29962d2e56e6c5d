"""Which statements disclose a person's value: a small set of them that suffices to be certain."""

from __future__ import annotations

from dataclasses import dataclass

from equivoc.audit.conclusions import AnsweredQuestions
from equivoc.audit.sufficient_sets import smallest_sufficient_set

MOST_TESTS = 300
"""How many sets of statements are tested for one group of people, at most."""
FEWEST_TESTS = 30
MOST_MEMBERS = 3_000_000
"""The sizes of the query sets, summed over the tested sets: more tests than these allow are not made."""


@dataclass(frozen=True)
class ResponsibleStatements:
    """Statements whose answers alone disclose the value of a group of people who are in the same query sets."""

    people: int
    """How many people the group has."""
    person: int
    """The record number of the first of them, from 0."""
    statements: tuple[int, ...]
    """The numbers of the statements in the log, from 1."""
    smallest: bool
    """True if it is proved that no smaller set of statements suffices."""
    irreducible: bool
    """True if it is proved that none of these can be left out."""

    @property
    def words(self) -> str:
        """What is known about the size of the set."""
        if self.smallest:
            return "a smallest set"
        return (
            "none of these can be left out" if self.irreducible else "sufficient; perhaps not all are needed"
        )


def responsible_statements(log: AnsweredQuestions, person: int, people: int) -> ResponsibleStatements | None:
    """The statements that disclose the person's value; None if no set was found within the work limit."""
    near = log.near_to(person)
    linked = set(near)
    members = sum(each.people for each in log.questions if each.statement in linked)
    tests = int(min(MOST_TESTS, max(MOST_MEMBERS // max(members, 1), FEWEST_TESTS)))
    found = smallest_sufficient_set(near, lambda chosen: log.certain(chosen, person), most_tests=tests)
    if found is None:
        return None
    numbers = tuple(number + 1 for number in found.items)
    return ResponsibleStatements(people, person, numbers, found.smallest, found.irreducible)
