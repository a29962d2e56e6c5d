"""Conventional and random rounding, and what an intruder can compute: against loops, χ² and all possible tables."""

import math
from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from equivoc.data.microdata import Microdata
from equivoc.errors import InputError
from equivoc.measure.curve import curve
from equivoc.tables.cell_rounding import CellRounding, RoundedTable
from equivoc.tables.cell_table import CellTable
from equivoc.tables.tabulate import tabulate
from tests.tables.rounding.made import table_of


def nearest_by_hand(value: float, base: float) -> float:
    low = math.floor(value / base) * base
    return low if value - low < base / 2 else low + base


@pytest.mark.parametrize("base", [3, 5, 10, 0.5])
def test_conventional_rounding_equals_a_plain_loop(base: float) -> None:
    table = table_of(np.random.default_rng(0).integers(-40, 90, (9, 8)) / 4, value="pay")
    release = CellRounding(base).release(table)
    assert release.values.tolist() == [nearest_by_hand(float(v), base) for v in table.values]


def test_conventional_margins_that_do_not_add_up_are_noted() -> None:
    release = CellRounding(5).release(table_of([2, 2]))
    assert release.values.tolist() == [5.0, 0.0, 0.0]
    assert "1 of 1 sums of parts differ" in release.notes[0]
    assert CellRounding(5).release(table_of([5, 10])).notes == ()


def rejected(ups: int, draws: int, probability: float) -> bool:
    """χ² with one degree of freedom, at 1e-6: is this number of draws not of this probability?"""
    expected = np.array([probability, 1 - probability]) * draws
    return bool(stats.chisquare([ups, draws - ups], expected).pvalue < 1e-6)


@pytest.mark.parametrize("seeded", [True, False])
def test_random_rounding_goes_up_with_the_probability_of_its_remainder(seeded: bool) -> None:
    cells = 40_000
    for remainder in (0, 1, 2, 3, 4):
        table = table_of(np.full(cells, 10 + remainder))
        released = CellRounding(5, "random").release(table, 7 if seeded else None).values[1:]
        assert set(np.unique(released)) <= {10.0, 15.0}
        ups = int((released == 15).sum())
        if remainder == 0:
            assert ups == 0
        else:
            assert not rejected(ups, cells, remainder / 5)
            assert rejected(ups, cells, remainder / 5 + 0.03)  # the test has power


def test_the_same_seed_gives_the_same_table() -> None:
    table = table_of(np.arange(200))
    once, again, other = (CellRounding(7, "random").release(table, seed).values for seed in (1, 1, 2))
    assert (once == again).all()
    assert (once != other).any()


def every_table(table: CellTable, most: int) -> np.ndarray:
    """All tables of whole inner cells from 0 to ``most``: cells × tables, margins by their definition."""
    inner = np.array(list(product(range(most + 1), repeat=int(table.inner.sum())))).T
    shape = tuple(size - 1 for size in table.shape)
    cells = inner.reshape(*shape, -1)
    for axis in range(len(shape)):
        cells = np.concatenate([cells.sum(axis=axis, keepdims=True), cells], axis=axis)
    return cells.reshape(len(table), -1)


def chance_of(release: RoundedTable, cells: np.ndarray) -> np.ndarray:
    """P(this release | each table), by the definition of each method; controlled: 1 if every cell is near enough."""
    base, released = release.rounded.base, release.values[:, None]
    if release.rounded.method == "conventional":
        nearest = np.vectorize(nearest_by_hand)(cells, base)
        return np.asarray((nearest == released).all(axis=0), dtype=float)
    low = np.floor(cells / base) * base
    up = (cells - low) / base
    if release.rounded.method == "controlled":
        near = (released == low) | ((released == low + base) & (up > 0))
        return np.asarray(near.all(axis=0), dtype=float)
    chances = np.where(released == low, 1 - up, np.where(released == low + base, up, 0.0))
    return np.asarray(chances.prod(axis=0))


@pytest.mark.parametrize("method", ["conventional", "random", "controlled"])
@pytest.mark.parametrize("shape", [(3,), (2, 2)])
def test_posteriors_come_from_all_tables_that_agree_with_the_release(
    method: str, shape: tuple[int, ...]
) -> None:
    base, most = 3, 9
    rng = np.random.default_rng(5)
    for seed in range(4):
        table = table_of(rng.integers(0, 5, shape))
        release = CellRounding(base, method).release(table, seed)
        cells = every_table(table, most)
        chances = chance_of(release, cells)
        assert release.exact
        figures = release.figures(eps=1)
        for cell in range(len(table)):
            values, probabilities = release.posterior(cell)
            mass = np.bincount(cells[cell], chances)
            assert values.tolist() == np.flatnonzero(mass).tolist()
            np.testing.assert_allclose(probabilities, mass[mass > 0] / mass.sum(), atol=1e-12)
            one = curve(values, probabilities)
            assert figures.h0[cell] == pytest.approx(one.h0)
            assert figures.area[cell] == pytest.approx(one.area)
            assert figures.hit[cell] == pytest.approx(one.hit(1))
            low, high = release.bounds
            assert (low[cell], high[cell]) == (values[0], values[-1])


@pytest.mark.parametrize("method", ["conventional", "random", "controlled"])
def test_bounds_contain_the_truth_and_larger_tables_use_them(method: str) -> None:
    for seed in range(3):
        table = table_of(np.random.default_rng(seed).poisson(4, (5, 6)))
        release = CellRounding(5, method).release(table, seed)
        low, high = release.bounds
        assert (low <= table.values).all()
        assert (table.values <= high).all()
        assert not release.exact
        figures = release.figures(eps=2)
        for cell in range(0, len(table), 5):
            values, probabilities = release.posterior(cell)
            away = np.abs(values - release.values[cell])
            weights = 1 - away / 5 if method == "random" else np.ones(len(values))
            np.testing.assert_allclose(probabilities, weights / weights.sum())
            one = curve(values, probabilities)
            assert figures.h0[cell] == pytest.approx(one.h0)
            assert figures.area[cell] == pytest.approx(one.area)
            assert figures.hit[cell] == pytest.approx(one.hit(2))


def test_margins_rounded_on_their_own_narrow_cells_down() -> None:
    table = table_of([[2, 2], [2, 2]])  # all four are released as 0, their total 8 as 10
    low, high = CellRounding(5).release(table).bounds
    assert (low[table.inner] == 2).all()
    assert (high[table.inner] == 2).all()


def test_the_largest_contributor_of_a_rounded_total() -> None:
    frame = pd.DataFrame({"g": list("aaabbb"), "pay": [60, 50, 4, 30, 20, 10]})
    people = Microdata(frame, confidential="pay", keys=["g"])
    table = tabulate(people, ["g"], "pay")
    release = CellRounding(10, "random").release(table, 1)
    found = release.contributors()
    low, high = release.bounds
    assert (found.low <= table.top[:, 0]).all()
    assert (table.top[:, 0] <= found.high).all()
    np.testing.assert_allclose(found.high[1:], high[1:] - [50, 20])
    outside = release.contributors(insider=False)
    np.testing.assert_allclose(outside.low, low / [6, 3, 3])
    assert release.table["value"].tolist() == release.values.tolist()


def test_rounded_attributes_have_their_step_as_unit() -> None:
    frame = pd.DataFrame({"g": list("aab"), "pay": [12, 27, 9]})
    people = Microdata(frame, confidential="pay", keys=["g"], round_to=10)
    table = tabulate(people, ["g"], "pay")
    release = CellRounding(50).release(table)
    assert release.unit == 10
    thirds = table_of([1 / 3, 2 / 3, 5 / 7], value="share")
    release = CellRounding(0.5, "random").release(thirds, 0)
    assert release.unit is None
    assert len(release.posterior(1)[0]) <= 256
    assert np.isfinite(release.figures().area).all()


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"base": 0}, "base"),
        ({"base": -5}, "base"),
        ({"base": float("nan")}, "base"),
        ({"method": "nearest"}, "method"),
        ({"time_limit": 0}, "time_limit"),
    ],
)
def test_wrong_settings_are_refused(settings: dict[str, object], words: str) -> None:
    with pytest.raises(InputError, match=words):
        CellRounding(**settings)  # type: ignore[arg-type]


def test_tables_that_cannot_be_rounded_are_refused() -> None:
    table = table_of([1, 2])
    table.values[1] = np.nan
    with pytest.raises(InputError, match="k0 = 0"):
        CellRounding(5).release(table)
    with pytest.raises(InputError, match="tabulate"):
        CellRounding(5).release([1, 2])  # type: ignore[arg-type]
    with pytest.raises(InputError, match="too small"):
        CellRounding(1e-9).release(table_of([1e12, 2.0]))
