"""Binomial noise on the ranks of many values, as an operator: a convolution with a rule for the ends of the domain."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equivoc.intruder.channel.binomial_noise import Edge, released_size, transition
from equivoc.intruder.channel.likelihood import Floats, Likelihood, Table, filled
from equivoc.measure.parallel import over_pieces

NEGLIGIBLE = 1e-18
"""Moves less likely than this share of the likeliest one are left out."""
BANDED_FROM = 1024
"""From this many values on, noise is a convolution; below, an exact table is used."""


def rank_noise(values: int, amplitude: int, *, edge: Edge) -> Likelihood:
    """P(released rank | true rank) of `binomial_noise`."""
    if values < BANDED_FROM:
        table = transition(values, amplitude, edge=edge)
        # Divided by each symbol's largest probability, so that far tails of wide noise cannot underflow.
        most = table.max(axis=0)
        return Table(np.divide(table, most, out=np.zeros_like(table), where=most > 0), most)
    return BinomialSteps(values, amplitude, edge)


@dataclass(frozen=True)
class BinomialSteps(Likelihood):
    """A rank moves by ``Binomial(M, ½) − M/2``; moves less likely than NEGLIGIBLE of the likeliest are left out.

    >>> BinomialSteps(3, 2, "clip").dense().tolist()
    [[0.75, 0.25, 0.0], [0.25, 0.5, 0.25], [0.0, 0.25, 0.75]]
    """

    values: int
    amplitude: int
    edge: Edge

    @property
    def shape(self) -> tuple[int, int]:
        return released_size(self.values, self.amplitude, edge=self.edge), self.values

    @cached_property
    def moves(self) -> Floats:
        """The probabilities of moves by −R … R, R the farthest that is not negligible."""
        half = self.amplitude // 2
        k = np.arange(min(half, int(np.sqrt(160.0 * half)) + 100))
        # C(M, M/2 + k + 1) / C(M, M/2 + k), multiplied starting from k = 0: nothing underflows, however large M is.
        upward = np.concatenate([[1.0], np.cumprod((half - k) / (half + 1.0 + k))])
        upward = upward[upward >= NEGLIGIBLE]
        both = np.concatenate([upward[:0:-1], upward])
        return np.asarray(both / both.sum())

    @cached_property
    def _tail(self) -> Floats:
        """For each value, the probability of a move down by its rank or more, which ends at the first value."""
        reach = len(self.moves) // 2
        tail = np.cumsum(self.moves[::-1])[: reach + 1][::-1]  # a move by k or more, k = 0 … R
        found = np.zeros(self.values)
        found[: reach + 1] = tail[: self.values]
        return found

    def _spread(self, rows: Floats) -> Floats:
        """Each row with every entry spread over its neighbours; mass beyond the ends is dropped, or wraps around."""
        from scipy.ndimage import convolve1d

        moves, width = self.moves, rows.shape[1]
        if self.edge == "wrap" and len(moves) > width:  # moves that land on the same rank add up
            reach = len(moves) // 2
            around = np.bincount(np.arange(-reach, reach + 1) % width, weights=moves, minlength=width)
            moves = np.roll(around, width // 2)
            if (
                width % 2 == 0
            ):  # an even number of moves has no middle: half of the farthest move goes each way
                moves = np.concatenate([[moves[0] / 2], moves[1:], [moves[0] / 2]])
        out = np.empty_like(rows)
        mode = "wrap" if self.edge == "wrap" else "constant"

        def work(part: slice) -> None:
            convolve1d(rows[part], moves, axis=1, mode=mode, output=out[part])

        over_pieces(work, len(rows), piece=1)
        return out

    def backward(self, weights: Any) -> Floats:
        weights = np.ascontiguousarray(filled(weights))
        if self.edge == "wrap":
            return self._spread(weights)
        if self.edge == "extend":
            half = self.amplitude // 2
            return np.ascontiguousarray(self._spread(weights)[:, half : half + self.values])
        inner = weights.copy()
        inner[:, [0, -1]] = 0.0
        ends = weights[:, :1] * self._tail + weights[:, -1:] * self._tail[::-1]
        return np.asarray(self._spread(inner) + ends)

    def forward(self, prior: Floats) -> Floats:
        if self.edge == "extend":
            half = self.amplitude // 2
            return np.asarray(self._spread(np.pad(prior, half)[None, :])[0])
        found = self._spread(np.ascontiguousarray(prior[None, :]))[0]
        if self.edge == "clip":
            found[0], found[-1] = (self._tail * prior).sum(), (self._tail[::-1] * prior).sum()
        return np.asarray(found)

    def peaks(self) -> Floats:
        """The nearest true rank has the largest probability of a released rank."""
        reach = len(self.moves) // 2
        if self.edge == "extend":
            half = self.amplitude // 2
            beyond = np.concatenate([self.moves[reach + 1 :], np.zeros(half - reach)])
            return np.concatenate([beyond[::-1], np.full(self.values, self.moves[reach]), beyond])
        one = np.zeros((1, self.values))
        one[0, self.values // 2] = 1.0
        found = np.full(self.values, float(self._spread(one).max()))
        if self.edge == "clip":
            found[[0, -1]] = self._tail[0]
        return found


def within_reach(values: int, amplitude: int, *, edge: Edge) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """For each released rank the true ranks, from first to before past, that lie within M/2 of it (not for "wrap").

    >>> [each.tolist() for each in within_reach(4, 2, edge="clip")]
    [[0, 0, 1, 2], [2, 3, 4, 4]]
    """
    half = amplitude // 2
    released = np.arange(released_size(values, amplitude, edge=edge)) - (half if edge == "extend" else 0)
    return np.clip(released - half, 0, values), np.clip(released + half + 1, 0, values)
