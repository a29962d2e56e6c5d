"""Bounded binomial noise on ranks: its range, its probabilities, and the posterior of the true rank.

A value is its rank in a domain of `domain_size` ordered values, 0 first. The noise is `Binomial(M, ½) − M/2`,
so a rank moves by at most M/2 either way. What happens past the ends of the domain is the `edge`:

- `"clip"`: the rank stops at the first or last value;
- `"wrap"`: it goes on at the other end, as often as needed;
- `"extend"`: the released grid is longer by M/2 at both ends. Released codes count from the new lower end, so
  code 0 is rank −M/2, and a value that did not move has code rank + M/2.

Source: Alfalayleh and Brankovic, *Quantifying Privacy: A Novel Entropy-Based Measure of Disclosure Risk*
(2014). The paper does not say what happens at the ends of a domain; the three rules are ours.
"""

from math import floor, isfinite
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from equivoc.errors import InputError
from equivoc.intruder.channel.inversion import divide_rows

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
