"""Patterns against brute force over all patterns of small tables, checked by plain linear programs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from equivoc.errors import InputError
from equivoc.tables.cell_table import CellTable, Dimension
from equivoc.tables.suppression.suppress import suppress
from tests.tables.made_tables import table_of, tree
from tests.tables.suppression.oracle import Oracle, cheapest

Booleans = NDArray[np.bool_]


@st.composite
def small_cases(
    draw: st.DrawFn, *, shapes: tuple[tuple[int, ...], ...], margins: bool
) -> tuple[CellTable, Booleans, NDArray[np.float64], Booleans]:
    """A table, unsafe inner cells, their protection, and cells that must be published."""
    shape = draw(st.sampled_from(shapes))
    dimensions = [Dimension.flat(f"key{d}", list(range(size))) for d, size in enumerate(shape)]
    count = int(np.prod(shape))
    amounts = st.lists(st.integers(1, 9), min_size=0, max_size=3)
    given = draw(st.lists(amounts, min_size=count, max_size=count))
    table = table_of(dimensions, dict(zip(np.ndindex(*shape), given, strict=True)))
    candidates = np.flatnonzero(table.inner & (table.people > 0))
    unsafe = np.zeros(len(table), dtype=bool)
    if len(candidates):
        some = st.lists(st.sampled_from(list(candidates)), min_size=1, max_size=3, unique=True)
        unsafe[draw(some)] = True
    protection = np.where(unsafe, draw(st.sampled_from([1.0, 2.0, 0.5, 3.7])), 0.0)
    must_not = np.zeros(len(table), dtype=bool) if margins else ~table.inner
    return table, unsafe, protection, must_not


def check_optimum(case: tuple[CellTable, Booleans, NDArray[np.float64], Booleans]) -> None:
    table, unsafe, protection, must_not = case
    oracle = Oracle(table, unsafe, protection)
    allowed = (table.values > 0) & ~must_not & ~unsafe
    allowed[0] = False
    best = cheapest(oracle, unsafe, np.flatnonzero(allowed), table.values)
    arguments = {"unsafe": unsafe, "protection": protection, "cost": table.values, "must_not": must_not}
    if best is None:
        with pytest.raises(InputError, match="cannot be protected"):
            suppress(table, **arguments)
        return
    found = suppress(table, **arguments)
    assert found.proven
    assert found.added == pytest.approx(best, abs=1e-6)
    assert found.bound == pytest.approx(best, abs=1e-6)
    assert found.pattern[unsafe].all()
    assert not found.pattern[~allowed & ~unsafe].any()
    assert oracle.protected(found.pattern)


@settings(max_examples=70)
@given(small_cases(shapes=((3, 3), (2, 4), (4, 4), (5,)), margins=False))
def test_two_way_tables(case: tuple[CellTable, Booleans, NDArray[np.float64], Booleans]) -> None:
    check_optimum(case)


@settings(max_examples=30)
@given(small_cases(shapes=((2, 2), (2, 3)), margins=True))
def test_two_way_tables_whose_margins_may_be_suppressed(
    case: tuple[CellTable, Booleans, NDArray[np.float64], Booleans],
) -> None:
    check_optimum(case)


@settings(max_examples=30)
@given(small_cases(shapes=((2, 2, 2), (2, 2, 3)), margins=False))
def test_three_way_tables(case: tuple[CellTable, Booleans, NDArray[np.float64], Booleans]) -> None:
    check_optimum(case)


@pytest.mark.parametrize("seed", range(6))
def test_hierarchies_only_add_relations(seed: int) -> None:
    rng = np.random.default_rng(seed)
    dimensions = [tree("a", [2, 2]), Dimension.flat("b", [1, 2])]
    table = table_of(dimensions, {key: list(rng.integers(1, 20, size=3)) for key in np.ndindex(4, 2)})
    unsafe = np.zeros(len(table), dtype=bool)
    unsafe[rng.choice(np.flatnonzero(table.inner), 2, replace=False)] = True
    subtotals = ~table.inner & (table.nodes[:, 0] != 0) & (table.nodes[:, 1] != 0)
    must_not = ~table.inner & ~subtotals
    check_optimum((table, unsafe, np.where(unsafe, 2.5, 0.0), must_not))
