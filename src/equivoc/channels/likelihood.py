"""P(released symbol | value) of a mechanism, as an operator: no table of all symbols × all values where that is large.

With K the table, ``backward(w)`` is ``Σ_s w_s · K(s | v)`` for every value v, and ``forward(p)`` is
``Σ_v K(s | v) · p_v`` for every symbol s. Factors that depend on the symbol alone do not matter: Bayes' rule divides
them out.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
SPARSE_UP_TO = 0.05
"""Sparse weights with at most this share of nonzero entries stay sparse; others are made dense."""
ONE_THREAD = 2**17
"""Multiplications in one product: OpenBLAS uses a second thread from twice as many on."""
FEW_ROWS = 16
ROUNDING = 1e-13
"""Smaller relative differences count as rounding errors."""
SUM_TOLERANCE = 1e-9
"""How far from 1 the probabilities of all symbols may sum."""


def filled(weights: Any) -> Floats:
    """A dense table from a dense or CSR array."""
    return np.asarray(weights if isinstance(weights, np.ndarray) else weights.toarray())


def product(rows: Floats, table: Floats) -> Floats:
    """``rows @ table``, with last bits that do not depend on how many threads BLAS has.

    Small products are computed by BLAS, some rows at a time: too few for more than one thread. Large tables, of which
    that would be hardly a row, are multiplied by NumPy itself, which takes six times as long.

    >>> product(np.array([[1.0, 2.0]]), np.array([[1.0, 0.0], [0.5, 0.25]])).tolist()
    [[2.0, 0.5]]
    """
    step = ONE_THREAD // max(1, table.size)
    if step < FEW_ROWS:
        return np.asarray(np.einsum("rs,sv->rv", rows, table))
    found = np.empty((len(rows), table.shape[1]))
    for at in range(0, len(rows), step):
        np.matmul(rows[at : at + step], table, out=found[at : at + step])
    return found


class Likelihood(ABC):
    """How likely a mechanism releases each symbol, for each value."""

    @property
    @abstractmethod
    def shape(self) -> tuple[int, int]:
        """How many symbols, how many values."""

    @abstractmethod
    def backward(self, weights: Any) -> Floats:
        """Rows × symbols, dense or CSR, to rows × values: Σ_s weights[:, s] · K(s | v)."""

    @abstractmethod
    def forward(self, prior: Floats) -> Floats:
        """One number per symbol: Σ_v K(s | v) · prior(v)."""

    def posterior(self, weights: Any, prior: Floats) -> Floats | None:
        """The exact result of Bayes' rule for the weights, if no division by a symbol's probability is needed.

        None: it has to be computed.
        """
        return None

    def dense(self) -> Floats:
        """Symbols × values: K, for small domains."""
        return self.backward(np.eye(self.shape[0]))

    def peaks(self) -> Floats | None:
        """Of each symbol, max_v P(symbol | v), its own factor included; None where that is not known."""
        return None


@dataclass(frozen=True)
class PublishedOrNothing(Likelihood):
    """The value is released (symbols 0 … values − 1), or nothing is (the last symbol), whatever the value.

    >>> PublishedOrNothing(2).backward(np.array([[0.25, 0.25, 0.5]])).tolist()
    [[0.75, 0.75]]
    """

    values: int

    @property
    def shape(self) -> tuple[int, int]:
        return self.values + 1, self.values

    def backward(self, weights: Any) -> Floats:
        known = filled(weights)
        return known[:, :-1] + known[:, -1:]

    def posterior(self, weights: Any, prior: Floats) -> Floats:
        known = filled(weights)
        return np.asarray(known[:, :-1] + known[:, -1:] * (prior / prior.sum()))

    def forward(self, prior: Floats) -> Floats:
        return np.append(prior, prior.sum())


@dataclass(frozen=True, eq=False)
class Table(Likelihood):
    """Any mechanism with a table of probabilities, dense or sparse."""

    table: Any = field(repr=False)
    """Values × symbols: P(symbol | value), a NumPy array or a scipy CSR array."""
    divisor: Floats | None = field(default=None, repr=False)
    """The number by which each symbol's probabilities were divided; None: they were not divided."""

    @property
    def shape(self) -> tuple[int, int]:
        return int(self.table.shape[1]), int(self.table.shape[0])

    def backward(self, weights: Any) -> Floats:
        if (
            not isinstance(weights, np.ndarray)
            and weights.nnz < SPARSE_UP_TO * weights.shape[0] * weights.shape[1]
        ):
            found = weights @ self.table.T
            return filled(found)
        weights = filled(weights)
        if isinstance(self.table, np.ndarray):
            return product(weights, self.table.T)
        return np.ascontiguousarray((self.table @ weights.T).T)

    def forward(self, prior: Floats) -> Floats:
        if isinstance(self.table, np.ndarray):
            return np.asarray(np.einsum("v,vs->s", prior, self.table))
        return np.asarray(self.table.T @ prior)

    def peaks(self) -> Floats | None:
        divisor = np.ones(self.shape[0]) if self.divisor is None else self.divisor
        if np.abs(self.table @ divisor - 1).max() > SUM_TOLERANCE:
            return None
        most = self.table.max(axis=0)
        return np.asarray((most if isinstance(most, np.ndarray) else most.toarray().ravel()) * divisor)


@dataclass(frozen=True, eq=False)
class Cells(Likelihood):
    """A coarsening: the values from ``first`` to before ``past`` of a symbol are always shown as this symbol.

    >>> Cells(np.array([0, 2]), np.array([2, 3]), 3).dense().tolist()
    [[1.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """

    first: NDArray[np.int64] = field(repr=False)
    past: NDArray[np.int64] = field(repr=False)
    values: int

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.first), self.values

    @cached_property
    def _ends(self) -> Any:
        """Symbols × (values + 1): where each symbol's values begin (1) and end (−1)."""
        from scipy.sparse import csr_array

        symbols = len(self.first)
        ends = np.column_stack([self.first, self.past]).ravel()
        signs = np.tile([1.0, -1.0], symbols)
        return csr_array((signs, ends, np.arange(0, 2 * symbols + 1, 2)), shape=(symbols, self.values + 1))

    def backward(self, weights: Any) -> Floats:
        present = weights > 0
        if isinstance(weights, np.ndarray):
            steps, covered = ((self._ends.T @ each.T).T for each in (weights, present.astype(np.float64)))
        else:
            steps, covered = (filled(each @ self._ends) for each in (weights, present.astype(np.float64)))
        sums = np.cumsum(steps, axis=1)[:, :-1]
        # Sums of differences leave rounding errors where no cell is; the integer counts show where that is.
        return np.where(np.cumsum(covered, axis=1)[:, :-1] > 0, np.maximum(sums, 0.0), 0.0)

    def forward(self, prior: Floats) -> Floats:
        sums = np.concatenate([[0.0], np.cumsum(prior)])
        return np.asarray(sums[self.past] - sums[self.first])

    def peaks(self) -> Floats | None:
        apart = (self._ends.sum(axis=0)[:-1].cumsum() == 1).all()  # each value is in one cell only
        return (self.past > self.first).astype(np.float64) if apart else None


@dataclass(frozen=True)
class GeometricSteps(Likelihood):
    """Two-sided geometric noise on ranks, clamped at both ends: α^|s − v|, up to a factor per symbol.

    >>> GeometricSteps(3, 0.5).dense().tolist()
    [[1.0, 0.5, 0.25], [0.5, 1.0, 0.5], [0.25, 0.5, 1.0]]
    """

    values: int
    alpha: float

    @property
    def shape(self) -> tuple[int, int]:
        return self.values, self.values

    def backward(self, weights: Any) -> Floats:
        from scipy.signal import lfilter

        weights = filled(weights)
        upward = lfilter([1.0], [1.0, -self.alpha], weights, axis=1)
        downward = lfilter([1.0], [1.0, -self.alpha], weights[:, ::-1], axis=1)[:, ::-1]
        return np.asarray(upward + downward - weights)

    def forward(self, prior: Floats) -> Floats:
        return np.asarray(self.backward(prior[None, :])[0])

    def peaks(self) -> Floats:
        """P(no move) of each rank; at an end, no move or one beyond it: Σ_(k≥0) (1−α)/(1+α)·α^k = 1/(1+α)."""
        found = np.full(self.values, (1 - self.alpha) / (1 + self.alpha))
        found[[0, -1]] = 1.0 if self.values == 1 else 1 / (1 + self.alpha)
        return found


@dataclass(frozen=True, eq=False)
class Swapped(Likelihood):
    """A share of the records take part in random swaps: K(s | v) = (1 − share)·[s = v] + share·(N_s − [s = v])/(n − 1).

    >>> Swapped(np.array([1, 3]), 0.5).dense().round(3).tolist()
    [[0.5, 0.167], [0.5, 0.833]]
    """

    counts: NDArray[np.int64] = field(repr=False)
    """N_s: how many records have each value."""
    share: float

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.counts), len(self.counts)

    @property
    def _same_and_other(self) -> tuple[float, Floats]:
        others = max(int(self.counts.sum()) - 1, 1)
        return 1.0 - self.share - self.share / others, self.share * self.counts / others

    def backward(self, weights: Any) -> Floats:
        same, other = self._same_and_other
        weights = filled(weights)
        anyone = (weights * other).sum(axis=1, keepdims=True)
        found = same * weights + anyone
        # If everybody swaps, a released value that occurs once is never the true one: exactly 0, no rounding error.
        return np.where(found > ROUNDING * anyone, found, 0.0) if same < 0 else np.asarray(found)

    def forward(self, prior: Floats) -> Floats:
        same, other = self._same_and_other
        return np.asarray(same * prior + other * prior.sum())

    def peaks(self) -> Floats:
        same, other = self._same_and_other
        return np.asarray(other + max(same, 0.0)) if len(self.counts) > 1 else np.ones(1)
