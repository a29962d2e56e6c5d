"""No unsafe cell's interval is narrower than its protection: random tables of many shapes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from equivoc.errors import InputError
from equivoc.tables.attacker.intervals import cell_intervals
from equivoc.tables.cell_table import CellTable
from equivoc.tables.dimension import Dimension
from equivoc.tables.rules import Dominance, PPercent, Rule, Threshold
from equivoc.tables.suppression.cell_suppression import CellSuppression, SuppressedTable
from tests.tables.made_tables import table_of, tree
from tests.tables.suppression.oracle import Oracle, attacks, singles

SHAPES = (
    lambda: [Dimension.flat("a", range(6))],
    lambda: [Dimension.flat("a", range(4)), Dimension.flat("b", range(5))],
    lambda: [tree("a", [2, 3]), Dimension.flat("b", range(3))],
    lambda: [tree("a", [2, 2]), tree("b", [2, 2])],
    lambda: [Dimension.flat("a", range(3)), Dimension.flat("b", range(2)), Dimension.flat("c", range(3))],
    lambda: [tree("a", [2, 2]), Dimension.flat("b", range(2)), Dimension.flat("c", range(2))],
)
KINDS = ("lognormal", "heaped", "whole", "large and small", "negative")


def random_table(seed: int) -> CellTable:
    rng = np.random.default_rng(seed)
    dimensions = SHAPES[seed % len(SHAPES)]()
    kind = KINDS[seed // len(SHAPES) % len(KINDS)]
    empty = rng.choice([0.0, 0.2, 0.5])
    contributions = {}
    for key in np.ndindex(*[len(dimension.leaves) for dimension in dimensions]):
        count = 0 if rng.random() < empty else int(rng.integers(1, 6))
        drawn = rng.lognormal(3, 1.5, size=count)
        if kind == "heaped":
            drawn = np.ceil(drawn / 10) * 10
        elif kind == "whole":
            drawn = np.ceil(drawn)
        elif kind == "large and small":
            drawn *= 10.0 ** rng.integers(-3, 6)
        elif kind == "negative":
            drawn *= rng.choice([-1, 1], size=count, p=[0.2, 0.8])
        contributions[key] = list(drawn)
    return table_of(dimensions, contributions)


def check_protected(release: SuppressedTable, rule: Rule) -> None:
    """Everybody's interval, and that of each single contributor who shares a relation with the unsafe cell."""
    table, hidden = release.cells, release.withheld
    unsafe, protection = rule.unsafe(table), rule.protection(table)
    assert hidden[unsafe].all()
    negative = bool((table.top < 0).any() or (table.values < 0).any())
    lowest = -np.inf if negative else 0.0

    def check(cells: list[int], low: np.ndarray, high: np.ndarray, accuracy: np.ndarray) -> None:
        for at, cell in enumerate(cells):
            value, level = table.values[cell], protection[cell]
            slack = 1e-7 * level + 10 * accuracy[at]
            assert high[at] >= value + level - slack
            assert low[at] <= max(value - level, lowest) + slack

    some = [int(cell) for cell in np.flatnonzero(unsafe)]
    if not some:
        return
    # What the release says of them, without a tolerance for the programs: it was proven in the level's own unit.
    low, high = release.bounds
    for cell in some:
        assert high[cell] - low[cell] >= protection[cell] * (1 - 1e-9)
    everybody = cell_intervals(table, hidden, cells=some)
    check(some, everybody.low, everybody.high, everybody.accuracy)
    for known in singles(table):
        theirs = [cell for cell in some if attacks(table, known, cell)]
        if theirs:
            own = {cell: float(table.values[cell]) for cell in known if hidden[cell]}
            found = cell_intervals(table, hidden, known=own, cells=theirs)
            check(theirs, found.low, found.high, found.accuracy)


@settings(max_examples=50)
@given(st.integers(0, 10**6))
@example(6)
@example(29)
def test_random_tables_are_protected(seed: int) -> None:
    table = random_table(seed)
    rule = (PPercent(15), Dominance(n=1, k=80), Threshold(3))[seed % 7 % 3]
    technique = CellSuppression(rule=rule, time_limit=30)
    try:
        release = technique.release(table)
    except InputError:
        everything = table.people > 0
        everything[0] = rule.unsafe(table)[0]
        assert not Oracle(table, rule.unsafe(table), rule.protection(table)).protected(everything)
        with pytest.raises(InputError, match="cannot be protected"):
            technique.release(table)
        return
    check_protected(release, rule)
    assert release.bound <= release.added * (1 + 1e-9)
    published = ~release.withheld
    np.testing.assert_array_equal(release.values[published], table.values[published])
    empty = table.people == 0
    assert not release.withheld[empty].any()


def test_without_unsafe_cells_nothing_is_changed() -> None:
    table = table_of(
        [Dimension.flat("a", [1, 2]), Dimension.flat("b", [1, 2])],
        {key: [5.0, 5.0, 5.0, 5.0, 5.0] for key in np.ndindex(2, 2)},
    )
    release = CellSuppression(rule=PPercent(10)).release(table)
    np.testing.assert_array_equal(release.values, table.values)
    assert (release.added, release.bound, release.gap, release.proven, release.notes) == (0, 0, 0, True, ())
    assert len(release.suppressed) == 0


def test_two_single_contributors_do_not_disclose_each_other() -> None:
    """One row: two cells of one contributor each would protect each other from outsiders, not from themselves."""
    dimension = Dimension.flat("a", ["x", "y", "z", "w"])
    table = table_of([dimension], {(0,): [8.0], (1,): [7.0], (2,): [9.0, 9.0, 9.0], (3,): [30.0, 30.0, 30.0]})
    rule = Threshold(2)
    alone = CellSuppression(rule=rule, singles=False).release(table)
    assert alone.withheld.tolist() == [False, True, True, False, False]
    together = CellSuppression(rule=rule).release(table)
    assert together.withheld.tolist() == [False, True, True, True, False]
    check_protected(together, rule)
    with pytest.raises(AssertionError):  # the check can fail
        check_protected(alone, rule)
