"""`CellSuppression`: examples by hand, cells that must or must not be suppressed, costs, the time limit, mistakes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import equivoc as eq
from equivoc.errors import InputError
from equivoc.tables.attacker import cell_intervals
from equivoc.tables.cell_table import CellTable, Dimension
from equivoc.tables.suppression.suppress import suppress
from tests.tables.made_tables import table_of, table_of_array
from tests.tables.suppression.test_protection import check_protected, random_table


def investment() -> CellTable:
    """Activities × regions: the example of M. Fischetti and J. J. Salazar (2001), used by many after them. Activity II
    in region C, 22, is confidential; activities II, III × regions A, C are suppressed."""
    return table_of_array(np.array([[20.0, 50, 10], [8, 19, 22], [17, 32, 12]]))


def test_the_published_pattern_of_the_investment_table() -> None:
    # By hand: the four cells move by the same amount. Up by 8 at most (22 and 17 rise, 8 and 12 fall), down by 17
    # (8 and 12 rise, 17 falls): the interval is 5 … 30.
    table = investment()
    pattern = np.zeros((4, 4), dtype=bool)
    pattern[np.ix_([2, 3], [1, 3])] = True
    found = cell_intervals(table, pattern.ravel(), cells=[2 * 4 + 3])
    assert (found.low.tolist(), found.high.tolist()) == ([5.0], [30.0])
    unsafe = np.zeros(16, dtype=bool)
    unsafe[2 * 4 + 3] = True
    best = suppress(
        table,
        unsafe=unsafe,
        protection=np.where(unsafe, 8.0, 0.0),
        cost=table.values,
        must_not=~table.inner,
    )
    # 8 + 17 + 12 = 37 cannot be beaten: with activity I instead, 10 + 20 + 8 = 38.
    assert best.added == 37
    assert best.pattern.tolist() == pattern.ravel().tolist()
    assert best.proven


def test_a_protection_that_one_cycle_cannot_give_needs_more_cells() -> None:
    # Raising the unsafe cell by 12 takes 12 from region A of activity II (8): more cells of its row must help.
    table, unsafe = investment(), np.zeros(16, dtype=bool)
    unsafe[11] = True
    found = suppress(
        table, unsafe=unsafe, protection=np.where(unsafe, 12.0, 0.0), cost=table.values, must_not=~table.inner
    )
    interval = cell_intervals(table, found.pattern, cells=[11])
    assert interval.high[0] >= 34
    assert interval.low[0] <= 10
    assert found.added > 37


def firms() -> CellTable:
    rng = np.random.default_rng(5)
    contributions = {key: list(np.ceil(rng.lognormal(3, 1, size=4))) for key in np.ndindex(4, 4)}
    contributions[(1, 2)] = [90.0, 2.0]
    return table_of(
        [Dimension.flat("region", list("nesw")), Dimension.flat("branch", [1, 2, 3, 4])], contributions
    )


def test_cells_that_must_and_must_not_be_suppressed() -> None:
    table, rule = firms(), eq.PPercent(5)
    plain = eq.CellSuppression(rule=rule).release(table)
    extra = [tuple(cell) for cell in labels(table, plain.withheld & ~plain.primary)]
    assert extra
    without = eq.CellSuppression(rule=rule, must_not=[extra[0]]).release(table)
    assert extra[0] not in labels(table, without.withheld)
    assert without.added > plain.added
    check_protected(without, rule)
    with_margin = eq.CellSuppression(rule=rule, must=[("n", None)]).release(table)
    assert ("n", None) in labels(table, with_margin.withheld)
    check_protected(with_margin, rule)
    mask = np.zeros(len(table), dtype=bool)
    mask[int(np.flatnonzero(table.inner)[0])] = True
    assert eq.CellSuppression(rule=rule, must=mask).release(table).withheld[mask].all()


def labels(table: CellTable, cells: Any) -> list[tuple[Any, ...]]:
    return [
        tuple(d.labels[int(node)] for d, node in zip(table.dimensions, nodes, strict=True))
        for nodes in table.nodes[cells]
    ]


def test_costs() -> None:
    table, rule = firms(), eq.PPercent(5)
    few = eq.CellSuppression(rule=rule, cost="equal").release(table)
    people = eq.CellSuppression(rule=rule, cost="count").release(table)
    given = eq.CellSuppression(rule=rule, cost=np.arange(25.0)).release(table)
    assert few.added == np.count_nonzero(few.withheld & ~few.primary) == 3  # no fewer than a cycle of four
    assert people.added == table.people[people.withheld & ~people.primary].sum()
    assert given.added == np.flatnonzero(given.withheld & ~given.primary).sum()
    for release in (few, people, given):
        check_protected(release, rule)


def test_the_frames() -> None:
    table = firms()
    release = eq.CellSuppression(rule=eq.PPercent(5)).release(table)
    frame = release.suppressed
    assert list(frame.columns) == ["region", "branch", "primary", "low", "high"]
    assert frame["primary"].sum() == np.count_nonzero(eq.PPercent(5).unsafe(table))
    found = cell_intervals(table, release.withheld)
    np.testing.assert_allclose(frame["low"], found.low)
    np.testing.assert_allclose(frame["high"], found.high)
    assert release.table["value"].isna().tolist() == release.withheld.tolist()
    assert "no contribution is negative" in release.mechanism
    assert release.seconds > 0


def test_a_time_limit_gives_a_protected_pattern_and_says_so() -> None:
    rng = np.random.default_rng(0)
    dimensions = [Dimension.flat(name, list(range(5))) for name in "abc"]
    table = table_of(dimensions, {key: list(rng.lognormal(3, 1.5, size=5)) for key in np.ndindex(5, 5, 5)})
    rule = eq.PPercent(15)
    release = eq.CellSuppression(rule=rule, time_limit=1e-3).release(table)
    check_protected(release, rule)
    assert not release.proven
    assert release.gap > 0
    assert (
        release.notes[0]
        == "The time limit of 0.001 seconds was reached: this is the best protected pattern so far."
    )
    assert "not proven" in release.notes[1]


def test_larger_tables_come_near_the_bound() -> None:
    rng = np.random.default_rng(1)
    dimensions = [Dimension.flat(name, list(range(5))) for name in "abc"]
    table = table_of(dimensions, {key: list(rng.lognormal(3, 1.5, size=6)) for key in np.ndindex(5, 5, 5)})
    rule = eq.PPercent(15)
    release = eq.CellSuppression(rule=rule).release(table)
    check_protected(release, rule)
    assert release.bound <= release.added <= 2 * release.bound
    everything = table.values[~release.primary & (table.people > 0)].sum()
    assert release.added < everything


def test_an_unsafe_cell_that_cannot_be_protected_is_named() -> None:
    table = table_of([Dimension.flat("a", ["x", "y"])], {(0,): [5.0], (1,): []})
    rule = eq.Threshold(3)
    every = eq.CellSuppression(rule=rule).release(table)  # its margin is the same and unsafe too
    assert every.withheld.tolist() == [True, True, False]
    unsafe = np.array([False, True, False])
    with pytest.raises(
        InputError, match=r"the unsafe cell a = 'x' cannot be protected: .* suppress the grand total"
    ):
        suppress(table, unsafe=unsafe, protection=np.where(unsafe, 1.0, 0.0), cost=table.values)


def test_must_not_that_leaves_no_way_is_named() -> None:
    table = firms()
    others = np.ones(len(table), dtype=bool)
    others[eq.PPercent(5).unsafe(table)] = False
    with pytest.raises(InputError, match=r"cannot be protected: .* allow some of the cells in must_not"):
        eq.CellSuppression(rule=eq.PPercent(5), must_not=others).release(table)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"cost": "price"}, "cost is 'price'; give value, count, equal"),
        ({"cost": [1.0, 2.0]}, "cost has shape"),
        ({"cost": -np.ones(25)}, "must be 0 or more"),
        ({"cost": ["a"] * 25}, "cost must be value"),
        ({"time_limit": 0}, "time_limit is 0"),
        ({"must": [("n",)]}, "names no cell; give 2 labels"),
        ({"must": [("q", 1)]}, "region has no category 'q'"),
        ({"must": "n"}, "give a list of cells"),
        ({"must": np.ones(3, dtype=bool)}, "True or False for each of the 25 cells"),
        ({"must_not": [("e", 3)]}, "must_not holds the cell region = 'e', branch = 3, which is unsafe"),
        ({"must": [("n", 1)], "must_not": [("n", 1)]}, "which is in must"),
        ({"rule": "nothing"}, "nothing"),
    ],
)
def test_mistakes_are_named(change: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        eq.CellSuppression(**{"rule": eq.PPercent(5), **change}).release(firms())


def test_tables_that_cannot_be_used_are_named() -> None:
    technique = eq.CellSuppression(rule=eq.PPercent(5))
    with pytest.raises(InputError, match=r"make one with eq.tabulate"):
        technique.release(np.zeros(3))  # type: ignore[arg-type]
    table = firms()
    table.values[7] = np.nan
    with pytest.raises(InputError, match="has no value; suppression starts from a complete table"):
        technique.release(table)
    table = firms()
    table.values[7] += 1
    with pytest.raises(InputError, match="add up"):
        technique.release(table)
    unsafe = np.arange(25) == 8
    with pytest.raises(InputError, match=r"protection of the cell .* is -1; it must be 0 or more"):
        suppress(firms(), unsafe=unsafe, protection=-np.ones(25), cost=np.ones(25))


def test_negative_contributions_leave_no_lower_bound() -> None:
    table = random_table(6 * 4 + 1)  # two keys, negative contributions
    assert (table.top < 0).any()
    rule = eq.Threshold(3)
    release = eq.CellSuppression(rule=rule).release(table)
    check_protected(release, rule)
    assert "negative" not in release.mechanism
