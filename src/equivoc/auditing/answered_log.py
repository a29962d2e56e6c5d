"""Answered queries as a release: what follows from the answers, for every person."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from equivoc.intruder.release import GroupedRelease
from equivoc.number_format import counted


@dataclass(frozen=True, eq=False)
class AnsweredLog(GroupedRelease):
    """The answers to a log of queries. People who are in the same query sets have the same posterior.

    ``group[r]`` is the atom of record r, and the channel's rows are the posteriors of the atoms.
    """

    remarks: tuple[str, ...] = field(default=(), repr=False)
    """What the posteriors leave out or approximate, in sentences."""
    doubt: str = field(default="", repr=False)
    """Why the posteriors may show less risk than there is; "": they do not."""

    def notes(self, known: Sequence[str] | None = None) -> list[str]:
        return list(self.remarks)

    @property
    def assumption(self) -> str:
        """What the intruder is assumed to know and use, in sentences."""
        return self.mechanism


def knowledge(confidential: str, statements: int, prior: str) -> str:
    """What the intruder knows. ``prior`` is "uniform", "marginal" or "given".

    >>> print(knowledge("pay", 2, "uniform"))
    She knows the answers to 2 statements, everyone's keys (so who is in each query set) and the values that pay can \
take. She takes every database that fits the answers as equally likely.
    """
    weighs = {
        "uniform": "She takes every database that fits the answers as equally likely.",
        "marginal": f"She weighs the databases that fit the answers by the distribution of {confidential} among the "
        "people, each person independently of the others.",
        "given": "She weighs the databases that fit the answers by the given prior, each person independently of the "
        "others.",
    }[prior]
    return (
        f"She knows the answers to {counted(statements, 'statement')}, everyone's keys (so who is in each query set) "
        f"and the values that {confidential} can take. {weighs}"
    )


def doubt(people: int) -> str:
    """Why no requirement is met if the figures of so many people may show less risk than there is.

    >>> doubt(0), doubt(2)
    ('', 'the figures of 2 people are incomplete, rough or bounds only, and more may be known about them')
    """
    if not people:
        return ""
    them = "her" if people == 1 else "them"
    return (
        f"the figures of {counted(people, 'person')} are incomplete, rough or bounds only, and more may be known about "
        f"{them}"
    )
