"""A released table as an analyst reads it, column by column, in the terms of the original.

A number or a category is taken at face value; a range, a set or a star is any of its original levels, equally likely;
a noisy count is that many records. Numbers lie at their value, categories at the number of their level.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equivoc.data.microdata import Microdata
from equivoc.data.reading.records import held_columns
from equivoc.data.reading.tables import open_table
from equivoc.errors import InputError
from equivoc.intruder.files.released_symbols import Symbols, as_floats, is_numeric
from equivoc.intruder.files.symbol_reading import read_symbols
from equivoc.intruder.release import Release

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class ShownColumn:
    """Each record's symbol, and the places that each symbol may stand for."""

    name: str
    numeric: bool
    codes: Ints = field(repr=False)
    starts: Ints = field(repr=False)
    """Symbol s stands for ``at[starts[s]:starts[s + 1]]``, equally likely."""
    at: Floats = field(repr=False)

    @cached_property
    def shares(self) -> Floats:
        """The probability of each place of each symbol."""
        held = np.diff(self.starts)
        return np.repeat(1.0 / held, held)

    @cached_property
    def means(self) -> Floats:
        """Of each record, the mean of the places: the number that an analyst computes with."""
        found = np.add.reduceat(self.at * self.shares, self.starts[:-1])
        return np.asarray(found[self.codes])

    def weighted(self, weights: Floats) -> tuple[Floats, Floats]:
        """All places and their weights, records weighted by ``weights``."""
        by_symbol = np.bincount(self.codes, weights, minlength=len(self.starts) - 1)
        return self.at, self.shares * np.repeat(by_symbol, np.diff(self.starts))

    def inside(self, wanted: NDArray[np.bool_]) -> Floats:
        """Of each record, the probability that its place is one of those that are wanted (one truth value each)."""
        found = np.add.reduceat(self.shares * wanted, self.starts[:-1])
        return np.asarray(found[self.codes])

    def binned(self, edges: Floats) -> Floats:
        """Records × bins: the probability that a record lies in each bin; ``edges`` are the inner edges."""
        bins = np.searchsorted(edges, self.at, side="right")
        table = np.zeros((len(self.starts) - 1, len(edges) + 1))
        symbol = np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))
        np.add.at(table, (symbol, bins), self.shares)
        return table[self.codes]


@dataclass(frozen=True, eq=False)
class ShownTable:
    """The columns of the original, or of a release, and the weight of each record."""

    columns: dict[str, ShownColumn] = field(repr=False)
    weights: Floats = field(repr=False)
    origins: Ints | None = field(default=None, repr=False)
    """The original record of each row; None: unknown."""

    def __getitem__(self, name: str) -> ShownColumn:
        return self.columns[name]

    def __len__(self) -> int:
        return len(self.weights)


def original_table(people: Microdata) -> ShownTable:
    """The original's keys and confidential attribute."""
    columns = {name: _original(people, name) for name in (*people.keys, people.confidential)}
    return ShownTable(columns, np.ones(len(people)), np.arange(len(people)))


def released_table(people: Microdata, release: Release) -> ShownTable | None:
    """The released file in the original's terms; None if no file is released."""
    if release.table is None:
        return None
    table = open_table(release.table)
    names = [*people.keys, people.confidential]
    counted = [name for name in table.names if name not in names] if release.tabulated else []
    held, _ = held_columns(table, [*names, *counted])
    columns = {}
    for name in names:
        levels = _levels(people, name)
        symbols = read_symbols(held[name], levels, name=name, role="column")
        columns[name] = _shown(name, symbols)
    weights = np.ones(len(held[names[0]].codes))
    if counted:
        noisy = as_floats(held[counted[0]].levels)[held[counted[0]].codes]
        weights = np.maximum(noisy, 0.0)
    if not weights.sum() > 0:
        raise InputError("the release holds no records, so its utility cannot be measured.")
    return ShownTable(columns, weights, release.origins)


def _levels(people: Microdata, name: str) -> Any:
    own = name == people.confidential
    return people.decode(name, np.arange(len(people.values if own else people.levels(name))))


def _original(people: Microdata, name: str) -> ShownColumn:
    own = name == people.confidential
    levels = _levels(people, name)
    numeric = is_numeric(levels.type)
    at = as_floats(levels) if numeric else np.arange(len(levels), dtype=np.float64)
    codes = np.asarray(people.codes if own else people.key_codes(name), dtype=np.int64)
    return ShownColumn(name, numeric, codes, np.arange(len(levels) + 1), _finite(at))


def _shown(name: str, symbols: Symbols) -> ShownColumn:
    """The levels of each symbol; the middle of its interval if there is none."""
    line = symbols.line
    first = np.searchsorted(line.at, symbols.lows)
    past = np.searchsorted(line.at, symbols.highs, side="right")
    places: list[Floats] = []
    starts = [0]
    for symbol in range(len(symbols.starts) - 1):
        parts = range(symbols.starts[symbol], symbols.starts[symbol + 1])
        found = np.concatenate([line.at[first[i] : past[i]] for i in parts])
        if not len(found):
            i = parts[0]
            found = np.array([(symbols.lows[i] + symbols.highs[i]) / 2])
        places.append(found)
        starts.append(starts[-1] + len(found))
    return ShownColumn(
        name, line.numeric, symbols.codes, np.array(starts), _finite(np.concatenate([np.empty(0), *places]))
    )


def _finite(at: Floats) -> Floats:
    """Null lies one step beyond the largest number."""
    finite = at[np.isfinite(at)]
    return np.where(np.isfinite(at), at, (finite.max() if len(finite) else 0.0) + 1.0)


def numeric_names(table: ShownTable) -> list[str]:
    """The columns that hold numbers."""
    return [name for name, column in table.columns.items() if column.numeric]
