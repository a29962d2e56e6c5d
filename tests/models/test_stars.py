"""Records that fit where a star means any value: compared with every pair of records."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import equivoc as eq
from equivoc.data import missing_keys
from equivoc.models.of_release.released_table import ANY, records_that_fit

ROWS = st.integers(1, 3).flatmap(
    lambda keys: st.lists(st.tuples(*[st.sampled_from(["a", "b", "c", "*"])] * keys), min_size=1, max_size=25)
)


def by_pairs(rows: list[tuple[str, ...]]) -> list[int]:
    def fit(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
        return all(a == b or "*" in (a, b) for a, b in zip(one, other, strict=True))

    return [sum(fit(one, other) for other in rows) for one in rows]


@settings(max_examples=60, deadline=None)
@given(ROWS)
def test_fits_are_those_of_all_pairs(rows: list[tuple[str, ...]]) -> None:
    columns = [
        (np.array([ord(value) for value in column]), np.array(column) == "*")
        for column in zip(*rows, strict=True)
    ]
    found = records_that_fit(columns)
    assert found is not None
    assert found.tolist() == by_pairs(rows)


PEOPLE = eq.Microdata(
    pd.DataFrame({"age": [20, 20, 30, 30, 40], "sex": list("FFMMM"), "pay": range(5)}),
    confidential="pay",
    keys=["age", "sex"],
)
MASKED = pd.DataFrame(
    {"age": ["20", "20", "30", "*", "*"], "sex": ["F", "F", "M", "M", "*"], "pay": range(5)}
)


def test_k_and_risk_are_given_both_ways() -> None:
    rows = eq.measures(PEOPLE, eq.ReleasedFile(MASKED).release(PEOPLE)).set_index("measure")
    fits = np.array(by_pairs(list(MASKED[["age", "sex"]].itertuples(index=False, name=None))))
    own = MASKED.groupby(["age", "sex"])["pay"].transform("size")
    for name, either, alone in (
        ("k-anonymity", fits.min(), own.min()),
        ("prosecutor risk, highest", 1 / fits.min(), 1 / own.min()),
        ("prosecutor risk, average", (1 / fits).mean(), (1 / own).mean()),
    ):
        assert rows.loc[name + ANY, "value"] == pytest.approx(either)
        assert rows.loc[name, "value"] == pytest.approx(alone)
        assert either != alone
    assert rows.loc["records with a star", "value"] == 2
    assert "a star is a value of its own" in rows.loc["records with a star", "meaning"]


def test_stars_of_a_suppression_are_nulls_and_counted_too() -> None:
    rows = eq.measures(PEOPLE, eq.Suppression(k=2).release(PEOPLE)).set_index("measure")["value"]
    table = eq.Suppression(k=2).release(PEOPLE).table[["age", "sex"]]
    shown = [
        tuple("*" if pd.isna(value) else str(value) for value in row) for row in table.itertuples(index=False)
    ]
    assert rows[f"k-anonymity{ANY}"] == min(by_pairs(shown))
    assert rows["records with a star"] == sum("*" in row for row in shown)


def test_a_null_of_the_original_is_no_star() -> None:
    frame = pd.DataFrame({"sex": ["F", None, "M", None], "pay": range(4)})
    people = eq.Microdata(frame, confidential="pay", keys=["sex"])
    rows = eq.measures(people, eq.Swapping(rate=0.5).release(people, 1))["measure"].tolist()
    assert not any("star" in row for row in rows)


@pytest.mark.parametrize(
    "technique", [eq.NoiseAddition(50), eq.PRAM(keep=0.3, on="sex")], ids=lambda t: t.name
)
def test_nulls_that_noise_makes_are_no_stars(technique: eq.NoiseAddition | eq.PRAM) -> None:
    """More nulls than the original has: drawn like any other value, they say nothing of the person's own."""
    frame = pd.DataFrame({"sex": [*"FFFFFFFFFFMMMMMMMMMM", None], "pay": range(21)})
    people = eq.Microdata(frame, confidential="pay", keys=["sex"])
    more = 0
    for seed in range(8):
        release = technique.release(people, seed)
        more += bool(release.table["sex"].isna().sum() > 1)
        assert not any("star" in row for row in eq.measures(people, release)["measure"])
    assert more


def test_stars_beside_nulls_of_the_original() -> None:
    frame = pd.DataFrame(
        {"sex": ["F", None, "M", None, *"FFF"], "age": [1, 2, 3, 2, 1, 1, 1], "pay": range(7)}
    )
    people = eq.Microdata(frame, confidential="pay", keys=["sex", "age"])
    release = eq.Suppression(k=2).release(people)
    rows = eq.measures(people, release).set_index("measure")["value"]
    assert rows["records with a star"] >= 1


def test_too_many_patterns_are_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(missing_keys, "MOST_WORK", 5)
    rows = eq.measures(PEOPLE, eq.ReleasedFile(MASKED).release(PEOPLE)).set_index("measure")["meaning"]
    assert "these are left out: there are too many patterns of stars" in rows["records with a star"]
    assert f"k-anonymity{ANY}" not in rows
