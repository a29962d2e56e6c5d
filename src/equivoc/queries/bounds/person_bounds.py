"""Bounds of every person's value from the answers: propagation, shortest paths, linear programs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from equivoc.queries.answers.system import AnswerSystem
from equivoc.queries.bounds.ranges import AtomRanges, deduced, ranges_from_extremes
from equivoc.queries.bounds.record import Method, PersonBounds
from equivoc.queries.sum_systems import SumSystem, tighten


def person_bounds(system: AnswerSystem, *, orders: Sequence[NDArray[np.int64]] = ()) -> PersonBounds:
    """The least and greatest value that the answers leave one person of each atom.

    ``orders`` holds candidate orders of the atoms, each an array with the rank of every atom, for example by a key:
    where every known sum is a contiguous run of one of them, shortest paths give exact bounds quickly.

    >>> from equivoc.queries.answers.constraints import answer_system
    >>> from equivoc.queries.answers.question import Question
    >>> asked = [
    ...     Question("sum", np.array([0, 1]), 190.0, statement=0, text="SUM(salary) WHERE age < 40"),
    ...     Question("sum", np.array([1, 2]), 120.0, statement=1, text="SUM(salary) WHERE age > 30"),
    ... ]
    >>> found = person_bounds(answer_system(asked, values=range(101), people=3))
    >>> found.low.tolist(), found.high.tolist()
    ([90, 90, 20], [100, 100, 30])
    """
    ranges = ranges_from_extremes(system)
    for _ in range(50):
        before = ranges
        sums = SumSystem(
            system.matrix.astype(np.float64),
            system.totals.astype(np.float64),
            ranges.low.astype(np.float64),
            ranges.high.astype(np.float64),
            rounding=0.0,
        )
        tightened, _ = tighten(sums, rounds=50)
        low = np.rint(tightened.low).astype(np.int64)
        high = np.rint(tightened.high).astype(np.int64)
        ranges = deduced(system, AtomRanges(ranges.floor, ranges.cap, low, high))
        if ranges.same(before):
            break
    exact = ranges.floor == ranges.cap
    used = np.zeros(len(exact), dtype=bool)
    used[system.matrix.indices] = True
    for extreme in system.extremes:
        used[extreme.atoms] = True
    for moment in system.moments:
        used[moment.atoms] = True
    method: tuple[Method, ...] = tuple("propagation" if u else "prior domain" for u in used)
    return PersonBounds(ranges.floor, ranges.cap, ranges.low, ranges.high, exact | ~used, method)
