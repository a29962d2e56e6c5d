"""A released table, the people in the data and a control group, column by column in one coding."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import sqrt
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from equivoc.data.microdata import Microdata
from equivoc.data.read import control_people
from equivoc.errors import InputError
from equivoc.models.of_file.measure import Known, known_classes
from equivoc.models.of_release.released_table import (
    ReleasedTable,
    column_numbers,
    holds_dates,
    released_table,
)
from equivoc.releases.release import Release

if TYPE_CHECKING:
    import pyarrow as pa

# How often an attack succeeds against people in the data and against people who are not, with 95 % intervals.

Interval = tuple[float, float]
NORMAL_95 = 1.959963984540054
"""The 97.5 % quantile of the standard normal distribution."""


def wilson(successes: float, attempts: int) -> Interval:
    """Wilson's 95 % interval of a success rate; (0, 1) without attempts.

    (p + z²/2n ± z·√(p(1−p)/n + z²/4n²)) / (1 + z²/n), z = 1.96. Source: E. B. Wilson, Probable inference, the law of
    succession, and statistical inference, JASA 22 (1927), 209–212.

    >>> [round(end, 4) for end in wilson(15, 50)], [round(end, 4) for end in wilson(0, 10)]
    ([0.191, 0.4375], [0.0, 0.2775])
    """
    if attempts == 0:
        return 0.0, 1.0
    p, z2 = successes / attempts, NORMAL_95**2
    middle = p + z2 / (2 * attempts)
    half = NORMAL_95 * sqrt(p * (1 - p) / attempts + z2 / (4 * attempts**2))
    low, high = ((middle + side * half) / (1 + z2 / attempts) for side in (-1, 1))
    return (0.0 if successes == 0 else max(low, 0.0)), (1.0 if successes == attempts else min(high, 1.0))


@dataclass(frozen=True)
class Rate:
    """A share of successful attempts."""

    successes: float
    attempts: int

    @property
    def share(self) -> float:
        """0 without attempts."""
        return self.successes / self.attempts if self.attempts else 0.0

    @property
    def interval(self) -> Interval:
        """Wilson's 95 % interval."""
        return wilson(self.successes, self.attempts)


def excess(one: Rate, other: Rate) -> tuple[float, Interval]:
    """The difference of two independent rates, and its 95 % interval.

    With (l, u) the rates' own intervals, d − √((p−l)² + (u'−p')²) … d + √((u−p)² + (p'−l')²). Source: R. G. Newcombe,
    Interval estimation for the difference between independent proportions, Statistics in Medicine 17 (1998), 873–890,
    method 10.

    >>> d, (low, high) = excess(Rate(56, 70), Rate(48, 80))
    >>> round(d, 4), round(low, 4), round(high, 4)
    (0.2, 0.0524, 0.3339)
    """
    p, q, (low, high), (below, above) = one.share, other.share, one.interval, other.interval
    down, up = sqrt((p - low) ** 2 + (above - q) ** 2), sqrt((high - p) ** 2 + (q - below) ** 2)
    return p - q, (p - q - down, p - q + up)


Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Attribute:
    """One column of the three tables, as numbers: NaN for null; categories are numbered."""

    name: str
    numeric: bool
    released: Floats = field(repr=False)
    people: Floats = field(repr=False)
    control: Floats = field(repr=False)


def checked_attributes(
    people: Microdata, release: Release, control: Any, known: Known
) -> tuple[list[Attribute], Microdata]:
    """The attributes of an attack, and the control group; InputError if there is nothing to compare."""
    table = released_table(people, release)
    if control is None:
        raise InputError("give control: people of the same population who are not in the data.")
    others = control_people(people, control)
    found = attacked(table, others, known_classes(people, known).known)
    if not found:
        raise InputError("the released table has no attribute with values like the original's to compare.")
    return found, others


def attacked(table: ReleasedTable, control: Microdata, known: Sequence[str]) -> list[Attribute]:
    """The ``known`` keys and the confidential attribute, if released.

    Left out: numbers of which some were released as other text, such as ranges or stars.
    """
    found = []
    for name in (*known, table.people.confidential):
        if name not in table.columns:
            continue
        released = table.columns[name]
        columns = [(released.levels, released.codes), _column(table.people, name), _column(control, name)]
        numbers = [
            column_numbers(levels, codes, name, dates=holds_dates(table.people, name))
            for levels, codes in columns
        ]
        if numbers[0] is None and numbers[1] is not None:
            numbers[0] = _parsed(*columns[0])
        if all(each is not None for each in numbers):
            found.append(Attribute(name, True, *(np.asarray(each) for each in numbers)))
        elif numbers[0] is not None or numbers[1] is None:
            found.append(Attribute(name, False, *_numbered(columns)))
    return found


def _column(people: Microdata, name: str) -> tuple[pa.Array, NDArray[np.integer[Any]]]:
    confidential = name == people.confidential
    size = len(people.values) if confidential else len(people.levels(name))
    return people.decode(name, np.arange(size)), (people.codes if confidential else people.key_codes(name))


def _parsed(levels: pa.Array, codes: NDArray[np.integer[Any]]) -> Floats | None:
    """Numbers that are written as text, as in a file whose columns may hold ranges; None if some are not numbers."""
    import pyarrow as pa

    if not (pa.types.is_string(levels.type) or pa.types.is_large_string(levels.type)):
        return None
    try:
        numbers = [np.nan if text is None else float(text) for text in levels.to_pylist()]
    except ValueError:
        return None
    return np.array(numbers, np.float64)[codes] if np.isfinite(numbers).any() else None


def _numbered(columns: Sequence[tuple[pa.Array, NDArray[np.integer[Any]]]]) -> list[Floats]:
    """Categories by their text, numbered in the order in which they are met; NaN for null."""
    places: dict[str, int] = {}
    found = []
    for levels, codes in columns:
        place = [np.nan if v is None else places.setdefault(str(v), len(places)) for v in levels.to_pylist()]
        found.append(np.array(place, np.float64)[codes])
    return found
