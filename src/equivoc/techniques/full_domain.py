"""Full-domain recoding: every key at one step of its hierarchy, and an exact search for the best steps that reach k.

A node of the lattice is one step per key. Its loss is that of Iyengar (*Transforming Data to Satisfy Privacy
Constraints*, KDD 2002): a value that was merged with others into a group of g out of L levels has lost
``(g − 1)/(L − 1)``, a suppressed one 1; the loss is the average over all records and keys. Ties go to the node with
the least discernibility ``Σ |class|²`` (Bayardo and Agrawal, ICDE 2005; a suppressed record counts n), then to the
lower steps.

Going up, classes only merge: every node below one that fails fails too (Samarati 2001). And a node loses at least
what its steps lose before anyone is suppressed, a sum over the keys. The search bisects what these two facts leave.
Classes of a node are counted from the finest classes, never from the records.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import product
from math import prod

import numpy as np
from numpy.typing import NDArray

from equivoc.data.classes import Classes
from equivoc.data.hierarchy import Ladder
from equivoc.errors import InputError
from equivoc.intruder.linkage_walk import group

LARGEST_LATTICE = 100_000
"""Nodes: beyond this an exact search is refused."""
DIGITS = 12
"""Losses that agree to so many digits are equal."""


@dataclass(frozen=True, eq=False)
class Recoding:
    """One node of the lattice, and what it does to the people."""

    steps: tuple[int, ...]
    """The step of each key."""
    loss: float
    """From 0, nothing lost, to 1, nothing left."""
    discernibility: int
    """Σ |class|²; a suppressed record counts as much as the file is long."""
    suppressed: NDArray[np.bool_] = field(repr=False)
    """Which of the finest classes are suppressed, in all keys."""

    @property
    def order(self) -> tuple[float, int, tuple[int, ...]]:
        """The least comes first."""
        return round(self.loss, DIGITS), self.discernibility, self.steps


@dataclass(frozen=True, eq=False)
class Lattice:
    """All recodings of the people's keys."""

    classes: Classes
    """The finest classes: of all keys."""
    ladders: Sequence[Ladder]

    def recoding(self, steps: Sequence[int], *, k: int) -> Recoding:
        """The node, with the classes that stay below k suppressed."""
        codes = np.empty(self.classes.key_codes.shape, dtype=np.int64)
        lost = np.zeros(len(self.classes))
        for at, (ladder, step) in enumerate(zip(self.ladders, steps, strict=True)):
            codes[:, at] = ladder.groups[step][self.classes.key_codes[:, at]]
            lost += _lost(ladder, step)[self.classes.key_codes[:, at]] / len(self.ladders)
        spans = [len(ladder.labels[step]) for ladder, step in zip(self.ladders, steps, strict=True)]
        merged = group(codes, tuple(range(len(spans))), spans).class_of
        sizes = self.classes.sizes
        together = np.bincount(merged, sizes).astype(np.int64)
        suppressed = together[merged] < k
        lost[suppressed] = 1.0
        kept = together[together >= k]
        total = int(sizes.sum())
        return Recoding(
            tuple(steps),
            float(lost @ sizes / total),
            int(kept @ kept) + int(total - kept.sum()) * total,
            suppressed,
        )

    def best(self, *, k: int, suppress: float) -> Recoding:
        """The recoding of least loss in which at most the share ``suppress`` of the records is suppressed."""
        nodes = prod(ladder.top + 1 for ladder in self.ladders)
        if nodes > LARGEST_LATTICE:
            raise InputError(
                f"generalisation: the hierarchies have {nodes:,} combinations of levels, more than an exact search "
                f"goes through ({LARGEST_LATTICE:,}); give fewer levels, or none for Mondrian."
            )
        sizes = self.classes.sizes
        allowed = suppress * sizes.sum() + 1e-9
        steps = np.array(list(product(*(range(ladder.top + 1) for ladder in self.ladders))), dtype=np.int64)
        steps = steps.reshape(nodes, len(self.ladders))
        least = np.round(self._least_losses(steps), DIGITS)
        by_loss = np.argsort(least, kind="stable")
        steps, least = steps[by_loss], least[by_loss]
        best: Recoding | None = None
        open_ = np.arange(nodes)
        while len(open_):
            tried = open_[len(open_) // 2]
            node = self.recoding(steps[tried].tolist(), k=k)
            if sizes[node.suppressed].sum() > allowed:
                open_ = open_[(steps[open_] > steps[tried]).any(axis=1)]
                continue
            open_ = open_[open_ != tried]
            if best is None or node.order < best.order:
                best = node
            open_ = open_[least[open_] <= round(best.loss, DIGITS)]
        assert best is not None  # the topmost node is one class of everyone, and k is no larger
        return best

    def _least_losses(self, steps: NDArray[np.int64]) -> NDArray[np.float64]:
        """The loss of every node before anyone is suppressed: a sum of what each key's step loses."""
        sizes = self.classes.sizes
        losses = np.zeros(len(steps))
        for at, ladder in enumerate(self.ladders):
            people = np.bincount(self.classes.key_codes[:, at], sizes, minlength=len(ladder.groups[0]))
            of_step = [people @ _lost(ladder, step) / people.sum() for step in range(ladder.top + 1)]
            losses += np.array(of_step)[steps[:, at]] / len(self.ladders)
        return losses


def _lost(ladder: Ladder, step: int) -> NDArray[np.float64]:
    """What each level has lost at a step."""
    group_of = ladder.groups[step]
    return np.asarray((np.bincount(group_of)[group_of] - 1) / max(len(group_of) - 1, 1))
