"""The lattice against counting every subset by hand."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from equivoc.data.cells import Cells, Layout, WideCells, count_cells, pack_cells
from equivoc.data.classes import class_of_records
from equivoc.data.lattice import lattice
from equivoc.data.microdata import Microdata
from equivoc.errors import InputError

Table = tuple[list[int], int, list[tuple[int, ...]]]


@st.composite
def tables(draw: st.DrawFn, max_keys: int = 4, radix: int = 400, records: int = 200) -> Table:
    """Radices, span, and records (keys, then value): skewed, so that classes of every size occur."""
    radices = draw(st.lists(st.integers(1, radix), max_size=max_keys))
    span = draw(st.integers(1, radix))
    size = draw(st.integers(1, records))
    skew = draw(st.sampled_from([1, 3]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    columns = [np.floor(r * rng.random(size) ** skew).astype(int).tolist() for r in [*radices, span]]
    return radices, span, list(zip(*columns, strict=True))


def found(cells: Cells | WideCells) -> dict[tuple[tuple[int, ...], int], int]:
    """The cells as a dictionary; checks on the way that they are sorted and that the sizes add up."""
    starts, values, counts, sizes = cells.split()
    keys = [tuple(map(int, row)) for row in cells.key_codes(starts)]
    assert keys == sorted(set(keys))
    table = {}
    for at, key in enumerate(keys):
        here = slice(starts[at], starts[at + 1])
        assert np.all(np.diff(values[here]) > 0)
        assert counts[here].sum() == sizes[at]
        table.update({(key, int(v)): int(n) for v, n in zip(values[here], counts[here], strict=True)})
    return table


def expected(records: list[tuple[int, ...]], positions: tuple[int, ...]) -> dict[Any, int]:
    return dict(Counter((tuple(record[p] for p in positions), record[-1]) for record in records))


def columns_of(table: Table) -> tuple[list[Any], Any]:
    *columns, values = (np.array(column) for column in zip(*table[2], strict=True))
    return columns, values


def check_lattice(finest: Cells | WideCells, table: Table, **sizes: int) -> None:
    radices, _, records = table
    seen = []
    for positions, cells in lattice(finest, **sizes):
        assert found(cells) == expected(records, positions)
        seen.append(frozenset(positions))
    low, high = sizes.get("min_size", 0), sizes.get("max_size", len(radices))
    wanted = {frozenset(s) for k in range(low, high + 1) for s in combinations(range(len(radices)), k)}
    assert len(seen) == len(wanted)
    assert set(seen) == wanted


@settings(max_examples=80, deadline=None)
@given(tables())
def test_every_subset(table: Table) -> None:
    columns, values = columns_of(table)
    check_lattice(count_cells(columns, values, radices=table[0], span=table[1]), table)


@settings(max_examples=10, deadline=None)
@given(tables(max_keys=3, radix=5, records=20_000))
def test_every_subset_where_classes_are_large(table: Table) -> None:
    columns, values = columns_of(table)
    check_lattice(count_cells(columns, values, radices=table[0], span=table[1]), table)


@settings(max_examples=10, deadline=None)
@given(tables(max_keys=3, radix=5000, records=20_000))
def test_every_subset_where_segments_are_long_and_sparse(table: Table) -> None:
    columns, values = columns_of(table)
    check_lattice(count_cells(columns, values, radices=table[0], span=table[1]), table)


@settings(max_examples=30, deadline=None)
@given(tables(max_keys=5, radix=6, records=60), st.data())
def test_sizes_asked_for(table: Table, data: st.DataObject) -> None:
    high = data.draw(st.integers(0, len(table[0])))
    low = data.draw(st.integers(0, high))
    columns, values = columns_of(table)
    finest = count_cells(columns, values, radices=table[0], span=table[1])
    check_lattice(finest, table, min_size=low, max_size=high)


def test_twelve_keys_of_large_domains() -> None:
    rng = np.random.default_rng(0)
    radices, span, size = [100_000] * 12, 100_000, 60
    # Few of the levels occur often, so that classes merge on the way down.
    columns = [rng.choice(rng.integers(0, 100_000, 3), size) for _ in radices]
    values = rng.choice(rng.integers(0, 100_000, 4), size)
    records = list(zip(*(c.tolist() for c in columns), values.tolist(), strict=True))
    finest = count_cells(columns, values, radices=radices, span=span)
    assert isinstance(finest, WideCells)
    narrow = 0
    for positions, cells in lattice(finest):
        narrow += isinstance(cells, Cells)
        if len(positions) % 4 == 2 or narrow < 50:
            assert found(cells) == expected(records, positions)
    assert 0 < narrow < 4096


@settings(max_examples=30, deadline=None)
@given(tables(max_keys=4), st.data())
def test_select_in_any_order(table: Table, data: st.DataObject) -> None:
    radices, span, records = table
    columns, values = columns_of(table)
    positions = tuple(data.draw(st.permutations(range(len(radices)))))[
        : data.draw(st.integers(0, len(radices)))
    ]
    finest = count_cells(columns, values, radices=radices, span=span)
    wide = count_cells(columns, values, radices=[r + 2**30 for r in radices], span=span)
    assert found(finest.select(positions)) == expected(records, positions)
    assert found(wide.select(positions)) == expected(records, positions)
    codes = finest.select(positions).key_codes(finest.select(positions).split().starts)
    of_record = class_of_records(codes, [columns[p] for p in positions], len(records))
    assert [tuple(codes[c]) for c in of_record] == [tuple(r[p] for p in positions) for r in records]


def test_pieces_and_ready_counts_add_up() -> None:
    layout = Layout(radices=(3,), span=2, records=100)
    piece = ([np.array([2, 0, 2])], np.array([1, 0, 1]), np.array([5, 1, 10]))
    again = ([np.array([0, 2])], np.array([0, 0]), None)
    assert found(pack_cells(layout, [piece, again])) == {((0,), 0): 2, ((2,), 0): 1, ((2,), 1): 15}


@pytest.mark.parametrize("piece", [1, 3, 50, 199])
def test_a_long_table_counted_in_pieces(piece: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(piece)
    a, b, values = rng.integers(0, 3, 200), rng.integers(0, 7, 200), rng.integers(0, 2, 200)
    whole = found(count_cells([a, b], values, radices=[3, 7], span=2))
    monkeypatch.setattr("equivoc.data.cells.PIECE", piece)
    assert found(count_cells([a, b], values, radices=[3, 7], span=2)) == whole


@pytest.mark.parametrize("bits", [20, 26, 27, 28])
def test_a_full_word_loses_nothing(bits: int) -> None:
    """Near the limit of 63 bits, a carry between fields or a shift beyond the word would give a wrong count."""
    rng = np.random.default_rng(bits)
    radices, span = [2**bits, 2**bits], 2**4
    columns = [np.array([0, 2**bits - 1, 2**bits - 1, *rng.integers(0, 2**bits, 5)]) for _ in radices]
    values = np.array([0, 15, 15, *rng.integers(0, 16, 5)])
    records = list(zip(*(c.tolist() for c in columns), values.tolist(), strict=True))
    finest = count_cells(columns, values, radices=radices, span=span)
    assert isinstance(finest, Cells) == (2 * bits + 4 + 4 <= 63)
    check_lattice(finest, (radices, span, records))


def test_more_than_twelve_keys_need_a_limit() -> None:
    columns = {f"k{i}": [0, 1, i % 2] for i in range(13)} | {"salary": [1, 2, 3]}
    people = Microdata(pa.table(columns), confidential="salary", keys=[f"k{i}" for i in range(13)])
    with pytest.raises(InputError, match=r"13 keys have 8,192 subsets: .* max_size"):
        next(people.lattice())
    assert sum(1 for _ in people.lattice(max_size=2)) == 1 + 13 + 78


def test_lattice_of_people_agrees_with_classes_and_takes_other_codes() -> None:
    rng = np.random.default_rng(3)
    columns = {"a": rng.integers(0, 3, 90), "b": rng.integers(0, 9, 90), "salary": rng.integers(0, 4, 90)}
    people = Microdata(pa.table(columns), confidential="salary", keys=["a", "b"])
    other = rng.integers(0, 2, 90)
    for classes in people.lattice():
        same = people.classes(classes.known)
        assert np.array_equal(classes.key_codes, same.key_codes)
        assert (classes.counts != same.counts).nnz == 0
        assert np.array_equal(classes.of_record, same.of_record)
    for classes in people.lattice(values=other, span=7):
        assert classes.counts.shape[1] == 7
        assert classes.counts.sum(axis=0).tolist() == [*np.bincount(other), 0, 0, 0, 0, 0]
        assert np.array_equal(classes.sizes, people.classes(classes.known).sizes)
        again = people.classes(classes.known, values=other, span=7)
        assert (classes.counts != again.counts).nnz == 0


def test_invalid_codes() -> None:
    with pytest.raises(InputError, match=r"codes of value must lie in 0 … 1"):
        count_cells([], np.array([0, 2]), radices=[], span=2)
    with pytest.raises(InputError, match=r"codes of key 0 have 1 entries, but there are 2 records"):
        count_cells([np.array([0])], np.array([0, 1]), radices=[1], span=2)
