"""Methods that protect a table, compared: their figures against assessments of each, the choice by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import equivoc as eq
from tests.report.conftest import HOSTILE

SALES = [5003, 107, 2011, 1801, 1603, 1409, 2203, 1907, 3001, 2609, 2411, 2801]
RULE = eq.Dominance(n=1, k=90)
UP = {"region": {"n": "west", "s": "west", "e": "east"}}


def made(value: str | None = "sales", first: str = "n") -> eq.CellTable:
    frame = pd.DataFrame(
        {"region": [first] * 4 + list("sssseeee"), "branch": list("aabb") * 3, "sales": SALES}
    )
    people = eq.Microdata(frame, confidential="sales", keys=["region", "branch"], domain=range(6001))
    return eq.tabulate(people, by=["region", "branch"], value=value)


@pytest.fixture(scope="module")
def table() -> eq.CellTable:
    return made()


@pytest.fixture(scope="module")
def done(table: eq.CellTable) -> Any:
    methods = [
        eq.Unprotected(),
        eq.CellSuppression(rule=RULE),
        eq.CellRounding(base=500, method="controlled"),
        eq.Redesign(rule=RULE, hierarchies=UP),
    ]
    return eq.compare(table, methods, require=["hit(100) <= 0.2"])


def test_figures_are_those_of_the_unsafe_cell(done: Any, table: eq.CellTable) -> None:
    """The one unsafe cell is n, a; the second largest contributor, 107, knows the rest of what is published."""
    assert done.cells == "the 1 cell that is unsafe by dominance:n=1,k=90"
    by_name = done.frame.set_index("technique")
    assert by_name.loc["unprotected", "hit"] == 1
    assert by_name.loc["unprotected", "h0"] == 0
    suppressed = eq.assess(table, eq.CellSuppression(rule=RULE).release(table), eps=[0, 100]).frame
    row = suppressed[(suppressed["region"] == "n") & (suppressed["branch"] == "a")].iloc[0]
    assert by_name.loc["cell-suppression", "h0"] == row["h0"]
    assert by_name.loc["cell-suppression", "area"] == row["area"]
    # West, a is 8,122 in total, so x1 lies between max(107, 0 − 107) and 8,122 − 107, within the domain.
    assert by_name.loc["redesign", "h0"] == pytest.approx(np.log2(6000 - 107 + 1))
    assert by_name.loc["redesign", "certain_right"] == 0
    assert by_name.loc["redesign", "k"] == 2


def test_losses_are_those_of_utility(done: Any, table: eq.CellTable) -> None:
    for method, (_, row) in zip(done.methods, done.frame.iterrows(), strict=True):
        if isinstance(method, eq.Unprotected):
            assert row["cell_error"] == row["cells_suppressed"] == 0
            continue
        lost = eq.utility(table, method.release(table)).set_index("measure")["value"]
        for measure in (
            "cell_error",
            "cells_suppressed",
            "total_suppressed",
            "rounding_distance",
            "cells_lost",
        ):
            assert (measure in lost.index) == (not np.isnan(row[measure]))
            if measure in lost.index:
                assert row[measure] == lost[measure]


def test_the_choice_loses_the_least_of_those_that_meet(done: Any) -> None:
    frame = done.frame
    meeting = frame[frame["hit"].notna() & frame["meets"]]
    assert list(frame["meets"]) == [value <= 0.2 for value in done.why["value"]]
    best = meeting["cell_error"].idxmin()
    assert done.choice is done.methods[best]
    assert frame["choice"].tolist() == [at == best for at in range(4)]
    assert done.headline.startswith(f"Take {done.compared[best].notation}")
    assert set(done.reasons) == {each.notation for at, each in enumerate(done.compared) if at != best}
    for at, row in frame.iterrows():
        beaten = (frame["risk"] <= row["risk"]) & (frame["loss"] <= row["loss"])
        better = (frame["risk"] < row["risk"]) | (frame["loss"] < row["loss"])
        assert row["front"] == (not (beaten & better).any()), at


def test_none_meets(table: eq.CellTable) -> None:
    done = eq.compare(table, [eq.Unprotected(), eq.CellRounding(base=5)], require=["h0 >= 30"])
    assert done.choice is None
    assert not done.meets
    assert done.headline.startswith("None of 2 techniques meets every requirement. h0 >= 30 is met by none.")


def test_replicates_of_a_random_method(table: eq.CellTable) -> None:
    methods = [eq.CellRounding(base=5), eq.CellRounding(base=1000, method="random")]
    done = eq.compare(table, methods, replicates=3, seed=4)
    assert [each.releases for each in done.compared] == [1, 3]
    errors = [
        eq.utility(table, methods[1].release(table, seed)).set_index("measure")["value"]["cell_error"]
        for seed in (4, 5, 6)
    ]
    row = done.frame.iloc[1]
    assert row["cell_error"] == pytest.approx(np.mean(errors))
    assert row["cell_error_low"] <= row["cell_error"] <= row["cell_error_high"]
    assert done.cells == "all 12 cells with contributors"


def test_counts_and_noise() -> None:
    counts = made(value=None)
    done = eq.compare(counts, [eq.NoisyCells(epsilon=0.5), eq.CellSuppression(rule=eq.Threshold(3))])
    assert done.frame["h0"].gt(0).all()


def test_it_is_shown_as_text_and_as_a_map() -> None:
    table = made(first=HOSTILE)
    done = eq.compare(table, [eq.CellSuppression(rule=RULE), eq.CellRounding(base=500)], require=["h0 >= 1"])
    assert HOSTILE not in done._repr_html_()
    assert "TableComparison: 2 methods" in repr(done)
    assert "limit: h0 >= 1" in str(done.plot().to_dict())


@pytest.mark.parametrize(
    ("methods", "options", "sentence"),
    [
        ([], {}, "no method to compare"),
        ([eq.Sampling(0.1)], {}, "does not protect a table"),
        ([eq.CellRounding(5), eq.CellRounding(5)], {}, "given twice"),
        ([eq.CellRounding(5)], {"utility": "cells_supressed"}, "did you mean 'cells_suppressed'"),
        ([eq.CellRounding(5)], {"known": ["region"]}, "do not apply to a table of cells"),
        ([eq.CellRounding(5)], {"replicates": 0}, "replicates"),
        ([eq.NoisyCells(1)], {}, "noisy-cells:epsilon=1: "),
        ([eq.CellRounding(5)], {"require": ["k >= 3", "k <= 2"]}, "k"),
    ],
)
def test_mistakes_are_named(
    table: eq.CellTable, methods: list[Any], options: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(eq.InputError) as refused:
        eq.compare(table, methods, **options)
    assert sentence in str(refused.value)


def test_random_methods_that_decide_the_choice_are_drawn_five_times() -> None:
    counts = made(value=None)
    close = [eq.NoisyCells(epsilon=0.5), eq.NoisyCells(epsilon=0.52)]
    done = eq.compare(counts, close, seed=3)
    assert [each.releases for each in done.compared] == [5, 5]
    for method, row in zip(close, done.frame.to_dict("records"), strict=True):
        lost = [
            eq.utility(counts, method.release(counts, seed)).set_index("measure")["value"]["cell_error"]
            for seed in range(3, 8)
        ]
        assert row["cell_error"] == pytest.approx(np.mean(lost))
    assert "These draws cannot tell it apart from noisy-cells" in done.headline
    assert done.frame["tied"].sum() == 1
    assert [each.releases for each in eq.compare(counts, close, replicates=2).compared] == [2, 2]
    clear = eq.compare(counts, [eq.NoisyCells(epsilon=0.01), eq.NoisyCells(epsilon=5)])
    assert (clear.choice, clear.tied) == (eq.NoisyCells(epsilon=5), [])


def test_a_method_that_cannot_run_is_a_row(table: eq.CellTable) -> None:
    """Noise on totals is refused; rounding is compared all the same, and is chosen."""
    done = eq.compare(table, [eq.NoisyCells(1), eq.CellRounding(5)], require=["h0 >= 0"])
    assert done.frame["failed"].str.len().gt(0).tolist() == [True, False]
    assert not done.frame["meets"][0]
    assert done.frame[["h0", "cell_error"]].isna().all(axis=1).tolist() == [True, False]
    assert done.choice == eq.CellRounding(5)
    assert "noisy-cells:epsilon=1 could not be measured" in done.headline
    alone = eq.compare(table, [eq.CellRounding(5)], require=["h0 >= 0"])
    shared = ["h0", "area", "hit", "cell_error"]
    assert done.frame[shared].iloc[1].tolist() == alone.frame[shared].iloc[0].tolist()
