"""A column as levels and codes: its distinct values in ascending order, and which of them each record has.

Null is a level of its own and comes last; not-a-number counts as null. Levels are Arrow arrays, so integers
stay integers and dates stay dates whatever kind of frame they came from.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from equivoc.errors import InputError

if TYPE_CHECKING:
    import pyarrow as pa

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
