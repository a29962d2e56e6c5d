"""Which statements disclose a person's value: a small set of them that suffices to be certain."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from equivoc.auditing.conclusions import AnsweredQuestions
from equivoc.auditing.sufficient_sets import smallest_sufficient_set

WORK = 3e7
"""The work for all groups of people together: members of tested query sets; some ten seconds."""
MOST_WORK = 6e6
"""The work for one group, at most."""
TEST = 2e4
"""The work of a test whose query sets have few members."""


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


def responsible_statements(
    log: AnsweredQuestions, groups: Sequence[tuple[int, int]]
) -> list[ResponsibleStatements | None]:
    """For each group (a person's record number, and how many people it has) the statements that disclose its value.

    None if no set was found within the work limit. The groups share the work: what one does not need, others can use.
    """
    sizes: dict[int, int] = {}
    for each in log.questions:
        sizes[each.statement] = sizes.get(each.statement, 0) + each.people
    left, told = WORK, []
    for at, (person, people) in enumerate(groups):
        most = min(MOST_WORK, left / (len(groups) - at))
        spent: list[float] = []

        def cost(chosen: frozenset[int], spent: list[float] = spent) -> float:
            spent.append(TEST + sum(sizes[number] for number in chosen))
            return spent[-1]

        found = smallest_sufficient_set(
            log.near_to(person), partial(log.certain, person=person), work=most, cost=cost
        )
        left -= min(sum(spent), most)
        told.append(
            None
            if found is None
            else ResponsibleStatements(
                people, person, tuple(number + 1 for number in found.items), found.smallest, found.irreducible
            )
        )
    return told
