"""Full-domain recoding: every key at one step of its hierarchy, and an exact search for the best steps that reach k.

A node of the lattice is one step per key. Its loss is that of Iyengar (*Transforming Data to Satisfy Privacy
Constraints*, KDD 2002): a value that was merged with others into a group of g out of L levels has lost
``(g − 1)/(L − 1)``, a suppressed one 1; the loss is the average over all records and keys. Ties go to the node with
the least discernibility ``Σ |class|²`` (Bayardo and Agrawal, ICDE 2005; a suppressed record counts n), then to the
lower steps.

At higher steps classes only merge, so if a node fails, every node below it fails too (Samarati 2001). The loss of a
node is at least the loss of its steps without suppression, a sum over the keys. The search visits nodes in ascending
order of this lower bound. From a failing node it climbs, key by key, to a highest failing node, and excludes all nodes
below that one. It ends when the lower bound exceeds the best loss found. Classes are merged from those of a lower node,
never counted from the records.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import product
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equivoc.attributes.hierarchy import Ladder
from equivoc.data.classes import Classes
from equivoc.errors import InputError
from equivoc.linkage.key_linkage import Grouping, group

LARGEST_LATTICE = 100_000
"""The most nodes of an exact search."""
DIGITS = 12
"""Losses equal to this many digits count as equal."""


@dataclass(frozen=True, eq=False)
class Recoding:
    """One node of the lattice, with its loss and suppressed classes."""

    steps: tuple[int, ...]
    """The step of each key."""
    loss: float
    """From 0 (nothing lost) to 1 (everything lost)."""
    discernibility: int
    """Σ |class|²; a suppressed record counts n, the number of records."""
    suppressed: NDArray[np.bool_] = field(repr=False)
    """Which of the finest classes are suppressed, in all keys."""

    @property
    def order(self) -> tuple[float, int, tuple[int, ...]]:
        """The least comes first."""
        return round(self.loss, DIGITS), self.discernibility, self.steps


@dataclass(frozen=True, eq=False)
class Counted:
    """The classes of one node: which groups they have, and how many records."""

    steps: tuple[int, ...]
    codes: NDArray[np.integer[Any]] = field(repr=False)
    """Classes × keys: the number of the class's group at the key's step."""
    sizes: NDArray[np.int64] = field(repr=False)

    def up(self, ladders: Sequence[Ladder], steps: Sequence[int]) -> Counted:
        """The classes of a node above, merged from these."""
        codes, merged = self.merged(ladders, steps)
        sizes = np.bincount(merged.class_of, self.sizes).astype(np.int64)
        return Counted(tuple(steps), codes[merged.first], sizes)

    def merged(self, ladders: Sequence[Ladder], steps: Sequence[int]) -> tuple[NDArray[np.int64], Grouping]:
        """The groups of these classes at a node above, and the number of the merged class of each."""
        codes = np.empty(self.codes.shape, dtype=np.int64)
        for at, (ladder, low, high) in enumerate(zip(ladders, self.steps, steps, strict=True)):
            above = np.empty(len(ladder.labels[low]), dtype=np.int64)
            above[ladder.groups[low]] = ladder.groups[high]
            codes[:, at] = above[self.codes[:, at]]
        spans = [len(ladder.labels[step]) for ladder, step in zip(ladders, steps, strict=True)]
        return codes, group(codes, tuple(range(len(spans))), spans)

    def below(self, k: int) -> int:
        """How many records are in classes of fewer than k."""
        return int(self.sizes[self.sizes < k].sum())


@dataclass(frozen=True, eq=False)
class Lattice:
    """All recodings of the people's keys."""

    classes: Classes
    """The finest classes: of all keys."""
    ladders: Sequence[Ladder]

    @property
    def finest(self) -> Counted:
        """The node in which every key is unchanged."""
        return Counted((0,) * len(self.ladders), self.classes.key_codes, self.classes.sizes)

    def recoding(self, steps: Sequence[int], *, k: int) -> Recoding:
        """The node, with the classes that stay below k suppressed."""
        merged = self.finest.merged(self.ladders, steps)[1].class_of
        sizes = self.classes.sizes
        lost = np.zeros(len(sizes))
        for at, (ladder, step) in enumerate(zip(self.ladders, steps, strict=True)):
            lost += _lost(ladder, step)[self.classes.key_codes[:, at]] / len(self.ladders)
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
        steps, least = self._nodes()
        allowed = suppress * self.classes.sizes.sum() + 1e-9
        best: Recoding | None = None
        open_ = np.arange(len(steps))
        while len(open_) and (best is None or least[open_[0]] <= round(best.loss, DIGITS)):
            lowest = self.finest.up(self.ladders, steps[open_[0]].tolist())
            if lowest.below(k) > allowed:
                fails = self._highest_failing(lowest, k, allowed)
                open_ = open_[(steps[open_] > fails).any(axis=1)]
                continue
            node = self.recoding(lowest.steps, k=k)
            best = node if best is None else min(best, node, key=lambda found: found.order)
            open_ = open_[1:]
        assert best is not None  # the topmost node is one class of everyone, and k is no larger
        return best

    def _highest_failing(self, table: Counted, k: int, allowed: float) -> list[int]:
        """A highest failing node above the failing ``table``: one step more in any key does not fail."""
        steps = list(table.steps)
        for key in range(len(steps)):
            # The highest failing step of this key, by bisection: failing is monotone.
            fails, reaches = steps[key], self.ladders[key].top + 1
            while reaches - fails > 1:
                middle = (fails + reaches) // 2
                higher = table.up(self.ladders, [*steps[:key], middle, *steps[key + 1 :]])
                if higher.below(k) > allowed:
                    fails, table = middle, higher
                else:
                    reaches = middle
            steps[key] = fails
        return steps

    def _nodes(self) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Every node's steps and their loss without suppression, ascending by loss."""
        number = prod(ladder.top + 1 for ladder in self.ladders)
        if number > LARGEST_LATTICE:
            raise InputError(
                f"generalisation: the hierarchies have {number:,} combinations of levels, more than an exact search "
                f"goes through ({LARGEST_LATTICE:,}); give fewer levels, or none for Mondrian."
            )
        every = product(*(range(ladder.top + 1) for ladder in self.ladders))
        steps = np.array(list(every), dtype=np.int64).reshape(number, len(self.ladders))
        least = np.round(self._least_losses(steps), DIGITS)
        by_loss = np.argsort(least, kind="stable")
        return steps[by_loss], least[by_loss]

    def _least_losses(self, steps: NDArray[np.int64]) -> NDArray[np.float64]:
        """The loss of every node without suppression: the sum of the losses of the keys' steps."""
        sizes = self.classes.sizes
        losses = np.zeros(len(steps))
        for at, ladder in enumerate(self.ladders):
            people = np.bincount(self.classes.key_codes[:, at], sizes, minlength=len(ladder.groups[0]))
            of_step = [people @ _lost(ladder, step) / people.sum() for step in range(ladder.top + 1)]
            losses += np.array(of_step)[steps[:, at]] / len(self.ladders)
        return losses


def _lost(ladder: Ladder, step: int) -> NDArray[np.float64]:
    """The loss of each level at a step."""
    group_of = ladder.groups[step]
    return np.asarray((np.bincount(group_of)[group_of] - 1) / max(len(group_of) - 1, 1))
