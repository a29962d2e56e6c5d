"""A prior for each class of released keys, learnt from noisy values: a chain of classes with one key fewer, shrunk.

With the keys in some order, class j of a record is the set of records with the same first j keys. Its prior is its
own expected counts, shrunk to the class with one key fewer: ``π_j(d) = (n_j(d) + s_j·π_{j−1}(d)) / (n_j + s_j)``, where
``π_{−1}`` is the given prior. The true values are not released: n_j(d) sums the records' posteriors,
``L_r(d)·π_J(d) / Σ L_r·π_J``, and counts and posteriors are updated in turn (EM).

Cost per step: cells (records that agree on keys and symbol) × values, some 10 ns each. A few arrays of classes × values
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
CELLS_AT_A_TIME = 2**20


@dataclass(frozen=True, eq=False)
class ClassChain:
    """Records sorted into the classes of a chain of keys; records with equal class and symbol are one cell."""

    likelihood: Floats = field(repr=False)
    """Symbols × values: P(symbol | value), up to a factor per symbol."""
    prior: Floats = field(repr=False)
    begins: tuple[Ints, ...] = field(repr=False)
    """Per level 0 … J, where each class begins among those of the next level (at level J: among the cells)."""
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
        begins = [np.searchsorted(p, np.arange(p[-1] + 1)) for p in parents]
        begins.append(np.searchsorted(cells // len(likelihood), np.arange(len(codes))))
        return cls(likelihood, prior, tuple(begins), tuple(parents), cells % len(likelihood), cell_of.ravel())

    def counts(self, records: npt.NDArray[np.bool_]) -> Floats:
        """Training weights: how many of these records each cell has; 0 if the symbol is uninformative."""
        found = np.bincount(self.cell_of[records], minlength=len(self.symbols)).astype(np.float64)
        return np.where(telling(self.likelihood)[self.symbols], found, 0.0)

    def fits(self, weights: Floats, strengths: Sequence[float]) -> Iterator[Floats]:
        """The priors of the finest classes after 0, 1, 2, … EM steps on the cells so weighted, without end."""
        from scipy.sparse import csr_array

        classes = len(self.begins[-1])
        pointers = np.append(self.begins[-1], len(self.symbols))
        prior = np.broadcast_to(self.prior, (classes, len(self.prior)))
        while True:
            yield prior
            evidence = self.evidence(prior)
            share = np.divide(weights, evidence, out=np.zeros_like(weights), where=evidence > 0)
            believed = csr_array((share, self.symbols, pointers), shape=(classes, len(self.likelihood)))
            levels = [prior * (believed @ self.likelihood)]
            for begins in self.begins[-2::-1]:
                levels.append(np.add.reduceat(levels[-1], begins, axis=0))
            prior = self.prior[None, :]
            for level, counts in enumerate(levels[::-1]):
                above = prior[self.parents[level - 1]] if level else prior
                strength = strengths[level]
                prior = counts + strength * above
                prior /= prior.sum(axis=1, keepdims=True)

    def evidence(self, prior: Floats) -> Floats:
        """For each cell, P(its symbol | its class) = Σ_d L(d)·π(d)."""
        row = self.class_of_cells
        found = np.empty(len(row))
        step = max(1, CELLS_AT_A_TIME // self.likelihood.shape[1])
        for at in range(0, len(row), step):
            part = slice(at, at + step)
            found[part] = np.einsum("cd,cd->c", self.likelihood[self.symbols[part]], prior[row[part]])
        return found

    def beliefs(self, prior: Floats, cells: Ints) -> Floats:
        """Posteriors of these cells: L·π, each row divided by its sum."""
        joint = self.likelihood[self.symbols[cells]] * prior[self.class_of_cells[cells]]
        return believed_values(joint, self.prior)

    @property
    def class_of_cells(self) -> Ints:
        """The finest class of each cell."""
        lengths = np.diff(np.append(self.begins[-1], len(self.symbols)))
        return np.repeat(np.arange(len(lengths)), lengths)


def believed_values(joint: Floats, prior: Floats) -> Floats:
    """Rows divided by their sums; the prior where the released symbol has probability 0."""
    total = joint.sum(axis=1, keepdims=True)
    found = np.broadcast_to(prior, joint.shape).copy()
    return np.asarray(np.divide(joint, total, out=found, where=total > 0))


def telling(likelihood: Floats) -> npt.NDArray[np.bool_]:
    """True for each symbol that gives information about the value."""
    return np.asarray((likelihood != likelihood[:, :1]).any(axis=1))
