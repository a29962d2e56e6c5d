"""No unsafe cell's interval is narrower than its protection: random tables of many shapes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from equivoc.errors import InputError
from equivoc.tables.attacker import cell_intervals
from equivoc.tables.cell_table import CellTable, Dimension
from equivoc.tables.rules import Dominance, PPercent, Rule, Threshold
from equivoc.tables.suppression.cell_suppression import CellSuppression, SuppressedTable
from tests.tables.made_tables import table_of, tree
from tests.tables.suppression.oracle import Oracle, attacks, own_part, singles, sums_of_inner_cells

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


def from_the_largest(table: CellTable, cell: int, rule: Rule) -> float:
    """What the second largest contributor's protection from the largest needs, written out from the rules."""
    total, (first, second) = table.contributions[cell], np.abs(table.top[cell, :2])
    if isinstance(rule, PPercent):
        return float(max(rule.p / 100 * second - (total - first - second), 0.0))
    if isinstance(rule, Dominance) and rule.n == 1:
        return float(max(100 / rule.k * second - total, 0.0))
    assert isinstance(rule, Threshold)
    rest = max(abs(table.values[cell] - table.top[cell, 0]), total - first)
    return float(rule.percent / 100 * rest)


def check_protected(release: SuppressedTable, rule: Rule) -> None:
    """Everybody's interval, and that of each single contributor who shares a relation with the unsafe cell."""
    table, hidden = release.cells, release.withheld
    unsafe, protection = rule.unsafe(table), rule.protection(table)
    assert hidden[unsafe].all()
    negative = bool((table.top < 0).any() or (table.values < 0).any())
    lowest = -np.inf if negative else 0.0

    def check(
        cells: list[int], low: np.ndarray, high: np.ndarray, accuracy: np.ndarray, known: set[int]
    ) -> None:
        for at, cell in enumerate(cells):
            own = own_part(table, known, cell) if known else 0.0
            first, second = np.abs(table.top[cell, :2])
            largest = abs(own) == first > second
            value = table.values[cell]
            level = from_the_largest(table, cell, rule) if largest else protection[cell]
            slack = 1e-7 * level + 10 * accuracy[at]
            assert high[at] >= value + level - slack
            assert low[at] <= max(value - level, lowest + own) + slack

    some = [int(cell) for cell in np.flatnonzero(unsafe)]
    if not some:
        return
    # What the release says of them, without a tolerance for the programs: it was proven in the level's own unit.
    low, high = release.bounds
    for cell in some:
        assert high[cell] - low[cell] >= protection[cell] * (1 - 1e-9)
    everybody = cell_intervals(table, hidden, cells=some)
    check(some, everybody.low, everybody.high, everybody.accuracy, set())
    for known in singles(table):
        theirs = [cell for cell in some if attacks(table, known, cell)]
        if theirs:
            own = {cell: float(table.values[cell]) for cell in known if hidden[cell]}
            found = cell_intervals(table, hidden, known=own, cells=theirs)
            check(theirs, found.low, found.high, found.accuracy, known)


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


def tables_she_cannot_exclude(table: CellTable, hidden: np.ndarray, own: int) -> np.ndarray:
    """Every whole-number table of at least 0 that agrees with the published cells and with the cell ``own``."""
    sums = sums_of_inner_cells(table).astype(np.int64)
    fixed = np.flatnonzero(~hidden | (np.arange(len(table)) == own))
    parts, wanted = sums[fixed], table.values[fixed].astype(np.int64)
    found: list[list[int]] = []

    def extend(start: list[int], left: np.ndarray) -> None:
        at = len(start)
        if at == sums.shape[1]:
            if not left.any():
                found.append(start)
            return
        for value in range(int(left[parts[:, at] > 0].min()) + 1):
            extend([*start, value], left - value * parts[:, at])

    extend([], wanted)
    return np.array(found) @ sums.T


def whole_number_tables() -> list[CellTable]:
    """In the first ones, two single contributors share a row; in the others, one is the largest of an unsafe row."""
    one_way = [Dimension.flat("a", range(4))]
    safe = {(2,): [2.0, 2.0, 2.0], (3,): [3.0, 3.0, 3.0]}
    tables = [table_of(one_way, {(0,): [x], (1,): [y], **safe}) for x, y in ((3.0, 2.0), (5.0, 1.0))]
    two_way = [Dimension.flat("a", range(2)), Dimension.flat("b", range(3))]
    below = {(1, at): [2.0, 2.0, 1.0] for at in range(3)}
    firsts = (([6.0], [2.0], []), ([4.0], [1.0], []), ([5.0], [3.0], [1.0]), ([6.0], [1.0, 1.0], []))
    return tables + [table_of(two_way, {**below, **{(0, at): row[at] for at in range(3)}}) for row in firsts]


def estimates(table: CellTable, hidden: np.ndarray, p: float) -> list[tuple[bool, bool]]:
    """Of each single contributor and unsafe cell that she might compute: whether she is its largest contributor, and
    whether the largest other one could be p % more than it is, for all that she can exclude."""
    found = []
    for known in singles(table):
        own = next(cell for cell in known if table.inner[cell])
        possible = tables_she_cannot_exclude(table, hidden, own)
        for cell in np.flatnonzero(PPercent(p).unsafe(table)):
            if attacks(table, known, int(cell)):
                hers = own_part(table, known, int(cell))
                first, second = table.top[cell, :2]
                target = second if hers == first else first
                # She subtracts what she contributed; the others may have contributed nothing.
                holds = possible[:, cell].max() - hers >= (1 + p / 100) * target - 1e-9
                found.append((bool(hers == first > second), bool(holds)))
    return found


def test_no_single_contributor_estimates_another_within_p_percent() -> None:
    """From the definition of the rule, not from protection levels, over all tables that she cannot exclude."""
    p, every, careless = 30.0, [], []
    for table in whole_number_tables():
        every += estimates(table, CellSuppression(rule=PPercent(p)).release(table).withheld, p)
        unaware = CellSuppression(rule=PPercent(p), singles=False).release(table)
        careless += estimates(table, unaware.withheld, p)
    assert all(holds for _, holds in every)
    assert sum(largest for largest, _ in every) >= 2
    assert not all(holds for _, holds in careless)  # the check can fail
