"""A released table as an analyst reads it, column by column, in the terms of the original.

A number or a category is taken at face value; a range, a group, a set or a star is any of its original levels, equally
likely; a noisy count is that many records. Numbers lie at their value, categories at the number of their level, null
one beyond the original's largest.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from equivoc.attributes.attribute import number_labels
from equivoc.data.columns import positions
from equivoc.data.microdata import Microdata
from equivoc.data.records import held_columns
from equivoc.data.tables import open_table
from equivoc.errors import InputError
from equivoc.releases.file_reading import most_nulls
from equivoc.releases.release import Release
from equivoc.releases.released_columns import dates_as_numbers, with_groups_as_sets
from equivoc.releases.symbol_reading import Symbols, as_floats, is_numeric, read_symbols
from equivoc.techniques.generalisation import GeneralisedRecords
from equivoc.techniques.noisy_table import NoisyCounts

if TYPE_CHECKING:
    from equivoc.data.columns import Column
    from equivoc.intruder.prior import ReleasedColumn

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class ShownColumn:
    """Each record's symbol, and the places that each symbol may stand for."""

    name: str
    numeric: bool
    codes: Ints = field(repr=False)
    """For each record, the number of its symbol."""
    starts: Ints = field(repr=False)
    """Symbol s stands for ``at[starts[s]:starts[s + 1]]``, equally likely; at least one place."""
    at: Floats = field(repr=False)

    @cached_property
    def symbol(self) -> Ints:
        """The symbol of each place."""
        return np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))

    @cached_property
    def shares(self) -> Floats:
        """The probability of each place, given its symbol."""
        held = np.diff(self.starts)
        return np.repeat(1.0 / held, held)

    @cached_property
    def distinct(self) -> tuple[Floats, Ints]:
        """The different places, ascending, and the number of each entry of ``at`` among them: groups share places."""
        return np.unique(self.at, return_inverse=True)

    @cached_property
    def points(self) -> Floats:
        """For each record the place an analyst computes with: the mean of numbers, the middle one of categories."""
        if self.numeric:
            return np.asarray(np.add.reduceat(self.at * self.shares, self.starts[:-1])[self.codes])
        return np.asarray(self.at[(self.starts[:-1] + self.starts[1:] - 1) // 2][self.codes])

    def distribution(self, weights: Floats) -> tuple[Floats, Floats]:
        """All places and their shares, records weighted by ``weights``; a negative total of a symbol counts as 0."""
        by_symbol = np.maximum(np.bincount(self.codes, weights, minlength=len(self.starts) - 1), 0.0)
        if not by_symbol.any():
            by_symbol[:] = 1.0
        found = self.shares * by_symbol[self.symbol]
        return self.at, found / found.sum()

    def inside(self, wanted: NDArray[np.bool_]) -> Floats:
        """For each record, the probability that its place is among those wanted (one truth value per place)."""
        return np.asarray(np.add.reduceat(self.shares * wanted, self.starts[:-1])[self.codes])


@dataclass(frozen=True, eq=False)
class ShownTable:
    """The columns of the original, or of a release, and what each record counts for."""

    columns: dict[str, ShownColumn] = field(repr=False)
    weights: Floats = field(repr=False)
    """1 for a record; the noisy count of a cell, a whole number that may be negative."""
    origins: Ints | None = field(default=None, repr=False)
    """The original record of each row; None: unknown."""
    of_records: bool = True
    """False if the rows are cells with counts."""

    def __getitem__(self, name: str) -> ShownColumn:
        return self.columns[name]

    def __len__(self) -> int:
        return len(self.weights)

    @property
    def numeric_names(self) -> list[str]:
        """The columns that hold numbers."""
        return [name for name, column in self.columns.items() if column.numeric]


def original_table(people: Microdata) -> ShownTable:
    """The original's keys and confidential attribute."""
    columns = {}
    for name in (*people.keys, people.confidential):
        codes = people.codes if name == people.confidential else people.key_codes(name)
        columns[name] = _of_levels(people, name, np.asarray(codes, dtype=np.int64))
    return ShownTable(columns, np.ones(len(people)), np.arange(len(people)))


def released_table(release: Release) -> ShownTable | None:
    """The released file, or the table of counts, in the original's terms; None if none is released."""
    people = release.people
    if isinstance(release, NoisyCounts):
        return _of_counts(people, release.counts)
    if isinstance(release, GeneralisedRecords):
        # The release knows its groups. Written as text, groups of thousands of categories would take gigabytes.
        released = {**release.keys, people.confidential: release.confidential}
        columns = {name: _of_groups(people, name, column) for name, column in released.items()}
        return ShownTable(columns, np.ones(len(people)), release.origins)
    if release.table is None:
        return None
    names = [*people.keys, people.confidential]
    held, _ = held_columns(open_table(release.table), names)
    records = len(held[people.confidential].codes)
    if not records:
        raise InputError("the release holds no records, so its utility cannot be measured.")
    columns = {name: _as_read(people, name, held[name]) for name in names}
    return ShownTable(columns, np.ones(records), release.origins)


def _of_counts(people: Microdata, counts: NDArray[np.int64]) -> ShownTable:
    """The cells of a table of counts, without those that are 0."""
    cells = np.nonzero(counts)
    if not len(cells[0]):
        raise InputError("every count of the release is 0, so its utility cannot be measured.")
    names = (*people.keys, people.confidential)
    columns = {name: _of_levels(people, name, codes) for name, codes in zip(names, cells, strict=True)}
    return ShownTable(columns, counts[cells].astype(np.float64), of_records=False)


def _levels(people: Microdata, name: str) -> Any:
    if name == people.confidential:
        return number_labels(people.attribute)
    return people.decode(name, np.arange(len(people.levels(name))))


def _places(people: Microdata, name: str) -> tuple[bool, Floats]:
    """Whether the original's levels are numbers, and their places."""
    levels = _levels(people, name)
    numeric = is_numeric(levels.type)
    at = as_floats(levels) if numeric else np.arange(len(levels), dtype=np.float64)
    return numeric, _with_null(at, at)


def _with_null(at: Floats, original: Floats) -> Floats:
    finite = original[np.isfinite(original)]
    return np.where(np.isfinite(at), at, (finite.max() if len(finite) else 0.0) + 1.0)


def _of_levels(people: Microdata, name: str, codes: Ints) -> ShownColumn:
    """A column whose symbols are the original's levels."""
    numeric, at = _places(people, name)
    return ShownColumn(name, numeric, codes, np.arange(len(at) + 1), at)


def _of_groups(people: Microdata, name: str, released: ReleasedColumn) -> ShownColumn:
    """A column in groups of levels, which the release itself knows."""
    codes = np.asarray(released.codes, dtype=np.int64)
    if released.channel is None:
        return _of_levels(people, name, codes)
    numeric, at = _places(people, name)
    group, level = np.nonzero(np.asarray(released.channel) > 0)
    starts = np.searchsorted(group, np.arange(len(released.channel) + 1))
    return ShownColumn(name, numeric, codes, starts, at[level])


def _as_read(people: Microdata, name: str, column: Column) -> ShownColumn:
    """A column of a file, whose symbols are read one by one unless all are levels of the original."""
    levels = _levels(people, name)
    most = np.inf
    if name == people.confidential:
        if people.attribute.dates is not None:
            column = dates_as_numbers(column, people.attribute.dates)
        elif not people.attribute.numeric:
            column = with_groups_as_sets(column, people.attribute)
    elif levels.null_count:
        nulls = int(np.count_nonzero(people.key_codes(name) == len(levels) - 1))
        most = most_nulls(nulls, records=len(people), released=len(column.codes))
    if column.levels.type == levels.type and not _suppressed(column, most):
        place = positions(column.levels, levels)
        if (place >= 0).all():
            return _of_levels(people, name, place[column.codes])
    return _shown(name, read_symbols(column, levels, name=name, role="column", most_nulls=most))


def _suppressed(column: Column, most: float) -> bool:
    """True if the column has more nulls than the original explains."""
    if not column.levels.null_count:
        return False
    null = np.flatnonzero(column.levels.is_null().to_numpy(zero_copy_only=False))
    return bool(np.count_nonzero(np.isin(column.codes, null)) > most)


def _shown(name: str, symbols: Symbols) -> ShownColumn:
    """The levels of each symbol; the middle of its first interval if there is none."""
    line = symbols.line
    of = np.repeat(np.arange(len(symbols.starts) - 1), np.diff(symbols.starts))
    first = np.searchsorted(line.at, symbols.lows)
    held = np.searchsorted(line.at, symbols.highs, side="right") - first
    begins = np.cumsum(held) - held
    level = np.arange(held.sum()) + np.repeat(first - begins, held)
    without = np.flatnonzero(np.bincount(of, held) == 0)
    low, high = symbols.lows[symbols.starts[without]], symbols.highs[symbols.starts[without]]
    middle = np.where(low == high, low, low / 2 + high / 2)
    symbol = np.concatenate([np.repeat(of, held), without])
    at = np.concatenate([line.at[level], middle])
    order = np.argsort(symbol, kind="stable")
    starts = np.searchsorted(symbol[order], np.arange(len(symbols.starts)))
    return ShownColumn(name, line.numeric, symbols.codes, starts, _with_null(at[order], line.at))
