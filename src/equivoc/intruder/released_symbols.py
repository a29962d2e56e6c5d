"""The values of a released column, each read once as the stretch of a line on which the true value must lie.

Numbers lie at their value, categories one step apart in the order of the original's levels, null beyond all. A symbol
(a number, a range, a set, a star) is one or more stretches of that line; it stands for the levels that lie on them.
Distances to it are distances to the nearest of these levels: ``[20,30)`` over ages in years ends at 29.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from equivoc.data.generalised_values import Anything, Masked, OneOf, Plain, Span, as_number, meaning
from equivoc.errors import InputError

if TYPE_CHECKING:
    import pyarrow as pa

    from equivoc.data.columns import Column

Floats = NDArray[np.float64]
Stretch = tuple[float, float]
MOST = float(np.finfo(np.float64).max)
NULL = float(np.inf)
"""Where null lies: beyond every number, so that ``>=65`` does not hold it."""
EVERYWHERE: Stretch = (-MOST, NULL)
NOWHERE = -1.0
"""Where a category lies that neither the original nor the released file has."""


@dataclass(frozen=True, eq=False)
class Line:
    """Where the values of a column lie: ``at`` has the original's levels, ascending."""

    name: str
    numeric: bool
    at: Floats = field(repr=False)
    categories: Mapping[str, float] = field(repr=False)
    """Of a column that is not numeric: the place of each text; the released file's own categories come last."""

    @property
    def scale(self) -> float:
        """1 / the range of the original's levels; 0 for categories, which are the same or not."""
        if not self.numeric:
            return 0.0
        finite = self.at[np.isfinite(self.at)]
        return 1.0 / float(finite[-1] - finite[0]) if len(finite) and finite[-1] > finite[0] else 1.0

    def place(self, levels: pa.Array) -> Floats:
        """Where these levels lie; they may be other people's."""
        import pyarrow as pa
        import pyarrow.compute as pc

        if not self.numeric:
            texts = pc.cast(levels, pa.string()).to_pylist()
            return np.array([NULL if t is None else self.categories.get(t, NOWHERE) for t in texts])
        if not _is_numeric(levels.type) and levels.null_count < len(levels):
            raise InputError(f"the key {self.name!r} holds {levels.type} values where the original has numbers.")
        numbers = pc.cast(levels, pa.float64(), safe=False)
        return np.asarray(pc.fill_null(numbers, NULL).to_numpy(zero_copy_only=False), np.float64)


@dataclass(frozen=True, eq=False)
class Symbols:
    """A released column: each record's symbol, and the stretches of the line that a symbol stands for."""

    codes: NDArray[np.int64] = field(repr=False)
    """For each released record, the number of its symbol."""
    labels: pa.Array = field(repr=False)
    """How each symbol is written in the released table."""
    line: Line
    starts: NDArray[np.int64] = field(repr=False)
    """Symbol s has the stretches from starts[s] to starts[s + 1] − 1, ascending."""
    lows: Floats = field(repr=False)
    highs: Floats = field(repr=False)
    invented: NDArray[np.bool_] = field(repr=False)
    """Which symbols are categories that nobody in the original has."""

    @property
    def sizes(self) -> NDArray[np.int64]:
        """|s|: how many levels of the original each symbol stands for; of numbers between levels, none."""
        held = np.searchsorted(self.line.at, self.highs, side="right") - np.searchsorted(
            self.line.at, self.lows
        )
        return np.add.reduceat(held, self.starts[:-1])

    @property
    def ends(self) -> tuple[Floats, Floats]:
        """The first and the last of the original's levels on each stretch; its own ends where it holds none."""
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


def read_symbols(column: Column, levels: pa.Array, *, name: str, role: str) -> Symbols:
    """The released ``column`` read against the original's ``levels``; InputError names what cannot be understood.

    >>> import pyarrow as pa
    >>> from equivoc.data.columns import Encoder
    >>> released = Encoder("age")
    >>> released.add(pa.array(["[20,30)", "41", "*", "2*", "41"]))
    >>> found = read_symbols(released.column(), pa.array([20, 25, 30, 41]), name="age", role="key")
    >>> dict(zip(found.labels.to_pylist(), found.sizes.tolist()))
    {'*': 4, '2*': 2, '41': 1, '[20,30)': 2}
    """
    reader = _Reader(levels, name)
    symbols = [reader.stretches(value) for value in _values(column.levels)]
    codes = column.codes.astype(np.int64)
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
    ends = np.array([stretch for found in understood for stretch in found], dtype=np.float64).reshape(-1, 2)
    line = reader.line
    known = np.count_nonzero(np.isfinite(line.at)) - 1
    invented = ~np.array([line.numeric or found[0][0] <= known or found[0][0] == NULL for found in understood])
    read = Symbols(codes, column.levels, line, starts, ends[:, 0], ends[:, 1], invented)
    if invented.all():
        raise InputError(
            f"the {role} {name!r} as released has none of the original's values, but such as "
            f"{column.levels[0].as_py()!r}: give it the original's categories, or sets of them."
        )
    return read


def _values(levels: pa.Array) -> list[Any]:
    """The symbols as numbers where they are numbers, else as text; null is None."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = levels.type
    if pa.types.is_integer(kind) or pa.types.is_floating(kind):
        return list(levels.to_pylist())
    return list(pc.cast(levels, pa.string()).to_pylist())


def _is_numeric(kind: Any) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind))


class _Reader:
    """Reads one symbol after the other; categories that it meets for the first time get places of their own."""

    def __init__(self, levels: pa.Array, name: str) -> None:
        import pyarrow as pa
        import pyarrow.compute as pc

        self._kind = levels.type
        self._nullable = bool(levels.null_count)
        present = levels.drop_null()
        self._texts: list[str] = pc.cast(present, pa.string()).to_pylist()
        numeric = _is_numeric(levels.type)
        if numeric:
            places = np.asarray(pc.cast(present, pa.float64(), safe=False), np.float64)
        else:
            places = np.arange(len(present), dtype=np.float64)
        self._places = places
        self._categories = {} if numeric else dict(zip(self._texts, places.tolist(), strict=True))
        at = np.append(places, NULL) if self._nullable else places
        self.line = Line(name, numeric, at, self._categories)

    def stretches(self, value: Any) -> list[Stretch] | None:
        """The stretches that a symbol stands for; None if it cannot be understood."""
        if value is None:
            return [(NULL, NULL)] if self._nullable else [EVERYWHERE]
        if self.line.numeric and not isinstance(value, str):
            return [(float(value), float(value))] if np.isfinite(value) else None
        text = str(value)
        itself = None if self.line.numeric else self._category(text)
        if itself is not None:
            return [(itself, itself)]
        found = meaning(text)
        if isinstance(found, Anything):
            return [EVERYWHERE]
        if found is None:
            return None
        return self._of_numbers(found) if self.line.numeric else self._of_categories(found, text)

    def _category(self, text: str) -> float | None:
        """The place of a level that is written like this, or in another way that its type allows (2001-5-1)."""
        import pyarrow as pa

        if text in self._categories or pa.types.is_string(self._kind) or pa.types.is_large_string(self._kind):
            return self._categories.get(text)
        try:
            written = pa.scalar(text.strip()).cast(self._kind).cast(pa.string()).as_py()
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            return None
        return self._categories.get(written)

    def _of_numbers(self, found: Span | OneOf | Masked | Plain) -> list[Stretch] | None:
        if isinstance(found, Span):
            return [_closed(found)]
        if isinstance(found, Masked):
            return self._masked_number(found.text)
        members = found.members if isinstance(found, OneOf) else (found.text,)
        places = [self._null_or(as_number(member), member) for member in members]
        if any(place is None for place in places):
            return None
        return [(place, place) for place in sorted({place for place in places if place is not None})]

    def _of_categories(self, found: Span | OneOf | Masked | Plain, text: str) -> list[Stretch]:
        if isinstance(found, OneOf):
            places = [self._null_or(self._category(member), member) for member in found.members]
            held = [
                self._invented(m) if place is None else place
                for m, place in zip(found.members, places, strict=True)
            ]
        elif isinstance(found, Masked):
            held = self._places[self._masked(found.text)].tolist()
        elif isinstance(found, Span):
            held = [self._categories[t] for t in self._texts if _inside(as_number(t), found)]
        else:
            held = []
        return _runs(held) if held else _runs([self._invented(text)])

    def _null_or(self, place: float | None, member: str) -> float | None:
        return NULL if place is None and self._nullable and member in ("", "NA") else place

    def _invented(self, text: str) -> float:
        return self._categories.setdefault(text, float(len(self._categories)))

    def _masked_number(self, text: str) -> list[Stretch] | None:
        """``2*`` is 20 to 29, as whole digits are hidden; if nobody lies there, any number that begins with 2."""
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
        """The levels whose text fits, one character for each star; else those that begin like it."""
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


def _closed(span: Span) -> Stretch:
    """The span as a closed stretch: an open end is the number just inside it."""
    low, high = max(span.low, -MOST), min(span.high, MOST)
    if span.low_open and low > -MOST:
        low = float(np.nextafter(low, MOST))
    if span.high_open and high < MOST:
        high = float(np.nextafter(high, -MOST))
    return low, high


def _runs(places: Sequence[float]) -> list[Stretch]:
    """Neighbouring categories as one stretch.

    >>> _runs([4.0, 1.0, 2.0])
    [(1.0, 2.0), (4.0, 4.0)]
    """
    found: list[Stretch] = []
    for place in sorted(set(places)):
        if found and place == found[-1][1] + 1:
            found[-1] = (found[-1][0], place)
        else:
            found.append((place, place))
    return found
