"""A column as levels and codes: its distinct values in ascending order, and which of them each record has.

Null is a level of its own and comes last; not-a-number counts as null. Levels are Arrow arrays, so integers
stay integers and dates stay dates whatever kind of frame they came from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from equivoc.errors import InputError
from equivoc.text import exact

if TYPE_CHECKING:
    import pyarrow as pa
    from sqlglot import exp

    from equivoc.engines.engine import Engine

Codes = NDArray[np.unsignedinteger[Any]]
_Entry = TypeVar("_Entry", bound=np.generic)


def fixed(array: NDArray[_Entry]) -> NDArray[_Entry]:
    """The array, made read-only because it is shared."""
    array.flags.writeable = False
    return array


@dataclass(frozen=True, eq=False)
class Column:
    """Distinct values in ascending order (null last) and each record's position among them."""

    levels: pa.Array
    codes: Codes
    """The smallest unsigned type that holds them: a record costs a byte where there are up to 256 levels."""

    def kept(self, mask: NDArray[np.bool_]) -> Column:
        """The column of the records kept, with the levels that are left."""
        return arrange([self.codes[mask]], self.levels, order=self.levels)


class Encoder:
    """Encodes a column, piece by piece, as levels and codes.

    >>> import pyarrow as pa
    >>> encoder = Encoder("x")
    >>> encoder.add(pa.array(["b", None]))
    >>> encoder.add(pa.array(["a"]))
    >>> column = encoder.column()
    >>> column.levels.to_pylist(), column.codes.tolist()
    (['a', 'b', None], [1, 2, 0])
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._levels: pa.Array | None = None
        self._chunks: list[Codes] = []

    def add(self, piece: pa.Array) -> None:
        import pyarrow as pa
        import pyarrow.compute as pc

        values = plain(piece, name=self._name)
        try:
            found = pc.dictionary_encode(values, null_encoding="encode")
            pc.array_sort_indices(found.dictionary[:0])
        except pa.ArrowNotImplementedError:
            raise InputError(
                f"column {self._name!r} holds {piece.type} values, which have no order: "
                "give text, numbers or dates"
            ) from None
        if self._levels is None:
            self._levels = found.dictionary
        known = pc.is_in(found.dictionary, value_set=self._levels)
        fresh = found.dictionary.filter(pc.invert(known))
        if len(fresh):
            self._levels = pa.concat_arrays([self._levels, fresh])
        table = smallest(positions(found.dictionary, self._levels), len(self._levels))
        self._chunks.append(table[found.indices.to_numpy(zero_copy_only=False)])

    def column(self, *, order: pa.Array | None = None) -> Column:
        """Levels in ascending order, or in the given one."""
        import pyarrow as pa

        return arrange(self._chunks, pa.nulls(0) if self._levels is None else self._levels, order=order)


def arrange(chunks: list[Codes], levels: pa.Array, *, order: pa.Array | None = None) -> Column:
    """Sort levels, merge equal ones, drop those that no record has, and recode."""
    import pyarrow as pa
    import pyarrow.compute as pc

    used = np.zeros(len(levels), np.bool_)
    for chunk in chunks:
        used[np.flatnonzero(np.bincount(chunk, minlength=len(levels)))] = True
    occurring = pc.unique(levels.filter(pa.array(used)))
    if order is None:
        # Sorting by Arrow: text by code point, null last.
        occurring = occurring.take(pc.array_sort_indices(occurring, null_placement="at_end"))
    else:
        rank = positions(occurring, order)
        by_rank = np.argsort(np.where(rank < 0, len(order), rank), kind="stable")
        occurring = occurring.take(pa.array(by_rank))
    table = smallest(np.maximum(positions(levels, occurring), 0), len(occurring))
    codes = np.empty(sum(map(len, chunks)), table.dtype)
    at = 0
    for chunk in chunks:
        np.take(table, chunk, out=codes[at : at + len(chunk)], mode="clip")
        at += len(chunk)
    return Column(occurring, codes)


def positions(values: pa.Array, levels: pa.Array) -> NDArray[np.int64]:
    """The position of each value among the levels; −1 if absent."""
    import pyarrow.compute as pc

    found = pc.fill_null(pc.index_in(values, value_set=levels), -1)
    return np.asarray(found.to_numpy(zero_copy_only=False), np.int64)


def smallest(codes: NDArray[Any], count: int) -> Codes:
    """Codes below ``count`` in the smallest unsigned type that holds them."""
    return codes.astype(np.min_scalar_type(max(count - 1, 0)))


def rows_behind(records: Sequence[int], left_out: NDArray[np.int64]) -> list[int]:
    """The source rows of records if the rows in ``left_out`` (ascending) were dropped.

    >>> rows_behind([0, 1, 2], np.array([0, 1, 3]))
    [2, 4, 5]
    """
    before = np.searchsorted(left_out - np.arange(left_out.size), records, side="right")
    return [int(row) for row in np.asarray(records) + before]


def plain(values: pa.Array, *, name: str) -> pa.Array:
    """Decode dictionaries and views, turn not-a-number into null and −0.0 into 0.0; nested values are rejected."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = values.type
    if isinstance(kind, pa.BaseExtensionType):
        return plain(values.storage, name=name)
    if pa.types.is_dictionary(kind):
        return plain(pc.cast(values, kind.value_type), name=name)
    if pa.types.is_floating(kind):
        whole = pc.cast(values, pa.float64()) if pa.types.is_float16(kind) else values
        return pc.if_else(
            pc.is_nan(whole), pa.scalar(None, whole.type), pc.add(whole, pa.scalar(0, whole.type))
        )
    if pa.types.is_nested(kind):
        raise InputError(f"column {name!r} holds {kind} values: give a column with one value per record")
    if str(kind) in ("string_view", "binary_view"):
        return pc.cast(values, pa.large_string() if str(kind) == "string_view" else pa.large_binary())
    return values


def encoded(name: str, values: pa.Array) -> Column:
    """An Arrow array as levels and codes; ``name`` is for messages.

    >>> import pyarrow as pa
    >>> encoded("x", pa.array([3, 1, 3])).codes.tolist()
    [1, 0, 1]
    """
    encoder = Encoder(name)
    encoder.add(values)
    return encoder.column()


# How the columns of a table become integers before an engine counts them.

# Integers with a wider range than this are coded by the values that occur, not by their distance from the minimum.
_WIDEST_SPAN = 2**16


class Coding(Protocol):
    """How one column becomes integers."""

    @property
    def size(self) -> int:
        """Codes lie in 0 … size − 1."""

    def expression(self) -> exp.Expression:
        """The expression for the engine to compute."""

    def codes(self, answer: pa.Array) -> NDArray[Any]: ...

    def values(self, occurring: NDArray[np.bool_]) -> pa.Array:
        """The values of the codes that occur, null last."""


@dataclass(frozen=True)
class OffsetCoding:
    """An integer column coded as the distance from its minimum, computed by the engine; null comes last."""

    value: exp.Expression
    low: int
    span: int
    kind: Any
    """The column's Arrow type."""

    @property
    def size(self) -> int:
        return self.span + 1

    def expression(self) -> exp.Expression:
        from equivoc.engines import statements

        return statements.offset(self.value.copy(), low=self.low, span=self.span)

    def codes(self, answer: pa.Array) -> NDArray[Any]:
        codes: NDArray[Any] = answer.to_numpy(zero_copy_only=False)
        return codes

    def values(self, occurring: NDArray[np.bool_]) -> pa.Array:
        import pyarrow as pa

        offsets = np.flatnonzero(occurring)
        return pa.array(offsets + self.low, mask=offsets == self.span).cast(self.kind)


@dataclass(frozen=True, eq=False)
class LevelCoding:
    """Any other column, coded by the position among its levels, which the engine lists first."""

    name: str
    value: exp.Expression
    levels: pa.Array

    @property
    def size(self) -> int:
        return len(self.levels)

    def expression(self) -> exp.Expression:
        return self.value.copy()

    def codes(self, answer: pa.Array) -> NDArray[Any]:
        return positions(plain(answer, name=self.name), self.levels)

    def values(self, occurring: NDArray[np.bool_]) -> pa.Array:
        import pyarrow as pa

        return self.levels.filter(pa.array(occurring))


def codings(engine: Engine, names: Sequence[str]) -> tuple[int, dict[str, Coding]]:
    """How many rows the table has, and a coding for each of the named columns."""
    whole = [name for name in names if engine.kind(name) == "integer"]
    rows, extents = engine.extents(whole)
    found: dict[str, Coding] = {}
    for name in names:
        extent = extents.get(name)
        if extent is not None and extent.low is not None and extent.high is not None:
            span = extent.high - extent.low + 1
            if span <= _WIDEST_SPAN:
                found[name] = OffsetCoding(engine.value(name), extent.low, span, extent.kind)
                continue
        listed = Encoder(name)
        listed.add(engine.distinct(name))
        found[name] = LevelCoding(name, engine.value(name), listed.column().levels)
    return rows, found


# Infers the type of a text column from all its values: integers, numbers, Booleans, dates, times, or text.
#
# A column is read as a type only if writing its values back gives the same text for every one of them. So
# 02139 and 2139, or 1.5 and 1.50, stay different values.

# Above this, neighbouring integers become the same float, so numbers too long for an integer stay text.
_EXACT_FLOAT = 2.0**53
_NUMBER = r"^\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*$"
_TRUTHS = (("false", "true"), ("False", "True"), ("FALSE", "TRUE"))

Writings = Iterator["pa.Array"]


def typed(column: Column) -> Column:
    """The column converted to the type of all its texts; text that looks like numbers is sorted as numbers.

    >>> import pyarrow as pa
    >>> from equivoc.data.columns import Encoder
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
