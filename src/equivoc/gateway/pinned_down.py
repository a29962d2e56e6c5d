"""Whom the true answers pin down: what an auditor would compute from all of them, for the owner alone.

Decisions are taken before an answer, over drawn databases. This is the look back: from the answers that were given, and
from nothing else of the data, so how long it takes tells an analyst nothing that she could not compute herself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from equivoc.systems.system import Question
from equivoc.text import counted

WORK = 1e8
"""Elementary steps for the posteriors of one linked part of the people: about a second."""
SAMPLED = ("Gibbs sampling", "Gibbs sampling, rough")
UNSETTLED = ("bounds", "Gibbs sampling, rough")
"""Methods whose posteriors may show less than an analyst could compute."""


@dataclass(frozen=True)
class PinnedDown:
    """About how many people the answers up to an entry tell too much."""

    number: int
    """The last answered entry that was counted."""
    exact: int | None
    """People of whom one value is left; None: the computation took too long and was given up."""
    below: int = 0
    """People with less uncertainty than ``least_h0``, those with one value included."""
    unsettled: int = 0
    """Further people of whom this could not be computed with the work allowed: there may be more of both kinds."""

    def text(self) -> str:
        """In words.

        >>> PinnedDown(7, 12, 15, 3).text(), PinnedDown(7, 0).text(), PinnedDown(7, None).text()
        ('12 people exactly, 15 below the limit; 3 not settled', 'nobody', 'not computed in time')
        """
        if self.exact is None:
            return "not computed in time"
        found = []
        if self.exact:
            found.append(f"{counted(self.exact, 'person')} exactly")
        if self.below > self.exact:
            found.append(
                f"{counted(self.below, 'person') if not found else f'{self.below:,}'} below the limit"
            )
        told = ", ".join(found) or "nobody"
        return f"{told}; {self.unsettled:,} not settled" if self.unsettled else told


@dataclass(frozen=True, eq=False)
class AnswersSoFar:
    """The answers up to an entry, and what everyone knows of the people: it can be sent to another process."""

    number: int
    questions: tuple[Question, ...] = field(repr=False)
    values: NDArray[np.float64] = field(repr=False)
    """The domain."""
    keys: Mapping[str, NDArray[np.int64]] = field(repr=False)
    """For each key, the rank of everyone's value."""
    people: int
    least_h0: float

    def pinned_down(self, *, work: float = WORK) -> PinnedDown:
        """Whom they pin down, if every database that fits them is equally likely."""
        from equivoc.systems.bounds.bounds import person_bounds
        from equivoc.systems.constraints import answer_system
        from equivoc.systems.posteriors.posteriors import atom_posteriors

        system = answer_system(self.questions, values=self.values, people=self.people)
        bounds = person_bounds(system, orders=self._orders(system.atoms.of_person, len(system.atoms)))
        even = np.full(len(self.values), 1 / len(self.values))
        found = atom_posteriors(system, prior=even, bounds=bounds, work=work)
        method = np.array(found.method, dtype=object)
        kept = found.probabilities
        logs = np.log2(kept, out=np.zeros_like(kept), where=kept > 0)
        entropy = -(kept * logs).sum(axis=1)
        one = (bounds.low == bounds.high) | (((kept > 0).sum(axis=1) == 1) & ~np.isin(method, SAMPLED))
        below = one | (entropy < self.least_h0)
        unsettled = ~below & (np.isin(method, UNSETTLED) | found.left_out)
        counts = (int(each[system.atoms.of_person].sum()) for each in (one, below, unsettled))
        return PinnedDown(self.number, *counts)

    def _orders(self, atom: NDArray[np.int64], atoms: int) -> Sequence[NDArray[np.int64]]:
        """The atoms in the order of each key: where all query sets are ranges of one key, bounds are exact."""
        orders = []
        for ranks in self.keys.values():
            least = np.full(atoms, np.iinfo(np.int64).max)
            np.minimum.at(least, atom, ranks)
            orders.append(least)
        return orders
