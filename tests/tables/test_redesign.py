"""Redesign: against every combination of levels, each tabulated from recoded people."""

from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd
import pytest

from equivoc.attributes.hierarchy import Hierarchy
from equivoc.data.microdata import Microdata
from equivoc.errors import InputError
from equivoc.tables.attacker import cell_intervals
from equivoc.tables.cell_table import CellTable
from equivoc.tables.redesign import Redesign
from equivoc.tables.rules import Dominance, PPercent, Threshold
from equivoc.tables.tabulate import tabulate

TOWNS: dict[str, tuple[str, ...]] = {
    "a1": ("a", "north"),
    "a2": ("a", "north"),
    "b1": ("b", "north"),
    "b2": ("b", "north"),
    "c1": ("c", "south"),
    "c2": ("c", "south"),
}
AGES: dict[str, tuple[str, ...]] = {str(age): (f"{age // 20 * 20}s",) for age in range(20, 80, 10)}
HIERARCHIES: dict[str, dict[str, tuple[str, ...]]] = {"town": TOWNS, "age": AGES}


def people_of(seed: int, size: int = 90) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "town": rng.choice(list(TOWNS), size, p=[0.4, 0.1, 0.2, 0.05, 0.2, 0.05]),
            "age": rng.choice(list(AGES), size),
            "pay": np.rint(rng.lognormal(3, 1, size)),
            "firm": rng.choice([f"f{i}" for i in range(12)], size),
        }
    )


def microdata(frame: pd.DataFrame) -> Microdata:
    return Microdata(frame, confidential="pay", keys=["town", "age", "firm"])


def recoded(frame: pd.DataFrame, levels: dict[str, int]) -> pd.DataFrame:
    """The people with their keys at these levels; one level above the last group all are '*'."""
    out = frame.copy()
    for key, groups in HIERARCHIES.items():
        level = levels[key]
        names = {value: (value, *above, "*")[level] for value, above in groups.items()}
        out[key] = out[key].map(names)
    return out


def entropy_loss(frame: pd.DataFrame, coarse: pd.DataFrame) -> float:
    """H(cell) − H(released cell), from the people."""

    def entropy(keys: pd.DataFrame) -> float:
        shares = keys.value_counts(normalize=True).to_numpy()
        return float(-(shares * np.log2(shares)).sum())

    return entropy(frame[["town", "age"]]) - entropy(coarse[["town", "age"]])


@pytest.mark.parametrize(
    "rule", [Threshold(3), PPercent(10), Dominance(n=1, k=50), [Threshold(4), PPercent(5)]]
)
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_levels_have_the_least_loss_of_all_safe_ones(rule: object, seed: int) -> None:
    frame = people_of(seed)
    table = tabulate(microdata(frame), ["town", "age"], "pay")
    release = Redesign(rule=rule, hierarchies=HIERARCHIES).release(table)
    safe = {}
    for town, age in product(range(4), range(3)):
        levels = {"town": town, "age": age}
        coarse = recoded(frame, levels)
        again = tabulate(microdata(coarse), ["town", "age"], "pay")
        if not len(again.unsafe(rule)):
            safe[town, age] = entropy_loss(frame, coarse)
    least = min(safe.values())
    assert safe[release.levels["town"], release.levels["age"]] == pytest.approx(least, abs=1e-9)
    assert release.loss == pytest.approx(least, abs=1e-9)
    assert not len(release.cells.unsafe(rule))
    same_as_recoded(
        release.cells, tabulate(microdata(recoded(frame, dict(release.levels))), ["town", "age"], "pay")
    )


def same_as_recoded(found: CellTable, expected: CellTable) -> None:
    """The same cells, contributors and largest contributions, cell by cell, found by their labels."""
    place = {
        tuple(
            "*" if label is None else label
            for label in (d.labels[n] for d, n in zip(expected.dimensions, nodes, strict=True))
        ): cell
        for cell, nodes in reversed(list(enumerate(expected.nodes)))
    }
    for cell, nodes in enumerate(found.nodes):
        labels = [d.labels[n] for d, n in zip(found.dimensions, nodes, strict=True)]
        other = place[tuple("*" if label is None else label for label in labels)]
        assert found.values[cell] == expected.values[other]
        assert found.people[cell] == expected.people[other]
        assert found.contributions[cell] == expected.contributions[other]
        assert found.top[cell].tolist() == expected.top[other].tolist()


def test_a_table_without_unsafe_cells_is_left_alone() -> None:
    table = tabulate(microdata(people_of(0)), ["town"], "pay")
    release = Redesign(rule=Threshold(1), hierarchies={"town": TOWNS}).release(table)
    assert release.levels == {"town": 0}
    assert release.loss == 0
    assert release.notes == ()
    assert release.values.tolist() == table.values.tolist()


@pytest.mark.parametrize("loss", ["entropy", "cells"])
def test_own_subtotals_are_the_levels_without_hierarchies(loss: str) -> None:
    """With holdings, so merged cells must come from the table's own subtotals."""
    given = {key: Hierarchy.of(groups, key=key) for key, groups in HIERARCHIES.items()}
    frame = people_of(1)
    table = tabulate(microdata(frame), ["town", "age"], "pay", hierarchies=given, contributors="firm")
    rule = Threshold(3)
    release = Redesign(rule=rule, loss=loss).release(table)
    assert not rule.unsafe(release.cells).any()
    losses = {}
    inner = tabulate(microdata(frame), ["town", "age"], contributors="firm")
    holdings = inner.people[inner.inner].reshape(6, 6).astype(float)
    for town, age in product(range(4), range(3)):
        # A threshold is kept by unions of kept cells, so the subtotals above need no look.
        again = tabulate(
            microdata(recoded(frame, {"town": town, "age": age})), ["town", "age"], contributors="firm"
        )
        if not rule.unsafe(again).any():
            merged = _summed(holdings, town, age)
            bits = sum(n * np.log2(n) for n in merged if n) - sum(
                n * np.log2(n) for n in holdings.ravel() if n
            )
            losses[town, age] = 36 - len(merged) if loss == "cells" else bits / holdings.sum()
    found = release.levels["town"], release.levels["age"]
    assert losses[found] == pytest.approx(min(losses.values()))
    assert release.loss == pytest.approx(losses[found])


def _summed(holdings: np.ndarray, town: int, age: int) -> list[float]:
    """The sums of the 6 × 6 inner cells that are merged at these levels."""
    sums: dict[tuple[str, str], float] = {}
    for (t, towns), (a, ages) in product(enumerate(TOWNS.items()), enumerate(AGES.items())):
        at = ((towns[0], *towns[1], "*")[town], (ages[0], *ages[1], "*")[age])
        sums[at] = sums.get(at, 0.0) + float(holdings[t, a])
    return list(sums.values())


def test_original_cells_are_bounded_by_the_released_ones() -> None:
    frame = people_of(3, size=40)
    given = {key: Hierarchy.of(groups, key=key) for key, groups in HIERARCHIES.items()}
    table = tabulate(microdata(frame), ["town", "age"], "pay", hierarchies=given)
    release = Redesign(rule=Threshold(4)).release(table)
    assert sum(release.levels.values())
    low, high = release.original_bounds()
    assert (low <= table.values).all()
    assert (table.values <= high).all()
    # Against the attacker's linear programs on the original table with the merged cells suppressed.
    shown = {
        tuple(d.labels[n] for d, n in zip(release.cells.dimensions, nodes, strict=True))
        for nodes in release.cells.nodes
    }
    hidden = np.array(
        [
            tuple(d.labels[n] for d, n in zip(table.dimensions, nodes, strict=True)) not in shown
            for nodes in table.nodes
        ]
    )
    found = cell_intervals(replace(table, values=np.where(hidden, np.nan, table.values)), hidden)
    np.testing.assert_allclose(low[hidden], found.low, atol=1e-6)
    np.testing.assert_allclose(high[hidden], found.high, atol=1e-6)
    np.testing.assert_array_equal(low[~hidden], table.values[~hidden])


def test_contributors_of_the_coarser_table_are_measured() -> None:
    table = tabulate(microdata(people_of(2)), ["town", "age"], "pay")
    release = Redesign(rule=PPercent(10), hierarchies=HIERARCHIES).release(table)
    found = release.contributors()
    cells = release.cells
    asked = cells.people > 0
    assert (found.low[asked] <= cells.top[asked, 0]).all()
    # No unsafe cell: the second largest is off by at least 10 % of the largest.
    many = cells.people > 1
    assert (found.high[many] - cells.top[many, 0] >= 0.1 * cells.top[many, 0] - 1e-9).all()
    assert list(release.table.columns) == ["town", "age", "value"]


def test_negative_contributions_leave_merged_cells_without_limit() -> None:
    frame = people_of(0)
    frame.loc[0, "pay"] = -5.0
    table = tabulate(microdata(frame), ["town"], "pay")
    release = Redesign(rule=Threshold(12), hierarchies={"town": TOWNS}).release(table)
    low, high = release.original_bounds()
    merged = [
        d
        for d in range(len(table))
        if table.dimensions[0].labels[d] not in release.cells.dimensions[0].labels
    ]
    assert merged
    assert np.isneginf(low[merged]).all()
    assert np.isposinf(high[merged]).all()
    assert low[0] == high[0] == table.values[0]


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"rule": Threshold(500), "hierarchies": HIERARCHIES}, r"town = \*, age = \* is unsafe even"),
        ({"rule": Threshold(3), "hierarchies": {"town": {"a1": "a"}}}, "'a2'"),
        ({"rule": Threshold(3), "hierarchies": {"twon": TOWNS}}, "'twon'"),
        ({"rule": Threshold(3), "loss": "bits"}, "loss"),
        ({"rule": 3}, "rule"),
    ],
)
def test_what_cannot_be_redesigned_is_said(settings: dict[str, object], words: str) -> None:
    table = tabulate(microdata(people_of(0)), ["town", "age"], "pay")
    with pytest.raises(InputError, match=words):
        Redesign(**settings).release(table)  # type: ignore[arg-type]


def test_holdings_need_subtotals_in_the_table() -> None:
    table = tabulate(microdata(people_of(0)), ["town", "age"], "pay", contributors="firm")
    with pytest.raises(InputError, match="holdings"):
        Redesign(rule=Threshold(3), hierarchies=HIERARCHIES).release(table)


def test_equal_losses_are_decided_by_fewer_levels_then_by_the_first_keys() -> None:
    frame = pd.DataFrame({"x": list("aabb"), "y": list("abab"), "pay": [1, 2, 3, 4]})
    table = tabulate(Microdata(frame, confidential="pay", keys=["x", "y"]), ["x", "y"], "pay")
    both = {
        key: {"a": "all", "b": "all"} for key in ("x", "y")
    }  # level 1, "all", loses as much as level 2, no key
    assert Redesign(rule=Threshold(2), hierarchies=both).release(table).levels == {"x": 0, "y": 1}
    assert Redesign(rule=Threshold(4), hierarchies=both).release(table).levels == {"x": 1, "y": 1}
