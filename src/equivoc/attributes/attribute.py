"""A confidential attribute as it is in a file: its domain, and the geometry that says what "close" means."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from equivoc.attributes.geometry import Line, Nested

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, eq=False)
class Attribute:
    """The confidential attribute's name, domain and geometry."""

    name: str
    kind: str
    """"number", "ordered", "categories" or "tree"."""
    labels: pa.Array = field(repr=False)
    """How each value of the domain is written in a table."""
    values: NDArray[Any] = field(repr=False)
    """The domain D: numbers, ascending; or labels."""
    geometry: Line | Nested = field(repr=False)
    unit: str = ""
    """What a difference on the line is counted in; "" where unknown, or for a tree."""
    domain_given: bool = False
    """Did the caller state the domain? Otherwise it is the values that occur."""
    round_to: float | None = None
    """What numbers were rounded to; None: nothing."""

    @property
    def numeric(self) -> bool:
        """Are the values numbers?"""
        return self.kind == "number"

    @property
    def ordered(self) -> bool:
        """Do the values have an order: numbers, or ordered categories?"""
        return isinstance(self.geometry, Line)

    def places_of(self, other: Attribute) -> NDArray[np.float64]:
        """Where the values of another file's attribute of this kind lie in this one's geometry; −1: nowhere."""
        if self.numeric:
            return np.asarray(other.values, dtype=np.float64)
        at = {str(value): place for value, place in zip(self.values, self.geometry.positions, strict=True)}
        return np.array([at.get(str(value), -1.0) for value in other.values])

    def __len__(self) -> int:
        """How many values the domain has."""
        return len(self.values)
