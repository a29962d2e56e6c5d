"""Reads the confidential column of a released file, taken at face value.

A number becomes the nearest value of the domain D (of two equally near, the lower). A range or a set becomes its values
in D, equally likely, or the nearest one if there is none. A missing value becomes the distribution of the others, or
all of D equally likely if every value is missing.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from equivoc.attributes.attribute import Nested
from equivoc.attributes.dates import DateScale, as_dates
from equivoc.attributes.level_text import written, written_set
from equivoc.data.columns import Column
from equivoc.releases.symbol_reading import EVERYWHERE, Symbols, read_symbols

if TYPE_CHECKING:
    import pyarrow as pa

    from equivoc.attributes.attribute import Attribute

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ReleasedConfidential:
    """The group of each record, and for each group a distribution over D.

    Groups 0 … |D| − 1 are the values themselves; then come ranges and sets; the last is the file's own distribution.
    """

    codes: NDArray[np.int64] = field(repr=False)
    """For each released record, the number of its symbol."""
    labels: pa.Array = field(repr=False)
    """How each symbol is written in the released table."""
    group_of: NDArray[np.int64] = field(repr=False)
    """The group of each symbol."""
    channel: Any = field(repr=False)
    """Groups × |D|, CSR; each row a distribution."""
    places: Floats = field(repr=False)
    """Where each symbol lies on the line of values; NaN for ranges, sets and missing values."""

    @property
    def records(self) -> NDArray[np.int64]:
        """How many released records have each symbol."""
        return np.bincount(self.codes, minlength=len(self.group_of))

    @property
    def groups(self) -> NDArray[np.int64]:
        """The group of each record."""
        return self.group_of[self.codes]

    @property
    def marginal_group(self) -> int:
        """The group whose distribution is that of the whole file."""
        return int(self.channel.shape[0]) - 1

    def with_prior(self, prior: Floats) -> Any:
        """The channel with this prior, which is used inside ranges and sets, and for missing values."""
        table = self.channel.copy()
        row = np.repeat(np.arange(table.shape[0]), np.diff(table.indptr))
        weight = prior[table.indices]
        total = np.bincount(row, weight, minlength=table.shape[0])[row]
        table.data = np.divide(weight, total, out=table.data.copy(), where=total > 0)
        return _with_last(table, prior)


def _with_last(table: Any, last: Floats) -> Any:
    from scipy.sparse import csr_array, vstack

    return csr_array(vstack([table[:-1], csr_array(last[None, :])], format="csr"))


def read_confidential(column: Column, attribute: Attribute) -> ReleasedConfidential:
    """The released confidential ``column`` read against the attribute's domain.

    >>> import pyarrow as pa
    >>> from equivoc.data.columns import Encoder
    >>> released = Encoder("pay")
    >>> released.add(pa.array(["10", "24", "[20,30]", None]))
    >>> from equivoc.attributes.kinds import Number
    >>> attribute, _ = Number("pay").resolve(pa.array([10.0, 20.0, 30.0]))
    >>> found = read_confidential(released.column(), attribute)
    >>> found.channel.toarray()[found.groups].round(2).tolist()
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.5, 0.5], [0.33, 0.5, 0.17]]
    """
    import pyarrow as pa
    from scipy.sparse import csr_array, eye_array, vstack

    if attribute.dates is not None:
        column = dates_as_numbers(column, attribute.dates)
    if attribute.numeric:
        values = attribute.values
        whole = np.array_equal(values, np.rint(values)) and np.abs(values).max() < 2**53
        levels = pa.array(values.astype(np.int64) if whole else values)
    else:
        column = with_groups_as_sets(column, attribute)
        values, levels = np.arange(len(attribute), dtype=np.float64), attribute.labels
    symbols = read_symbols(column, levels, name=attribute.name, role="confidential column")
    first, past = _held(symbols, values)
    missing = (symbols.lows == EVERYWHERE[0]) & (symbols.highs == EVERYWHERE[1])
    # A category that is not in the original gives no information.
    missing = missing[symbols.starts[:-1]] | symbols.invented
    table = _table(symbols, first, past, len(values))
    certain = (np.diff(table.indptr) == 1) & ~missing
    several = ~certain & ~missing
    group_of = np.full(len(missing), len(values) + np.count_nonzero(several))
    group_of[certain] = table.indices[table.indptr[:-1][certain]]
    group_of[several] = len(values) + np.arange(np.count_nonzero(several))
    records = symbols.records * ~missing
    total = records.sum()
    own = records @ table / total if total else np.full(len(values), 1.0 / len(values))
    rows = [eye_array(len(values), format="csr"), table[np.flatnonzero(several)], csr_array(own[None, :])]
    channel = csr_array(vstack([row for row in rows if row.shape[0]], format="csr"))
    single = (np.diff(symbols.starts) == 1) & ~missing
    low, high = symbols.lows[symbols.starts[:-1]], symbols.highs[symbols.starts[:-1]]
    places = np.where(single & (low == high), low, np.nan)
    return ReleasedConfidential(symbols.codes, symbols.labels, group_of, channel, places)


def dates_as_numbers(column: Column, scale: DateScale) -> Column:
    """The column with dates as numbers: ``2020-05-01`` alone or as the end of a range, and periods such as 2020-05."""
    import pyarrow as pa

    levels = column.levels
    there = levels.drop_null()
    dated = as_dates(there, scale)
    if dated is not None:
        written = pa.array(dated.numbers)
    elif pa.types.is_string(levels.type) or pa.types.is_large_string(levels.type):
        written = pa.array([scale.with_numbers(text) for text in there.to_pylist()], pa.large_string())
    else:
        return column
    # Null is the last level.
    return Column(pa.concat_arrays([written, pa.nulls(levels.null_count, written.type)]), column.codes)


def with_groups_as_sets(column: Column, attribute: Attribute) -> Column:
    """The column with texts stripped of blanks, and with a group of the hierarchy written as the set of its values."""
    import pyarrow as pa

    geometry, own = attribute.geometry, {written(label) for label in attribute.labels.to_pylist()}
    sets: dict[str, str] = {}
    for groups, labels in (
        zip(geometry.groups, geometry.labels, strict=False) if isinstance(geometry, Nested) else ()
    ):
        for number, label in enumerate(labels):
            members = attribute.labels.take(pa.array(np.flatnonzero(groups == number))).to_pylist()
            sets.setdefault(label, written_set(members))
    levels = [written(level) for level in column.levels.to_pylist()]
    texts = [None if level is None else level.strip() for level in levels]
    resolved = [text if text is None or text in own else sets.get(text, text) for text in texts]
    return Column(pa.array(resolved, pa.large_string()), column.codes)


def _held(symbols: Symbols, values: Floats) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The positions in D inside each interval, first and one past the last; the nearest one if there is none."""
    first = np.searchsorted(values, symbols.lows)
    past = np.searchsorted(values, symbols.highs, side="right")
    above = np.minimum(first, len(values) - 1)
    below = np.maximum(first - 1, 0)
    lower = (first > 0) & (
        (first == len(values)) | (symbols.lows - values[below] <= values[above] - symbols.highs)
    )
    near = np.where(lower, below, above)
    none = past == first
    return np.where(none, near, first), np.where(none, near + 1, past)


def _table(symbols: Symbols, first: NDArray[np.int64], past: NDArray[np.int64], width: int) -> Any:
    """Symbols × |D|, CSR: the possible values of each symbol, equally likely."""
    from scipy.sparse import csr_array

    lengths = past - first
    begins = np.cumsum(lengths) - lengths
    column = np.arange(lengths.sum()) + np.repeat(first - begins, lengths)
    symbol = np.repeat(np.arange(len(symbols.starts) - 1), np.diff(symbols.starts))
    row = np.repeat(symbol, lengths)
    table = csr_array((np.ones(len(column)), (row, column)), shape=(len(symbols.starts) - 1, width))
    table.sum_duplicates()
    held = np.diff(table.indptr)
    table.data = np.repeat(1.0 / held, held)
    return table
