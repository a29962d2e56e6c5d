"""A confidential attribute of a file: its domain, and the geometry that defines distances between values."""

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
    """The unit of differences; "" if unknown, or for a tree."""
    domain_given: bool = False
    """True if the caller gave the domain; otherwise it is the set of values that occur."""
    round_to: float | None = None
    """The step to which numbers were rounded; None: not rounded."""

    @property
    def numeric(self) -> bool:
        """True if the values are numbers."""
        return self.kind == "number"

    @property
    def ordered(self) -> bool:
        """True if the values have an order: numbers or ordered categories."""
        return isinstance(self.geometry, Line)

    def places_of(self, other: Attribute) -> NDArray[np.float64]:
        """Positions of the values of another file's attribute in this one's geometry; −1 if absent."""
        if self.numeric:
            return np.asarray(other.values, dtype=np.float64)
        at = {str(value): place for value, place in zip(self.values, self.geometry.positions, strict=True)}
        return np.array([at.get(str(value), -1.0) for value in other.values])

    def __len__(self) -> int:
        """How many values the domain has."""
        return len(self.values)
