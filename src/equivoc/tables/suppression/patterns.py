"""Protected patterns without a proof of optimality: built goal by goal, and freed of cells that are not needed."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from equivoc.tables.suppression.certificates import Certificates
from equivoc.tables.suppression.problem import Goal, SuppressionProblem
from equivoc.tables.suppression.solver import TimeUpError

Booleans = NDArray[np.bool_]
Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Proofs = dict[Goal, Integers]
"""Of each goal, the cells that its deviations use."""

# Deviations over cells that are suppressed anyway cost next to nothing, but not nothing: shorter cycles are better.
_ALMOST_FREE = 1e-4


class UnprotectableError(Exception):
    """A goal that no pattern meets."""

    def __init__(self, goal: Goal) -> None:
        super().__init__(goal)
        self.goal = goal


def greedy(
    problem: SuppressionProblem, start: Booleans, price: Floats, *, deadline: float
) -> tuple[Booleans, Proofs]:
    """Goal by goal, add the cells of the cheapest deviations; ``price`` per cell. UnprotectableError names a goal."""
    pattern = start.copy()
    proofs = _met(problem, start, deadline=deadline) if (start & ~problem.forced).any() else {}
    programs = Certificates(problem, np.flatnonzero(problem.usable))
    positive = price[price > 0]
    least = _ALMOST_FREE * (float(positive.mean()) if len(positive) else 1.0)
    for goal in sorted(problem.goals, key=lambda goal: (len(goal.known), -goal.level)):
        proven = proofs[goal] if goal in proofs else reused(goal, proofs)
        if proven is not None:
            proofs[goal] = proven
            continue
        programs.price(np.where(pattern, least, price + least))
        found = programs.cheapest(goal, problem.usable, deadline=deadline)
        if found is None:
            raise UnprotectableError(goal)
        proofs[goal] = found[0]
        pattern[found[0]] = True
    return pattern, proofs


def _met(problem: SuppressionProblem, pattern: Booleans, *, deadline: float) -> Proofs:
    """Proofs of the goals that the pattern meets as it is: programs over its own cells are much smaller."""
    programs, proofs = Certificates(problem, np.flatnonzero(pattern)), {}
    programs.price(np.ones(len(pattern)))
    for goal in sorted(problem.goals, key=lambda goal: (len(goal.known), goal.sign, goal.level, goal.cell)):
        found = programs.cheapest(goal, pattern, deadline=deadline)
        if found is not None:
            proofs[goal] = found[0]
    return proofs


def reused(goal: Goal, proofs: Proofs) -> Integers | None:
    """The cells of the general attacker's proof, if they contain no cell that this attacker knows."""
    if not goal.known:
        return None
    general = proofs.get(Goal(goal.cell, goal.sign, goal.level))
    return None if general is None or np.isin(general, goal.known).any() else general


def cleaned(problem: SuppressionProblem, pattern: Booleans, proofs: Proofs, *, deadline: float) -> Booleans:
    """The pattern without cells that no goal needs, the most expensive tried first. Stops at the deadline."""
    pattern, proofs = pattern.copy(), dict(proofs)
    programs = Certificates(problem, np.flatnonzero(pattern))
    programs.price(np.ones(len(pattern)))
    users: dict[int, set[Goal]] = {}
    for goal, cells in proofs.items():
        for cell in cells:
            users.setdefault(int(cell), set()).add(goal)
    extra = np.flatnonzero(pattern & ~problem.forced)
    for cell in extra[np.argsort(-problem.cost[extra], kind="stable")]:
        without = pattern.copy()
        without[cell] = False
        try:
            new = _proofs(programs, without, users.get(int(cell), set()), deadline=deadline)
        except TimeUpError:
            return pattern
        if new is None:
            continue
        pattern = without
        for goal, cells in new.items():
            for old in proofs[goal]:
                users[int(old)].discard(goal)
            for used in cells:
                users.setdefault(int(used), set()).add(goal)
        proofs.update(new)
    return pattern


def _proofs(programs: Certificates, pattern: Booleans, goals: set[Goal], *, deadline: float) -> Proofs | None:
    """Proofs of these goals under the pattern, or None if one is not met."""
    proofs: Proofs = {}
    for goal in sorted(goals, key=lambda goal: (len(goal.known), goal.sign, goal.level, goal.cell)):
        proven = reused(goal, proofs)
        if proven is None:
            found = programs.cheapest(goal, pattern, deadline=deadline)
            if found is None:
                return None
            proven = found[0]
        proofs[goal] = proven
    return proofs
