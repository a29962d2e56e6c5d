"""What the values of a column say, from a bounded number of its rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from equivoc.attributes.written_values import are_dates, are_numbers, are_other_numbers, is_missing_word
from equivoc.data.tables import Table

if TYPE_CHECKING:
    import pyarrow as pa

LOOKED_AT = 50_000
"""Rows whose values are looked at; with more, so many of them at random."""
READ = 1_000_000
"""Rows that are read at most."""
HEAD = 5_000
"""First rows, whose order is looked at."""
LONGEST = 200
"""Characters of a value that are looked at."""

Kind = Literal["number", "text", "date", "bool", "empty", "nested"]


@dataclass(frozen=True)
class Sample:
    """Rows of a table."""

    rows: pa.Table
    head: pa.Table
    """The first rows, without gaps."""
    read: int
    """How many rows were read."""
    whole: bool
    """True if these are all rows of the table."""

    @property
    def sentence(self) -> str:
        """How many rows were looked at; "" if all."""
        if self.rows.num_rows == self.read and self.whole:
            return ""
        of = f"{self.read:,}" if self.whole else f"the first {self.read:,}"
        return f"looked at {self.rows.num_rows:,} rows, drawn at random from {of}"


def draw(table: Table, names: list[str]) -> Sample:
    """A random sample of the table's first rows, the same one every time."""
    import pyarrow as pa

    random = np.random.default_rng(0)
    kept: list[pa.RecordBatch] = []
    drawn: list[NDArray[np.float64]] = []
    head: list[pa.RecordBatch] = []
    read, many, below, whole = 0, 0, 1.0, True
    pieces: Iterator[pa.RecordBatch] = iter(table.batches(names))
    for piece in pieces:
        if read >= READ:
            whole = whole and not piece.num_rows
            break
        taken = piece.slice(0, READ - read)
        whole = taken.num_rows == piece.num_rows
        if read < HEAD:
            head.append(taken.slice(0, HEAD - read))
        chances = random.random(taken.num_rows)
        read += taken.num_rows
        chosen = np.flatnonzero(chances < below)
        kept.append(taken if chosen.size == taken.num_rows else taken.take(pa.array(chosen)))
        drawn.append(chances[chosen])
        many += chosen.size
        if many > 2 * LOOKED_AT or (many > LOOKED_AT and read >= READ):
            kept, drawn, below = _fewer(kept, drawn)
            many = LOOKED_AT
        if not whole:
            break
    if many > LOOKED_AT:
        kept, drawn, below = _fewer(kept, drawn)
    close = getattr(pieces, "close", None)
    if close is not None:
        close()
    none = pa.table({name: pa.nulls(0) for name in names})
    if not kept:
        return Sample(none, none, 0, True)
    return Sample(pa.Table.from_batches(kept), pa.Table.from_batches(head), read, whole)


def _fewer(
    kept: list[pa.RecordBatch], drawn: list[NDArray[np.float64]]
) -> tuple[list[pa.RecordBatch], list[NDArray[np.float64]], float]:
    """The LOOKED_AT rows with the smallest numbers, in order; and the number from which on a row is left out."""
    import pyarrow as pa

    every = np.concatenate(drawn)
    limit = float(np.partition(every, LOOKED_AT)[LOOKED_AT])
    chosen = np.flatnonzero(every < limit)
    fewer = pa.Table.from_batches(kept).take(pa.array(chosen)).combine_chunks()
    return fewer.to_batches(), [every[chosen]], limit


@dataclass(frozen=True, eq=False)
class Evidence:
    """A column: which kind of values it has, how many, how many are missing, and how they tell people apart."""

    name: str
    kind: Kind
    levels: pa.Array
    """Its different values that are there."""
    codes: NDArray[np.int32]
    """For each row the place of its value in ``levels``; the number of levels if it is missing."""
    numbers: NDArray[np.float64]
    """The levels as numbers; empty if they are not numbers, or some are not finite."""
    in_order: NDArray[np.int32]
    """The codes of the first rows, in their order; their values are numbered as they appear."""
    even_steps: bool
    """True if the first rows hold numbers of which each is as much larger than the one before."""
    read: int
    """How many rows the table has, or how many were read."""

    @cached_property
    def counts(self) -> NDArray[np.int64]:
        return np.asarray(np.bincount(self.codes, minlength=len(self.levels) + 1)[:-1], np.int64)

    @property
    def distinct(self) -> int:
        return len(self.levels)

    @property
    def there(self) -> int:
        return int(self.counts.sum())

    @property
    def missing(self) -> float:
        """The share of rows without a value."""
        return 1 - self.there / max(self.codes.size, 1)

    @property
    def distinction(self) -> float:
        """Different values (a missing one counts as a value) as a share of the rows, as in ARX."""
        return distinction(self.codes)

    @property
    def separation(self) -> float:
        """The share of pairs of rows whose values differ (a missing one counts as a value), as in ARX."""
        return separation(self.codes)

    @property
    def unique(self) -> float:
        """Different values as a share of the rows that have one."""
        return self.distinct / max(self.there, 1)

    @cached_property
    def whole(self) -> bool:
        """True if the values are whole numbers."""
        return bool(self.numbers.size) and bool((self.numbers == np.round(self.numbers)).all())

    @cached_property
    def skewed(self) -> bool:
        """True if the mean lies clearly above the median: a few large values, as of incomes."""
        if self.numbers.size < 20:
            return False
        values = np.repeat(self.numbers, self.counts)
        with np.errstate(over="ignore", invalid="ignore"):  # a comparison with what is not a number is False
            spread = float(np.std(values))
            return bool(spread > 0 and float(np.mean(values) - np.median(values)) > 0.15 * spread)

    @property
    def mean(self) -> float:
        """The mean of the numbers; not a number if there are none."""
        if not self.numbers.size:
            return float("nan")
        with np.errstate(over="ignore"):
            return float(np.average(self.numbers, weights=self.counts))

    @cached_property
    def running(self) -> bool:
        """True if the values count the rows: all different whole numbers in even steps, or hardly one left out."""
        if not self.whole or self.unique < 1 or self.missing:
            return False
        reach = float(self.numbers.max() - self.numbers.min()) + 1
        return self.even_steps or reach <= 1.2 * self.read

    @cached_property
    def people_each(self) -> float:
        """In the first rows, how many rows have the same value on average; 0 if such rows do not stand together."""
        codes = self.in_order
        if codes.size < 2 or (codes < 0).any():
            return 0.0
        different = int(codes.max()) + 1
        runs = 1 + int(np.count_nonzero(np.diff(codes)))
        return codes.size / different if runs <= 1.02 * different else 0.0

    def texts(self, most: int) -> list[str]:
        """Some of the different values as text."""
        import pyarrow as pa

        shown = self.levels.slice(0, most)
        if pa.types.is_string(shown.type) or pa.types.is_large_string(shown.type):
            return [str(each) for each in shown.to_pylist()]
        if self.whole:
            return [str(int(number)) for number in self.numbers[:most]]
        return [] if self.kind == "nested" else [str(each) for each in shown.to_pylist()]


def distinction(codes: NDArray[Any]) -> float:
    return np.unique(codes).size / max(codes.size, 1)


def separation(codes: NDArray[Any]) -> float:
    if codes.size < 2:
        return 0.0
    _, counts = np.unique(codes, return_counts=True)
    alike = float((counts.astype(np.float64) * (counts - 1)).sum())
    return 1 - alike / (float(codes.size) * (codes.size - 1))


def together(before: NDArray[np.int64], codes: NDArray[np.int32]) -> NDArray[np.int64]:
    """A number for each row: the same for rows that agree in ``before`` and in ``codes``."""
    _, found = np.unique(before * (int(codes.max(initial=0)) + 1) + codes, return_inverse=True)
    return np.asarray(found, np.int64)


def evidence_of(name: str, column: pa.ChunkedArray, head: pa.ChunkedArray, *, read: int) -> Evidence:
    import pyarrow as pa

    nothing = np.empty(0, np.float64)
    try:
        codes, levels = _coded(column)
        first, heads = _coded(head)
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid, pa.ArrowTypeError):
        rows = np.zeros(len(column), np.int32)
        return Evidence(name, "nested", pa.nulls(0), rows, nothing, np.empty(0, np.int32), False, read)
    if _is_text(levels.type):
        codes, levels = _without_missing_words(codes, levels)
    kind, numbers = _kind(levels)
    return Evidence(name, kind, levels, codes, numbers, first, _even_steps(first, heads), read)


def _even_steps(codes: NDArray[np.int32], levels: pa.Array) -> bool:
    kind, numbers = _kind(levels)
    if kind != "number" or not 3 <= codes.size == numbers.size:
        return False
    steps = np.diff(numbers)
    return bool(steps[0] != 0 and (steps == steps[0]).all())


def _coded(column: pa.ChunkedArray) -> tuple[NDArray[np.int32], pa.Array]:
    """Codes and levels; the levels are numbered as they appear, and a missing value has the number after the last."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_null(column.type):
        column = column.cast(pa.string())
    if pa.types.is_floating(column.type):
        column = pc.if_else(pc.is_nan(column), pa.scalar(None, column.type), column)
    if pa.types.is_binary(column.type) or pa.types.is_large_binary(column.type):
        column = column.cast(pa.large_string())
    if _is_text(column.type):
        column = pc.utf8_slice_codeunits(column, 0, LONGEST)
    coded = column.combine_chunks().dictionary_encode()
    if isinstance(coded, pa.ChunkedArray):
        coded = coded.combine_chunks()
    codes = pc.fill_null(coded.indices, len(coded.dictionary)).to_numpy(zero_copy_only=False)
    return codes.astype(np.int32), coded.dictionary


def _is_text(kind: Any) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _without_missing_words(codes: NDArray[np.int32], levels: pa.Array) -> tuple[NDArray[np.int32], pa.Array]:
    """Words such as NA become missing values."""
    import pyarrow as pa

    gone = np.array([is_missing_word(str(level)) for level in levels.to_pylist()], np.bool_)
    if not gone.any():
        return codes, levels
    left = int(np.count_nonzero(~gone))
    places = np.append(np.where(gone, left, np.cumsum(~gone) - 1), left)
    return places[codes].astype(np.int32), levels.filter(pa.array(~gone))


def _kind(levels: pa.Array) -> tuple[Kind, NDArray[np.float64]]:
    """The kind of values, and the levels as numbers if they are."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind, nothing = levels.type, np.empty(0, np.float64)
    if not len(levels):
        return "empty", nothing
    if pa.types.is_boolean(kind):
        return "bool", nothing
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return "number", _finite(pc.cast(levels, pa.float64(), safe=False))
    if pa.types.is_temporal(kind):
        return "date", nothing
    texts = pc.utf8_trim_whitespace(levels)
    if are_numbers(texts).all():
        codes = pc.match_substring_regex(texts, "^-?0[0-9]")  # 02139 is a code
        if not pc.any(codes).as_py():
            return "number", _finite(pc.cast(pc.utf8_ltrim(texts, "+"), pa.float64()))
        return "text", nothing
    if are_dates(texts).all():
        return "date", nothing
    if (are_numbers(texts) | are_other_numbers(texts)).all():
        return "number", nothing  # which mark is the decimal one is for the reading to decide
    return "text", nothing


def _finite(numbers: pa.Array) -> NDArray[np.float64]:
    found = np.asarray(numbers.to_numpy(), np.float64)
    return found if np.isfinite(found).all() else found[:0]
