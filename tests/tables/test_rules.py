"""Rules for unsafe cells: against the rules of one cell, exact fractions, and examples from the literature."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import equivoc as eq
from equivoc.tables.cell_table import CellTable
from equivoc.tables.rules import Rule, as_rules, protection_levels, rule_from, unsafe_cells

CELLS = st.lists(st.lists(st.integers(-9, 60), min_size=1, max_size=6), min_size=1, max_size=4)


def table_of(
    cells: list[list[float]], *, agreed: list[list[bool]] | None = None, count: bool = False
) -> CellTable:
    rows = [
        {"cell": f"c{at}", "pay": x, "waiver": agreed is not None and agreed[at][i]}
        for at, cell in enumerate(cells)
        for i, x in enumerate(cell)
    ]
    people = eq.Microdata(pd.DataFrame(rows), confidential="pay", keys=["cell", "waiver"])
    return eq.tabulate(
        people, by=["cell"], value=None if count else "pay", waiver=None if agreed is None else "waiver"
    )


@settings(max_examples=80)
@given(CELLS, st.integers(1, 5), st.integers(1, 99), st.integers(1, 300), st.integers(1, 100))
def test_every_cell_as_the_rule_of_one_cell(cells: list[list[int]], n: int, k: int, p: int, q: int) -> None:
    table = table_of(cells)
    everyone = [[abs(x) for cell in cells for x in cell], *([abs(x) for x in cell] for cell in cells)]
    assert eq.PPercent(p).unsafe(table).tolist() == [eq.models.p_percent(c, p=p) for c in everyone]
    assert eq.PQ(p, q).unsafe(table).tolist() == [eq.models.pq_rule(c, p=p, q=q) for c in everyone]
    assert eq.Dominance(n, k).unsafe(table).tolist() == [eq.models.dominance(c, n=n, k=k) for c in everyone]
    for rule, level in (
        (eq.PPercent(p), lambda x: Fraction(p, 100) * x[0] - sum(x[2:])),
        (eq.PQ(p, q), lambda x: Fraction(p, q) * x[0] - sum(x[2:])),
        (eq.Dominance(n, k), lambda x: Fraction(100, k) * sum(x[:n]) - sum(x)),
    ):
        needed = [max(float(level(sorted(c, reverse=True))), 0.0) for c in everyone]
        assert np.allclose(rule.protection(table), needed, rtol=1e-12, atol=1e-10)
        # A rule calls a cell unsafe exactly if it needs protection.
        assert np.array_equal(rule.unsafe(table), np.array(needed) > 0)


def test_the_handbook_s_examples_with_their_protection() -> None:
    """A. Hundepool et al., Handbook on Statistical Disclosure Control, magnitude tables: total 100,000 with 50,000 and
    49,000 (example 1); total 110,000 with 52,000 and 50,000 (example 2). Protection is 10 % of the largest minus the
    rest: 5,000 − 1,000."""
    table = table_of([[50_000, 49_000, 1_000], [52_000, 50_000, 8_000]])
    assert eq.PPercent(10).unsafe(table).tolist() == [False, True, False]
    assert eq.PPercent(10).protection(table).tolist() == [0, 4_000, 0]
    assert eq.Dominance(n=1, k=90).unsafe(table).tolist() == [False, False, False]
    assert eq.Dominance(n=2, k=90).unsafe(table).tolist() == [False, True, True]
    assert eq.Dominance(n=2, k=90).protection(table).tolist() == pytest.approx(
        [0, 99_000 / 0.9 - 100_000, 102_000 / 0.9 - 110_000]
    )


def test_the_upper_bound_that_protection_asks_for_leaves_an_error_of_p_percent() -> None:
    """If the second contributor believes in a total that is larger by U, her estimate of x_1 is off by p % of x_1."""
    rng = np.random.default_rng(0)
    for _ in range(50):
        cell = np.sort(rng.integers(1, 100, size=rng.integers(1, 6)))[::-1].astype(float)
        table = table_of([cell.tolist()])
        level = eq.PPercent(15).protection(table)[1]
        second = cell[1] if cell.size > 1 else 0.0
        error = cell.sum() + level - second - cell[0]
        assert error >= 0.15 * cell[0] - 1e-9


def test_threshold() -> None:
    cells = [[1.0], [1.0, 2.0], [1.0, 1.0, 1.0], [4.0] * 9]
    counts = table_of(cells, count=True)
    assert eq.Threshold(3).unsafe(counts).tolist() == [False, True, True, False, False]
    assert eq.Threshold(3).protection(counts).tolist() == [0, 2, 1, 0, 0]
    totals = table_of(cells)
    assert eq.Threshold(3, percent=50).protection(totals).tolist() == [0, 0.5, 1.5, 0, 0]


def test_empty_cells_and_cells_of_zeros_are_not_unsafe_by_a_rule_of_contributions() -> None:
    frame = pd.DataFrame({"a": ["x", "y"], "b": ["u", "v"], "pay": [0, 5]})
    table = eq.tabulate(eq.Microdata(frame, confidential="pay", keys=["a", "b"]), by=["a", "b"], value="pay")
    empty = table.people == 0
    assert empty.sum() == 2
    for rule in (eq.PPercent(10), eq.Dominance(), eq.Threshold(3)):
        assert not rule.unsafe(table)[empty].any()
    zero = (table.values == 0) & ~empty
    assert not eq.PPercent(10).unsafe(table)[zero].any()
    assert eq.Threshold(3).unsafe(table)[zero].all()


def test_a_waiver_protects_the_largest_of_the_others() -> None:
    cells = [[1000.0, 10.0, 10.0, 10.0], [1000.0, 10.0], [1000.0], [1000.0, 900.0, 10.0]]
    first = [[True, *[False] * (len(cell) - 1)] for cell in cells]
    table = table_of(cells, agreed=first)
    # Everyone else is hidden by others; one other is not; nobody else; the second is known to the first.
    assert eq.PPercent(10).unsafe(table)[1:].tolist() == [False, True, False, True]
    assert eq.PPercent(10).protection(table)[1:].tolist() == [0, 1, 0, 80]
    assert eq.Dominance(n=1, k=60).unsafe(table)[1:].tolist() == [False, False, False, False]
    assert eq.Dominance(n=2, k=60).unsafe(table)[1:].tolist() == [True, True, False, True]
    assert eq.Threshold(3).unsafe(table)[1:].tolist() == [False, True, False, False]
    everyone = table_of(cells, agreed=[[True] * len(cell) for cell in cells])
    for rule in (eq.PPercent(10), eq.Dominance(), eq.Threshold(3)):
        assert not rule.unsafe(everyone).any()
    nobody = table_of(cells, agreed=[[False] * len(cell) for cell in cells])
    for rule in (eq.PPercent(10), eq.Dominance(n=2), eq.PQ(10, 50)):
        assert np.array_equal(rule.protection(nobody), rule.protection(table_of(cells)))


def test_several_rules_are_unsafe_by_any() -> None:
    table = table_of([[50_000, 49_000, 1_000], [9.0, 9.0], [9_000.0] * 9])
    rules = [eq.PPercent(10), "threshold:3"]
    assert unsafe_cells(table, rules).tolist() == [False, True, True, False]
    assert protection_levels(table, rules)[1] == 4_000
    found = table.unsafe(rules)
    assert list(found.columns) == ["cell", "value", "people", "why", "protection"]
    assert found["why"].tolist() == ["p:10", "p:10; threshold:3"]
    assert found["cell"].tolist() == ["c0", "c1"]
    assert table.unsafe(eq.Threshold(2)).shape == (0, 5)


@pytest.mark.parametrize(
    "rule",
    [
        eq.PPercent(10),
        eq.PPercent(2.5),
        eq.Dominance(n=2, k=85),
        eq.PQ(p=20, q=50),
        eq.Threshold(3),
        eq.Threshold(3, 20),
    ],
)
def test_the_text_of_a_rule_reads_back(rule: Rule) -> None:
    assert rule_from(rule.text) == rule


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: eq.PPercent(0), "p is 0"),
        (lambda: eq.PPercent("10"), "p is '10'"),
        (lambda: eq.PQ(10, 101), "q is 101"),
        (lambda: eq.Dominance(n=0), "n is 0"),
        (lambda: eq.Dominance(k=100), "k is 100"),
        (lambda: eq.Threshold(0), "least is 0"),
        (lambda: eq.Threshold(2.5), "least is 2.5"),
        (lambda: eq.Threshold(3, percent=-1), "percent is -1"),
        (lambda: rule_from("p"), "'p' needs p"),
        (lambda: rule_from("q:3"), "unknown name"),
        (lambda: rule_from("p:ten"), "no number for p"),
        (lambda: rule_from("p:10,10"), "unknown parameter"),
        (lambda: rule_from("p:10,p=3"), "gives p twice"),
        (lambda: rule_from("dominance:m=1"), "unknown parameter"),
        (lambda: as_rules([]), "there is no rule"),
        (lambda: as_rules(eq.PPercent), "the rule is <class"),
        (lambda: as_rules(7), "the rule is 7"),
        (lambda: table_of([[1.0]], count=True).unsafe(eq.PPercent(10)), "counts people, and the p % rule"),
        (lambda: table_of([[1.0]], count=True).unsafe(eq.Dominance()), "counts people, and dominance"),
        (lambda: table_of([[1.0] * 9]).unsafe(eq.Dominance(n=7)), "tabulate with largest=7"),
    ],
)
def test_bad_input(call: Any, sentence: str) -> None:
    with pytest.raises(eq.InputError, match=sentence):
        call()


def test_dominance_with_more_contributors_than_are_kept_is_exact_where_no_cell_has_them() -> None:
    assert table_of([[1.0, 2.0]]).unsafe(eq.Dominance(n=7)).shape[0] == 2
