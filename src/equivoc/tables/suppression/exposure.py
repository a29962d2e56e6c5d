"""Which unsafe cells somebody can compute exactly: anybody, or a contributor who knows all her own contributions.

At the true values, the cells that she cannot compute are those that can move: there are deviations d with
``relations @ d = 0``, d = 0 for published cells and for cells that she is alone in, and d ≥ 0 where nobody but her
contributes more than 0 (if no contribution is negative). How much she contributes to other cells does not matter for
that: it narrows their intervals and does not close them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equivoc.systems.programs import TimeUpError
from equivoc.tables.attacker import has_negatives
from equivoc.tables.cell_table import CellTable
from equivoc.tables.contributions import sole_contributors
from equivoc.tables.suppression.problem import Certificates, Goal, SuppressionProblem, is_network
from equivoc.text import counted

Booleans = NDArray[np.bool_]
Floats = NDArray[np.float64]

# Random directions; whoever knows as many cells is left to the programs.
_DIRECTIONS = 48
# Entries of a matrix up to which a dense solver is faster, and the most rounds of the sparse one.
_DENSE, _ROUNDS = 1_000_000, 2000
# Directions have entries of about 1: rounding, and what is certainly no rounding.
_ROUNDING, _MOVES = 1e-9, 1e-5


@dataclass(frozen=True, eq=False)
class Exposure:
    """The unsafe cells that somebody can compute exactly, and who was checked."""

    by_anybody: Booleans = field(repr=False)
    """Cells × True where the published cells are enough."""
    by_contributor: Booleans = field(repr=False)
    """Cells × True where a contributor can, and not everybody."""
    checked: int
    """Contributors that were checked: everybody who is alone in a withheld cell, if there was time. Whoever shares all
    her withheld cells with others can compute no more cells exactly than anybody."""
    contributors: int
    """How many there are to check."""
    told_apart: bool
    """False if some contributors are in several cells and the table does not say which ones."""

    @property
    def cells(self) -> Booleans:
        """The cells that somebody can compute."""
        return self.by_anybody | self.by_contributor

    @property
    def complete(self) -> bool:
        """Whether everybody was checked."""
        return self.told_apart and self.checked == self.contributors

    @property
    def safe(self) -> bool:
        """Whether nobody can compute an unsafe cell exactly."""
        return self.complete and not self.cells.any()

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader must know, one sentence each; none if everybody was checked and nobody can compute a cell."""
        notes = []
        if self.cells.any():
            notes.append(self.sentence)
        if self.checked < self.contributors:
            notes.append(
                f"Of {counted(self.contributors, 'contributor')} alone in a withheld cell, {self.checked:,} were "
                "checked in time, those who know most first: whether the others can compute an unsafe cell exactly is "
                "not known."
            )
        if not self.told_apart:
            notes.append(
                "Some contributors are in several cells, and the table does not say which: whether one of them can "
                "compute an unsafe cell exactly is not known."
            )
        return tuple(notes)

    @property
    def sentence(self) -> str:
        """How many cells can be computed, and by whom; "" if there is none."""
        anybody, contributor = int(self.by_anybody.sum()), int(self.by_contributor.sum())
        if not anybody + contributor:
            return ""
        who = [
            *([f"{anybody:,} by anybody"] if anybody else []),
            *([f"{contributor:,} by a contributor who knows her own contributions"] if contributor else []),
        ]
        return f"{counted(anybody + contributor, 'unsafe cell')} can be computed exactly: {', '.join(who)}."


def exposure(table: CellTable, pattern: Booleans, unsafe: Booleans, *, seconds: float) -> Exposure:
    """Which of the ``unsafe`` cells can be computed exactly if the cells of ``pattern`` are withheld.

    Contributors who know most withheld cells are checked first, until ``seconds`` have passed.
    """
    deadline = perf_counter() + seconds
    anybody, contributor = np.zeros(len(table), bool), np.zeros(len(table), bool)
    goals = pattern & unsafe
    if not goals.any():
        return Exposure(anybody, contributor, 0, 0, told_apart=True)
    attack = _Attack(table, pattern)
    sole = sole_contributors(table)
    alone, only = (np.where(pattern, each, -1) for each in (sole.alone, sole.only))
    if attack.negative:
        only = np.full(len(table), -1)  # what others contribute may then be below 0
    everyone = np.unique(np.concatenate([alone, only]))
    everyone = everyone[everyone >= 0]
    hers: dict[int, tuple[list[int], list[int]]] = {int(one): ([], []) for one in everyone}
    for place, of in enumerate((alone, only)):
        for cell in np.flatnonzero(of >= 0).tolist():
            hers[int(of[cell])][place].append(cell)
    checked = 0
    try:
        for target in np.flatnonzero(goals & ~attack.moving([])).tolist():
            anybody[target] = not attack.moves(target, [], [], deadline)
        for known, least in sorted(hers.values(), key=lambda cells: -len(set(cells[0] + cells[1]))):
            floor = [cell for cell in least if cell not in known]
            left = goals & ~anybody & ~contributor
            left[known] = False
            for target in np.flatnonzero(left & ~attack.moving([*known, *floor])).tolist():
                contributor[target] = not attack.moves(target, known, floor, deadline)
            checked += 1
    except TimeUpError:
        pass
    return Exposure(anybody, contributor, checked, len(hers), sole.told_apart)


class _Attack:
    """Can a cell move? Random directions answer for most cells at once; a program decides about the others."""

    def __init__(self, table: CellTable, pattern: Booleans) -> None:
        self.negative, size = has_negatives(table), len(table)
        self.table, self.pattern = table, pattern
        # Cells of 0 can only rise; they are left to the programs.
        self.free = np.flatnonzero(pattern & (self.negative | (table.values > 0)))
        self.place = np.full(size, -1)
        self.place[self.free] = np.arange(len(self.free))

    @cached_property
    def _programs(self) -> Certificates:
        size = len(self.table)
        unlimited = np.full(size, np.inf)
        problem = SuppressionProblem(
            self.table.relations,
            unlimited if self.negative else np.where(self.table.values > 0, np.inf, 0.0),
            unlimited,
            np.ones(size),
            forced=self.pattern,
            allowed=np.zeros(size, dtype=bool),
            goals=(),
            network=is_network(self.table),
        )
        programs = Certificates(problem, np.flatnonzero(self.pattern))
        programs.price(np.ones(size))
        return programs

    @cached_property
    def _directions(self) -> Floats:
        """Random deviations of the free cells that add up to 0 everywhere: normal numbers, projected."""
        part = self.table.relations[:, self.free]
        part = part[np.flatnonzero(np.diff(part.indptr) > 0)]
        given = np.random.default_rng(0).standard_normal((len(self.free), _DIRECTIONS))
        directions = given - part.T @ _least_squares(part.T.tocsr(), given)
        exact = np.abs(part @ directions).max(axis=0, initial=0.0) < _ROUNDING
        return np.asarray(directions[:, exact].T)

    def moving(self, fixed: list[int]) -> Booleans:
        """Cells that certainly move if the ``fixed`` ones do not; others may or may not.

        Of the combinations of the random directions that leave the fixed cells as they are, a random one is taken. It
        moves every cell that any of these combinations moves, so what it does not move is rarely one that can.
        """
        moving, directions = np.zeros(len(self.pattern), dtype=bool), self._directions
        at = self.place[fixed]
        at = at[at >= 0]
        if len(at) >= len(directions):
            return moving
        weights = np.random.default_rng(1).standard_normal(len(directions))
        if len(at):
            columns = directions[:, at]
            weights = weights - columns @ np.linalg.lstsq(columns, weights, rcond=None)[0]
        direction = weights @ directions
        if len(at) and np.abs(direction[at]).max() > _ROUNDING:
            return moving
        moving[self.free[np.abs(direction) > _MOVES]] = True
        return moving

    def moves(self, target: int, known: list[int], floor: list[int], deadline: float) -> bool:
        """Whether the cell can be more or less than it is, if ``known`` cells cannot and ``floor`` cells only more."""
        goals = (Goal(target, sign, 1.0, tuple(known)) for sign in (1, -1))
        return any(
            self._programs.cheapest(goal, self.pattern, deadline=deadline, floor=floor) is not None
            for goal in goals
        )


def _least_squares(matrix: Any, sides: Floats) -> Floats:
    """For each column of ``sides``, the x for which ``matrix @ x`` comes nearest to it."""
    if matrix.shape[0] * matrix.shape[1] <= _DENSE:
        return np.asarray(np.linalg.lstsq(matrix.toarray(), sides, rcond=None)[0])
    from scipy.sparse.linalg import lsmr

    found = [lsmr(matrix, side, atol=1e-13, btol=1e-13, conlim=0, maxiter=_ROUNDS)[0] for side in sides.T]
    return np.array(found).T
