"""Large systems: solutions found by projection show whose bounds stay open, so that no program is needed for them.

From one central solution x of ``A·s = sums`` the step ``d = W·e_j − W·Aᵀ·(A·W·Aᵀ)⁺·A·W·e_j`` moves atom j and keeps all
sums. ``W`` weighs each atom by its squared distance from its bounds, so that atoms near a bound move little. If the
step that takes atom j to its goal keeps all other atoms within their bounds, its end is a solution at the goal.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equivoc.systems.bounds.parts import Part
from equivoc.systems.sum_systems import interior_solution

# Newton's method for the central solution: rounds (it takes 3 to 12), how much of the way to the nearest bound one
# step may go, and how short a step shows that no solution is inside all bounds.
_ROUNDS_TO_CENTRE = 40
_TOWARDS_BOUND = 0.9
_SHORTEST_STEP = 1e-3
# Repairing a step costs as much as ten steps; done only where few are left.
_MOST_TO_REPAIR = 256
_ROUNDS_TO_REPAIR = 15
# Projections somewhat beyond a bound converge faster than projections onto it.
_OVERSHOOT = 1.8
_CHUNK = 256
# In steps of the grid: what a solution may miss of a bound or a sum.
_CLOSE = 1e-6
# What a central solution may miss of a sum before the last projection, which corrects it.
_CLOSE_SUMS = 1e-3


@dataclass(frozen=True, eq=False)
class Projector:
    """Projects onto the solutions of ``matrix @ s = totals``, in the metric of ``weights``."""

    matrix: Any = field(repr=False)
    transposed: Any = field(repr=False)
    totals: NDArray[np.float64]
    weights: NDArray[np.float64]
    root: NDArray[np.float64] = field(repr=False)
    """``root @ root.T`` is the pseudo-inverse of ``A·W·Aᵀ``: sums that other sums imply do no harm."""

    @classmethod
    def of(cls, part: Part, weights: NDArray[np.float64]) -> Projector:
        """The projector of a part's known sums."""
        from scipy import sparse

        matrix = part.matrix.astype(np.float64)
        transposed = sparse.csr_array(matrix.T)
        values, vectors = np.linalg.eigh(_gram(matrix, transposed, weights))
        kept = values > 1e-10 * values[-1]
        root = vectors[:, kept] / np.sqrt(values[kept])
        return cls(matrix, transposed, part.totals.astype(np.float64), weights, root)

    def __call__(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        """The nearest solution to each column of ``points``."""
        missed = self.matrix @ points - self.totals[:, None]
        back = self.weights[:, None] * (self.transposed @ (self.root @ (self.root.T @ missed)))
        return np.asarray(points - back)

    def pulls(self) -> NDArray[np.float64]:
        """``W·Aᵀ·root``, atoms × rank."""
        return np.asarray(self.weights[:, None] * (self.transposed @ self.root))


@dataclass(frozen=True, eq=False)
class OpenEnds:
    """For each atom and each end: how far the best solution found with the atom at its goal is off the bounds."""

    projector: Projector = field(repr=False)
    low: NDArray[np.float64]
    """In steps, summed over atoms; 0: a solution takes the atom to its lower goal or below."""
    high: NDArray[np.float64]


def open_ends(part: Part, goal_low: NDArray[np.int64], goal_high: NDArray[np.int64]) -> OpenEnds:
    """Look for solutions with each atom at or below ``goal_low``, and at or above ``goal_high``.

    Raises the error of ``sum_systems`` if no real numbers fit the sums at all.
    """
    low, high = part.ranges.low.astype(np.float64), part.ranges.high.astype(np.float64)
    centre = _central_solution(part, low, high)
    distance = np.maximum(np.minimum(centre - low, high - centre), _CLOSE)
    projector = Projector.of(part, distance**2)
    centre = projector(centre[:, None])[:, 0]
    pulls = projector.pulls()
    # Random signs: if they cancel a row's error by chance in one column, they do not in the next.
    signs = np.random.default_rng(0).choice([-1.0, 1.0], part.matrix.shape[0]) @ projector.matrix
    off = [np.where(centre <= goal_low, 0.0, np.inf), np.where(centre >= goal_high, 0.0, np.inf)]
    goals = [goal_low.astype(np.float64), goal_high.astype(np.float64)]
    todo = np.flatnonzero((off[0] > 0) | (off[1] > 0))
    for start in range(0, len(todo), _CHUNK):
        atoms = todo[start : start + _CHUNK]
        steps = _unit_steps(projector, pulls, atoms)
        for side in range(2):
            wanted = np.flatnonzero(off[side][atoms] > 0)
            move = goals[side][atoms[wanted]] - centre[atoms[wanted]]
            points = centre[:, None] + steps[:, wanted] * move
            drift = np.abs(signs @ steps[:, wanted]) * np.abs(move)
            outside = np.sum(
                np.maximum(np.maximum(low[:, None] - points, points - high[:, None]), 0.0), axis=0
            )
            outside[outside <= _CLOSE] = 0.0
            # A step that is not a number (its atom cannot move), or that loses the sums, shows nothing.
            off[side][atoms[wanted]] = np.where(drift <= _CLOSE * len(signs), outside, np.inf)
    for side in range(2):
        left = np.flatnonzero(off[side] > 0)
        if 0 < len(left) <= _MOST_TO_REPAIR:
            off[side][left] = _repaired(projector, pulls, centre, left, goals[side][left], low, high)
    return OpenEnds(projector, np.nan_to_num(off[0], nan=np.inf), np.nan_to_num(off[1], nan=np.inf))


def _unit_steps(
    projector: Projector, pulls: NDArray[np.float64], atoms: NDArray[np.int64]
) -> NDArray[np.float64]:
    """A column for each of the atoms: the direction that keeps every sum and moves this atom by 1."""
    own = np.arange(len(atoms))
    moves = -(pulls @ pulls[atoms].T)
    moves[atoms, own] += projector.weights[atoms]
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(moves / moves[atoms, own])


def _repaired(
    projector: Projector,
    pulls: NDArray[np.float64],
    centre: NDArray[np.float64],
    atoms: NDArray[np.int64],
    goals: NDArray[np.float64],
    low: NDArray[np.float64],
    high: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Project between the bounds and the solutions with the atom at its goal; how far off each ends."""
    steps = _unit_steps(projector, pulls, atoms)
    off = np.full(len(atoms), np.inf)
    left = np.flatnonzero(np.all(np.isfinite(steps), axis=0))
    points = centre[:, None] + steps[:, left] * (goals[left] - centre[atoms[left]])
    for _ in range(_ROUNDS_TO_REPAIR):
        back = np.clip(points, low[:, None], high[:, None]) - points
        outside = np.sum(np.abs(back), axis=0)
        off[left] = np.where(outside <= _CLOSE, 0.0, outside)
        kept = off[left] > 0
        left, points, back = left[kept], points[:, kept], back[:, kept]
        if len(left) == 0:
            break
        points = projector(points + _OVERSHOOT * back)
        points += steps[:, left] * (goals[left] - points[atoms[left], np.arange(len(left))])
    return off


def _central_solution(part: Part, low: NDArray[np.float64], high: NDArray[np.float64]) -> NDArray[np.float64]:
    """A solution away from the bounds, if there is one.

    Newton's method for the analytic centre, which maximises ``Σ log(s − low) + log(high − s)`` over the solutions. It
    starts in the middle of the bounds, so its first steps also correct the sums. Where no solution is strictly inside
    all bounds it does not converge, and a linear program looks for any solution.
    """
    from scipy import linalg, sparse

    matrix, totals = part.matrix.astype(np.float64), part.totals.astype(np.float64)
    transposed = sparse.csr_array(matrix.T)
    x = (low + high) / 2
    inner = np.flatnonzero(high > low)
    weights, slope = np.zeros(len(x)), np.zeros(len(x))
    for _ in range(_ROUNDS_TO_CENTRE):
        below, above = (x - low)[inner], (high - x)[inner]
        if np.min(below, initial=np.inf) <= _CLOSE or np.min(above, initial=np.inf) <= _CLOSE:
            break
        weights[inner] = 1 / (below**-2 + above**-2)
        slope[inner] = 1 / above - 1 / below
        missed = totals - matrix @ x
        gram = _gram(matrix, transposed, weights)
        scale = 1 / np.sqrt(np.maximum(np.diag(gram), np.finfo(np.float64).tiny))
        gram *= scale[:, None] * scale
        # Sums that other sums imply make the matrix singular; so little more on the diagonal costs only a round.
        gram[np.diag_indices_from(gram)] += 1e-11
        try:
            factor = linalg.cho_factor(gram, lower=True, overwrite_a=True, check_finite=False)
        except linalg.LinAlgError:
            break
        multipliers = scale * linalg.cho_solve(factor, scale * (missed + matrix @ (weights * slope)))
        step = (weights * (transposed @ multipliers - slope))[inner]
        room = np.where(step > 0, above, below)
        with np.errstate(divide="ignore", invalid="ignore"):
            length = min(1.0, _TOWARDS_BOUND * float(np.min(room / np.abs(step), initial=np.inf)))
        if not length > _SHORTEST_STEP:
            break
        x[inner] += length * step
        near = length == 1.0 and np.sum(step**2 / weights[inner]) < 1.0
        if near and np.max(np.abs(totals - matrix @ x)) <= _CLOSE_SUMS:
            return x
    return low + interior_solution(part.sum_system())


def _gram(matrix: Any, transposed: Any, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """``A·W·Aᵀ``."""
    weighted = matrix.copy()
    weighted.data = weights[matrix.indices]
    return np.asarray((weighted @ transposed).toarray())
