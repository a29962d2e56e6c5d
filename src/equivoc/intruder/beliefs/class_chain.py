"""A prior for each class of released keys, learnt from noisy values: a chain of classes with one key fewer, shrunk.

With the keys in some order, class j of a record is the set of records with the same first j keys. Its prior is its
own expected counts, shrunk to the class with one key fewer: ``π_j(d) = (n_j(d) + s_j·π_{j−1}(d)) / (n_j + s_j)``, where
``π_{−1}`` is the given prior. The true values are not released: n_j(d) sums the records' posteriors,
``L_r(d)·π_J(d) / Σ L_r·π_J``, and counts and posteriors are updated in turn (EM).

Cost per step: cells (records that agree on keys and symbol) × values, some 2 ns each. A few arrays of classes × values
doubles are in memory.

Source: A. P. Dempster, N. M. Laird and D. B. Rubin, *Maximum likelihood from incomplete data via the EM algorithm*
(1977); the shrinkage is that of a hierarchical Dirichlet prior with given strengths.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from equivoc.intruder.linkage.linkage_walk import group

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class ClassChain:
    """Records sorted into the classes of a chain of keys; records with equal class and symbol are one cell."""

    likelihood: Floats = field(repr=False)
    """Symbols × values: P(symbol | value), up to a factor per symbol."""
    prior: Floats = field(repr=False)
    starts: Ints = field(repr=False)
    """Where each class of level J, the finest, begins among the cells; one more at the end."""
    parents: tuple[Ints, ...] = field(repr=False)
    """Per level 1 … J, the class of the level above that each class lies in."""
    symbols: Ints = field(repr=False)
    """The symbol of each cell."""
    cell_of: Ints = field(repr=False)
    """The cell of each record."""

    @classmethod
    def of(
        cls, keys: Ints, symbols: Ints, likelihood: Floats, prior: Floats, *, order: Sequence[int]
    ) -> ClassChain:
        columns = list(order)
        sizes = [int(keys[:, k].max()) + 1 for k in columns]
        finest = group(keys[:, columns], tuple(range(len(columns))), sizes)
        cells, cell_of = np.unique(finest.class_of * len(likelihood) + symbols, return_inverse=True)
        codes = keys[finest.first][:, columns]
        opens = np.zeros((len(columns) + 1, len(codes)), dtype=bool)
        opens[:, 0] = True
        for level in range(1, len(columns) + 1):
            opens[level, 1:] = opens[level - 1, 1:] | (codes[1:, level - 1] != codes[:-1, level - 1])
        number = np.cumsum(opens, axis=1) - 1
        parents = [number[level - 1][opens[level]] for level in range(1, len(columns) + 1)]
        starts = np.searchsorted(cells // len(likelihood), np.arange(len(codes) + 1))
        return cls(likelihood, prior, starts, tuple(parents), cells % len(likelihood), cell_of.ravel())

    def counts(self, records: npt.NDArray[np.bool_]) -> Floats:
        """Training weights: how many of these records each cell has; 0 if the symbol is uninformative."""
        found = np.bincount(self.cell_of[records], minlength=len(self.symbols)).astype(np.float64)
        return np.where(telling(self.likelihood)[self.symbols], found, 0.0)

    def fits(self, weights: Floats, strengths: Sequence[float]) -> Iterator[Floats]:
        """The priors of the finest classes after 0, 1, 2, … EM steps on the weighted cells (an endless generator)."""
        from equivoc.intruder.beliefs import chain_kernels as kernels

        prior = np.tile(self.prior, (len(self.starts) - 1, 1))
        while True:
            yield prior
            evidence = self.evidence(prior)
            share = np.divide(weights, evidence, out=np.zeros_like(weights), where=evidence > 0)
            levels = [np.empty_like(prior)]
            kernels.expected_counts(self.likelihood, self.symbols, self.starts, share, prior, levels[0])
            for parents in self.parents[::-1]:
                levels.append(kernels.sums(levels[-1], parents))
            prior = self.prior[None, :]
            for level, counts in enumerate(levels[::-1]):
                parents = self.parents[level - 1] if level else np.zeros(1, dtype=np.int64)
                kernels.shrink(counts, float(strengths[level]), prior, parents)
                prior = counts

    def evidence(self, prior: Floats) -> Floats:
        """For each cell, P(its symbol | its class) = Σ_d L(d)·π(d)."""
        from equivoc.intruder.beliefs import chain_kernels as kernels

        found = np.empty(len(self.symbols))
        kernels.evidence(self.likelihood, self.symbols, self.starts, prior, found)
        return found

    def beliefs(self, prior: Floats, cells: Ints) -> Floats:
        """Posteriors of these cells: L·π, each row divided by its sum."""
        joint = self.likelihood[self.symbols[cells]] * prior[self.class_of_cells[cells]]
        return believed_values(joint, self.prior)

    @property
    def class_of_cells(self) -> Ints:
        """The finest class of each cell."""
        return np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))


def believed_values(joint: Floats, prior: Floats) -> Floats:
    """Rows divided by their sums; the prior where the released symbol has probability 0."""
    total = joint.sum(axis=1, keepdims=True)
    found = np.broadcast_to(prior, joint.shape).copy()
    return np.asarray(np.divide(joint, total, out=found, where=total > 0))


def telling(likelihood: Floats) -> npt.NDArray[np.bool_]:
    """True for each symbol that gives information about the value."""
    return np.asarray((likelihood != likelihood[:, :1]).any(axis=1))
