"""Bounds of every person's value from the answers: propagation, shortest paths, linear and whole-number programs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from equivoc.queries.answers.system import AnswerSystem
from equivoc.queries.bounds.histograms import cell_count, person_range
from equivoc.queries.bounds.parts import AttainedSums, Part, parts
from equivoc.queries.bounds.programs import program_bounds
from equivoc.queries.bounds.range_orders import range_order
from equivoc.queries.bounds.range_paths import path_bounds
from equivoc.queries.bounds.ranges import AtomRanges, deduced, has_gaps, ranges_from_extremes
from equivoc.queries.bounds.record import Method, PersonBounds
from equivoc.queries.sum_systems import SumSystem, components, is_forest, tighten

# Sums and extremes can narrow each other's bounds in turn; so many turns, then the bounds stay outer ones.
_MOST_PASSES = 4
_ROUNDS_OF_PROPAGATION = 50
# Whole-number programs: the largest part they are tried on, in unknowns, and how many atoms of it.
MOST_CELLS = 1_500
_MOST_ATOMS = 60


@dataclass(frozen=True, eq=False)
class SolvedPart:
    """What one method found out about one part."""

    part: Part
    low: NDArray[np.int64]
    """Bounds of the atoms' sums."""
    high: NDArray[np.int64]
    method: Sequence[Method]
    """For each atom."""
    attained: AttainedSums
    exact: bool
    """Whether the method guarantees that the bounds of every person are attained."""


def person_bounds(system: AnswerSystem, *, orders: Sequence[NDArray[np.int64]] = ()) -> PersonBounds:
    """The least and greatest value that the answers leave one person of each atom.

    ``orders`` holds candidate orders of the atoms, each an array with the rank of every atom, for example by a key:
    where every known sum is a contiguous run of one of them, shortest paths give exact bounds quickly.

    Answers that contradict each other raise ``ImpossibleSumsError`` where a bound shows it; ``require_possible`` looks
    for all contradictions, and names them.

    >>> from equivoc.queries.answers.constraints import answer_system
    >>> from equivoc.queries.answers.question import Question
    >>> asked = [
    ...     Question("sum", np.array([0, 1]), 190.0, statement=0, text="SUM(salary) WHERE age < 40"),
    ...     Question("sum", np.array([1, 2]), 120.0, statement=1, text="SUM(salary) WHERE age > 30"),
    ... ]
    >>> found = person_bounds(answer_system(asked, values=range(101), people=3))
    >>> found.low.tolist(), found.high.tolist(), found.exact.tolist()
    ([90, 90, 20], [100, 100, 30], [True, True, True])
    """
    ranges, solved = solved_parts(system, orders=orders)
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


def solved_parts(
    system: AnswerSystem, *, orders: Sequence[NDArray[np.int64]] = ()
) -> tuple[AtomRanges, list[SolvedPart]]:
    """The final ranges of all atoms, and the parts that needed more than deductions, as last solved."""
    ranges = ranges_from_extremes(system)
    solved: list[SolvedPart] = []
    for _ in range(_MOST_PASSES):
        ranges, settled = _propagated(system, ranges)
        low, high = ranges.low.copy(), ranges.high.copy()
        solved = []
        for part in parts(system, ranges):
            piece = _solve_part(part, settled=settled, ranks=[rank[part.atoms] for rank in orders])
            solved.append(piece)
            low[part.atoms], high[part.atoms] = piece.low, piece.high
        before, ranges = ranges, deduced(system, AtomRanges(ranges.floor, ranges.cap, low, high))
        if ranges.same(before) or not (system.extremes or has_gaps(system)):
            break
    return ranges, solved


def _propagated(system: AnswerSystem, ranges: AtomRanges) -> tuple[AtomRanges, bool]:
    """The ranges after propagation from sum to sum and the deductions, and whether nothing more would change."""
    matrix, totals = system.matrix.astype(np.float64), system.totals.astype(np.float64)
    for _ in range(_ROUNDS_OF_PROPAGATION):
        # Whole numbers below 2^53: doubles add them without rounding.
        sums = SumSystem(
            matrix, totals, ranges.low.astype(np.float64), ranges.high.astype(np.float64), rounding=0.0
        )
        tightened, settled = tighten(sums, rounds=_ROUNDS_OF_PROPAGATION)
        low, high = tightened.low.astype(np.int64), tightened.high.astype(np.int64)
        before, ranges = ranges, deduced(system, AtomRanges(ranges.floor, ranges.cap, low, high))
        if np.array_equal(ranges.low, low) and np.array_equal(ranges.high, high):
            return ranges, settled
        if ranges.same(before):
            break
    return ranges, False


def _solve_part(part: Part, *, settled: bool, ranks: Sequence[NDArray[np.int64]]) -> SolvedPart:
    attained = AttainedSums(part)
    propagation: list[Method] = ["propagation"] * len(part.atoms)
    paths: list[Method] = ["shortest paths"] * len(part.atoms)
    low, high = part.ranges.low, part.ranges.high
    if part.matrix.shape[0] == 0:
        # Two people of an atom without a known sum can be at its floor and at its cap, whatever the others do.
        able = all(np.any(part.sizes[extreme.atoms] > 1) for extreme in part.extremes)
        return SolvedPart(part, low, high, propagation, attained, exact=able)
    if part.whole and not part.extremes and is_forest(part.sum_system()):
        tightened, ended = tighten(part.sum_system())
        if settled or ended:
            least, greatest = (low + side.astype(np.int64) for side in (tightened.low, tightened.high))
            return SolvedPart(part, least, greatest, propagation, attained, exact=True)
    runs = range_order(part.matrix, ranks)
    if runs is not None:
        least, greatest = path_bounds(part, *runs, attained=attained)
        return SolvedPart(part, least, greatest, paths, attained, exact=False)
    least, greatest, by_programs = program_bounds(part, attained=attained)
    methods: list[Method] = ["linear programs" if solved else "propagation" for solved in by_programs]
    return SolvedPart(part, least, greatest, methods, attained, exact=False)


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
