"""A missing key that matches any value: against all pairs of records, and the test values that sdcMicro publishes."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import equivoc as eq
from equivoc.data import missing_keys
from equivoc.data.missing_keys import matches
from tests.commands import run_command
from tests.models.tables import Rows, microdata, tables

# sdcMicro, tests/testthat/test_indivRisk.R, "with missing": keys A, B, C, weights, and the risks of method "exact" with
# qual = 1 and survey = TRUE; and of survey = FALSE, which are 1 / fk.
PUBLISHED = pd.DataFrame(
    {
        "A": [2, 3, 2, 2, 3, 3, 1, None],
        "B": [3, 3, 3, 3, 3, 3, 4, 3],
        "C": [1, 3, None, 2, 1, 1, None, 1],
        "weight": [18.0, 45.5, 39.0, 17.0, 92.0, 8.0, 123.5, 51],
    }
)
RISKS = [
    0.013552968,
    0.085791288,
    0.010504889,
    0.032466112,
    0.009756889,
    0.009756889,
    0.039316254,
    0.005962551,
]
FREQUENCIES = [3, 1, 4, 2, 3, 3, 1, 5]


def fitting(rows: list[tuple[object, ...]]) -> np.ndarray:
    """Which pairs of records could be equal, by every pair."""
    return np.array(
        [
            [all(a == b or None in (a, b) for a, b in zip(one, other, strict=True)) for other in rows]
            for one in rows
        ]
    )


def test_published_individual_risks_of_sdcmicro() -> None:
    people = eq.Microdata(PUBLISHED, keys=["A", "B", "C"], weights="weight")
    # They print nine digits; the tolerance of their test is 1.5e-8.
    assert eq.models.individual_risk(people, missing_keys="any").risk == pytest.approx(RISKS, abs=1e-9)
    own = eq.models.individual_risk(people).risk
    assert np.count_nonzero(np.abs(own - RISKS) > 1e-8) == 6
    classes = people.classes(["A", "B", "C"])
    assert matches(classes, "any").sizes[classes.of_record].tolist() == FREQUENCIES
    risk = eq.models.prosecutor_risk(people, missing_keys="any", threshold=0.4)
    assert risk.average == pytest.approx(np.mean(1 / np.array(FREQUENCIES)))
    assert (risk.highest, risk.above) == (1.0, 3 / 8)


@settings(max_examples=60)
@given(tables(keys=3, most=30), st.integers(0, 2**32))
def test_every_figure_against_all_pairs(rows: Rows, seed: int) -> None:
    weights = np.random.default_rng(seed).uniform(1, 9, len(rows)).tolist()
    people, weighted = microdata(rows), microdata(rows, weights=weights)
    fits = fitting([row[:-1] for row in rows])
    assert eq.models.k_anonymity(people, missing_keys="any") == fits.sum(axis=1).min()
    classes = weighted.classes(weighted.keys)
    found = matches(classes, "any")
    assert found.sizes[classes.of_record].tolist() == fits.sum(axis=1).tolist()
    assert found.weights is not None
    assert found.weights[classes.of_record] == pytest.approx(fits @ weights)
    assert matches(classes, "own").sizes is not None
    assert eq.models.k_anonymity(people) <= eq.models.k_anonymity(people, missing_keys="any")
    risk = eq.models.prosecutor_risk(people, missing_keys="any")
    assert risk.average == pytest.approx(np.mean(1 / fits.sum(axis=1)))
    # Fewer keys are fewer classes, also where all of a key is unknown.
    assert eq.models.k_anonymity(people, known=[], missing_keys="any") == len(rows)


def test_measures_say_which_counting_is_used() -> None:
    people = eq.Microdata(PUBLISHED, keys=["A", "B", "C"], weights="weight")
    own, either = (eq.measures(people, missing_keys=kind).set_index("measure") for kind in ("own", "any"))
    assert (own.loc["k-anonymity", "value"], either.loc["k-anonymity", "value"]) == (1, 1)
    assert "a missing key is counted as a value of its own" in own.loc["k-anonymity", "meaning"]
    assert 'counted as any value (missing_keys="any") here' in either.loc["k-anonymity", "meaning"]
    assert "2 records are alone" in either.loc["k-anonymity", "meaning"]
    assert either.loc["global risk", "value"] == pytest.approx(np.mean(RISKS))
    assert either.loc["individual risk, highest", "value"] == pytest.approx(max(RISKS))
    complete = eq.Microdata(PUBLISHED.dropna(), keys=["A", "B", "C"], weights="weight")
    both = [eq.measures(complete, missing_keys=kind) for kind in ("own", "any")]
    pd.testing.assert_frame_equal(*both)
    assert not both[0]["meaning"].str.contains("missing key").any()


def test_on_the_command_line(tmp_path: Path) -> None:
    PUBLISHED.to_csv(tmp_path / "people.csv", index=False)
    asked = ["measures", "people.csv", "--keys", "A,B,C", "--weights", "weight", "--json", "--missing-keys"]
    told = json.loads(run_command(tmp_path, [*asked, "any"]).stdout)["measures"]
    rows = {row["measure"]: row["value"] for row in told}
    assert rows["global risk"] == pytest.approx(np.mean(RISKS))
    refused = run_command(tmp_path, [*asked, "all"])
    assert refused.returncode == 2
    assert "--missing-keys" in refused.stderr


def test_a_word_that_is_neither_and_too_many_patterns(monkeypatch) -> None:
    people = eq.Microdata(PUBLISHED, keys=["A", "B", "C"], weights="weight")
    for call in (eq.models.k_anonymity, eq.models.individual_risk, eq.models.prosecutor_risk, eq.measures):
        with pytest.raises(eq.InputError, match="missing_keys"):
            call(people, missing_keys="each")
    monkeypatch.setattr(missing_keys, "MOST_WORK", 5)
    with pytest.raises(eq.InputError, match="too many patterns of missing values"):
        eq.models.k_anonymity(people, missing_keys="any")


# Local suppression with the same counting.

STATUS = ["single", "married", "married", "single", "widow"]
"""sdcMicro, tests/testthat/test_freqCalc.R: five people of one region and age group."""


def test_published_suppression_of_sdcmicro() -> None:
    """One star, the widow's; then the frequencies are 3, 3, 3, 3, 5. As values of their own, three stars are needed."""
    people = eq.Microdata(
        pd.DataFrame({"region": "A", "status": STATUS, "age": "5", "pay": range(5)}),
        confidential="pay",
        keys=["region", "status", "age"],
    )
    for k in (2, 3):
        release = eq.Suppression(k=k, missing_keys="any").release(people)
        assert release.suppressed == 1
        shown = release.table
        assert shown["status"].isna().tolist() == [False, False, False, False, True]
        rows = shown[["region", "status", "age"]].astype(object).where(shown.notna(), None)
        assert fitting(list(rows.itertuples(index=False))).sum(axis=1).tolist() == [3, 3, 3, 3, 5]
    assert eq.Suppression(k=2).release(people).suppressed == 3


CELL = st.sampled_from([1, 2, 3, None])


@settings(max_examples=60)
@given(st.lists(st.tuples(CELL, st.sampled_from([1, 2]), CELL), min_size=1, max_size=20), st.integers(1, 5))
def test_each_record_could_be_equal_to_k(rows, k) -> None:
    if k > len(rows):
        return
    people = microdata([(*row, 7) for row in rows])
    release = eq.Suppression(k=k, missing_keys="any").release(people)
    shown = []
    for record, row in zip(release.table.to_pylist(), rows, strict=True):
        cells = [None if record[key] in (None, "*") else int(record[key]) for key in "abc"]
        assert all(cell in (None, true) for cell, true in zip(cells, row, strict=True))
        shown.append(tuple(cells))
    assert fitting(shown).sum(axis=1).min() >= k
    stars = sum(
        a is None and b is not None
        for one, row in zip(shown, rows, strict=True)
        for a, b in zip(one, row, strict=True)
    )
    assert release.suppressed == stars
    if fitting(rows).sum(axis=1).min() >= k:
        assert stars == 0


def fewest(rows: list[tuple[int, ...]], k: int) -> int:
    """The least number of starred cells, by trying every way to star cells, equal records alike."""
    distinct = sorted(set(rows))
    cells = [(row, at) for row in range(len(distinct)) for at in range(len(distinct[0]))]
    best = len(rows) * len(distinct[0])
    for count in range(len(cells) + 1):
        for starred in itertools.combinations(cells, count):
            shown = {
                row: tuple(None if (number, at) in starred else value for at, value in enumerate(row))
                for number, row in enumerate(distinct)
            }
            cost = sum(rows.count(distinct[row]) for row, _ in starred)
            if cost < best and fitting([shown[row] for row in rows]).sum(axis=1).min() >= k:
                best = cost
    return best


def test_stars_are_few() -> None:
    """On 40 small files: never twice the fewest, and few more in total."""
    random = np.random.default_rng(5)
    ours = least = 0
    for _ in range(40):
        rows = [tuple(row) for row in random.integers(0, 3, (int(random.integers(3, 6)), 2)).tolist()]
        release = eq.Suppression(k=2, missing_keys="any").release(microdata([(*row, 7) for row in rows]))
        best = fewest(rows, 2)
        assert best <= release.suppressed <= 2 * best
        ours, least = ours + release.suppressed, least + best
    assert ours <= 1.2 * least
