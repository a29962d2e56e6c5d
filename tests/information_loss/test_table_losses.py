"""What a released table loses, against sums written out by hand."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import equivoc as eq

FIRMS = pd.DataFrame(
    {
        "region": list("nnnnsssseeee"),
        "branch": list("aabbaabbaabb"),
        "sales": [50, 1, 20, 18, 16, 14, 22, 19, 30, 26, 24, 28],
    }
)


@pytest.fixture(scope="module")
def table() -> eq.CellTable:
    people = eq.Microdata(FIRMS, confidential="sales", keys=["region", "branch"])
    return eq.tabulate(people, by=["region", "branch"], value="sales")


def measured(table: eq.CellTable, release: object) -> dict[str, float]:
    found = eq.utility(table, release)
    assert list(found.columns) == ["measure", "attribute", "value", "meaning"]
    assert all(found["meaning"].str.len() > 20)
    return dict(zip(found["measure"], found["value"], strict=True))


def test_suppression(table: eq.CellTable) -> None:
    release = eq.CellSuppression(rule=eq.Dominance(n=1, k=90)).release(table)
    found = measured(table, release)
    assert found["cells_suppressed"] == pytest.approx(4 / 12)
    hidden = FIRMS[FIRMS["region"].isin(["n", "s"])]["sales"].sum()
    assert found["total_suppressed"] == pytest.approx(hidden / FIRMS["sales"].sum())
    middle = {("n", "a"): 45.5, ("n", "b"): 43.5, ("s", "a"): 35.5, ("s", "b"): 35.5}
    true = FIRMS.groupby(["region", "branch"])["sales"].sum()
    apart = sum(abs(value - true[cell]) for cell, value in middle.items())
    assert found["cell_error"] == pytest.approx(apart / true.sum())
    assert "rounding_distance" not in found


def test_rounding(table: eq.CellTable) -> None:
    found = measured(table, eq.CellRounding(base=10).release(table))
    every = table.frame["value"]
    nearest = np.floor(every / 10 + 0.5) * 10
    assert found["rounding_distance"] == pytest.approx((nearest - every).abs().mean() / 10)
    inner = table.frame["region"].notna() & table.frame["branch"].notna()
    assert found["cell_error"] == pytest.approx((nearest - every)[inner].abs().sum() / every[inner].sum())
    assert found["cells_suppressed"] == found["total_suppressed"] == 0


def test_redesign(table: eq.CellTable) -> None:
    merged = eq.Redesign(
        rule=eq.Dominance(n=1, k=90), hierarchies={"region": {"n": "ns", "s": "ns", "e": "e"}}
    )
    found = measured(table, merged.release(table))
    assert found["cells_lost"] == pytest.approx(2 / 6)
    true = FIRMS.groupby(["region", "branch"])["sales"].sum()
    apart = sum(abs((true["n", b] + true["s", b]) / 2 - true[r, b]) for r in ("n", "s") for b in ("a", "b"))
    assert found["cell_error"] == pytest.approx(apart / true.sum())


@pytest.mark.parametrize(
    "method",
    [
        eq.CellSuppression(rule=eq.Threshold(1)),
        eq.CellRounding(base=1),
        eq.Redesign(rule=eq.Threshold(1)),
    ],
)
def test_an_unprotected_table_loses_nothing(table: eq.CellTable, method: object) -> None:
    assert set(measured(table, method.release(table)).values()) == {0.0}  # type: ignore[attr-defined]


def test_mistakes_are_named(table: eq.CellTable) -> None:
    people = eq.Microdata(FIRMS, confidential="sales", keys=["region", "branch"])
    other = eq.tabulate(people, by=["region"], value="sales")
    release = eq.CellRounding(base=5).release(table)
    with pytest.raises(eq.InputError, match="another table"):
        eq.utility(other, release)
    with pytest.raises(eq.InputError, match=r"eq\.utility\(table, release\)"):
        eq.utility(people, release)
    with pytest.raises(eq.InputError, match="CellSuppression"):
        eq.utility(table, eq.Rounding(base=5))
