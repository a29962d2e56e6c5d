"""Binomial noise on the ranks of many values, as an operator: a convolution with a rule for the ends of the domain."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import floor, isfinite
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt
from numpy.typing import NDArray

from equivoc.channels.channel import divide_rows
from equivoc.channels.likelihood import Floats, Likelihood, Table, filled
from equivoc.errors import InputError
from equivoc.parallel import over_pieces

# Bounded binomial noise on ranks: its range, its probabilities, and the posterior of the true rank.
#
# A value is its rank in a domain of `domain_size` ordered values, 0 first. The noise is `Binomial(M, ½) −
# M/2`, so a rank moves by at most M/2 either way. What happens past the ends of the domain is the `edge`:
#
# - `"clip"`: the rank stops at the first or last value;
# - `"wrap"`: it goes on at the other end, as often as needed;
# - `"extend"`: the released grid is longer by M/2 at both ends. Released codes count from the new lower end, so
#   code 0 is rank −M/2, and a value that did not move has code rank + M/2.
#
# Source: Alfalayleh and Brankovic, *Quantifying Privacy: A Novel Entropy-Based Measure of Disclosure Risk*
# (2014). The paper does not say what happens at the ends of a domain; the three rules are ours.

Edge = Literal["clip", "wrap", "extend"]
Codes = npt.NDArray[np.int64]
Matrix = npt.NDArray[np.float64]


def amplitude(percent: float, domain_size: int) -> int:
    """M, the even number nearest to `percent` % of `domain_size − 1`: a rank moves by at most M/2.

    `M = 2·round(percent/100 · (domain_size − 1)/2)`, halves rounded up: 16 values at 100 % give 7.5, which
    becomes 8, so M = 16. M = 0 publishes the attribute as it is: a small percentage of a short domain.

    >>> amplitude(20, 69), amplitude(100, 16), amplitude(20, 2)
    (14, 16, 0)
    """
    if not (isfinite(percent) and percent >= 0):
        raise InputError(f"The noise must be a percentage of at least 0, not {percent}.")
    if domain_size < 1:
        raise InputError(f"A domain has at least one value, not {domain_size}.")
    # Divide once, at the end, so that 2.5 does not become 2.4999999.
    return 2 * floor(percent * (domain_size - 1) / 200 + 0.5)


def released_size(domain_size: int, amplitude: int, *, edge: Edge) -> int:
    """How many different ranks can be released.

    >>> released_size(25, 4, edge="clip"), released_size(25, 4, edge="extend")
    (25, 29)
    """
    _check(domain_size, amplitude, edge)
    return domain_size + amplitude if edge == "extend" else domain_size


def transition(domain_size: int, amplitude: int, *, edge: Edge) -> Matrix:
    """P(released rank | true rank): one row per true rank, one column per released rank; rows sum to 1.

    A rank moves by `j − M/2` with probability `C(M, j) / 2^M`, j = 0 … M; moves that end on the same rank add
    up. Each is a ratio of whole numbers, so it is correctly rounded whatever M (only tails
    below the smallest double, which takes M > 1000, become 0).

    >>> transition(3, 2, edge="clip")
    array([[0.75, 0.25, 0.  ],
           [0.25, 0.5 , 0.25],
           [0.  , 0.25, 0.75]])
    """
    released = np.zeros((domain_size, released_size(domain_size, amplitude, edge=edge)))
    true = np.arange(domain_size)[:, np.newaxis]
    moved = _land(true + np.arange(amplitude + 1), domain_size, amplitude, edge)
    np.add.at(released, (true, moved), _move_probabilities(amplitude))
    return released


def draw(
    codes: npt.ArrayLike, domain_size: int, amplitude: int, *, edge: Edge, rng: np.random.Generator
) -> Codes:
    """The released codes of a column: every rank moved by a `Binomial(M, ½) − M/2` of its own.

    >>> draw([0, 5, 9], 10, 0, edge="clip", rng=np.random.default_rng(0))
    array([0, 5, 9])
    """
    _check(domain_size, amplitude, edge)
    ranks = np.asarray(codes, dtype=np.int64)
    if ranks.size and not 0 <= ranks.min() <= ranks.max() < domain_size:
        raise InputError(f"Ranks run from 0 to {domain_size - 1}; found {ranks.min()} to {ranks.max()}.")
    return _land(ranks + rng.binomial(amplitude, 0.5, size=ranks.shape), domain_size, amplitude, edge)


def interval_channel(domain_size: int, amplitude: int, *, edge: Edge) -> Matrix:
    """The posterior of an intruder who knows only the range of the noise: one row per released rank.

    All true ranks within M/2 of the released one are equally likely (the paper's printed text). With `"wrap"`
    the distance is the one around the circle; with the other edges only ranks that exist count.

    >>> interval_channel(4, 2, edge="clip")[0]
    array([0.5, 0.5, 0. , 0. ])
    """
    ranks = np.arange(domain_size)
    released = np.arange(released_size(domain_size, amplitude, edge=edge))
    if edge == "extend":
        released = released - amplitude // 2
    distance = np.abs(released[:, np.newaxis] - ranks)
    if edge == "wrap":
        distance = np.minimum(distance, domain_size - distance)
    near = (distance <= amplitude // 2).astype(np.float64)
    return divide_rows(near, near.sum(axis=1))


def _land(moved: Codes, domain_size: int, amplitude: int, edge: Edge) -> Codes:
    """Released codes of `rank + Binomial(M, ½)`, which is M/2 too high until the edge rule is applied."""
    if edge == "extend":
        return moved
    centred = moved - amplitude // 2
    return np.clip(centred, 0, domain_size - 1) if edge == "clip" else centred % domain_size


def _move_probabilities(amplitude: int) -> Matrix:
    """`C(M, j) / 2^M` for j = 0 … M: Python rounds a ratio of whole numbers of any size correctly."""
    ways, all_ways, probabilities = 1, 2**amplitude, []
    for j in range(amplitude + 1):
        probabilities.append(ways / all_ways)
        ways = ways * (amplitude - j) // (j + 1)
    return np.array(probabilities)


def _check(domain_size: int, amplitude: int, edge: Edge) -> None:
    if domain_size < 1:
        raise InputError(f"A domain has at least one value, not {domain_size}.")
    if amplitude < 0 or amplitude % 2:
        raise InputError(f"The amplitude M must be even and at least 0, not {amplitude}.")
    if edge not in get_args(Edge):
        raise InputError(f"edge must be one of {', '.join(map(repr, get_args(Edge)))}, not {edge!r}.")


NEGLIGIBLE = 1e-18
"""Moves less likely than this share of the likeliest one are left out."""
BANDED_FROM = 1024
"""From this many values on, noise is a convolution; below, an exact table is used."""


def rank_noise(values: int, amplitude: int, *, edge: Edge) -> Likelihood:
    """P(released rank | true rank) of noise on ranks."""
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
