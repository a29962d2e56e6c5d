"""Arbitrary query sets: bounds of each atom's sum by linear programs, only where a person's bound depends on them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equivoc.systems.bounds.parts import AttainedSums, Part, difference_bounds
from equivoc.systems.bounds.projections import OpenEnds, open_ends
from equivoc.systems.programs import Program, Solver, Status
from equivoc.systems.sum_systems import SumSystem, attained_range, bound_of_one

# Known sums × atoms: up to here, every program has all rows and starts from the last solution; below a second.
_MOST_FOR_ALL_ROWS = 30_000
# Above this, the projections' matrices take more than 400 MB, and propagation alone must do.
_MOST_FOR_PROJECTIONS = 40_000_000
# Large parts: programs over the known sums nearest to an atom, and how many of them.
_NEAREST_ROWS = (40, 120)
_MOST_PROGRAMS = 100
# In steps: bounds hold up to the rounding of doubles, with sums below 2^50.
_ROUNDING = 1e-6


def goals(part: Part) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The atom sums at which one person's lower bound, and her upper bound, is open.

    If some solution gives her atom ``s ≤ floor + (m−1)·cap``, the other m − 1 people can take up all that she leaves
    when she has the least value; likewise upwards.
    """
    low, high, floor, cap = part.ranges.low, part.ranges.high, part.ranges.floor, part.ranges.cap
    others = part.sizes - 1
    return np.maximum(floor + others * cap, low), np.minimum(cap + others * floor, high)


def program_bounds(
    part: Part, *, attained: AttainedSums
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_]]:
    """Outer bounds of each atom's sum in whole steps, and for which atoms a person's bounds are those of the programs.

    Every whole-number solution met is noted in ``attained``. In large parts, programs are solved only for atoms that
    projections do not show to be open, with the nearest rows, and not for more than a fixed number.
    """
    rows, atoms = part.matrix.shape
    if rows * atoms <= _MOST_FOR_ALL_ROWS:
        low, high = _with_all_rows(part, attained)
        return low, high, np.ones(atoms, dtype=bool)
    low, high = difference_bounds(part.matrix, part.totals, part.ranges.low, part.ranges.high)
    part = part.narrowed(low, high)
    if rows * atoms > _MOST_FOR_PROJECTIONS:
        return low, high, np.zeros(atoms, dtype=bool)
    ends = open_ends(part, *goals(part))
    return _with_nearest_rows(part, ends)


def _with_all_rows(part: Part, attained: AttainedSums) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    low, high = part.ranges.low, part.ranges.high
    scale = _scale(part)
    goal_low, goal_high = goals(part)
    least, greatest = attained_range(
        part.sum_system(scale=scale),
        enough=((goal_low - low) / scale, (goal_high - low) / scale),
        notice=lambda solution: attained.note(low + scale * solution),
    )
    lowest = low + np.ceil(scale * least - _ROUNDING).astype(np.int64)
    highest = low + np.floor(scale * greatest + _ROUNDING).astype(np.int64)
    return np.maximum(lowest, low), np.minimum(highest, high)


def _with_nearest_rows(
    part: Part, ends: OpenEnds
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_]]:
    """One program for each end that is not shown to be open, the farthest from open first."""
    low, high = part.ranges.low.copy(), part.ranges.high.copy()
    settled = (ends.low == 0) & (ends.high == 0)
    queue = [(ends.low[atom], 1.0, atom) for atom in np.flatnonzero(ends.low > 0)]
    queue += [(ends.high[atom], -1.0, atom) for atom in np.flatnonzero(ends.high > 0)]
    queue.sort(key=lambda end: (-end[0], end[2]))
    spread = np.sqrt(ends.projector.matrix @ ends.projector.weights)
    column = ends.projector.transposed
    for _, sign, atom in queue[:_MOST_PROGRAMS]:
        inside = column.indices[column.indptr[atom] : column.indptr[atom + 1]]
        pull = ends.projector.root @ ends.projector.root[inside].sum(axis=0)
        nearest = np.argsort(-np.abs(pull) * spread, kind="stable")
        bounds = low if sign > 0 else high
        for count in _NEAREST_ROWS:
            before = bounds[atom]
            bounds[atom] = _nearest_bound(part, nearest[:count], int(atom), sign=sign, start=int(before))
            if bounds[atom] == before:
                break
    unsolved = {int(atom) for _, _, atom in queue[_MOST_PROGRAMS:]}
    settled[[atom for atom in range(len(settled)) if atom not in unsolved]] = True
    return low, high, settled


def _nearest_bound(part: Part, rows: NDArray[np.int64], atom: int, *, sign: float, start: int) -> int:
    """A bound of the atom's sum from some of the rows; no worse than ``start``."""
    chosen = part.matrix[np.sort(rows)]
    columns = np.union1d(chosen.indices, [atom])
    low, high, scale = part.ranges.low[columns], part.ranges.high[columns], _scale(part)
    table = chosen[:, columns]
    system = SumSystem(
        table.astype(np.float64),
        (part.totals[np.sort(rows)] - table @ low) / scale,
        np.zeros(len(columns)),
        (high - low) / scale,
        rounding=1e-9,
    )
    place = int(np.searchsorted(columns, atom))
    found = low[place] + scale * bound_of_one(system, place, sign=sign)
    if sign > 0:
        return max(start, int(np.ceil(found - _ROUNDING)))
    return min(start, int(np.floor(found + _ROUNDING)))


def _scale(part: Part) -> float:
    """A power of two, which scales without rounding, near the range of one person."""
    return float(2.0 ** np.ceil(np.log2(max(1, int(np.max(part.ranges.cap - part.ranges.floor))))))


# Small systems exactly, gaps and extremes included: whole-number programs over how many people have each
# value.
#
# Unknown is the number of people of each atom at each position. Sizes, known sums and "at least one person is
# at the extreme" are linear in these numbers.

# Branching nodes before a program is given up; it then proves nothing.
_MOST_NODES = 5_000


@dataclass(frozen=True, eq=False)
class _Cells:
    """The unknowns: one for each atom and position that it may have."""

    atom: NDArray[np.int64]
    position: NDArray[np.int64]


def cell_count(part: Part, positions: NDArray[np.int64]) -> int:
    """How many unknowns the programs of a part have."""
    first = np.searchsorted(positions, part.ranges.floor, side="left")
    past = np.searchsorted(positions, part.ranges.cap, side="right")
    return int(np.sum(past - first))


def part_possible(part: Part, positions: NDArray[np.int64]) -> bool | None:
    """Whether some values of the people fit; None if the program was given up."""
    status, _ = _solve(part, positions, atom=None, sign=0.0)
    return status


def person_range(part: Part, positions: NDArray[np.int64], atom: int) -> tuple[int, int] | None:
    """The least and greatest value of a person of one atom over all databases; None if a program was given up.

    Raises nothing: a part that nothing fits gives None, too.
    """
    ends = []
    for sign in (1.0, -1.0):
        status, value = _solve(part, positions, atom=atom, sign=sign)
        if status is not True:
            return None
        ends.append(value)
    return ends[0], ends[1]


def _solve(
    part: Part, positions: NDArray[np.int64], *, atom: int | None, sign: float
) -> tuple[bool | None, int]:
    """Whether values fit, and the value of ``atom``'s person that minimises ``sign`` times it."""
    from scipy import sparse

    cells = _cells(part, positions)
    count = len(cells.atom)
    chosen = np.zeros(0, dtype=np.int64) if atom is None else np.flatnonzero(cells.atom == atom)
    blocks, lower, upper = _constraints(part, cells)
    links = sparse.csr_array(
        (np.ones(len(chosen)), (np.arange(len(chosen)), chosen)), shape=(len(chosen), count)
    )
    table = (
        sparse.block_array(
            [[blocks, None], [links, -sparse.eye_array(len(chosen))], [None, np.ones((1, len(chosen)))]],
            format="csr",
        )
        if len(chosen)
        else blocks
    )
    if len(chosen):
        # A share of one person at a position needs somebody there; the shares make one person.
        lower = np.concatenate([lower, np.zeros(len(chosen)), [1.0]])
        upper = np.concatenate([upper, np.full(len(chosen), np.inf), [1.0]])
    program = Program(
        table,
        lower,
        upper,
        cost=np.concatenate([np.zeros(count), sign * cells.position[chosen]]),
        low=np.zeros(count + len(chosen)),
        high=np.concatenate([part.sizes[cells.atom], np.ones(len(chosen))]).astype(np.float64),
        whole=count,
    )
    solver = Solver(program, mip_max_nodes=_MOST_NODES, mip_rel_gap=0.0, mip_abs_gap=0.5)
    status = solver.run()
    if status is Status.IMPOSSIBLE:
        return False, 0
    if status is not Status.OPTIMAL:
        return None, 0
    numbers = np.rint(solver.x[:count])
    reached = blocks @ numbers
    if np.any(reached < lower[: len(reached)]) or np.any(reached > upper[: len(reached)]):
        return None, 0
    there = cells.position[chosen[numbers[chosen] > 0]]
    return True, 0 if atom is None else int(there.min() if sign > 0 else there.max())


def _cells(part: Part, positions: NDArray[np.int64]) -> _Cells:
    first = np.searchsorted(positions, part.ranges.floor, side="left")
    past = np.searchsorted(positions, part.ranges.cap, side="right")
    return _Cells(
        np.repeat(np.arange(len(first)), past - first),
        np.concatenate([positions[a:b] for a, b in zip(first, past, strict=True)]),
    )


def _constraints(part: Part, cells: _Cells) -> tuple[Any, NDArray[np.float64], NDArray[np.float64]]:
    """Rows over the cells: sizes, known sums, sums of atoms within their ranges, extremes."""
    from scipy import sparse

    count, atoms = len(cells.atom), len(part.sizes)
    of_atom = sparse.csr_array((np.ones(count), (cells.atom, np.arange(count))), shape=(atoms, count))
    weighted = of_atom @ sparse.diags_array(cells.position.astype(np.float64))
    attained = [
        (np.isin(cells.atom, extreme.atoms) & (cells.position == extreme.position)).astype(np.float64)
        for extreme in part.extremes
    ]
    table = sparse.csr_array(
        sparse.vstack(
            [of_atom, weighted, part.matrix.astype(np.float64) @ weighted]
            + ([sparse.csr_array(np.array(attained))] if attained else []),
            format="csr",
        )
    )
    totals = part.totals.astype(np.float64)
    most = np.full(len(attained), np.inf)
    lower = np.concatenate([part.sizes, part.ranges.low, totals, np.ones(len(attained))])
    return table, lower.astype(np.float64), np.concatenate([part.sizes, part.ranges.high, totals, most])
