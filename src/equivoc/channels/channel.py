"""P(value | released symbol): by Bayes' rule with a prior, computed by a subclass for a prior, or given."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from numpy.typing import NDArray

from equivoc.channels.likelihood import Likelihood, filled, product
from equivoc.errors import InputError

Floats = NDArray[np.float64]
BLOCK_BYTES = 64 * 2**20
"""Rows are mixed in blocks of about this size."""
MANY_SYMBOLS = 2**13
"""From here on, a table is computed some symbols at a time."""
SPARSE_UP_TO = 0.25
"""Posteriors of which less than this share is not 0 stay sparse."""


class Channel(ABC):
    """P(value | released symbol): a distribution over the values for each symbol."""

    @property
    @abstractmethod
    def shape(self) -> tuple[int, int]:
        """How many symbols, how many values."""

    @abstractmethod
    def mix(self, weights: Any) -> Any:
        """Rows × symbols (each row sums to 1), dense or CSR, to rows × values: Σ_s weights[:, s] · P(value | s)."""

    def with_prior(self, prior: Floats) -> Channel:
        """The same mechanism's channel with this prior; the channel itself if its prior is fixed."""
        return self

    def blocks(self, link: Any) -> Iterator[tuple[slice, Any]]:
        """`mix` of the rows of a large linkage (dense or CSR), a block of rows at a time."""
        rows, (symbols, values) = link.shape[0], self.shape
        step = max(1, BLOCK_BYTES // (8 * (symbols + 2 * values)))
        for begin in range(0, rows, step):
            part = slice(begin, min(begin + step, rows))
            yield part, self.mix(link[part])

    def entries(self, link: Any) -> int:
        """An upper bound of the number of probabilities of `mix` that are not 0."""
        return int(link.shape[0]) * self.shape[1]

    def dense(self) -> Floats:
        """Symbols × values, for small domains."""
        symbols = self.shape[0]
        if symbols <= MANY_SYMBOLS:
            return np.asarray(self.mix(np.eye(symbols)))
        from scipy.sparse import eye_array

        # A square of all symbols would take gigabytes.
        step = MANY_SYMBOLS // 8
        parts = (
            eye_array(min(step, symbols - at), symbols, k=at, format="csr") for at in range(0, symbols, step)
        )
        return np.concatenate([filled(self.mix(part)) for part in parts])


@dataclass(frozen=True, eq=False)
class Bayes(Channel):
    """``P(v | s) ∝ K(s | v) · prior(v)``.

    For a symbol that cannot occur under the prior, the prior was wrong, and a uniform prior is used instead. The row of
    a symbol that no value can produce is all zeros.

    >>> from equivoc.channels.likelihood import Table
    >>> noise = Table(np.array([[0.75, 0.25], [0.25, 0.75]]))
    >>> Bayes(noise, np.array([0.5, 0.5])).dense().tolist()
    [[0.75, 0.25], [0.25, 0.75]]
    """

    likelihood: Likelihood
    prior: Floats = field(repr=False)

    @property
    def shape(self) -> tuple[int, int]:
        return self.likelihood.shape

    def with_prior(self, prior: Floats) -> Bayes:
        return Bayes(self.likelihood, prior)

    @cached_property
    def _scaled(self) -> Floats:
        """The prior divided by its largest entry: equally likely values weigh 1, and sums of them are exact."""
        return np.asarray(self.prior / self.prior.max())

    @cached_property
    def _evidence(self) -> Floats:
        return self.likelihood.forward(self._scaled)

    def mix(self, weights: Any) -> Floats:
        exactly = self.likelihood.posterior(weights, self.prior)
        if exactly is not None:
            return exactly
        possible = self._evidence > 0
        mixed = self._scaled * self.likelihood.backward(_divided(weights, self._evidence, possible))
        if possible.all():
            return mixed
        surprising = ~possible & (np.asarray(weights.sum(axis=0)).reshape(-1) > 0)
        if surprising.any():
            flat = self.likelihood.forward(np.ones_like(self.prior))
            surprising &= flat > 0  # a symbol that no value can produce has no posterior
            mixed = mixed + self.likelihood.backward(_divided(weights, flat, surprising))
        return mixed


def _divided(weights: Any, by: Floats, where: NDArray[np.bool_]) -> Any:
    """Each column divided by its own number; 0 elsewhere than ``where``."""
    if isinstance(weights, np.ndarray):
        return np.divide(weights, by, out=np.zeros_like(weights), where=where)
    scaled = weights.copy()
    scaled.data = np.where(where[scaled.indices], scaled.data / np.where(where, by, 1.0)[scaled.indices], 0.0)
    return scaled


@dataclass(frozen=True, eq=False)
class Computed(Channel):
    """Distributions that a subclass computes for a prior, when they are first needed.

    For releases about several people together, such as a sum: the probability of a symbol given one person's value
    depends on the prior of the others, so there is no fixed table of likelihoods for Bayes' rule.
    """

    prior: Floats = field(repr=False, kw_only=True)

    @abstractmethod
    def table(self, prior: Floats) -> Any:
        """Symbols × values, dense or CSR: P(value | symbol) with this prior."""

    def with_prior(self, prior: Floats) -> Computed:
        return replace(self, prior=np.asarray(prior, dtype=np.float64))

    @cached_property
    def _stated(self) -> Stated:
        return Stated(self.table(self.prior))

    def mix(self, weights: Any) -> Any:
        return self._stated.mix(weights)

    def entries(self, link: Any) -> int:
        return self._stated.entries(link)

    def dense(self) -> Floats:
        return filled(self._stated.table)


@dataclass(frozen=True, eq=False)
class Stated(Channel):
    """Given distributions, symbols × values, dense or CSR; their prior is fixed."""

    table: Any = field(repr=False)

    @property
    def shape(self) -> tuple[int, int]:
        return int(self.table.shape[0]), int(self.table.shape[1])

    def mix(self, weights: Any) -> Any:
        if not isinstance(weights, np.ndarray):
            mixed = weights @ self.table
            if isinstance(mixed, np.ndarray) or mixed.nnz < SPARSE_UP_TO * mixed.shape[0] * mixed.shape[1]:
                return mixed
            return mixed.toarray()
        if isinstance(self.table, np.ndarray):
            return product(weights, self.table)
        return np.ascontiguousarray((self.table.T @ weights.T).T)

    def entries(self, link: Any) -> int:
        if isinstance(link, np.ndarray) or isinstance(self.table, np.ndarray):
            return super().entries(link)
        ends = np.concatenate([[0], np.cumsum(np.diff(self.table.indptr)[link.indices], dtype=np.int64)])
        return int(np.minimum(np.diff(ends[link.indptr]), self.shape[1]).sum())


# Bayes' rule for a table of probabilities: from P(released | true) to P(true | released).

Matrix = npt.NDArray[np.float64]
DENSE_CELLS = 2**25
"""A table of more cells than this stays sparse: 2^25 doubles are 256 MB."""


def channel(transition: Matrix, *, prior: npt.ArrayLike | None = None) -> Matrix:
    """P(true level | released symbol), from P(released symbol | true level): one row per symbol, one column per level.

    `channel(d | c') ∝ P(c' | d) · prior(d)`; without a prior all levels are equally likely. The prior's
    scale does not matter. A symbol that cannot occur under the prior has no posterior: its row is all
    zeros.

    >>> channel(np.array([[0.75, 0.25, 0.0], [0.25, 0.5, 0.25], [0.0, 0.25, 0.75]]), prior=[3, 3, 0])
    array([[0.75      , 0.25      , 0.        ],
           [0.33333333, 0.66666667, 0.        ],
           [0.        , 1.        , 0.        ]])
    """
    size = transition.shape[0]
    believed = np.ones(size) if prior is None else np.asarray(prior, dtype=np.float64)
    if believed.shape != (size,):
        raise InputError(f"The prior needs {size} numbers, one per value; its shape is {believed.shape}.")
    if not (np.isfinite(believed).all() and (believed >= 0).all() and believed.any()):
        raise InputError("The prior must be finite, nowhere negative, and positive somewhere.")
    # First divided by each symbol's largest probability: far tails of wide noise then cannot underflow.
    joint = divide_rows(transition.T, transition.T.max(axis=1)) * (believed / believed.max())
    return divide_rows(joint, joint.sum(axis=1))


def sparse_channel(transition: Any) -> Any:
    """The same for a sparse table, all levels equally likely: a dense array where that is small, else CSR.

    For mechanisms with few possible symbols per level, such as rounding.

    >>> from scipy.sparse import csr_array
    >>> sparse_channel(csr_array([[1.0, 0.0], [0.5, 0.5], [0.0, 1.0]])).round(3).tolist()
    [[0.667, 0.333, 0.0], [0.0, 0.333, 0.667]]
    """
    from scipy.sparse import csr_array

    joint = csr_array(transition.T)
    joint.data = joint.data / np.repeat(joint.sum(axis=1), np.diff(joint.indptr))
    return joint if joint.shape[0] * joint.shape[1] > DENSE_CELLS else joint.toarray()


def divide_rows(matrix: Matrix, by: Matrix) -> Matrix:
    """Each row divided by its own number; rows whose number is 0 become (or stay) zeros."""
    divisor = by[:, np.newaxis]
    return np.divide(matrix, divisor, out=np.zeros_like(matrix), where=divisor > 0)
