"""Controlled rounding: margins add, cells stay within the base, and the distance is the least of all roundings."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from equivoc.errors import InputError
from equivoc.tables.cell_rounding import CellRounding
from equivoc.tables.cell_table import CellTable, Dimension
from equivoc.tables.controlled_rounding import controlled_rounding
from tests.tables.rounding.made import NO_ROUNDING, TREE, table_of


def least_distance(table: CellTable, base: float, *, wider: int = 0) -> float | None:
    """By trying every rounding of the inner cells: margins are sums and must be within the base too."""
    inner = np.flatnonzero(table.inner)
    parts = _parts(table)
    below = np.floor(table.values / base)
    multiple = below * base == table.values
    low, high = below - wider, below + np.where(multiple, 0, 1) + wider
    low = np.where(table.values >= 0, np.maximum(low, 0), low)
    best = None
    for steps in product(*(range(int(low[c]), int(high[c]) + 1) for c in inner)):
        every = parts @ np.array(steps)
        if ((every >= low) & (every <= high)).all():
            distance = float(np.abs(every * base - table.values).sum())
            best = distance if best is None else min(best, distance)
    return best


def _parts(table: CellTable) -> np.ndarray:
    """Cells × inner cells: 1 where the inner cell lies under the cell, by walking up the keys' trees."""
    nodes, inner = table.nodes, np.flatnonzero(table.inner)
    under = np.ones((len(table), len(inner)))
    for at, dimension in enumerate(table.dimensions):
        above = np.array(
            [[node in dimension.path[leaf] for leaf in nodes[inner, at]] for node in nodes[:, at]]
        )
        under *= above
    return under


@given(
    st.integers(0, 10**6),
    st.sampled_from([(2, 2), (2, 4), (3, 3), (2, 2, 2), (6,)]),
    st.sampled_from([2, 3, 5]),
)
def test_the_distance_is_the_least_of_all_roundings(seed: int, shape: tuple[int, ...], base: int) -> None:
    inner = np.random.default_rng(seed).integers(0, 12, shape)
    table = table_of(inner)
    found = controlled_rounding(table, table.values / base, time_limit=30)
    best = least_distance(table, base)
    assert np.abs(table.relations @ found.steps).max() == 0
    if best is None:
        assert found.wider
    else:
        assert found.wider == 0
        assert found.distance * base == pytest.approx(best)
        assert found.gap == 0


def test_subtotals_add_up_too() -> None:
    rng = np.random.default_rng(3)
    for _ in range(5):
        table = table_of(rng.integers(0, 9, (3, 2)), dimensions=[TREE, Dimension.flat("sex", ["F", "M"])])
        release = CellRounding(3, "controlled").release(table)
        assert np.abs(table.relations @ release.values).max() == 0
        assert np.abs(release.values - table.values).sum() == pytest.approx(least_distance(table, 3))


@pytest.mark.parametrize("shape", [(20, 20), (7, 6, 5), (4, 3, 3, 3)])
def test_margins_add_up_and_every_cell_is_within_the_base(shape: tuple[int, ...]) -> None:
    for seed in range(3):
        table = table_of(np.random.default_rng(seed).poisson(6, shape))
        release = CellRounding(5, "controlled", time_limit=10).release(table)
        assert np.abs(table.relations @ release.values).max() == 0
        assert np.abs(release.values - table.values).max() < 5
        assert (release.values % 5 == 0).all()
        multiple = table.values % 5 == 0
        assert (release.values[multiple] == table.values[multiple]).all()
        found = release.controlled
        assert found is not None
        assert found.bound <= found.distance + 1e-9
        assert found.distance * 5 == pytest.approx(np.abs(release.values - table.values).sum())


def test_a_table_without_such_a_rounding_is_rounded_further_and_says_so() -> None:
    table = table_of(NO_ROUNDING)
    assert least_distance(table, 2) is None
    release = CellRounding(2, "controlled").release(table)
    assert np.abs(table.relations @ release.values).max() == 0
    assert (release.values >= 0).all()
    assert np.abs(release.values - table.values).max() < 4
    assert "No rounding of each cell to a neighbouring multiple adds up" in release.notes[0]
    low, high = release.bounds
    assert (low <= table.values).all()
    assert (table.values <= high).all()


def test_without_time_inner_cells_are_rounded_and_summed() -> None:
    table = table_of(np.random.default_rng(0).poisson(6, (8, 8, 8)))
    release = CellRounding(5, "controlled", time_limit=1e-9).release(table)
    assert np.abs(table.relations @ release.values).max() == 0
    assert any("margins are their sums" in note for note in release.notes)
    assert "The time limit ended the search." in release.notes
    low, high = release.bounds
    assert (high - low)[table.inner].max() == 4  # 3, 4, 5, 6, 7
    assert (high - low)[0] == (high - low)[table.inner].sum()
    assert (low <= table.values).all()
    assert (table.values <= high).all()


def test_a_short_time_gives_an_additive_rounding_with_its_gap() -> None:
    table = table_of(np.random.default_rng(0).poisson(6, (9, 9, 9)))
    release = CellRounding(5, "controlled", time_limit=2).release(table)
    assert np.abs(table.relations @ release.values).max() == 0
    found = release.controlled
    assert found is not None
    assert found.gap >= 0
    assert not found.gap or any("above the least" in note for note in release.notes)


def test_margins_that_do_not_add_up_are_named() -> None:
    table = table_of([[1, 2], [3, 4]])
    table.values[0] += 1
    with pytest.raises(InputError, match=r"k0 = \*, k1 = \*"):
        CellRounding(5, "controlled").release(table)


def test_bases_and_values_need_not_be_whole() -> None:
    table = table_of(np.random.default_rng(4).random((5, 5)) * 7, value="pay")
    release = CellRounding(0.25, "controlled").release(table)
    assert np.abs(table.relations @ release.values).max() < 1e-9
    assert np.abs(release.values - table.values).max() < 0.25
    large = table_of(
        [[1e9 + 0.1, 2e9 + 0.2], [0.7, 3e8 + 0.4]], value="pay"
    )  # 10,000,000,001 bases and so on
    release = CellRounding(0.1, "controlled").release(large)
    np.testing.assert_allclose(release.values, large.values, rtol=1e-15)
    signed = table_of(np.random.default_rng(4).integers(-9, 9, (5, 5)), value="profit")
    release = CellRounding(5, "controlled").release(signed)
    assert np.abs(signed.relations @ release.values).max() == 0
    assert np.abs(release.values - signed.values).max() < 5
