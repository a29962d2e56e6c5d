"""What analysts know by now: the questions answered within one scope, the sums that follow, and databases that fit."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from equivoc.data.microdata import Microdata
from equivoc.gateway.answer_pool import AnswerPool, Extreme, Limits
from equivoc.gateway.history import SavedPool
from equivoc.gateway.policy import Policy
from equivoc.gateway.rank_rule import KnownSums, Trial
from equivoc.systems.grids import EvenGrid
from equivoc.systems.posteriors.moves import SumMoves, sum_moves
from equivoc.systems.system import Question

if TYPE_CHECKING:
    from equivoc.gateway.chain_kernels import Goal

SUMS = ("sum", "avg")


class KeyOrders:
    """Orders of the people by their keys: which sets are ranges of one key, and who are neighbours."""

    def __init__(self, people: Microdata) -> None:
        self._people = len(people)
        self.codes = {key: people.key_codes(key).astype(np.int64) for key in people.keys}
        self._before = {
            key: np.concatenate([[0], np.cumsum(np.bincount(codes))]) for key, codes in self.codes.items()
        }

    def ranges(self, members: NDArray[np.int64]) -> dict[str, tuple[int, int]]:
        """The keys of which the set is a range of codes: from the first to before the second."""
        found = {}
        for key, codes in self.codes.items():
            own = codes[members]
            low, high = int(own.min()), int(own.max()) + 1
            if self._before[key][high] - self._before[key][low] == len(members):
                found[key] = (low, high)
        return found

    def neighbours(self, atom: NDArray[np.int64]) -> NDArray[np.int64]:
        """Pairs of people of different atoms who are next to each other in some key, the other keys being equal or
        near."""
        pairs = []
        for key in self.codes:
            others = [codes for name, codes in self.codes.items() if name != key]
            order = np.lexsort((self.codes[key], *others))
            pair = np.column_stack([order[:-1], order[1:]])
            pairs.append(pair[atom[pair[:, 0]] != atom[pair[:, 1]]])
        return np.concatenate(pairs) if pairs else np.zeros((0, 2), dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Shared:
    """What all scopes of a gateway share."""

    policy: Policy
    prime: int
    """The secret prime of the rank rule."""
    grid: EvenGrid
    truth: NDArray[np.int64] = field(repr=False)
    """The people's values in steps above the least one."""
    orders: KeyOrders = field(repr=False)


class Answered:
    """The answered questions of everyone, or of one analyst; grows by one statement at a time."""

    def __init__(self, setting: Shared) -> None:
        policy, people = setting.policy, len(setting.truth)
        self._setting = setting
        self._digests: set[bytes] = set()
        self._chain = hashlib.sha256(f"equivoc gateway, {policy.draws} draws".encode()).digest()
        self.statements = 0
        """How many statements were taken."""
        self.known_sums = KnownSums(people=people, least_people=policy.least_people, prime=setting.prime)
        self._sets: list[NDArray[np.int64]] = []
        self._ranges: list[dict[str, tuple[int, int]]] = []
        self._linked = np.arange(people)
        self._moves: SumMoves | None = None
        self._last: tuple[NDArray[np.int64], SumMoves] | None = None
        """The last question that was judged, and the moves if it is answered: computed once for both."""
        draws = policy.draws if policy.simulatable else 0
        self._pool = AnswerPool(setting.grid, people=people, draws=draws, seed=self.seed(b"begin"))

    def contains(self, question: Question) -> bool:
        """True if the same aggregate of the same people was answered, in whatever words."""
        return digest(question) in self._digests

    def follows(self, question: Question) -> bool:
        """True if the answer tells nothing new about values: a count, a repetition, or a sum that follows."""
        if question.aggregate == "count" or self.contains(question):
            return True
        return question.aggregate in SUMS and self.known_sums.follows(question.members)

    def seed(self, *more: bytes) -> int:
        """A seed from the answers so far: the same after a restart. Refused questions do not change it."""
        found = hashlib.sha256(self._chain)
        for each in more:
            found.update(len(each).to_bytes(8, "big") + each)
        return int.from_bytes(found.digest()[:8], "big")

    def saved_pool(self) -> SavedPool:
        """The databases drawn so far, with the answers that they fit."""
        stored = self._pool.databases.astype("<i4").tobytes()
        return SavedPool(self.statements, self._chain, b"" if self._pool.lost else zlib.compress(stored, 1))

    def restore(self, saved: SavedPool) -> bool:
        """Put back the databases that were saved at the present answers; False if they are of other answers."""
        if saved.answers != self._chain:
            return False
        if not saved.databases:
            self._pool.lost = True
            return True
        try:
            found = np.frombuffer(zlib.decompress(saved.databases), dtype="<i4").astype(np.int64)
            self._pool.databases = found.reshape(self._pool.databases.shape)
        except (zlib.error, ValueError):
            return False
        return True

    def disclosing(self, new: Sequence[Question], trial: Trial | None) -> int | None:
        """In how many databases the new answers would disclose someone; None: too much work.

        The pool's databases, or the true one if the policy is not simulatable.
        """
        policy = self._setting.policy
        sums = [question.members for question in new if question.aggregate in SUMS]
        extremes = [Extreme(q.aggregate, q.members) for q in new if q.aggregate not in SUMS]
        label = self.known_sums.label if trial is None else trial.label
        alike = label
        for each in (*self._pool.extremes, *extremes):
            inside = np.zeros(len(label), dtype=np.int64)
            inside[each.members] = 1
            alike = np.unique(2 * alike + inside, return_inverse=True)[1].reshape(-1)
        touched = np.unique(np.concatenate([self._linked[question.members] for question in new]))
        accepted = policy.draws_accepted if policy.simulatable else 0
        moves = self._moves_with(sums, trial)
        self._last = (sums[0], moves) if len(sums) == 1 else None
        return self._pool.disclosing(
            extremes,
            moves,
            alike,
            np.isin(self._linked, touched),
            Limits(policy.least_h0, accepted, policy.work),
            seed=self.seed(b"judge"),
            databases=None if policy.simulatable else self._setting.truth[None, :],
        )

    def take(self, questions: Sequence[Question], trial: Trial | None = None, *, pool: bool = True) -> None:
        """Add the answered questions of one statement.

        ``trial``: of its sums at the present state, if made. ``pool``: False if a saved pool will be restored later.
        """
        new = [question for question in questions if not self.follows(question)]
        for question in questions:
            if not self.contains(question):
                self._digests.add(digest(question))
                content = digest(question) + repr(question.answer).encode()
                self._chain = hashlib.sha256(self._chain + content).digest()
        self.statements += 1
        drawn = pool and self._setting.policy.simulatable
        for number, question in enumerate(new):
            before = self._current_moves() if drawn else None
            self._add(question, trial if len(new) == 1 else None)
            if before is not None:
                self._pool.lead(self._goal(question), before, seed=self.seed(b"lead", bytes([number % 256])))
            if question.aggregate not in SUMS:
                position = self._in_steps(question)
                self._pool.extremes.append(Extreme(question.aggregate, question.members, position))
        if new and drawn:
            self._pool.mix(self._current_moves(), seed=self.seed(b"mix"))

    def _add(self, question: Question, trial: Trial | None) -> None:
        linked = np.unique(self._linked[question.members])
        self._linked[np.isin(self._linked, linked)] = linked[0]
        if question.aggregate not in SUMS:
            return
        if trial is None:
            self.known_sums.add([question.members])
        else:
            self.known_sums.answer(trial)
        self._sets.append(question.members)
        self._ranges.append(self._setting.orders.ranges(question.members))
        last, self._last = self._last, None
        self._moves = last[1] if last is not None and last[0] is question.members else None

    def _current_moves(self) -> SumMoves:
        if self._moves is None:
            self._moves = self._moves_with([], None)
        return self._moves

    def _moves_with(self, sums: Sequence[NDArray[np.int64]], trial: Trial | None) -> SumMoves:
        """The moves that keep all answered sums and these."""
        if not sums and self._moves is not None:
            return self._moves
        orders = self._setting.orders
        label = self.known_sums.label if trial is None else trial.label
        ranges = [*self._ranges, *(orders.ranges(members) for members in sums)]
        return sum_moves([*self._sets, *sums], ranges, orders, label=label)

    def _goal(self, question: Question) -> Goal:
        from equivoc.gateway.chain_kernels import MAX_GOAL, MIN_GOAL, SUM_GOAL, Goal

        inside = np.zeros(len(self._setting.truth), dtype=np.bool_)
        inside[question.members] = True
        target = self._in_steps(question)
        if question.aggregate in SUMS:
            return Goal(SUM_GOAL, inside, target, -1)
        return Goal(MAX_GOAL if question.aggregate == "max" else MIN_GOAL, inside, target, 0)

    def _in_steps(self, question: Question) -> int:
        """The answer in whole steps, which is what the analyst can work out from it."""
        own = self._setting.truth[question.members]
        return int(own.sum() if question.aggregate in SUMS else getattr(np, question.aggregate)(own))


def digest(question: Question) -> bytes:
    """The same for the same aggregate over the same people, however it is written."""
    found = hashlib.sha256(question.aggregate.encode() + b"\0")
    found.update(np.ascontiguousarray(question.members, dtype="<i8").tobytes())
    return found.digest()
