"""Reads each distinct value of a released column against the levels of the original."""

from __future__ import annotations

import datetime
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from equivoc.attributes.dates import day_of, period_of
from equivoc.attributes.level_text import (
    MISSING,
    Anything,
    Masked,
    OneOf,
    Plain,
    Span,
    as_number,
    meaning,
    without_thousands,
)
from equivoc.errors import InputError

if TYPE_CHECKING:
    import pyarrow as pa

    from equivoc.data.columns import Column

# The values (symbols) of a released column, each as intervals of a line that contain the true value.
#
# Numbers lie at their value, categories one step apart in the order of the original's levels, null beyond
# all. A symbol (a number, a range, a set, a star) is one or more intervals of that line; its possible levels
# are those inside them. Distances to it are distances to the nearest of these levels: ``[20,30)`` over ages
# in years ends at 29.

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


def read_symbols(
    column: Column, levels: pa.Array, *, name: str, role: str, most_nulls: float = np.inf
) -> Symbols:
    """The released ``column`` read against the original's ``levels``; InputError names a value that cannot be parsed.

    If null is a level, a released null is that level; but if more than ``most_nulls`` records are null, values were
    suppressed, and null then means any level.

    >>> import pyarrow as pa
    >>> from equivoc.data.columns import Encoder
    >>> released = Encoder("age")
    >>> released.add(pa.array(["[20,30)", "41", "*", "2*", "41"]))
    >>> found = read_symbols(released.column(), pa.array([20, 25, 30, 41]), name="age", role="key")
    >>> dict(zip(found.labels.to_pylist(), found.sizes.tolist()))
    {'*': 4, '2*': 2, '41': 1, '[20,30)': 2}
    """
    reader = _Reader(levels, name)
    values = _values(column.levels, f"the {role} {name!r} as released")
    codes = column.codes.astype(np.int64)
    nulls = int(np.count_nonzero(np.isin(codes, [i for i, value in enumerate(values) if value is None])))
    suppressed = reader.nullable and nulls > most_nulls
    if suppressed:
        reader.null_stands_for = EVERYWHERE
    symbols = _with_thousands(reader, values, [reader.intervals(value) for value in values])
    wrong = [number for number, found in enumerate(symbols) if found is None]
    if wrong:
        value, records = column.levels[wrong[0]].as_py(), int(np.count_nonzero(np.isin(codes, wrong)))
        kind = "neither a number nor a range" if reader.line.numeric else "a range or set that does not parse"
        raise InputError(
            f"the {role} {name!r} as released holds {value!r}, {kind} (records with such values: {records:,}); "
            "write [20,30), 20-29, >=65, 2*, {a,b} or *."
        )
    understood = [found for found in symbols if found is not None]
    starts = np.concatenate([[0], np.cumsum([len(found) for found in understood])]).astype(np.int64)
    ends = np.array([interval for found in understood for interval in found], dtype=np.float64).reshape(-1, 2)
    line = reader.line
    known = np.count_nonzero(np.isfinite(line.at)) - 1
    invented = ~np.array(
        [line.numeric or found[0][0] <= known or found[0][0] == NULL for found in understood]
    )
    read = Symbols(codes, column.levels, line, starts, ends[:, 0], ends[:, 1], invented, nulls * suppressed)
    if invented.all():
        raise InputError(
            f"the {role} {name!r} as released has none of the original's values, but values such as "
            f"{column.levels[0].as_py()!r}: give it the original's categories, or sets of them."
        )
    return read


def _with_thousands(
    reader: _Reader, values: Sequence[Any], symbols: list[list[Interval] | None]
) -> list[list[Interval] | None]:
    """The symbols, with ``[0, 3.000[`` read as ends at 3 or at 3000, whichever the original's levels support.

    A reading in which every range holds a level is better than one with empty ranges; then the one whose ranges hold
    more of the levels. InputError if both are equally good and differ. Levels below 1000 have no thousands.
    """
    if not reader.line.numeric:
        return symbols
    others = [without_thousands(value) if isinstance(value, str) else None for value in values]
    ranges = [i for i, text in enumerate(others) if text is not None and isinstance(meaning(text), Span)]
    pointed = [i for i, value in enumerate(values) if isinstance(value, str) and "." in value]
    known = reader.line.at[np.isfinite(reader.line.at)]
    if not ranges or any(others[i] is None for i in pointed) or np.abs(known).max(initial=0.0) < 1000:
        return symbols
    second = [
        found if text is None else reader.intervals(text) for found, text in zip(symbols, others, strict=True)
    ]
    first, other = (_levels_held([read[i] for i in ranges], reader.line.at) for read in (symbols, second))
    if np.array_equal(first, other):
        return symbols
    plain, grouped = ((bool(each.any(axis=1).all()), int(each.any(axis=0).sum())) for each in (first, other))
    if plain == grouped:
        raise InputError(
            f"{reader.line.name!r} as released holds {values[ranges[0]]!r}, whose points can be decimal points or "
            f"stand between thousands ({others[ranges[0]]!r}): write whole numbers without points."
        )
    return symbols if plain > grouped else second


def _levels_held(ranges: Sequence[list[Interval] | None], at: Floats) -> NDArray[np.bool_]:
    """Ranges × levels: which levels lie in each range; none in a range that does not parse."""
    return np.array([(found[0][0] <= at) & (at <= found[0][1]) if found else at != at for found in ranges])


def _values(levels: pa.Array, what: str) -> list[Any]:
    """The symbols as numbers where they are numbers, else as text; null is None."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = levels.type
    if pa.types.is_integer(kind) or pa.types.is_floating(kind):
        return list(levels.to_pylist())
    try:
        return list(pc.cast(levels, pa.string()).to_pylist())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise InputError(f"{what} holds {kind} values: give numbers or text.") from None


class _Reader:
    """Reads symbols one at a time; new categories get new positions."""

    def __init__(self, levels: pa.Array, name: str) -> None:
        import pyarrow as pa
        import pyarrow.compute as pc

        self._kind = levels.type
        self.nullable = bool(levels.null_count)
        self.null_stands_for: Interval = (NULL, NULL) if self.nullable else EVERYWHERE
        present = levels.drop_null()
        self._texts: list[str] = pc.cast(present, pa.string()).to_pylist()
        numeric = is_numeric(levels.type)
        places = as_floats(present) if numeric else np.arange(len(present), dtype=np.float64)
        self._places = places
        self._categories = {} if numeric else dict(zip(self._texts, places.tolist(), strict=True))
        at = np.append(places, NULL) if self.nullable else places
        self.line = Line(name, numeric, at, self._categories)

    def intervals(self, value: Any) -> list[Interval] | None:
        """The intervals of a symbol; None if it cannot be parsed."""
        if value is None:
            return [self.null_stands_for]
        if self.line.numeric and not isinstance(value, str):
            return [(float(value), float(value))] if np.isfinite(value) else None
        text = str(value)
        itself = None if self.line.numeric else self._category(text)
        if itself is not None:
            return [(itself, itself)]
        of_dates = self._of_dates(text)
        if of_dates is not None:
            return of_dates
        found = meaning(text)
        if isinstance(found, Anything):
            return [EVERYWHERE]
        if found is None:
            return None
        return self._of_numbers(found) if self.line.numeric else self._of_categories(found, text)

    def _category(self, text: str) -> float | None:
        """The position of the level written like this, or in another way that its type allows (2001-5-1)."""
        import pyarrow as pa

        if text in self._categories or pa.types.is_string(self._kind) or pa.types.is_large_string(self._kind):
            return self._categories.get(text)
        try:
            written = pa.scalar(text.strip()).cast(self._kind).cast(pa.string()).as_py()
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            return None
        return self._categories.get(written)

    @cached_property
    def _days(self) -> list[datetime.date | None] | None:
        """The day of each level, if the original's levels are dates."""
        import pyarrow as pa

        dated = pa.types.is_date(self._kind) or pa.types.is_timestamp(self._kind)
        return [day_of(text) for text in self._texts] if dated else None

    def _of_dates(self, text: str) -> list[Interval] | None:
        """The levels in a period such as 2020-05, 2020-Q2, 2020 or 2020s; None if the text or the levels are none."""
        period = period_of(text)
        if period is None or self._days is None:
            return None
        held = [
            at
            for at, day in zip(self._places, self._days, strict=True)
            if day and period[0] <= day < period[1]
        ]
        return _runs(held) if held else _runs([self._invented(text)])

    def _of_numbers(self, found: Span | OneOf | Masked | Plain) -> list[Interval] | None:
        if isinstance(found, Span):
            return [_closed(found)]
        if isinstance(found, Masked):
            return self._masked_number(found.text)
        members = found.members if isinstance(found, OneOf) else (found.text,)
        places = [NULL if self._is_null(found, i) else as_number(text) for i, text in enumerate(members)]
        if any(place is None for place in places):
            return None
        return [(place, place) for place in sorted({place for place in places if place is not None})]

    def _of_categories(self, found: Span | OneOf | Masked | Plain, text: str) -> list[Interval]:
        if isinstance(found, OneOf):
            held = []
            for i, member in enumerate(found.members):
                place = NULL if self._is_null(found, i) else self._category(member)
                held.append(self._invented(member) if place is None else place)
        elif isinstance(found, Masked):
            held = self._places[self._masked(found.text)].tolist()
        elif isinstance(found, Span):
            held = [self._categories[t] for t in self._texts if _inside(as_number(t), found)]
        else:
            held = []
        return _runs(held) if held else _runs([self._invented(text)])

    def _is_null(self, found: OneOf | Plain, number: int) -> bool:
        """True if this member of a set is the original's null: NA or empty, without quotes."""
        if isinstance(found, Plain) or not self.nullable or found.members[number] not in MISSING:
            return False
        return not (found.quoted and found.quoted[number])

    def _invented(self, text: str) -> float:
        place: float = self._categories.setdefault(text, float(len(self._categories)))
        return place

    def _masked_number(self, text: str) -> list[Interval] | None:
        """``2*`` is 20 to 29, because whole digits are hidden; if no level is there, any number that begins with 2."""
        digits = re.fullmatch(r"(-?)(\d+)(\*+)", text)
        held = self._places[self._masked(text)]
        if digits is None:
            return [(place, place) for place in held.tolist()] or None
        unit = 10.0 ** len(digits[3])
        least = int(digits[2]) * unit
        low, high = (least, least + unit) if not digits[1] else (-least - unit, -least)
        span = Span(low, high, bool(digits[1]), not digits[1])
        if len(held) and not _inside(self._places, span).any():
            return [(place, place) for place in held.tolist()]
        return [_closed(span)]

    def _masked(self, text: str) -> NDArray[np.int64]:
        """The levels whose text fits, one character for each star; otherwise those with the same beginning."""
        pattern = re.compile("".join("." if c == "*" else re.escape(c) for c in text))
        fits = np.array([pattern.fullmatch(level) is not None for level in self._texts], dtype=bool)
        beginning = text.rstrip("*")
        if not fits.any() and "*" not in beginning:
            fits = np.array([level.startswith(beginning) for level in self._texts], dtype=bool)
        return np.flatnonzero(fits)


def _inside(number: Any, span: Span) -> Any:
    if number is None:
        return False
    above = number > span.low if span.low_open else number >= span.low
    return above & (number < span.high if span.high_open else number <= span.high)


def _closed(span: Span) -> Interval:
    """The span as a closed interval: an open end becomes the next number inside."""
    low, high = max(span.low, -MOST), min(span.high, MOST)
    if span.low_open and low > -MOST:
        low = float(np.nextafter(low, MOST))
    if span.high_open and high < MOST:
        high = float(np.nextafter(high, -MOST))
    return low, high


def _runs(places: Sequence[float]) -> list[Interval]:
    """Neighbouring categories as one interval.

    >>> _runs([4.0, 1.0, 2.0])
    [(1.0, 2.0), (4.0, 4.0)]
    """
    found: list[Interval] = []
    for place in sorted(set(places)):
        if found and place == found[-1][1] + 1:
            found[-1] = (found[-1][0], place)
        else:
            found.append((place, place))
    return found
