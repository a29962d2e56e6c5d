"""Small systems exactly, gaps and extremes included: whole-number programs over how many people have each value.

Unknown is the number of people of each atom at each position. Sizes, known sums and "at least one person is at the
extreme" are linear in these numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equivoc.queries.bounds.parts import Part

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
    import highspy
    from highspy import HighsModelStatus, HighsVarType
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
    program = highspy.HighsLp()
    program.num_row_, program.num_col_ = table.shape
    program.col_cost_ = np.concatenate([np.zeros(count), sign * cells.position[chosen]])
    program.col_lower_ = np.zeros(count + len(chosen))
    program.col_upper_ = np.concatenate([part.sizes[cells.atom], np.ones(len(chosen))]).astype(np.float64)
    program.row_lower_, program.row_upper_ = lower, upper
    program.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    program.a_matrix_.start_, program.a_matrix_.index_ = table.indptr, table.indices
    program.a_matrix_.value_ = table.data
    program.integrality_ = [HighsVarType.kInteger] * count + [HighsVarType.kContinuous] * len(chosen)
    solver: Any = highspy.Highs()  # type: ignore[no-untyped-call]
    for option, setting in {
        "output_flag": False,
        "threads": 1,
        "mip_max_nodes": _MOST_NODES,
        "mip_rel_gap": 0.0,
        "mip_abs_gap": 0.5,
    }.items():
        solver.setOptionValue(option, setting)
    solver.passModel(program)
    solver.run()
    status = solver.getModelStatus()
    if status == HighsModelStatus.kInfeasible:
        return False, 0
    if status != HighsModelStatus.kOptimal:
        return None, 0
    numbers = np.rint(np.array(solver.getSolution().col_value)[:count])
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
