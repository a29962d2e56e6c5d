"""equivoc reads back what it writes: every symbol of a released key has the same levels as before."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import equivoc as eq
from equivoc.attributes.level_text import meaning, written_range

TEXTS = st.text(alphabet='ab ,{}"-*[]()NA0123<>=+\t', max_size=6).filter(lambda text: text != "*")
COLUMNS = st.one_of(
    st.lists(st.none() | TEXTS, min_size=12, max_size=30),
    st.lists(
        st.sampled_from(["NA", "", None, " NA", "a", "{a,b}", "b", "a,b", '"a"', "a "]),
        min_size=12,
        max_size=30,
    ),
    st.lists(st.none() | st.integers(-50, 50), min_size=12, max_size=30),
    st.lists(st.none() | st.booleans(), min_size=12, max_size=30),
    st.lists(st.none() | st.dates(date(1990, 1, 1), date(2020, 1, 1)), min_size=12, max_size=30),
    st.lists(st.none() | st.datetimes(datetime(1990, 1, 1), datetime(2020, 1, 1)), min_size=12, max_size=30),
    st.lists(
        st.none() | st.decimals(-9, 9, places=2, allow_nan=False).map(Decimal), min_size=12, max_size=30
    ),
).filter(lambda column: len({v for v in column if v is not None}) > 1)


def held_as_released(release, key: str) -> list[list[int]]:
    """For each record, the levels of its symbol according to the technique's release."""
    column = release.keys[key]
    levels = len(release.people.levels(key))
    members = np.eye(levels, dtype=bool) if column.channel is None else np.asarray(column.channel) > 0
    return [np.flatnonzero(members[code]).tolist() for code in column.codes]


def held_as_read(release, key: str) -> list[list[int]]:
    """For each record the levels that lie on its symbol's stretches."""
    symbols = release.keys[key]
    at = symbols.line.at
    return [
        [
            level
            for level, place in enumerate(at)
            if any(
                symbols.lows[t] <= place <= symbols.highs[t]
                for t in range(symbols.starts[code], symbols.starts[code + 1])
            )
        ]
        for code in symbols.codes
    ]


def techniques(numbers: bool):
    found = [eq.Generalisation(k=2), eq.Generalisation(k=4), eq.Suppression(k=2), eq.Suppression(k=4)]
    if numbers:
        found += [eq.Generalisation(k=3, hierarchies={"key": (5, 20)}), eq.Generalisation(levels={"key": 1})]
        found += [eq.Generalisation(k=3, hierarchies={"key": 7}, suppress=0.3)]
    return found


@settings(max_examples=60, deadline=None)
@given(COLUMNS, st.integers(0, 2**32 - 1), st.sampled_from([pd.DataFrame, pl.DataFrame]))
def test_what_is_written_is_read_back(column, seed: int, kind) -> None:
    sex = np.random.default_rng(seed).choice(["F", "M"], len(column)).tolist()
    data = {"key": column, "sex": sex, "pay": list(range(len(column)))}
    frame = pl.DataFrame(data, strict=False) if kind is pl.DataFrame else pd.DataFrame(data, dtype=object)
    people = eq.Microdata(frame, confidential="pay", keys=["key", "sex"])
    whole = all(isinstance(v, int) and not isinstance(v, bool) for v in column if v is not None)
    for technique in techniques(numbers=whole and None not in column):
        release = technique.release(people)
        read = eq.ReleasedFile(release.table).release(people)
        for key in people.keys:
            assert held_as_read(read, key) == held_as_released(release, key), (technique, key)


@given(st.lists(TEXTS, min_size=3, max_size=6, unique=True), st.data())
def test_a_set_is_never_written_like_one_of_the_values(levels, data) -> None:
    """And reads as its members, which the test parses nothing of by itself."""
    low = data.draw(st.integers(0, len(levels) - 2))
    high = data.draw(
        st.integers(low + 1, len(levels) - 1).filter(lambda h: h - low < len(levels) - 1) | st.just(low)
    )
    if high == low:
        return
    clash = "{" + ",".join(levels[low : high + 1]) + "}"
    levels = [*levels, clash]
    text = written_range(levels, low, high)
    assert text not in levels
    assert meaning(text).members == tuple(levels[low : high + 1])


def test_the_shipped_people_after_mondrian_are_all_found(tmp_path: Path) -> None:
    """One of their occupations ends in a blank; through a CSV file as well."""
    people = eq.datasets.people("cps_hourly_workers")
    table = eq.Generalisation(k=5).release(people).table
    path = tmp_path / "released.csv"
    table.to_csv(path, index=False)
    for source in (table, path):
        assert eq.ReleasedFile(source).release(people).unmatched() == 0


ORIGINAL = pd.DataFrame({"age": [20, 21, 22, 23, 24, 25, 26, None], "pay": [10, 20, 30, 40, 50, 60, 70, 80]})


def released_ages(ages, pay=None) -> tuple[np.ndarray, list[str]]:
    people = eq.Microdata(ORIGINAL, confidential="pay", keys=["age"])
    table = pd.DataFrame({"age": ages, "pay": ORIGINAL.pay[: len(ages)] if pay is None else pay})
    release = eq.ReleasedFile(table).release(people)
    return np.asarray(release.posteriors(["age"], intruder="paper").probabilities), release.notes()


@pytest.mark.parametrize("missing", [None, "NA", ""])
def test_a_null_beyond_the_originals_stands_for_any_value(missing) -> None:
    """One person has no age; three of the released records have none: a star each, of eight levels."""
    found, notes = released_ages([missing, missing, 22, 23, 24, 25, 26, missing])
    assert found[0] == pytest.approx([1 / 3, 1 / 3, 0, 0, 0, 0, 0, 1 / 3])
    assert found[2] == pytest.approx(np.array([1, 1, 8, 0, 0, 0, 0, 1]) / 11)
    assert found[7] == pytest.approx([1 / 3, 1 / 3, 0, 0, 0, 0, 0, 1 / 3])
    said = "3 released records have no age, more than the original would explain; they are read as any value"
    assert [note[: len(said)] for note in notes] == ([said] if missing is None else [])


def test_as_many_nulls_as_the_original_has_are_null() -> None:
    found, notes = released_ages([20, 21, 22, 23, 24, 25, 26, None])
    assert np.array_equal(found, np.eye(8))
    assert notes == []


def test_a_sample_with_many_nulls_has_suppressed_ones_and_a_larger_file_need_not() -> None:
    assert "3 released records have no age" in released_ages([None, None, None, 20])[1][0]
    frame = pd.concat([ORIGINAL] * 50)
    assert released_ages(frame.age.to_numpy(), frame.pay.to_numpy())[1] == []
