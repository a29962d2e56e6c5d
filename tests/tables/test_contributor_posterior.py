"""The largest contributor's interval and its measure: against the enumeration of all contributions."""

from dataclasses import replace
from itertools import combinations_with_replacement

import numpy as np
import pandas as pd
import pytest

from equivoc.data.microdata import Microdata
from equivoc.errors import InputError
from equivoc.measure.curve import curve
from equivoc.tables.cell_posteriors import (
    figures_between,
    figures_on_steps,
    figures_on_values,
    largest_contributor,
)
from equivoc.tables.cell_table import CellTable, Dimension

MOST = 14


def table_of(groups: list[list[float]], source: Microdata | None = None) -> CellTable:
    """A one-way table of these contributions, without the margin's detail: only inner cells are asked."""
    every = [[x for group in groups for x in group], *groups]
    ordered = [sorted(cell, key=lambda x: -abs(x)) for cell in every]
    top = np.array([[*cell, 0.0, 0.0][:2] for cell in ordered])
    totals = np.array([sum(cell) for cell in every], dtype=float)
    return CellTable(
        (Dimension.flat("group", [f"g{i}" for i in range(len(groups))]),),
        "pay",
        totals,
        np.array([len(cell) for cell in every]),
        top,
        np.array([sum(map(abs, cell)) for cell in every], dtype=float),
        np.zeros(len(every), dtype=bool),
        source,
    )


def test_the_insiders_interval_is_what_all_contributions_allow() -> None:
    rng = np.random.default_rng(1)
    for _ in range(60):
        people = int(rng.integers(1, 5))
        mine = sorted(rng.integers(0, 8, people).tolist(), reverse=True)
        low = sum(mine) - int(rng.integers(0, 6))
        high = sum(mine) + int(rng.integers(0, 6))
        table = table_of([mine])
        bounds = np.full(2, float(low)), np.full(2, float(high))
        for insider in (True, False):
            possible = {
                max(each)
                for each in combinations_with_replacement(range(30), people)
                if low <= sum(each) <= high and (not insider or people == 1 or sorted(each)[-2] == mine[1])
            }
            found = largest_contributor(table, *bounds, insider=insider)
            assert np.ceil(found.low[1]) == min(possible)
            assert found.high[1] == max(possible)


def test_the_insiders_interval_with_negative_contributions() -> None:
    rng = np.random.default_rng(2)
    span = range(-MOST, MOST + 1)
    for _ in range(40):
        people = int(rng.integers(2, 4))
        mine = sorted(rng.integers(-4, 5, people).tolist(), key=lambda x: -abs(x))
        low, high = sum(mine) - int(rng.integers(0, 4)), sum(mine) + int(rng.integers(0, 4))
        table = table_of([mine, [-1.0]])  # so that the table has a negative contribution
        possible = {
            max(signs, key=abs)
            for signs in _all_orders(people, span, second=mine[1])
            if low <= sum(signs) <= high
        }
        asked = np.array([np.nan, low, np.nan]), np.array([np.nan, high, np.nan])
        interval = largest_contributor(table, *asked)
        assert interval.low[1] <= min(possible)
        assert max(possible) <= interval.high[1]
        # Not wider than needed by more than the gap between −|x_2| and |x_2|.
        assert min(possible) - interval.low[1] <= 2 * abs(mine[1])


def _all_orders(people: int, span: range, *, second: int) -> list[tuple[int, ...]]:
    others = [x for x in span if abs(x) <= abs(second)]
    first = [x for x in span if abs(x) >= abs(second)]
    if people == 2:
        return [(x, second) for x in first]
    return [(x, second, y) for x in first for y in others]


def test_an_exact_total_gives_the_p_percent_rules_margin() -> None:
    table = table_of([[52.0, 50.0, 8.0]])
    found = largest_contributor(table, table.values, table.values)
    assert found.high[1] - table.top[1, 0] == 8.0  # T − x_1 − x_2


def test_figures_come_from_the_measure_of_the_possible_values() -> None:
    pay = [10, 20, 30, 50, 80, 90, 10, 40]
    people = Microdata(
        pd.DataFrame({"g": list("aaaabbbb"), "pay": pay}),
        confidential="pay",
        keys=["g"],
        domain=range(0, 201, 10),
    )
    table = table_of([[float(x) for x in pay[:4]], [float(x) for x in pay[4:]]], people)
    found = largest_contributor(table, table.values - 25, table.values + 25)
    figures = found.figures(eps=20)
    for cell in range(3):
        values, shares = found.posterior(cell)
        inside = [v for v in range(0, 201, 10) if found.low[cell] <= v <= found.high[cell]]
        assert values.tolist() == inside
        one = curve(values, shares)
        assert figures.h0[cell] == pytest.approx(one.h0)
        assert figures.area[cell] == pytest.approx(one.area)
        assert figures.eps_max[cell] == one.eps_max
        assert figures.hit[cell] == pytest.approx(one.hit(20))
    assert "21 values" in found.note


def test_contributions_outside_the_domain_get_even_steps() -> None:
    people = Microdata(pd.DataFrame({"g": list("aab"), "pay": [1, 2, 4]}), confidential="pay", keys=["g"])
    table = table_of([[3.0], [4.0]], people)  # the first two belong to one holding: 3 is not in the domain
    found = largest_contributor(table, table.values - 1, table.values + 1)
    assert found.values is None
    assert "256" in found.note
    assert len(found.posterior(1)[0]) == 256


@pytest.mark.parametrize("count", [1, 2, 7, 100, 256, 257, 600])
def test_even_steps_have_the_figures_of_the_measure(count: int) -> None:
    one = curve(np.arange(count) * 0.5, np.full(count, 1 / count), tolerance=0.0 if count <= 256 else 1e-6)
    found = figures_on_steps(np.array([count]), np.array([0.5]), eps=3.2)
    assert found.h0[0] == pytest.approx(one.h0)
    assert found.area[0] == pytest.approx(one.area, rel=1e-5)
    assert found.eps_max[0] == one.eps_max
    assert found.hit[0] == pytest.approx(one.hit(3.2))


def test_intervals_without_limit_and_without_values_are_said() -> None:
    low, high = np.array([-np.inf, 1.0, np.nan]), np.array([4.0, 1.0, np.nan])
    found = figures_between(low, high)
    assert found.h0.tolist()[:2] == [np.inf, 0.0]
    assert np.isnan(found.h0[2])
    assert found.hit.tolist()[:2] == [0.0, 1.0]
    nothing = figures_on_values(np.array([1.1]), np.array([1.9]), np.array([1.0, 2.0]))
    assert np.isnan(nothing.h0[0])


def test_survey_weights_widen_the_interval() -> None:
    frame = pd.DataFrame({"g": list("aa"), "pay": [10, 4], "w": [2.0, 3.0]})
    people = Microdata(frame, confidential="pay", keys=["g"], weights="w")
    weighted = np.full(2, 32.0)  # 2 · 10 + 3 · 4
    table = replace(table_of([[10.0, 4.0]], people), values=weighted)
    found = largest_contributor(table, weighted, weighted)
    assert (found.low[1], found.high[1]) == (4.0, 12.0)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"value": None}, "counts people"),
        ({"top": np.zeros((2, 1))}, "second largest"),
    ],
)
def test_tables_without_contributions_are_refused(change: dict[str, object], words: str) -> None:
    table = replace(table_of([[1.0, 2.0]]), **change)  # type: ignore[arg-type]
    with pytest.raises(InputError, match=words):
        largest_contributor(table, table.values, table.values)


def test_impossible_bounds_name_the_cell() -> None:
    table = table_of([[5.0, 3.0]])
    with pytest.raises(InputError, match="cell g0"):
        largest_contributor(table, np.array([np.nan, 0.0]), np.array([np.nan, 4.0]))
    with pytest.raises(InputError, match="one number for each"):
        largest_contributor(table, [1.0], [2.0])


def test_an_outsider_needs_no_contributions_of_the_table() -> None:
    table = replace(table_of([[5.0, 3.0]]), top=np.zeros((2, 0)), people=np.array([-1, 2]))
    found = largest_contributor(table, table.values, table.values, insider=False)
    assert (found.low.tolist(), found.high.tolist()) == ([0.0, 4.0], [8.0, 8.0])


def test_a_negative_contribution_that_the_table_does_not_keep_is_found() -> None:
    from equivoc.tables.attacker import has_negatives
    from equivoc.tables.tabulate import tabulate

    frame = pd.DataFrame({"g": ["a"] * 8, "pay": [9, 9, 9, 9, 9, 9, -1, 3], "n": [9, 9, 9, 9, 9, 9, -1, 3]})
    people = Microdata(frame, confidential="pay", keys=["g", "n"])
    for value in ("pay", "n"):
        assert has_negatives(tabulate(people, ["g"], value))
    without = Microdata(frame[frame["pay"] > 0], confidential="pay", keys=["g", "n"], domain=range(-5, 10))
    for value in ("pay", "n"):
        assert not has_negatives(tabulate(without, ["g"], value))
