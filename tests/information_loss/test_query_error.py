"""The query error against a direct computation with pandas, and hand-worked queries."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import equivoc as eq
from equivoc.information_loss.shown_table import original_table, released_table
from equivoc.information_loss.utility import QUERIES, Query, drawn_queries, mean_query_error


def data(seed: int = 0, records: int = 300) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "age": rng.integers(20, 60, records),
            "town": rng.choice(["a", "b", "c", "d", "e"], records),
            "pay": rng.integers(-20, 100, records),
        }
    )


def direct_answer(table: pd.DataFrame, query: Query, towns: list[str]) -> float:
    """The answer by filtering the rows one condition after the other."""
    for name, places in query.wanted.items():
        if name == "town":
            table = table[table["town"].isin([towns[int(place)] for place in places])]
        else:
            table = table[table[name].between(*places)]
    return float(table[query.summed].sum() if query.summed else len(table))


@pytest.mark.parametrize("seed", [0, 1])
def test_the_error_is_that_of_a_direct_computation(seed: int) -> None:
    original = data()
    people = eq.Microdata(original, confidential="pay", keys=["age", "town"])
    changed = original.sample(frac=0.6, random_state=seed).assign(
        age=lambda d: d["age"] + 3, town=lambda d: d["town"].replace({"a": "b"})
    )
    table = original_table(people)
    released = released_table(eq.ReleasedFile(changed).release(people))
    towns, errors = sorted(original["town"].unique()), []
    for query in drawn_queries(table, seed):
        true = direct_answer(original, query, towns)
        whole = original[query.summed].abs().sum() if query.summed else len(original)
        shown = direct_answer(changed, query, towns) * len(original) / len(changed)
        errors.append(abs(shown - true) / max(abs(true), whole / 100))
    assert len(errors) == QUERIES
    assert mean_query_error(table, released, seed=seed) == pytest.approx(np.mean(errors), rel=1e-9)
    assert np.mean(errors) > 0.1


def test_queries_are_counts_and_sums_over_one_to_three_columns() -> None:
    people = eq.Microdata(data(), confidential="pay", keys=["age", "town"])
    queries = list(drawn_queries(original_table(people), 4))
    assert {len(query.wanted) for query in queries} == {1, 2, 3}
    assert {query.summed for query in queries} == {"", "age", "pay"}
    assert sum(not query.summed for query in queries) == QUERIES // 2


def test_a_range_meets_a_condition_with_the_share_of_its_levels() -> None:
    original = pd.DataFrame({"age": [20, 21, 22, 30], "pay": [1, 2, 3, 4]})
    people = eq.Microdata(original, confidential="pay", keys=["age"])
    masked = pd.DataFrame({"age": ["20-29", "20-29", "2*", "*"], "pay": [1, 2, 3, 4]})
    released = released_table(eq.ReleasedFile(masked).release(people))
    query = Query({"age": (21.0, 30.0)}, "")
    assert query.members(released).tolist() == pytest.approx([2 / 3, 2 / 3, 2 / 3, 3 / 4])
    assert query.answer(released) == pytest.approx(2.75)
    assert Query({"age": (21.0, 30.0)}, "pay").answer(released) == pytest.approx(
        (1 + 2 + 3) * 2 / 3 + 4 * 3 / 4
    )


def test_noisy_counts_are_added_as_they_are_and_not_scaled() -> None:
    original = pd.DataFrame({"sex": list("FFMM"), "pay": [10, 20, 10, 10]})
    people = eq.Microdata(original, confidential="pay", keys=["sex"])
    release = eq.NoisyTable(epsilon=0.2).release(people, 1)
    counts = release.table.groupby("sex")["count"].sum()
    table = released_table(release)
    assert (release.counts < 0).any()
    assert Query({"sex": (0.0,)}, "").answer(table) == counts["F"]
    sums = (release.table["count"] * release.table["pay"]).groupby(release.table["sex"]).sum()
    assert Query({"sex": (1.0,)}, "pay").answer(table) == sums["M"]
