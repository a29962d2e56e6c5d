"""A pool of databases drawn from the past answers alone, and the test by which it judges a new question.

The pool begins with databases drawn uniformly from the domain. When a question is answered, each database is led to the
answer by steps that keep all earlier answers, and is then mixed by the chain of the new answers. Seeds come from the
answers. So the pool is a function of policy and history: no true value enters but the answers themselves.

A new question is answered on each database as if it were the true one. The chain that keeps this answer too then gives
the posterior of every person linked with the question, averaged over people of the same atom. Someone is disclosed if a
posterior has less than the least entropy, or one value only. The chain runs until everyone is above the limit, or its
sweeps are spent; fewer steps give smaller entropies on average, so that what it cannot show to be safe counts as
disclosed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from equivoc.parallel import over_pieces
from equivoc.systems.grids import EvenGrid
from equivoc.systems.posteriors.moves import SumMoves

if TYPE_CHECKING:
    from equivoc.gateway.chain_kernels import ChainShape, Goal

FIRST_SWEEPS = 8
MOST_SWEEPS = 256
MIXING_SWEEPS = 10
BRIDGE_SWEEPS = 200
ATTAINERS = 8
"""How many people are tried as the one who has the answer of a MIN or MAX."""
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Extreme:
    """A question for MIN or MAX, and its answer in steps if it is answered."""

    kind: str
    members: Ints
    position: int | None = None


@dataclass(frozen=True)
class Limits:
    """By what someone counts as disclosed, and what the test may cost."""

    least_h0: float
    accepted: int
    """The most databases in which someone may be disclosed."""
    work: int


class AnswerPool:
    """Databases that fit the answers so far: draws × people, in steps above the least value."""

    def __init__(self, grid: EvenGrid, *, people: int, draws: int, seed: int) -> None:
        self._grid = grid
        self._valid = np.zeros(grid.steps + 1, dtype=np.bool_)
        self._valid[grid.positions] = True
        self.databases: Ints = np.random.default_rng(seed).choice(grid.positions, size=(draws, people))
        self.extremes: list[Extreme] = []
        """The answered MIN and MAX."""
        self.lost = False
        """True if fewer than half of the databases could be led to an answer: nothing more can be judged."""

    def lead(self, goal: Goal, before: SumMoves, *, seed: int) -> None:
        """Lead every database to an answer, by moves that keep the earlier ones."""
        from equivoc.gateway.chain_kernels import distance, sweeps

        shape, values = self._shape(before, self.extremes)
        if not len(self.databases) or self.lost:
            return
        low, high = self._limits()
        nothing, nobody = np.zeros((0, 0)), np.zeros(0, dtype=np.int64)
        reached = np.zeros(len(self.databases), dtype=np.bool_)

        def lead_one(number: int) -> None:
            x, state = self.databases[number], _state(seed, number)
            attained = _attained(shape, x, values)
            for aim in self._aims(goal, low, high, np.random.default_rng([seed, number])):
                sweeps(shape, x, low, high, values, attained, BRIDGE_SWEEPS, state, nothing, nobody, aim)
                if distance(x, aim) == 0:
                    reached[number] = True
                    return

        _for_each(lead_one, len(self.databases))
        good = np.flatnonzero(reached)
        if 2 * good.size < len(self.databases):  # copies of a few would not resolve the policy's share
            self.lost = True
            return
        for number in np.flatnonzero(~reached).tolist():
            self.databases[number] = self.databases[good[number % len(good)]]

    def mix(self, moves: SumMoves, *, seed: int, count: int = MIXING_SWEEPS) -> None:
        """Run the chain of all answers in every database."""
        from equivoc.gateway.chain_kernels import sweeps

        shape, values = self._shape(moves, self.extremes)
        low, high = self._limits()
        nothing, nobody, none = np.zeros((0, 0)), np.zeros(0, dtype=np.int64), no_goal()

        def mix_one(number: int) -> None:
            x = self.databases[number]
            attained = _attained(shape, x, values)
            sweeps(shape, x, low, high, values, attained, count, _state(seed, number), nothing, nobody, none)

        _for_each(mix_one, len(self.databases))

    def disclosing(
        self,
        new: Sequence[Extreme],
        moves: SumMoves,
        alike: Ints,
        tracked: NDArray[np.bool_],
        limits: Limits,
        *,
        seed: int,
        databases: Ints | None = None,
    ) -> int | None:
        """In how many databases the answers would disclose someone (counted up to one more than accepted).

        ``new``: the questions for MIN and MAX; ``moves`` keep the new sums too; ``alike``: the atom of each person by
        all questions; ``tracked``: whose posteriors the answers can change. ``databases``: others than the pool's, such
        as the true one. None: not enough work is allowed, or the pool is lost.
        """
        if databases is None:
            if self.lost:
                return None
            databases = self.databases
        if tracked[moves.still()].any():
            return limits.accepted + 1
        shape, _ = self._shape(moves, [*self.extremes, *new])
        allowed = limits.work // max(1, len(databases) * self.sweep_work(moves))
        if allowed < FIRST_SWEEPS + MIXING_SWEEPS:
            return None
        pools = np.unique(alike[tracked])
        enough = min(MOST_SWEEPS, int(allowed) - MIXING_SWEEPS)
        found: list[int] = []

        def judge(number: int) -> None:
            if len(found) <= limits.accepted:
                x, state = databases[number].copy(), _state(seed, number)
                if self._discloses(x, new, shape, alike, pools, limits, enough, state):
                    found.append(number)

        _for_each(judge, len(databases))
        return min(len(found), limits.accepted + 1)

    def sweep_work(self, moves: SumMoves) -> int:
        """Elementary operations of one sweep: the lines' people times the values that each could take."""
        lines = 2 * len(moves.atom) + sum(len(atoms) for atoms, _ in moves.moves)
        return lines * (self._grid.steps + 1)

    def _discloses(
        self,
        x: Ints,
        new: Sequence[Extreme],
        shape: ChainShape,
        alike: Ints,
        pools: Ints,
        limits: Limits,
        enough: int,
        state: NDArray[np.uint64],
    ) -> bool:
        from equivoc.gateway.chain_kernels import someone_disclosed, sweeps

        answered = [
            Extreme(each.kind, each.members, int(getattr(np, each.kind)(x[each.members]))) for each in new
        ]
        low, high = self._limits(answered)
        values = np.array([each.position for each in (*self.extremes, *answered)], dtype=np.int64)
        attained = _attained(shape, x, values)
        law = np.zeros((int(alike.max()) + 1, self._grid.steps + 2))
        none = no_goal()
        done, turn = 0, min(FIRST_SWEEPS, enough)
        while turn > 0:
            sweeps(shape, x, low, high, values, attained, turn, state, law, alike, none)
            done += turn
            if not someone_disclosed(law, pools, limits.least_h0):
                return False
            turn = min(done, enough - done)
        return True

    def _limits(self, more: Sequence[Extreme] = ()) -> tuple[Ints, Ints]:
        """The least and the greatest value of each person by the answered MIN and MAX."""
        low = np.zeros(self.databases.shape[1], dtype=np.int64)
        high = np.full(len(low), self._grid.steps, dtype=np.int64)
        for each in (*self.extremes, *more):
            assert each.position is not None
            if each.kind == "max":
                high[each.members] = np.minimum(high[each.members], each.position)
            else:
                low[each.members] = np.maximum(low[each.members], each.position)
        return low, high

    def _shape(self, moves: SumMoves, extremes: Sequence[Extreme]) -> tuple[ChainShape, Ints]:
        from equivoc.gateway.chain_kernels import ChainShape

        people = len(moves.atom)
        low, high = self._limits()
        owner, question = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
        for number, each in enumerate(extremes):
            able = each.members
            if each.position is not None:
                able = able[(high if each.kind == "max" else low)[able] == each.position]
            owner.append(able)
            question.append(np.full(len(able), number))
        owners, questions = np.concatenate(owner), np.concatenate(question)
        order = np.argsort(owners, kind="stable")
        by_atom = np.argsort(moves.atom, kind="stable")
        sizes = np.bincount(moves.atom, minlength=len(moves.free))
        shape = ChainShape(
            valid=self._valid,
            gapless=bool(self._valid.all()),
            atom_at=_starts(sizes),
            atom_people=by_atom,
            pair_atom=np.repeat(
                np.arange(len(sizes)), np.where(moves.free | (sizes < 2), 0, (sizes + 1) // 2)
            ),
            alone=np.flatnonzero(moves.free[moves.atom]),
            move_at=_starts(np.array([len(atoms) for atoms, _ in moves.moves], dtype=np.int64)),
            move_atom=_joined([atoms for atoms, _ in moves.moves]),
            move_step=_joined([steps for _, steps in moves.moves]),
            extreme_at=_starts(np.bincount(owners, minlength=people)),
            extreme_of=questions[order],
        )
        known = [-1 if each.position is None else each.position for each in extremes]
        return shape, np.array(known, dtype=np.int64)

    def _aims(self, goal: Goal, low: Ints, high: Ints, rng: np.random.Generator) -> list[Goal]:
        """A sum as it is; for MIN and MAX, people of the query set, in random order, as the one who has the answer.

        Several of them, because earlier sums may rule out the first ones.
        """
        if goal.chosen < 0:
            return [goal]
        able = np.flatnonzero(goal.inside & (low <= goal.target) & (goal.target <= high))
        return [goal._replace(chosen=int(person)) for person in rng.permutation(able)[:ATTAINERS]]


def least_work(grid: EvenGrid, *, people: int, databases: int) -> int:
    """The elementary operations without which no question can be judged: see `AnswerPool.sweep_work`."""
    return databases * 2 * people * (grid.steps + 1) * (FIRST_SWEEPS + MIXING_SWEEPS)


def no_goal() -> Goal:
    """A goal for chains that have none."""
    from equivoc.gateway.chain_kernels import Goal

    return Goal(0, np.zeros(0, dtype=np.bool_), 0, -1)


def _for_each(work: Callable[[int], None], count: int) -> None:
    """Call ``work`` with 0 … count − 1, on all cores: each database has its own seed, so the order does not matter."""
    over_pieces(lambda part: work(part.start), count, piece=1)


def _state(seed: int, number: int) -> NDArray[np.uint64]:
    """The state of the generator of one database."""
    made = np.random.SeedSequence([seed, number]).generate_state(1, dtype=np.uint64)
    return np.asarray(made, dtype=np.uint64)


def _attained(shape: ChainShape, x: Ints, values: Ints) -> Ints:
    """How many people attain each MIN and MAX answer."""
    owner = np.repeat(np.arange(len(x)), np.diff(shape.extreme_at))
    there = x[owner] == values[shape.extreme_of]
    return np.bincount(shape.extreme_of[there], minlength=len(values)).astype(np.int64)


def _starts(counts: Ints) -> Ints:
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)


def _joined(arrays: Sequence[Ints]) -> Ints:
    return np.concatenate([np.zeros(0, dtype=np.int64), *arrays]).astype(np.int64)
