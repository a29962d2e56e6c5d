"""A confidential attribute of a file: its domain, and the geometry that defines distances between values."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import floor, log10
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from equivoc.attributes.dates import DateScale
from equivoc.text import amount, counted, figure

if TYPE_CHECKING:
    import pyarrow as pa

    from equivoc.measure.curves import Curves
    from equivoc.measure.tree import TreeCurves

# Distances between the values of an attribute: on a line, or by the lowest common ancestor in a tree.

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Line:
    """Values on a line; their distance is their difference."""

    positions: Floats = field(repr=False)
    """Where each value of the domain lies, ascending."""
    least_tolerance: float = 0.0
    """The smallest default tolerance above 0: 2 for ranks, which is one rank up or down."""

    @property
    def width(self) -> float:
        """The distance between the outermost values."""
        return float(self.positions[-1] - self.positions[0])

    def curves(self, matrix: Any, *, counts: bool = False, tolerance: float | None = None) -> Curves:
        """The measure on every row of ``matrix``, a posterior over the domain each; see `equivoc.curves`."""
        from equivoc.measure.curves import curves

        return curves(self.positions, matrix, counts=counts, tolerance=tolerance)

    def default_tolerances(self) -> tuple[float, ...]:
        """0, and a round number of about a tenth of the width; only 0 if that would be the whole width or more."""
        further = max(round_tolerance(self.width), self.least_tolerance)
        return (0.0, further) if further < self.width or not self.least_tolerance else (0.0,)


@dataclass(frozen=True, eq=False)
class Nested:
    """Values under a hierarchy; the distance of two is the height of their lowest common ancestor.

    >>> Nested.flat(3).groups.tolist()
    [[0, 1, 2], [0, 0, 0]]
    """

    groups: NDArray[np.int64] = field(repr=False)
    """Heights × values: the number of each value's ancestor at each height; at height 0 the value itself, at the top
    one ancestor for all."""
    names: tuple[str, ...] = ("value", "any")
    """The name of each height."""
    labels: tuple[tuple[str, ...], ...] = field(default=(), repr=False)
    """Labels of the ancestors at each height; empty if they have none."""

    @classmethod
    def flat(cls, size: int) -> Nested:
        """Without a hierarchy: single values, then all values in one group."""
        return cls(np.stack([np.arange(size), np.zeros(size, np.int64)]))

    @property
    def height(self) -> int:
        """The height of the root."""
        return len(self.groups) - 1

    @property
    def width(self) -> float:
        """The largest distance that two values can have."""
        return float(self.height)

    @property
    def positions(self) -> Floats:
        """The values by their numbers."""
        return np.arange(self.groups.shape[1], dtype=np.float64)

    def curves(self, matrix: Any, *, counts: bool = False, tolerance: float | None = None) -> TreeCurves:
        """The measure on every row of ``matrix``, a posterior over the domain each; always exact."""
        from equivoc.measure.tree import tree_curves

        return tree_curves(self.groups, matrix, counts=counts)

    def default_tolerances(self) -> tuple[float, ...]:
        """0 (the value itself), and 1 (its parent) unless that is the root."""
        return (0.0, 1.0) if self.height > 1 else (0.0,)


def round_tolerance(width: float) -> float:
    """The largest of 1, 2 or 5 times a power of ten that is at most a tenth of the domain's ``width``; 0 for width 0.

    >>> [round_tolerance(width) for width in (4600.0000001, 57, 0.3, 50, 0)]
    [200.0, 5.0, 0.02, 5.0, 0.0]
    """
    if width <= 0:
        return 0.0
    tenth = width / 10 * (1 + 1e-9)  # 0.1 · 3 is above 0.3 in binary, and 0.3 / 0.1 below 3
    power = floor(log10(tenth)) + 1  # the logarithm may be off by a rounding error: start one step above
    steps = (float(f"{digit}e{power - down}") for down in range(3) for digit in (5, 2, 1))
    return next((step for step in steps if step <= tenth), 0.0)


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
    dates: DateScale | None = None
    """How the numbers stand for dates; None: they are numbers."""

    @property
    def numeric(self) -> bool:
        """True if the values are numbers."""
        return self.kind == "number"

    @property
    def ordered(self) -> bool:
        """True if the values have an order: numbers or ordered categories."""
        return isinstance(self.geometry, Line)

    def text(self, value: Any) -> str:
        """One value of the domain in a sentence: a figure, a date or a label."""
        if self.dates is not None:
            return self.dates.text(float(value))
        return figure(float(value)) if self.numeric else str(value)

    def written(self, numbers: Floats) -> pa.Array:
        """Numbers as they stand in a table: dates as dates."""
        import pyarrow as pa

        return pa.array(numbers) if self.dates is None else self.dates.written(numbers)

    def places_of(self, other: Attribute) -> NDArray[np.float64]:
        """Positions of the values of another file's attribute in this one's geometry; −1 if absent."""
        if self.numeric:
            return np.asarray(other.values, dtype=np.float64)
        at = {str(value): place for value, place in zip(self.values, self.geometry.positions, strict=True)}
        return np.array([at.get(str(value), -1.0) for value in other.values])

    def __len__(self) -> int:
        """How many values the domain has."""
        return len(self.values)


# Describes an attribute in words: the unit of its distances, its domain, how close a guess is.


def number_labels(attribute: Attribute) -> pa.Array:
    """The labels; of dates, their numbers."""
    import pyarrow as pa

    return attribute.labels if attribute.dates is None else pa.array(attribute.values)


class Closeness(NamedTuple):
    """How close a guess at one tolerance is."""

    label: str
    """After "her best guess is": "exact", "within ±5K", "right about the chapter"."""
    phrase: str
    """After "an intruder": "names a random person's exact disease", "is within ±5K of a random person's salary"."""


def measured_in(attribute: Attribute, unit: str = "") -> str:
    """The unit of areas (bits × this): levels, the caller's ``unit``, the attribute's own unit, or its name."""
    return "levels" if isinstance(attribute.geometry, Nested) else unit or attribute.unit or attribute.name


def domain_size(attribute: Attribute) -> str:
    """How many values there are, without naming one: "5 categories under a hierarchy of 3 levels"."""
    if attribute.numeric:
        return counted(len(attribute), "value")
    many = "1 category" if len(attribute) == 1 else f"{len(attribute):,} categories"
    if attribute.ordered:
        return f"{many} in order"
    under = f" under a hierarchy of {len(level_names(attribute))} levels"
    return many + (under if attribute.kind == "tree" else "")


def level_names(attribute: Attribute) -> tuple[str, ...]:
    """The names of the levels of the hierarchy, the values' own first; () if there is none."""
    return attribute.geometry.names if isinstance(attribute.geometry, Nested) else ()


def closeness(attribute: Attribute, eps: float, unit: str = "") -> Closeness:
    """The words for a correct guess at the tolerance ``eps``."""
    whose = f"a random person's {attribute.name}"
    names = level_names(attribute)
    height = min(int(eps), len(names) - 1) if names else eps
    if not height:
        return Closeness("exact", f"names a random person's exact {attribute.name}")
    if names:
        level = names[int(height)]
        level = level if level.startswith("level ") else f"the {level}"
        return Closeness(f"right about {level}", f"is right about {level} of {whose}")
    unit = unit or attribute.unit
    near = f"within ±{amount(eps / 2, 'rank' if unit == 'ranks' and eps == 2 else unit)}"
    return Closeness(near, f"is {near} of {whose}")
