"""The search for a cheap protected pattern: cut generation, whole or by fixing the largest relaxed cells."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from equivoc.systems.programs import Program, Solver, Status, TimeUpError
from equivoc.tables.suppression.cuts import Attack, Cut, LoneCells, goal_relation_cuts
from equivoc.tables.suppression.problem import Certificates, Goal, SuppressionProblem, solver_of

Booleans = NDArray[np.bool_]

Floats = NDArray[np.float64]


class Master:
    """``min Σ cost · y`` over the free cells, 0 ≤ y ≤ 1, with the inequalities added so far."""

    def __init__(self, problem: SuppressionProblem) -> None:
        from scipy import sparse

        self.problem, self.free = problem, problem.free
        self.column = np.full(len(problem.cost), -1)
        self.column[self.free] = np.arange(len(self.free))
        # Costs of about 1: the solver's tolerances are absolute.
        self.unit = float(np.max(problem.cost[self.free], initial=0.0)) or 1.0
        self.cost = problem.cost[self.free] / self.unit
        count = len(self.free)
        self.low, self.high = np.zeros(count), np.ones(count)
        self.cuts: list[Cut] = []
        self.seen: set[bytes] = set()
        self.solver = solver_of(
            sparse.csr_array((0, count)), sums=np.zeros(0), cost=self.cost, low=self.low, high=self.high
        )

    def add(self, cuts: Sequence[Cut]) -> int:
        """Add inequalities that are not there yet; returns how many."""
        added = 0
        for cut in cuts:
            key = cut.cells.tobytes() + np.round(cut.weights, 9).tobytes() + bytes([int(cut.least)])
            if key in self.seen:
                continue
            self.seen.add(key)
            self.cuts.append(cut)
            columns = self.column[cut.cells].astype(np.int32)
            self.solver.add_row(cut.least, columns, cut.weights)
            added += 1
        return added

    def fix(self, cells: NDArray[np.int64]) -> None:
        """Suppress these free cells in all further programs."""
        columns = self.column[cells].astype(np.int32)
        self.low[columns] = 1.0
        self.solver.set_bounds(np.ones(len(columns)), np.ones(len(columns)), columns)

    def unfix(self) -> None:
        """Undo all fixing."""
        self.low[:] = 0.0
        self.solver.set_bounds(self.low, self.high)

    def relaxed(self, deadline: float) -> tuple[Floats, float]:
        """y of every cell of the table (1 for forced ones), and the cost: a lower bound, unless cells are fixed."""
        if not self.solver.solve(deadline):
            raise RuntimeError("inequalities that suppressing everything satisfies have no solution.")
        y = self.problem.forced.astype(np.float64)
        y[self.free] = np.clip(self.solver.x, 0.0, 1.0)
        return y, self.unit * self.solver.objective

    def whole(self, start: Booleans, deadline: float) -> tuple[Booleans, float, bool]:
        """The cheapest pattern of all, a lower bound of its cost, and whether it is proven; ``start`` is a pattern
        that satisfies all inequalities."""
        solver = Solver(
            self._whole_program(), mip_rel_gap=1e-9, mip_abs_gap=1e-9, mip_feasibility_tolerance=1e-9
        )
        solver.start_from(start[self.free].astype(np.float64))
        status = solver.run(deadline)
        bound = self.unit * solver.bound
        if status not in (Status.OPTIMAL, Status.TIME_UP):
            raise solver.unsolvable()
        pattern, solution = self.problem.forced.copy(), solver.solution
        if solution is None:
            return start, bound, False
        pattern[self.free] = solution > 0.5
        return pattern, bound, status is Status.OPTIMAL

    def _whole_program(self) -> Program:
        from scipy import sparse

        count, rows = len(self.free), len(self.cuts)
        ends = np.cumsum([0, *(len(cut.cells) for cut in self.cuts)])
        columns = np.concatenate([np.zeros(0, np.int64), *(self.column[cut.cells] for cut in self.cuts)])
        weights = np.concatenate([np.zeros(0), *(cut.weights for cut in self.cuts)])
        return Program(
            sparse.csr_array((weights, columns, ends), shape=(rows, count)),
            least=np.array([cut.least for cut in self.cuts]),
            most=np.full(rows, np.inf),
            cost=self.cost,
            low=np.zeros(count),
            high=self.high,
            whole=count,
        )


# Protected patterns without a proof of optimality: built goal by goal, and freed of cells that are not
# needed.

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


# Relaxed cells from here on count as suppressed.
_NEARLY_ONE = 0.999
# Of the fractional cells, the share that is fixed at once.
_FIXED_AT_ONCE = 0.1
# Rounds of inequalities after cells were fixed.
_ROUNDS = 3
# All goals are looked at again when fewer than this many of those looked at had a violated inequality.
_FEW_VIOLATED = 8
# The bound counts as settled once the rounds between two looks at all goals raise it by less than this share.
_SLOW = 0.001
# Shares of the time that is left: until the relaxed solution is taken as it is; until goals that the fixed cells do not
# protect are left to the greedy search; for a mixed-integer program whose result is a start, not a proof.
_TIME_TO_RELAX, _TIME_TO_FIX, _TIME_OF_WHOLE = 0.2, 0.6, 0.2
# What is left to the greedy search and to cleaning up takes so many times as long as the first greedy search at most.
_TIMES_TO_COMPLETE = 2
# Two costs closer than this, relatively, are equal.
_EQUAL_COST = 1e-9


@dataclass(frozen=True, eq=False)
class Found:
    """A protected pattern, and a lower bound of what any protected pattern adds to the forced cells."""

    pattern: Booleans
    added: float
    """The cost of the suppressed cells that are not forced."""
    bound: float
    """No protected pattern has a smaller added cost."""
    proven: bool
    in_time: bool


class Search:
    """The best pattern and the best bound so far."""

    def __init__(self, problem: SuppressionProblem, deadline: float, *, seconds_of_greedy: float) -> None:
        self.problem, self.deadline = problem, deadline
        self.last_completion = deadline - _TIMES_TO_COMPLETE * seconds_of_greedy
        self.master = Master(problem)
        self.lone_cells = LoneCells(problem)
        self.bound, self.added = 0.0, np.inf
        self.pattern = problem.usable
        # Neighbours need similar programs: each starts from the last one's solution.
        self.goals = sorted(problem.goals, key=lambda goal: (goal.sign, goal.level))

    @property
    def proven(self) -> bool:
        """Whether no pattern can be cheaper."""
        return self.added <= self.bound + _EQUAL_COST * self.added

    def until(self, share: float) -> float:
        """The point in time when this share of the time that is left has passed."""
        now = perf_counter()
        return now + share * (self.deadline - now)

    def offer(self, pattern: Booleans, proofs: Proofs) -> None:
        """A protected pattern: free it of what is not needed, and keep it if it is the cheapest so far."""
        self.keep(pattern)
        self.keep(cleaned(self.problem, pattern, proofs, deadline=self.deadline))

    def complete(self, pattern: Booleans, y: Floats) -> None:
        """Protect the goals that the pattern does not meet, with cells at a discount that y suppresses."""
        price = self.problem.cost * (1.001 - y)
        self.offer(*greedy(self.problem, pattern, price, deadline=self.deadline))

    def keep(self, pattern: Booleans) -> None:
        """Keep a protected pattern if it is the cheapest so far."""
        if self.problem.added(pattern) < self.added:
            self.pattern, self.added = pattern, self.problem.added(pattern)

    def violated(self, y: Floats, goals: Iterable[Goal]) -> tuple[list[Cut], list[Goal]]:
        """The inequalities that y violates, one for each goal at most, and their goals."""
        attack, cuts, violated = Attack(self.problem, y), [], []
        for goal in goals:
            # Where she knows only published cells, she knows no more than everyone.
            if goal.known and not y[list(goal.known)].any():
                continue
            cut = attack.cut(goal, deadline=self.deadline)
            if cut is not None:
                cuts.append(cut)
                violated.append(goal)
        return cuts, violated

    def relaxed(self) -> Floats:
        """The relaxed solution with the inequalities so far and those of lone cells."""
        while True:
            y, cost = self.master.relaxed(self.deadline)
            if not self.master.low.any():
                self.bound = max(self.bound, cost)
            if not self.master.add(self.lone_cells.violated(y)):
                return y

    def relax(self) -> Floats:
        """The relaxed solution, once no inequality is violated, the bound hardly rises any more, or a share of the
        time has passed. Between two looks at all goals, only those are looked at that were violated before."""
        until = self.until(_TIME_TO_RELAX)
        self.master.add(goal_relation_cuts(self.problem))
        y = self.relaxed()
        before, goals, everyone = self.bound, self.goals, True
        while perf_counter() < until:
            cuts, violated = self.violated(y, goals)
            if self.master.add(cuts):
                y = self.relaxed()
            elif everyone:
                break
            everyone = not everyone and len(violated) < _FEW_VIOLATED
            goals = self.goals if everyone else violated
            if everyone:
                if self.bound - before < _SLOW * self.bound:
                    break
                before = self.bound
        return y


def search(problem: SuppressionProblem, *, exact: bool, deadline: float) -> Found:
    """The cheapest pattern that is found in time; the first protected one is always found, whatever the time."""
    began = perf_counter()
    pattern, _ = greedy(problem, problem.forced, problem.cost, deadline=np.inf)
    state, in_time = Search(problem, deadline, seconds_of_greedy=perf_counter() - began), True
    state.keep(pattern)
    try:
        if not state.proven:
            _improve(state, exact=exact)
    except TimeUpError:
        in_time = False
    return Found(state.pattern, state.added, min(state.bound, state.added), state.proven, in_time)


def _improve(state: Search, *, exact: bool) -> None:
    y = state.relax()
    if exact:
        state.complete(state.problem.forced, y)
        _exactly(state)
    else:
        _by_fixing(state, y, until=min(state.until(_TIME_TO_FIX), state.last_completion))
        _from_whole(state)


def _exactly(state: Search) -> None:
    """Mixed-integer programs, until the cheapest pattern is protected: then it is the optimum."""
    while not state.proven:
        pattern, bound, optimal = state.master.whole(state.pattern, state.deadline)
        state.bound = max(state.bound, bound)
        if not optimal:
            raise TimeUpError
        y = pattern.astype(np.float64)
        cuts = [*state.violated(y, state.goals)[0], *state.lone_cells.violated(y)]
        if not state.master.add(cuts):
            state.keep(pattern)
            state.bound = state.added
            return


def _from_whole(state: Search) -> None:
    """Complete the cheapest pattern that satisfies the inequalities so far, as long as this improves the best one; its
    cost is a better bound than the relaxed one."""
    before = np.inf
    while not state.proven and state.added < before:
        before = state.added
        pattern, bound, _ = state.master.whole(state.pattern, state.until(_TIME_OF_WHOLE))
        state.bound = max(state.bound, bound)
        if state.problem.added(pattern) < state.added:
            state.master.add(state.violated(pattern.astype(np.float64), state.goals)[0])
            state.offer(*greedy(state.problem, pattern, state.problem.cost, deadline=state.deadline))


def _by_fixing(state: Search, y: Floats, *, until: float) -> None:
    """Fix the largest relaxed cells, solve again, until the fixed ones protect every goal."""
    problem, master = state.problem, state.master
    fixed, goals = problem.forced.copy(), state.goals
    while goals and perf_counter() < until:
        fractional = problem.free[(y[problem.free] > 1e-6) & ~fixed[problem.free]]
        if not len(fractional):
            break
        order = fractional[np.argsort(-y[fractional], kind="stable")]
        chosen = np.union1d(order[: max(1, int(_FIXED_AT_ONCE * len(order)))], order[y[order] >= _NEARLY_ONE])
        fixed[chosen] = True
        master.fix(chosen)
        y = state.relaxed()
        if (
            2 * problem.added(fixed) > problem.cost[problem.free] @ y[problem.free]
        ):  # few goals are met before
            attack = Attack(problem, fixed.astype(np.float64))
            goals = [goal for goal in goals if not attack.reaches(goal, deadline=state.deadline)]
        violated = goals
        for _ in range(_ROUNDS):
            if perf_counter() >= until:
                break
            cuts, violated = state.violated(y, violated)
            if not master.add(cuts):
                break
            y = state.relaxed()
    master.unfix()
    state.complete(fixed, y)
