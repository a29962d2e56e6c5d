"""Solves each part of a system by the first method that fits: propagation, shortest paths, linear programs.

Shortest paths are for sums over contiguous runs of atoms: exact bounds of each atom's sum over prefix sums.
With φ_i the sum of the first i atoms, ``low_i ≤ φ_{i+1} − φ_i ≤ high_i`` and ``φ_b − φ_a = total`` for every known
sum. All are limits on differences, so the greatest ``φ_j − φ_i`` is the length of a shortest path from i to j, a whole
number that some whole-number solution attains. Known sums tie boundaries together; only groups of tied boundaries
are nodes.
"""

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
from equivoc.systems.runs import range_order
from equivoc.systems.sum_systems import SumSystem, contradiction, is_forest, tighten
from equivoc.systems.system import AnswerSystem

# Entries of the distance matrix held at once, 8 bytes each.
_MOST_DISTANCES = 4_000_000


@dataclass(frozen=True, eq=False)
class _TiedBoundaries:
    """``φ_i = φ of its group + offset_i``."""

    group: NDArray[np.int64]
    offset: NDArray[np.int64]


def path_bounds(
    part: Part,
    order: NDArray[np.int64],
    first: NDArray[np.int64],
    past: NDArray[np.int64],
    *,
    attained: AttainedSums,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Least and greatest sum of each atom; ``order``, ``first``, ``past`` as ``range_order`` gives them.

    If the part has open extremes, every shortest-path solution is noted in ``attained``.
    """
    from scipy import sparse
    from scipy.sparse.csgraph import dijkstra

    tied = _tied(len(order) + 1, first, past, part.totals)
    low, high = part.ranges.low[order], part.ranges.high[order]
    here, there = tied.group[:-1], tied.group[1:]
    gain = tied.offset[1:] - tied.offset[:-1]  # φ_{i+1} − φ_i = gain + φ of the one group − φ of the other
    if np.any((here == there) & ((gain < low) | (gain > high))):
        raise contradiction()
    tail, head, length = _shortest_parallel(
        np.concatenate([here, there]),
        np.concatenate([there, here]),
        np.concatenate([high - gain, gain - low]),
    )
    groups = int(tied.group.max()) + 1
    level = _potentials(tail, head, length, start=_middle(tied, low, high))
    slack = length + level[tail] - level[head]
    graph = sparse.csr_array((slack.astype(np.float64), (tail, head)), shape=(groups, groups))
    # How far each group must look: to the neighbour across its longest edge.
    reach = np.zeros(groups)
    np.maximum.at(reach, tail, slack)
    sources = np.argsort(reach, kind="stable")
    up = np.where(here == there, 0, high - gain)
    down = np.where(here == there, 0, gain - low)
    by_here, by_there = np.argsort(here, kind="stable"), np.argsort(there, kind="stable")
    chunk = max(1, _MOST_DISTANCES // groups)
    for start in range(0, groups, chunk):
        some = np.sort(sources[start : start + chunk])
        limit = np.inf if part.extremes else float(reach[some].max())
        distance = dijkstra(graph, directed=True, indices=some, limit=limit)
        row = np.full(groups, -1, dtype=np.int64)
        row[some] = np.arange(len(some))
        for edges, tails, heads, bound in ((by_here, here, there, up), (by_there, there, here, down)):
            chosen = edges[row[tails[edges]] >= 0]
            found = distance[row[tails[chosen]], heads[chosen]]
            real = found - level[tails[chosen]] + level[heads[chosen]]
            bound[chosen] = np.minimum(bound[chosen], np.where(np.isfinite(found), real, bound[chosen]))
        if part.extremes:
            _note_solutions(distance, some, level, tied, order, attained)
    least, greatest = np.empty_like(low), np.empty_like(high)
    least[order], greatest[order] = gain - down, gain + up
    if part.whole and not part.extremes:
        # A theorem, not a solution at hand: shortest paths are attained.
        np.copyto(attained.least, least)
        np.copyto(attained.greatest, greatest)
    return least, greatest


def _note_solutions(
    distance: NDArray[np.float64],
    sources: NDArray[np.int64],
    level: NDArray[np.int64],
    tied: _TiedBoundaries,
    order: NDArray[np.int64],
    attained: AttainedSums,
) -> None:
    """The distances from one group to all others are a solution: it attains the bounds of the atoms beside it."""
    sums = np.empty(len(order))
    for row, source in zip(distance, sources, strict=True):
        height = row - level[source] + level
        sums[order] = np.diff(height[tied.group] + tied.offset)
        attained.note(sums)


def _tied(
    boundaries: int, first: NDArray[np.int64], past: NDArray[np.int64], totals: NDArray[np.int64]
) -> _TiedBoundaries:
    """Groups of boundaries whose differences the known sums fix; raises if two known sums disagree."""
    neighbours: list[list[tuple[int, int]]] = [[] for _ in range(boundaries)]
    for a, b, total in zip(first.tolist(), past.tolist(), totals.tolist(), strict=True):
        neighbours[a].append((b, total))
        neighbours[b].append((a, -total))
    group = np.full(boundaries, -1, dtype=np.int64)
    offset = np.zeros(boundaries, dtype=np.int64)
    groups = 0
    for root in range(boundaries):
        if group[root] >= 0:
            continue
        group[root] = groups
        waiting = [root]
        while waiting:
            here = waiting.pop()
            for there, total in neighbours[here]:
                if group[there] < 0:
                    group[there] = groups
                    offset[there] = offset[here] + total
                    waiting.append(there)
        groups += 1
    if np.any(offset[past] - offset[first] != totals):
        raise contradiction()
    return _TiedBoundaries(group, offset)


def _shortest_parallel(
    tail: NDArray[np.int64], head: NDArray[np.int64], length: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """One edge for each pair of different groups: the shortest."""
    apart = tail != head
    tail, head, length = tail[apart], head[apart], length[apart]
    order = np.lexsort((length, head, tail))
    tail, head, length = tail[order], head[order], length[order]
    leading = np.ones(len(tail), dtype=bool)
    leading[1:] = (tail[1:] != tail[:-1]) | (head[1:] != head[:-1])
    return tail[leading], head[leading], length[leading]


def _middle(tied: _TiedBoundaries, low: NDArray[np.int64], high: NDArray[np.int64]) -> NDArray[np.int64]:
    """A first guess of each group's level: every atom in the middle of its range, averaged over the group."""
    prefix = np.concatenate([[0], np.cumsum((low + high) // 2)]) - tied.offset
    return (np.bincount(tied.group, weights=prefix) // np.bincount(tied.group)).astype(np.int64)


def _potentials(
    tail: NDArray[np.int64], head: NDArray[np.int64], length: NDArray[np.int64], *, start: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Levels with ``level[head] ≤ level[tail] + length`` (Bellman and Ford); raises if a cycle is negative."""
    level = start.copy()
    if len(tail) == 0:
        return level
    by_head = np.argsort(head, kind="stable")
    tail, head, length = tail[by_head], head[by_head], length[by_head]
    begins = np.flatnonzero(np.concatenate([[True], head[1:] != head[:-1]]))
    targets = head[begins]
    for _ in range(len(level) + 1):
        offered = np.minimum.reduceat(level[tail] + length, begins)
        if np.all(offered >= level[targets]):
            return level
        level[targets] = np.minimum(level[targets], offered)
    raise contradiction()


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
