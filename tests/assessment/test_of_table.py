"""The assessment of a released table, against the plain definition on small tables."""

import numpy as np
import pandas as pd
import pytest

import equivoc as eq
from equivoc.tables.cell_table import CellTable
from equivoc.tables.release import TableRelease

DOMAIN = np.arange(0, 41)


def people(seed: int = 0) -> eq.Microdata:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "region": [*"AABBC", *rng.choice(list("ABC"), 15)],
            "sex": [*"FMFMF", *rng.choice(list("FM"), 15)],
            "pay": rng.integers(1, 40, 20).astype(float),
        }
    )
    return eq.Microdata(frame, confidential="pay", keys=["region", "sex"], domain=DOMAIN)


def withheld(table: CellTable, cells: list[int]) -> TableRelease:
    values = table.values.copy()
    values[cells] = np.nan
    return TableRelease(table, values)


SQUARE = [4, 5, 7, 8]
"""Two regions × two sexes: a cycle, so that nothing follows exactly."""


@pytest.mark.parametrize("seed", range(5))
def test_figures_of_totals_are_those_of_the_second_largest_contributor(seed: int) -> None:
    table = eq.tabulate(people(seed), by=["region", "sex"], value="pay")
    result = eq.assess(table, withheld(table, SQUARE), eps=[0, 5])
    # One free number t: the cells of the square are a + t, b − t, c − t, d + t.
    a, b, c, d = table.values[SQUARE]
    low = np.array([a - min(a, d), b - min(b, c), c - min(b, c), d - min(a, d)])
    high = np.array([a + min(b, c), b + min(a, d), c + min(a, d), d + min(b, c)])
    found = result.frame
    assert np.allclose(found["low"], low)
    assert np.allclose(found["high"], high)
    for row, cell in enumerate(SQUARE):
        n, second = int(table.people[cell]), float(table.top[cell, 1])
        if n == 1:
            least, most = low[row], high[row]
        else:
            least, most = max(second, low[row] - (n - 1) * second), high[row] - second
        inside = np.logical_and(np.greater_equal(DOMAIN, least - 1e-9), np.less_equal(DOMAIN, most + 1e-9))
        candidates = DOMAIN[inside]
        expected = eq.curve(candidates, np.full(len(candidates), 1 / len(candidates)))
        assert found["h0"].iloc[row] == pytest.approx(expected.h0)
        assert found["area"].iloc[row] == pytest.approx(expected.area)
        assert found["hit_5"].iloc[row] == pytest.approx(expected.hit(5))


def test_figures_of_counts_are_about_the_count() -> None:
    table = eq.tabulate(people(), by=["region", "sex"])
    result = eq.assess(table, withheld(table, SQUARE))
    a, b, c, d = table.values[SQUARE]
    numbers = min(a, d) + min(b, c) + 1  # of possible t
    assert np.allclose(result.frame["h0"], np.log2(numbers))
    assert result.disclosed == 0


def test_a_single_withheld_cell_is_disclosed() -> None:
    table = eq.tabulate(people(), by=["region", "sex"])
    result = eq.assess(table, withheld(table, [4]), require=["certain_right <= 0", "h0@worst >= 1"])
    assert result.disclosed == 1
    assert [outcome.meets for outcome in result.requirements] == [False, False]
    assert not result.meets


def test_requirements_judge_the_cells() -> None:
    table = eq.tabulate(people(), by=["region", "sex"], value="pay")
    release = withheld(table, SQUARE)
    frame = eq.assess(table, release, eps=[0, 5]).frame
    mean, worst = float(frame["h0"].mean()), float(frame["h0"].min())
    published = np.delete(table.people, SQUARE)
    k = int(published[published > 0].min())
    rules = [f"h0 >= {mean:.6f}", f"h0@worst >= {worst + 1e-3}", f"k >= {k}", "gain <= 1", "hit(5) <= 1"]
    outcomes = eq.assess(table, release, require=rules).requirements
    assert [outcome.meets for outcome in outcomes][1:] == [False, True, False, True]
    assert outcomes[0].value == pytest.approx(mean)
    assert outcomes[1].value == pytest.approx(worst)
    assert "gain does not apply to a table of cells" in outcomes[3].sentence


def test_without_withheld_cells_every_cell_with_contributors_is_assessed() -> None:
    table = eq.tabulate(people(), by=["region", "sex"])
    release = eq.CellRounding(base=5).release(table)
    result = eq.assess(table, release)
    assert len(result.frame) == np.count_nonzero(table.people)
    assert result.summary["withheld"] == 0


def test_a_table_with_something_else_than_its_release_is_refused() -> None:
    table = eq.tabulate(people(), by=["region"])
    with pytest.raises(eq.InputError, match="give a released table"):
        eq.assess(table, eq.Unprotected())
    with pytest.raises(eq.InputError, match="assessed with its table of cells"):
        eq.assess(people(), TableRelease(table, table.values))
