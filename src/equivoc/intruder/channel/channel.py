"""P(value | released symbol): Bayes' rule with one prior, or distributions that a technique states itself."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equivoc.intruder.channel.likelihood import Likelihood

Floats = NDArray[np.float64]
BLOCK_BYTES = 64 * 2**20
"""Rows are mixed in blocks of about this size."""


class Channel(ABC):
    """What each released symbol tells about the value: a distribution over the values for each."""

    @property
    @abstractmethod
    def shape(self) -> tuple[int, int]:
        """How many symbols, how many values."""

    @abstractmethod
    def mix(self, weights: Floats) -> Floats:
        """Rows × symbols (each row sums to 1) to rows × values: Σ_s weights[:, s] · P(value | s)."""

    def blocks(self, link: Any) -> Iterator[tuple[slice, Floats]]:
        """`mix` of the rows of a large linkage (dense or CSR), a block of rows at a time."""
        rows, (symbols, values) = link.shape[0], self.shape
        step = max(1, BLOCK_BYTES // (8 * (symbols + 2 * values)))
        for begin in range(0, rows, step):
            part = slice(begin, min(begin + step, rows))
            piece = link[part]
            yield part, self.mix(piece if isinstance(piece, np.ndarray) else piece.toarray())

    def dense(self) -> Floats:
        """Symbols × values, for small domains."""
        return self.mix(np.eye(self.shape[0]))


@dataclass(frozen=True, eq=False)
class Bayes(Channel):
    """``P(v | s) ∝ K(s | v) · prior(v)``.

    A symbol that cannot occur under the prior is read with all values equally likely beforehand: the prior was wrong.

    >>> from equivoc.intruder.channel.likelihood import Table
    >>> noise = Table(np.array([[0.75, 0.25], [0.25, 0.75]]))
    >>> Bayes(noise, np.array([0.5, 0.5])).dense().tolist()
    [[0.75, 0.25], [0.25, 0.75]]
    """

    likelihood: Likelihood
    prior: Floats = field(repr=False)

    @property
    def shape(self) -> tuple[int, int]:
        return self.likelihood.shape

    @cached_property
    def _evidence(self) -> Floats:
        return self.likelihood.forward(self.prior)

    def mix(self, weights: Floats) -> Floats:
        possible = self._evidence > 0
        scaled = np.divide(weights, self._evidence, out=np.zeros_like(weights), where=possible)
        mixed = self.prior * self.likelihood.backward(scaled)
        surprising = np.flatnonzero(~possible & (weights > 0).any(axis=0))
        if surprising.size:
            flat = self.likelihood.forward(np.ones_like(self.prior))
            rest = np.zeros_like(weights)
            rest[:, surprising] = weights[:, surprising] / flat[surprising]
            mixed = mixed + self.likelihood.backward(rest)
        return mixed


@dataclass(frozen=True, eq=False)
class Stated(Channel):
    """The distributions themselves, symbols × values, dense or CSR; the prior is in them already."""

    table: Any = field(repr=False)

    @property
    def shape(self) -> tuple[int, int]:
        return int(self.table.shape[0]), int(self.table.shape[1])

    def mix(self, weights: Floats) -> Floats:
        if isinstance(self.table, np.ndarray):
            # Not BLAS: its last bits depend on how many threads it has.
            return np.asarray(np.einsum("rs,sv->rv", weights, self.table))
        return np.ascontiguousarray((self.table.T @ weights.T).T)
