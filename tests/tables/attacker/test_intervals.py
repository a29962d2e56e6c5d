"""The attacker's intervals: against all integer tables, against plain linear programs, and by hand."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.optimize import linprog

from equivoc.errors import InputError
from equivoc.tables.attacker import cell_intervals
from equivoc.tables.cell_table import CellTable, Dimension
from tests.tables.made_tables import leaves_below, table_of, table_of_array, tree


def every_cell(dimensions: tuple[Dimension, ...], inner: NDArray[np.int64]) -> NDArray[np.int64]:
    """All cells, margins included, of many inner tables (the first axis)."""
    cells = inner
    for axis, dimension in enumerate(dimensions, start=1):
        below = leaves_below(dimension)
        cells = np.stack([cells.take(leaves, axis=axis).sum(axis=axis) for leaves in below], axis=axis)
    return cells.reshape(len(inner), -1)


def integer_ranges(
    table: CellTable, suppressed: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The least and greatest value of each suppressed cell over all integer tables of at least 0."""
    shape = tuple(len(d.leaves) for d in table.dimensions)
    inner = np.flatnonzero(table.inner)
    unknown = np.flatnonzero(suppressed[inner])
    most = int(table.values[0])  # the grand total is published
    tables = np.tile(table.values[inner].astype(np.int64), ((most + 1) ** len(unknown), 1))
    tables[:, unknown] = np.array(list(product(range(most + 1), repeat=len(unknown)))).reshape(
        -1, len(unknown)
    )
    cells = every_cell(table.dimensions, tables.reshape(-1, *shape))
    possible = cells[(cells[:, ~suppressed] == table.values[~suppressed]).all(axis=1)][:, suppressed]
    return possible.min(axis=0), possible.max(axis=0)


@st.composite
def small_tables(draw: st.DrawFn, *, three: bool) -> tuple[CellTable, NDArray[np.bool_]]:
    shape = draw(st.sampled_from([(2, 2, 2), (2, 2, 3)] if three else [(2, 2), (2, 3), (3, 3), (4,)]))
    inner = np.array(
        draw(st.lists(st.integers(0, 2), min_size=int(np.prod(shape)), max_size=int(np.prod(shape))))
    )
    table = table_of_array(inner.reshape(shape).astype(float), people=1)
    cells = np.flatnonzero(table.inner)
    margins = np.flatnonzero(~table.inner)[1:]
    # Up to five unknown inner cells, and any margins but the grand total.
    some = draw(st.lists(st.sampled_from(list(cells)), min_size=1, max_size=5, unique=True))
    more = draw(st.lists(st.sampled_from(list(margins)), max_size=3, unique=True)) if len(margins) else []
    suppressed = np.isin(np.arange(len(table)), [*some, *more])
    return table, suppressed


def small_enough(table: CellTable, suppressed: NDArray[np.bool_]) -> bool:
    return bool((table.values[0] + 1) ** np.count_nonzero(suppressed & table.inner) <= 300_000)


@settings(max_examples=60)
@given(small_tables(three=False))
def test_two_way_intervals_are_those_of_all_integer_tables(case: tuple[CellTable, NDArray[np.bool_]]) -> None:
    table, suppressed = case
    if not small_enough(table, suppressed):
        return
    found = cell_intervals(table, suppressed)
    least, greatest = integer_ranges(table, suppressed)
    assert found.low.tolist() == least.tolist()  # totally unimodular: equal
    assert found.high.tolist() == greatest.tolist()


@settings(max_examples=40)
@given(small_tables(three=True))
def test_three_way_intervals_contain_all_integer_tables(case: tuple[CellTable, NDArray[np.bool_]]) -> None:
    table, suppressed = case
    if not small_enough(table, suppressed):
        return
    found = cell_intervals(table, suppressed)
    least, greatest = integer_ranges(table, suppressed)
    assert np.all(found.low <= least + found.accuracy)
    assert np.all(found.high >= greatest - found.accuracy)


def by_linprog(
    table: CellTable, suppressed: NDArray[np.bool_], *, lower: float | None
) -> tuple[list[float], list[float]]:
    """Two programs a cell, by scipy, over the inner cells only: every margin is written as a sum of inner cells."""
    shape = tuple(len(d.leaves) for d in table.dimensions)
    count = int(np.prod(shape))
    sums = every_cell(table.dimensions, np.eye(count, dtype=np.int64).reshape(count, *shape)).T
    published = ~suppressed
    low, high = [], []
    bounds_of_cells = sums[suppressed] if lower is not None else np.zeros((0, count))
    for cell in np.flatnonzero(suppressed):
        for sign, into in ((1, low), (-1, high)):
            answer = linprog(
                sign * sums[cell],
                A_eq=sums[published],
                b_eq=table.values[published],
                A_ub=-bounds_of_cells,
                b_ub=np.full(len(bounds_of_cells), -(lower or 0.0)),
                bounds=(None, None),
                method="highs",
            )
            into.append(sign * answer.fun if answer.status == 0 else -sign * np.inf)
    return low, high


@pytest.mark.parametrize("seed", range(12))
def test_real_values_hierarchies_and_no_bounds_against_scipy(seed: int) -> None:
    rng = np.random.default_rng(seed)
    dimensions = [tree("a", [2, 3]), Dimension.flat("b", [1, 2, 3])]
    if seed % 3 == 0:
        dimensions.append(Dimension.flat("c", [1, 2]))
    shape = tuple(len(d.leaves) for d in dimensions)
    negative = seed % 4 == 1
    contributions = {
        key: list(rng.lognormal(2, 2, size=2) * (rng.choice([-1, 1]) if negative else 1))
        for key in np.ndindex(*shape)
        if rng.random() < 0.9
    }
    table = table_of(dimensions, contributions)
    suppressed = rng.random(len(table)) < 0.5
    suppressed[0] = seed % 2 == 0  # without the grand total, some cells have no upper bound
    found = cell_intervals(table, suppressed)
    low, high = by_linprog(table, suppressed, lower=None if negative else 0.0)
    np.testing.assert_array_equal(np.isinf(found.low), np.isinf(low))
    np.testing.assert_array_equal(np.isinf(found.high), np.isinf(high))
    close = 1e-6 * np.abs(table.values).max()
    finite = np.isfinite(low)
    np.testing.assert_allclose(found.low[finite], np.array(low)[finite], atol=close)
    finite = np.isfinite(high)
    np.testing.assert_allclose(found.high[finite], np.array(high)[finite], atol=close)


def test_unlimited_growth_is_seen() -> None:
    table = table_of_array(np.array([3.0, 4.0, 5.0]))
    found = cell_intervals(table, np.array([True, True, False, False]))  # the total and one part
    assert found.low.tolist() == [9, 0]
    assert found.high.tolist() == [np.inf, np.inf]


def two_by_two() -> tuple[CellTable, NDArray[np.bool_]]:
    """20 45 | 65; 30 5 | 35: all inner cells suppressed, so one number decides all of them."""
    table = table_of_array(np.array([[20.0, 45], [30, 5]]))
    return table, table.inner


def test_a_two_by_two_table_by_hand() -> None:
    # x11 ≤ min(65, 50) and x22 = x11 − 15 ≥ 0: x11 between 15 and 50.
    found = cell_intervals(*two_by_two())
    assert found.low.tolist() == [15, 15, 0, 0]
    assert found.high.tolist() == [50, 50, 35, 35]


def test_an_insider_knows_her_own_contribution() -> None:
    table, suppressed = two_by_two()
    last = int(np.flatnonzero(suppressed)[3])  # 5, of which hers is 3
    found = cell_intervals(table, suppressed, known={last: 3.0})
    assert found.low.tolist() == [18, 15, 0, 3]
    assert found.high.tolist() == [50, 47, 32, 35]


def test_two_single_contributors_disclose_each_other() -> None:
    table = table_of([Dimension.flat("a", [1, 2, 3])], {(0,): [5.0], (1,): [7.0], (2,): [1.0, 2.0]})
    suppressed = np.array([False, True, True, False])
    outside = cell_intervals(table, suppressed)
    assert (outside.low.tolist(), outside.high.tolist()) == ([0, 0], [12, 12])
    inside = cell_intervals(table, suppressed, known={1: 5.0}, cells=[2])
    assert (inside.low.tolist(), inside.high.tolist()) == ([7], [7])


def test_given_bounds_narrow_the_interval() -> None:
    table, suppressed = two_by_two()
    found = cell_intervals(table, suppressed, lower=0.5 * table.values, upper=1.5 * table.values)
    assert found.low.tolist() == [17.5, 42.5, 27.5, 2.5]
    assert found.high.tolist() == [22.5, 47.5, 32.5, 7.5]


def test_small_cells_beside_large_ones_are_exact() -> None:
    inner = np.array([[3e9, 4e9, 1], [2e9, 7e9, 2], [1, 3, 2]])
    table = table_of_array(inner)
    small = np.zeros((4, 4), dtype=bool)
    small[1, 3] = small[2, 3] = small[1, 1] = small[2, 1] = True
    found = cell_intervals(table, small.ravel())
    assert found.low.tolist() == [3e9 - 2, 0, 2e9 - 1, 0]
    assert found.high.tolist() == [3e9 + 1, 3, 2e9 + 2, 3]
    assert found.accuracy.tolist() == [0, 0, 0, 0]


def test_what_does_not_add_up_is_named() -> None:
    table, suppressed = two_by_two()
    table.values[3] += 1  # the total of the first row
    with pytest.raises(
        InputError, match=r"the parts of the total key0 = \*, key1 = \* add up to 101, not 100"
    ):
        cell_intervals(table, suppressed)


def test_a_published_part_above_its_total_is_a_contradiction() -> None:
    table, suppressed = two_by_two()
    table.values[4] = 90  # its row's total is 65
    with pytest.raises(InputError, match="contradict each other"):
        cell_intervals(table, suppressed & (np.arange(9) != 4))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"suppressed": np.zeros(3, dtype=bool)}, "suppressed needs True or False for each of the 9 cells"),
        ({"cells": [0]}, "cells holds a cell that is not suppressed"),
        ({"lower": 9.0, "upper": 3.0}, "lower is above upper for the cell"),
        ({"lower": np.nan}, "lower and upper must be numbers"),
        ({"upper": 10.0}, "contradict"),
    ],
)
def test_mistakes_are_named(change: dict[str, object], message: str) -> None:
    table, suppressed = two_by_two()
    with pytest.raises(InputError, match=message):
        cell_intervals(table, **{"suppressed": suppressed, **change})  # type: ignore[arg-type]


def test_a_table_from_elsewhere_has_no_values_where_suppressed() -> None:
    table, suppressed = two_by_two()
    expected = cell_intervals(table, suppressed)
    table.values[suppressed] = np.nan
    found = cell_intervals(table)
    assert found.low.tolist() == expected.low.tolist()
    assert found.high.tolist() == expected.high.tolist()
