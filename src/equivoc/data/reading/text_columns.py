"""Infers the type of a text column from all its values: integers, numbers, Booleans, dates, times, or text.

A column is read as a type only if writing its values back gives the same text for every one of them. So 02139 and
2139, or 1.5 and 1.50, stay different values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from equivoc.data.reading.columns import Column, arrange
from equivoc.number_format import exact

if TYPE_CHECKING:
    import pyarrow as pa

# Above this, neighbouring integers become the same float, so numbers too long for an integer stay text.
_EXACT_FLOAT = 2.0**53
_NUMBER = r"^\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*$"
_TRUTHS = (("false", "true"), ("False", "True"), ("FALSE", "TRUE"))

Writings = Iterator["pa.Array"]


def typed(column: Column) -> Column:
    """The column converted to the type of all its texts; text that looks like numbers is sorted as numbers.

    >>> import pyarrow as pa
    >>> from equivoc.data.reading.columns import Encoder
    >>> def levels(*texts: str) -> list[object]:
    ...     encoder = Encoder("x")
    ...     encoder.add(pa.array(texts))
    ...     return typed(encoder.column()).levels.to_pylist()
    >>> levels("10", "9"), levels("010", "9"), levels("2.50", "1e1"), levels("TRUE", "FALSE")
    ([9, 10], ['9', '010'], ['2.50', '1e1'], [False, True])
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    text = column.levels
    if text.null_count == len(text):
        return column
    ways: tuple[tuple[Any, Callable[[Any], Writings]], ...] = (
        (pa.int64(), _same),
        (pa.float64(), _numbers),
        (pa.bool_(), _truths),
        (pa.date32(), _same),
        (pa.timestamp("us"), _times),
    )
    for kind, writings in ways:
        try:
            levels = pc.cast(text, kind)
            pc.min_max(levels).as_py()  # Python has no year 0
        except (ValueError, OverflowError):
            continue
        if any(pc.all(pc.equal(text, written.cast(text.type))).as_py() for written in writings(levels)):
            return arrange([column.codes], levels)
    return _by_number(column)


def _by_number(column: Column) -> Column:
    """Text sorted as numbers if all of it looks like numbers; otherwise unchanged."""
    import pyarrow as pa
    import pyarrow.compute as pc

    text = column.levels.drop_null()
    if not pc.all(pc.match_substring_regex(text, _NUMBER)).as_py():
        return column
    texts = text.to_pylist()
    ordered = sorted(texts, key=lambda text: (float(text), text))
    order = pa.array([*ordered, *[None] * column.levels.null_count], column.levels.type)
    return arrange([column.codes], column.levels, order=order)


def _same(levels: pa.Array) -> Writings:
    """Integers and dates as Arrow writes them."""
    import pyarrow as pa

    yield levels.cast(pa.string())


def _numbers(levels: pa.Array) -> Writings:
    """Numbers with and without a decimal point: 1.0, as Python writes it, or 1."""
    found = levels.drop_null().to_numpy()
    minus_zero = np.any((found == 0) & np.signbit(found))
    if np.all(np.abs(found) < _EXACT_FLOAT) and not minus_zero:
        values = levels.fill_null(0.0).to_pylist()
        yield _text(map(repr, values), levels)
        yield _text(map(exact, values), levels)


def _truths(levels: pa.Array) -> Writings:
    for words in _TRUTHS:
        yield _text((words[bool(value)] for value in levels.to_pylist()), levels)


def _times(levels: pa.Array) -> Writings:
    """To the minute, the second, the millisecond or the microsecond; date and time separated by a blank or a T."""
    import pyarrow as pa
    import pyarrow.compute as pc

    whole = pc.cast(levels, pa.string())  # 2020-01-31 09:30:00.000000
    for length in (len("2020-01-31 09:30"), -7, -3, None):
        written = pc.utf8_slice_codeunits(whole, 0, length)
        yield written
        yield pc.utf8_replace_slice(written, 10, 11, "T")


def _text(written: Any, levels: pa.Array) -> pa.Array:
    """The texts as Arrow writes them, null where the levels are null."""
    import pyarrow as pa

    return pa.array(written, pa.string(), mask=levels.is_null().to_numpy(zero_copy_only=False))
