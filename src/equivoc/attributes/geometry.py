"""What "close" means for the values of an attribute: a distance on a line, or a common ancestor in a tree."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Line:
    """Values on a line; their distance is their difference."""

    positions: Floats = field(repr=False)
    """Where each value of the domain lies, ascending."""

    @property
    def width(self) -> float:
        """The distance between the outermost values."""
        return float(self.positions[-1] - self.positions[0])


@dataclass(frozen=True, eq=False)
class Nested:
    """Values under a hierarchy; the distance of two is the height of their lowest common ancestor.

    >>> Nested.flat(3).groups.tolist()
    [[0, 1, 2], [0, 0, 0]]
    """

    groups: NDArray[np.int64] = field(repr=False)
    """Heights × values: the number of each value's ancestor at each height; at height 0 itself, on top one for all."""
    names: tuple[str, ...] = ("value", "any")
    """What each height is called."""
    labels: tuple[tuple[str, ...], ...] = field(default=(), repr=False)
    """Of each height, how its ancestors are written; empty where nobody named them."""

    @classmethod
    def flat(cls, size: int) -> Nested:
        """No hierarchy: each value for itself, or all of them."""
        return cls(np.stack([np.arange(size), np.zeros(size, np.int64)]))

    @property
    def height(self) -> int:
        """The height of the root."""
        return len(self.groups) - 1

    @property
    def width(self) -> float:
        """The largest distance that two values can have."""
        return float(self.height)
