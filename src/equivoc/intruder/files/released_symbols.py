"""The values (symbols) of a released column, each as intervals of a line that contain the true value.

Numbers lie at their value, categories one step apart in the order of the original's levels, null beyond all. A symbol
(a number, a range, a set, a star) is one or more intervals of that line; its possible levels are those inside them.
Distances to it are distances to the nearest of these levels: ``[20,30)`` over ages in years ends at 29.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from equivoc.errors import InputError

if TYPE_CHECKING:
    import pyarrow as pa

Floats = NDArray[np.float64]
Interval = tuple[float, float]
"""The two ends, included."""
MOST = float(np.finfo(np.float64).max)
NULL = float(np.inf)
"""The position of null: beyond every number, so that ``>=65`` does not include it."""
EVERYWHERE: Interval = (-MOST, NULL)
NOWHERE = -1.0
"""The position of a category that is in neither file."""


@dataclass(frozen=True, eq=False)
class Line:
    """Positions of a column's values: ``at`` has the original's levels, ascending."""

    name: str
    numeric: bool
    at: Floats = field(repr=False)
    categories: Mapping[str, float] = field(repr=False)
    """For a column that is not numeric: the position of each text; new categories of the released file come last."""

    @property
    def scale(self) -> float:
        """1 / the range of the original's levels; 0 for categories, which are equal or not."""
        if not self.numeric:
            return 0.0
        finite = self.at[np.isfinite(self.at)]
        return 1.0 / float(finite[-1] - finite[0]) if len(finite) and finite[-1] > finite[0] else 1.0

    def place(self, levels: pa.Array) -> Floats:
        """The positions of these levels, which may come from other people."""
        import pyarrow as pa
        import pyarrow.compute as pc

        if not self.numeric:
            texts = pc.cast(levels, pa.string()).to_pylist()
            return np.array([NULL if t is None else self.categories.get(t, NOWHERE) for t in texts])
        if not is_numeric(levels.type) and levels.null_count < len(levels):
            raise InputError(
                f"the key {self.name!r} holds {levels.type} values where the original has numbers."
            )
        return as_floats(levels)


@dataclass(frozen=True, eq=False)
class Symbols:
    """A released column: each record's symbol, and the intervals of each symbol."""

    codes: NDArray[np.int64] = field(repr=False)
    """For each released record, the number of its symbol."""
    labels: pa.Array = field(repr=False)
    """How each symbol is written in the released table."""
    line: Line
    starts: NDArray[np.int64] = field(repr=False)
    """Symbol s has the intervals from starts[s] to starts[s + 1] − 1, ascending."""
    lows: Floats = field(repr=False)
    highs: Floats = field(repr=False)
    invented: NDArray[np.bool_] = field(repr=False)
    """True for symbols that are categories not in the original."""
    suppressed: int = 0
    """How many records hold a null that was read as any value, although null is a value of the original."""

    @property
    def sizes(self) -> NDArray[np.int64]:
        """|s|: the number of original levels of each symbol; 0 for a number between levels."""
        held = np.searchsorted(self.line.at, self.highs, side="right") - np.searchsorted(
            self.line.at, self.lows
        )
        return np.add.reduceat(held, self.starts[:-1])

    @property
    def ends(self) -> tuple[Floats, Floats]:
        """The first and the last original level in each interval; its own ends if there is none."""
        at = self.line.at
        first = np.searchsorted(at, self.lows)
        last = np.searchsorted(at, self.highs, side="right") - 1
        none = last < first
        return (
            np.where(none, self.lows, at[np.minimum(first, len(at) - 1)]),
            np.where(none, self.highs, at[np.maximum(last, 0)]),
        )

    @property
    def records(self) -> NDArray[np.int64]:
        """How many released records have each symbol."""
        return np.bincount(self.codes, minlength=len(self.labels))


def is_numeric(kind: Any) -> bool:
    """True if values of this Arrow type are read as numbers."""
    import pyarrow as pa

    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind))


def as_floats(levels: pa.Array) -> Floats:
    """Numbers as doubles, null as NULL. Decimals are converted through text: Arrow's cast rounds wrongly (3.01)."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_decimal(levels.type):
        return np.array([NULL if v is None else float(v) for v in levels.to_pylist()], np.float64)
    numbers = pc.cast(levels, pa.float64(), safe=False)
    return np.asarray(pc.fill_null(numbers, NULL).to_numpy(zero_copy_only=False), np.float64)
