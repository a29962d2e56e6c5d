"""Draws levels with given probabilities (Walker's alias method)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True, eq=False)
class Lottery:
    """Probabilities of the levels 0, 1, …, one row per condition, as alias tables.

    A uniformly drawn level is kept with the probability in ``keep``, otherwise replaced by the one in ``other``.

    >>> lottery = Lottery.of([[1, 0, 0], [0.2, 0.2, 0.6]])
    >>> lottery.draw(np.array([0, 0, 1, 1]), np.array([0.1, 0.9, 0.1, 0.9]))
    array([0, 0, 0, 2])
    """

    keep: NDArray[np.float64]
    """One row per condition, one column per level."""
    other: NDArray[np.int64]
    """In the same shape."""

    @classmethod
    def of(cls, chances: ArrayLike) -> Lottery:
        """From probabilities, or weights proportional to them."""
        given = np.atleast_2d(np.asarray(chances, np.float64))
        levels = given.shape[1]
        shares = given / given.sum(axis=1, keepdims=True) * levels
        keep = np.ones_like(shares)
        other = np.tile(np.arange(levels), (len(shares), 1))
        for row, left in enumerate(shares):
            small = [level for level in range(levels) if left[level] < 1]
            large = [level for level in range(levels) if left[level] >= 1]
            while small and large:
                poor, rich = small.pop(), large[-1]
                keep[row, poor], other[row, poor] = left[poor], rich
                left[rich] -= 1 - left[poor]
                if left[rich] < 1:
                    small.append(large.pop())
        return cls(keep, other)

    def draw(
        self, circumstances: NDArray[np.integer] | int, uniforms: NDArray[np.float64]
    ) -> NDArray[np.int64]:
        """One level per uniform number in [0, 1), by the probabilities of its condition."""
        levels = self.keep.shape[1]
        scaled = uniforms * levels
        ticket = scaled.astype(np.int64)
        scaled -= ticket
        place = ticket + np.multiply(circumstances, levels, dtype=np.int64)
        drawn: NDArray[np.int64] = np.where(
            scaled < self.keep.ravel()[place], ticket, self.other.ravel()[place]
        )
        return drawn
