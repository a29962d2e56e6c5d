"""Engines that also measure: each class's histogram stays in the engine, and only the class's figures come back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pyarrow as pa

    from equivoc.attributes.geometry import Line, Nested


@dataclass(frozen=True, eq=False)
class ClassQuestion:
    """Which classes to measure, and how: everything that a process elsewhere needs to know."""

    keys: tuple[str, ...]
    levels: tuple[Any, ...]
    """Each key's values, as Arrow arrays; a class's number is made of the positions of its values among them."""
    confidential: str
    values: Any
    """The confidential column's values, as an Arrow array."""
    places: NDArray[np.int32]
    """The place of each of them in the attribute's domain."""
    geometry: Line | Nested
    eps: tuple[float, ...]
    """The tolerances of hit rates."""
    tolerance: float | None
    rows: int
    """How many people were counted."""
    combinations: int
    """How many combinations of all these values occur: as many rows as the engine's counts have."""
    drop_missing: bool = False
    """Leave out rows without a confidential value."""
    cells: bool = True
    """Also give figures for each value of each class."""

    @property
    def radices(self) -> tuple[int, ...]:
        return tuple(len(levels) for levels in self.levels)

    @property
    def numbered(self) -> bool:
        """True if the classes' numbers fit 63 bits."""
        size = len(self.places)
        for radix in self.radices:
            size *= max(1, radix)
        return size < 2**63

    def columns(self) -> Sequence[tuple[str, str]]:
        """The answer's columns and their types in SQL, one row per class.

        ``right`` and ``surprise`` hold an entry per value of the class, in the domain's order: the chance that the best
        guess is right, and the surprise in bits if the class's own distribution is believed.
        """
        found = [("class", "bigint"), ("size", "bigint"), ("h0", "double"), ("area", "double")]
        found += [("eps_max", "double"), ("estimated", "boolean"), ("error", "double"), ("check", "bigint")]
        found += [(f"hit{at}", "double") for at in range(len(self.eps))]
        if self.cells:
            for name in ("right", "surprise"):
                found += [(f"{name}{at}", "array<double>") for at in range(len(self.eps))]
        return found


@runtime_checkable
class MeasuringEngine(Protocol):
    """An engine that runs the measure where the data is."""

    def class_figures(self, question: ClassQuestion) -> pa.Table | None:
        """The figures of every class, in any order; the columns are `ClassQuestion.columns`. None: not possible now."""

    def write_records(
        self, figures: pa.Table, *, on: Sequence[str], beside: Sequence[str], folder: str
    ) -> int:
        """Write the columns ``beside`` and the figures of every record, found by its values in the columns ``on``.

        Gives the number of records. ``figures`` has the values of ``on`` in its first columns.
        """


def checksums(
    places: NDArray[np.integer[Any]], counts: NDArray[np.integer[Any]], starts: NDArray[np.integer[Any]]
) -> NDArray[np.int64]:
    """A number for each class that changes, all but certainly, if its histogram does.

    >>> one, other = checksums(np.array([0, 1, 0, 2]), np.array([1, 1, 1, 1]), np.array([0, 2]))
    >>> bool(one == other)
    False
    """
    mixed = (places.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed ^= mixed >> np.uint64(27)
    return np.add.reduceat(mixed * counts.astype(np.uint64), starts).view(np.int64)
