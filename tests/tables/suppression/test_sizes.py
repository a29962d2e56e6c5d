"""Tables of very large and very small numbers: the same pattern in every unit, and a sentence where there is none."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import equivoc as eq
from equivoc.systems.programs import UnsolvableError
from equivoc.tables.attacker import cell_intervals
from equivoc.tables.cell_table import CellTable

FIRMS = pd.DataFrame(
    {
        "region": list("nnnnsssseeee"),
        "branch": list("aabbaabbaabb"),
        "sales": [50.0, 1, 20, 18, 16, 14, 22, 19, 30, 26, 24, 28],
    }
)
RULE = eq.Dominance(n=1, k=90)


def in_unit(unit: float) -> CellTable:
    frame = FIRMS.assign(sales=FIRMS["sales"] * unit)
    people = eq.Microdata(frame, confidential="sales", keys=["region", "branch"])
    return eq.tabulate(people, by=["region", "branch"], value="sales")


@pytest.mark.parametrize("unit", [2.0**-900, 1e-20, 1e6, 1e15, 1e20, 1e31, 1e100, 2.0**480])
def test_the_unit_does_not_change_the_pattern(unit: float) -> None:
    """HiGHS takes 1e20 for infinite: costs of that size ended in `Unknown`."""
    plain = eq.CellSuppression(rule=RULE).release(in_unit(1.0))
    scaled = eq.CellSuppression(rule=RULE).release(in_unit(unit))
    assert scaled.withheld.tolist() == plain.withheld.tolist()
    assert scaled.proven
    assert scaled.added == pytest.approx(plain.added * unit)
    assert scaled.bound == pytest.approx(plain.bound * unit)
    for one, other in zip(scaled.bounds, plain.bounds, strict=True):
        np.testing.assert_allclose(one, other * unit, rtol=1e-6, atol=1e-6 * unit)


def test_costs_of_any_size() -> None:
    table = in_unit(1.0)
    plain = eq.CellSuppression(rule=RULE, cost=np.arange(12.0)).release(table)
    for unit in (1e-200, 1e25, 1e290):
        scaled = eq.CellSuppression(rule=RULE, cost=np.arange(12.0) * unit).release(table)
        assert scaled.withheld.tolist() == plain.withheld.tolist()
        assert scaled.added == pytest.approx(plain.added * unit)


def test_numbers_that_no_program_can_be_solved_for_are_an_input_error() -> None:
    """Totals over a hundred orders of magnitude, and no lower bound: HiGHS ends with Unknown in some."""
    rng, refused = np.random.default_rng(7), set[str]()
    for _ in range(160):
        values = 10 ** rng.uniform(*sorted(rng.uniform(-300, 150, 2)), (4, 4))
        frame = pd.DataFrame(
            [(str(a), str(b), values[a, b]) for a in range(4) for b in range(4)], columns=["a", "b", "v"]
        )
        table = eq.tabulate(eq.Microdata(frame, confidential="v", keys=["a", "b"]), by=["a", "b"], value="v")
        hidden = table.inner & (rng.random(len(table)) < 0.6)
        try:
            cell_intervals(table, hidden, lower=-np.inf)
        except UnsolvableError as error:
            refused.add(str(error))
    assert len(refused) == 1
    assert "too large, or of too different size, to compute with" in refused.pop()
