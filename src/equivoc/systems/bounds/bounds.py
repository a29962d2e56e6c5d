"""Bounds of every person's value from the answers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from equivoc.systems.bounds.contradictions import contradiction_of
from equivoc.systems.bounds.parts import Method, Part, PersonBounds
from equivoc.systems.bounds.programs import cell_count, person_range
from equivoc.systems.bounds.solving import solved_parts
from equivoc.systems.sum_systems import ImpossibleSumsError, SumSystem, components
from equivoc.systems.system import AnswerSystem

# Whole-number programs: the largest part they are tried on, in unknowns, and how many atoms of it.
MOST_CELLS = 1_500
_MOST_ATOMS = 60


def person_bounds(system: AnswerSystem, *, orders: Sequence[NDArray[np.int64]] = ()) -> PersonBounds:
    """The least and greatest value that the answers leave one person of each atom.

    ``orders`` holds candidate orders of the atoms, each an array with the rank of every atom, for example by a key:
    where every known sum is a contiguous run of one of them, shortest paths give exact bounds quickly.

    Answers that contradict each other raise ``ContradictionError`` where a bound shows it; ``require_possible`` looks
    for contradictions that bounds do not show, too.

    >>> from equivoc.systems.constraints import answer_system
    >>> from equivoc.systems.system import Question
    >>> asked = [
    ...     Question("sum", np.array([0, 1]), 190.0, statement=0, text="SUM(salary) WHERE age < 40"),
    ...     Question("sum", np.array([1, 2]), 120.0, statement=1, text="SUM(salary) WHERE age > 30"),
    ... ]
    >>> found = person_bounds(answer_system(asked, values=range(101), people=3))
    >>> found.low.tolist(), found.high.tolist(), found.exact.tolist()
    ([90, 90, 20], [100, 100, 30], [True, True, True])
    """
    from threadpoolctl import threadpool_limits

    try:
        # Many products of middle-sized matrices: handing each to several threads takes longer than computing it.
        with threadpool_limits(1):
            ranges, solved = solved_parts(system, orders=orders)
    except ImpossibleSumsError:
        raise contradiction_of(system) from None
    used, with_moment = _constrained(system)
    method: list[Method] = ["propagation" if use else "prior domain" for use in used]
    low, high = ranges.floor.copy(), ranges.cap.copy()
    exact = np.ones(len(low), dtype=bool)
    for piece in solved:
        inside = piece.part.atoms
        exact[inside] = piece.exact | piece.attained.open_ends(low[inside], high[inside])
        for atom, found_by in zip(inside, piece.method, strict=True):
            method[atom] = found_by
        for place in _worth_counting(system, piece.part, ~exact[inside] & (low[inside] < high[inside])):
            ends = person_range(piece.part, system.grid.positions, int(place))
            if ends is not None:
                atom = inside[place]
                low[atom], high[atom], exact[atom] = *ends, True
                method[atom] = "whole-number programs"
    exact = (exact & ~with_moment) | (low == high)
    return PersonBounds(low, high, ranges.low, ranges.high, exact, tuple(method))


def _worth_counting(system: AnswerSystem, part: Part, uncertain: NDArray[np.bool_]) -> NDArray[np.int64]:
    """The atoms of a part on which whole-number programs are tried."""
    places = np.flatnonzero(uncertain)
    small = len(places) <= _MOST_ATOMS and cell_count(part, system.grid.positions) <= MOST_CELLS
    return places if small else places[:0]


def _constrained(system: AnswerSystem) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Which atoms some answer constrains, and which are linked to a median or variance, over any number of answers."""
    from scipy import sparse

    columns = len(system.atoms)
    sets = [extreme.atoms for extreme in system.extremes] + [moment.atoms for moment in system.moments]
    row = np.repeat(np.arange(len(sets)), [len(inside) for inside in sets])
    column = np.concatenate([*sets, np.zeros(0, dtype=np.int64)])
    more = sparse.csr_array((np.ones(len(row), dtype=np.int64), (row, column)), shape=(len(sets), columns))
    table = sparse.csr_array(sparse.vstack([system.matrix, more], format="csr"))
    used = np.bincount(table.indices, minlength=columns) > 0
    with_moment = np.zeros(columns, dtype=bool)
    if system.moments:
        first = table.shape[0] - len(system.moments)
        nothing = np.zeros(0)
        for rows, inside in components(SumSystem(table, nothing, nothing, nothing, 0.0)):
            with_moment[inside] = bool(np.any(rows >= first))
    return used, with_moment
