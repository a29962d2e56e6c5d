"""What analysts know by now: the questions answered within one scope, and the sums that follow from them."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np

from equivoc.gateway.rank_rule import KnownSums, Trial
from equivoc.queries.answers.question import Question

SUMS = ("sum", "avg")
EXTREMES = ("min", "max")


class Answered:
    """The answered questions of everyone, or of one analyst; grows by one statement at a time."""

    def __init__(self, *, people: int, least_people: int, prime: int) -> None:
        self.known_sums = KnownSums(people=people, least_people=least_people, prime=prime)
        self.questions: list[Question] = []
        """Those whose answers say something about values that did not follow before, in their order."""
        self._digests: set[bytes] = set()
        self._chain = hashlib.sha256(b"equivoc gateway").digest()

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

    def take(self, questions: Sequence[Question], trial: Trial | None = None) -> None:
        """Add the answered questions of one statement; ``trial`` is that of its sums at the present state, if made."""
        new = [question for question in questions if not self.follows(question)]
        for question in questions:
            if not self.contains(question):
                self._digests.add(digest(question))
                told = digest(question) + repr(question.answer).encode()
                self._chain = hashlib.sha256(self._chain + told).digest()
        sums = [question.members for question in new if question.aggregate in SUMS]
        if trial is not None:
            self.known_sums.answer(trial)
        elif sums:
            self.known_sums.add(sums)
        self.questions += new


def digest(question: Question) -> bytes:
    """The same for the same aggregate over the same people, however it is written."""
    found = hashlib.sha256(question.aggregate.encode() + b"\0")
    found.update(np.ascontiguousarray(question.members, dtype="<i8").tobytes())
    return found.digest()
