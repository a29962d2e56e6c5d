"""Released files as other tools write them: ranges, stars, groups, fewer records, another order; noisy tables."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import equivoc as eq
from equivoc.information_loss.model_losses import MOST_RECORDS, model_records
from equivoc.information_loss.shown_table import ShownTable, original_table, released_table
from equivoc.information_loss.utility import losses, overall

KEYS = ["age", "town"]


def data(records: int = 500) -> pd.DataFrame:
    rng = np.random.default_rng(9)
    age = rng.integers(20, 60, records)
    return pd.DataFrame(
        {
            "age": age,
            "town": rng.choice(["a", "b", "c"], records),
            "pay": age * 3 + rng.integers(0, 50, records),
        }
    )


PEOPLE = eq.Microdata(data(), confidential="pay", keys=KEYS)


def decades(age: pd.Series) -> pd.Series:
    return "[" + (age // 10 * 10).astype(str) + "," + (age // 10 * 10 + 10).astype(str) + ")"


@pytest.mark.parametrize(
    "masked",
    [
        data().assign(age=lambda d: decades(d["age"])),
        data().assign(age=lambda d: (d["age"] // 10).astype(str) + "*"),
        data().assign(town=lambda d: d["town"].replace({"a": "{a,b}", "b": "{a,b}"})),
        data().assign(town=lambda d: d["town"].mask(d.index % 3 == 0, "*")),
        data().assign(town=lambda d: d["town"].mask(d.index % 3 == 0)),
        data().assign(pay=lambda d: d["pay"].astype(str).mask(d["pay"] > 150, ">=150")),
        data().assign(pay=lambda d: d["pay"].astype(object).mask(d["pay"] > 150)),
        data().iloc[:200],
    ],
    ids=["ranges", "digits", "sets", "stars", "empty keys", "top coded", "empty values", "fewer"],
)
def test_damage_is_found_and_the_order_of_records_does_not_matter(masked: pd.DataFrame, tmp_path) -> None:
    found = overall(losses(PEOPLE, eq.ReleasedFile(masked).release(PEOPLE)))
    assert found["query_error"] > 0.001
    assert found["two_way_tables"] > 0.001
    assert all(value is not None for name, value in found.items() if name != "queries_refused")
    path = tmp_path / "masked.csv"
    masked.sample(frac=1, random_state=1).to_csv(path, index=False)
    again = overall(losses(PEOPLE, eq.ReleasedFile(path).release(PEOPLE)))
    assert again.pop("queries_refused") is found.pop("queries_refused") is None
    assert again == pytest.approx(found, rel=1e-6)


def test_coarser_ranges_lose_more() -> None:
    wide = data().assign(age="20-59")
    some = data().assign(age=lambda d: decades(d["age"]))
    one, other = (overall(losses(PEOPLE, eq.ReleasedFile(each).release(PEOPLE))) for each in (some, wide))
    for measure in ("query_error", "correlations", "two_way_tables", "prediction"):
        assert one[measure] < other[measure], measure


def test_our_release_and_the_same_file_read_back_agree() -> None:
    for technique in (
        eq.Rounding(base=50),
        eq.Suppression(k=5),
        eq.Swapping(rate=0.3),
        eq.Generalisation(k=5),
    ):
        release = technique.release(PEOPLE, 0)
        one = overall(losses(PEOPLE, release))
        other = overall(losses(PEOPLE, eq.ReleasedFile(release.table).release(PEOPLE)))
        for measure in ("query_error", "distribution", "averages", "correlations", "two_way_tables", "pmse"):
            assert other[measure] == pytest.approx(one[measure], abs=1e-6), (technique.name, measure)


def test_a_noisy_table_loses_less_with_a_larger_budget() -> None:
    people = eq.Microdata(
        data(3000).assign(pay=lambda d: d["pay"] // 60, age=lambda d: d["age"] // 10),
        confidential="pay",
        keys=KEYS,
    )
    rows = [
        overall(losses(people, eq.NoisyTable(epsilon=epsilon).release(people, 0)))
        for epsilon in (0.05, 0.5, 50)
    ]
    for measure in ("query_error", "distribution", "two_way_tables", "pmse"):
        values = [row[measure] for row in rows]
        assert values == sorted(values, reverse=True), measure
    assert all(not value for value in rows[2].values())  # no count is changed at ε = 50


def test_negative_counts_cancel_in_a_sum_of_cells() -> None:
    """The share of a town is computed from the total of its counts, not from the positive ones only."""
    people = eq.Microdata(data().assign(pay=1), confidential="pay", keys=KEYS)
    release = eq.NoisyTable(epsilon=0.3).release(people, 2)
    totals = release.table.groupby("town")["count"].sum()
    table = released_table(release)
    at, share = table["town"].distribution(table.weights)
    assert (release.counts < 0).any()
    assert dict(zip(at, share, strict=True)) == pytest.approx(dict(enumerate(totals / totals.sum())))


def test_models_of_a_table_with_large_counts_use_drawn_records() -> None:
    counts = np.array([MOST_RECORDS, 0.0, 3.0 * MOST_RECORDS, -5.0])
    records = model_records(ShownTable({}, counts, of_records=False), seed=0)
    assert np.bincount(records) / MOST_RECORDS == pytest.approx([0.25, 0, 0.75], abs=0.01)
    few = model_records(ShownTable({}, np.array([2.0, -1.0, 1.0]), of_records=False), seed=0)
    assert few.tolist() == [0, 0, 2]


def test_models_of_a_large_file_use_the_same_records_of_both() -> None:
    large = ShownTable({}, np.ones(MOST_RECORDS + 5))
    drawn = model_records(large, seed=3)
    assert len(np.unique(drawn)) == MOST_RECORDS
    assert np.array_equal(drawn, model_records(ShownTable({}, np.ones(MOST_RECORDS + 5)), seed=3))


def test_survey_weights_are_not_used() -> None:
    table = data().assign(weight=np.linspace(1, 100, 500))
    weighted = eq.Microdata(table, confidential="pay", keys=KEYS, weights="weight")
    release = eq.Rounding(base=50)
    assert losses(weighted, release.release(weighted)) == losses(PEOPLE, release.release(PEOPLE))


def test_nulls_beyond_those_of_the_original_are_suppressed_values() -> None:
    """The original has 2 nulls of 8; the release has 5, so null means any town there."""
    towns = ["a", "a", "a", "b", "b", "b", None, None]
    people = eq.Microdata(pd.DataFrame({"town": towns, "pay": range(8)}), confidential="pay", keys=["town"])
    masked = pd.DataFrame({"town": [None, None, None, "b", "b", "b", None, None], "pay": range(8)})
    column = released_table(eq.ReleasedFile(masked).release(people))["town"]
    assert column.inside(column.at == 1.0).tolist() == pytest.approx([1 / 3] * 3 + [1.0] * 3 + [1 / 3] * 2)
    assert original_table(people)["town"].points.tolist() == [0, 0, 0, 1, 1, 1, 2, 2]
