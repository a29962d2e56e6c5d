"""Solves each part of a system by the first method that fits: propagation, shortest paths, linear programs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from equivoc.systems.bounds.parts import (
    AtomRanges,
    AttainedSums,
    Method,
    Part,
    deduced,
    has_gaps,
    parts,
    ranges_from_extremes,
)
from equivoc.systems.bounds.programs import program_bounds
from equivoc.systems.bounds.range_paths import path_bounds
from equivoc.systems.runs import range_order
from equivoc.systems.sum_systems import SumSystem, is_forest, tighten
from equivoc.systems.system import AnswerSystem

# Sums and extremes can narrow each other's bounds in turn; so many turns, then the bounds stay outer ones.
_MOST_PASSES = 4
_ROUNDS_OF_PROPAGATION = 50


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
