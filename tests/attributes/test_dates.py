"""Dates as confidential numbers, against the same people with numbers of days; date keys as periods, by hand."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow.parquet import write_table

import equivoc as eq
from equivoc.attributes.dates import DateScale, as_dates, period_of
from equivoc.attributes.hierarchy import Calendar
from equivoc.techniques.notation import technique_from
from tests.commands import run_command

EPOCH = np.datetime64("1970-01-01")
RNG = np.random.default_rng(28)
N = 120
DAYS = np.datetime64("2019-03-01") + RNG.integers(0, 400, N)
HOURS = DAYS.astype("datetime64[h]") + RNG.integers(0, 24, N)
KEYS = pd.DataFrame({"age": RNG.integers(20, 26, N), "sex": RNG.choice(list("FM"), N)})


def numbers(dates: np.ndarray, unit: str) -> np.ndarray:
    return ((dates - EPOCH) / np.timedelta64(1, "D" if unit == "days" else "h")).astype(float)


def read(column: Any) -> eq.Microdata:
    return eq.Microdata(KEYS.assign(seen=column), confidential="seen", keys=["age", "sex"])


TECHNIQUES = [
    "unprotected",
    "sampling:fraction=0.4",
    "noise-addition:percent=10,edge=extend",
    "rounding:base=30",
    "rounding:base=7,method=random",
    "top-bottom-coding:low=18000,high=18200",
    "pram:keep=0.7,on=confidential",
    "geometric-noise:epsilon=4",
    "swapping:rate=0.4",
    "microaggregation:size=3",
    "query-restriction:size=6",
    "noisy-table:epsilon=2",
]


@pytest.mark.parametrize("text", TECHNIQUES)
def test_figures_are_those_of_days(text: str) -> None:
    technique = technique_from(text)
    of_dates, of_numbers = read(DAYS), read(numbers(DAYS, "days"))
    one, other = (
        eq.assess(each, technique, known=["age"], eps=[0, 30], seed=3) for each in (of_dates, of_numbers)
    )
    assert one.summary["truth"] == other.summary["truth"]
    for name in ("h0", "area"):
        assert one.classes[name].tolist() == other.classes[name].tolist()
    if text.startswith("query"):
        return
    shown, days = (technique.release(each, 3).table["seen"] for each in (of_dates, of_numbers))
    back = (pd.to_datetime(shown) - pd.Timestamp("1970-01-01")) / pd.Timedelta(days=1)
    # Averages of three days are written to the microsecond.
    assert back.to_numpy() == pytest.approx(days.to_numpy(dtype=float), abs=1e-10)


def test_measures_and_losses_are_those_of_days() -> None:
    technique = eq.Rounding(base=30)
    rows = []
    for each in (read(DAYS), read(numbers(DAYS, "days"))):
        release = technique.release(each)
        measured = eq.measures(each, release)
        lost = eq.utility(each, release)
        file = eq.assess(each, eq.ReleasedFile(release.table), eps=[30])
        rows.append((measured[~measured["measure"].str.contains("dates")], lost, file.summary["truth"]))
    assert rows[0][0]["value"].tolist() == pytest.approx(rows[1][0]["value"].tolist(), nan_ok=True)
    assert rows[0][0]["measure"].tolist() == rows[1][0]["measure"].tolist()
    assert rows[0][1]["value"].tolist() == pytest.approx(rows[1][1]["value"].tolist(), nan_ok=True)
    assert rows[0][2] == rows[1][2]


@pytest.mark.parametrize("dates", [DAYS, HOURS], ids=["days", "hours"])
def test_every_source_gives_the_same_people(dates: np.ndarray, tmp_path: Path) -> None:
    unit = "hours" if dates is HOURS else "days"
    texts = [str(each).replace("T", " ") + (":00" if unit == "hours" else "") for each in dates]
    frame = KEYS.assign(seen=texts)
    frame.to_csv(tmp_path / "people.csv", index=False)
    stamps = pa.array(dates.astype("datetime64[us]"))
    write_table(pa.table({"age": KEYS["age"], "sex": KEYS["sex"], "seen": stamps}), tmp_path / "p.parquet")
    sources = {
        "pandas": KEYS.assign(seen=dates.astype("datetime64[ns]")),
        "objects": KEYS.assign(seen=[pd.Timestamp(each).to_pydatetime() for each in dates]),
        "texts": frame,
        "T": KEYS.assign(seen=[text.replace(" ", "T") for text in texts]),
        "polars": pl.DataFrame(
            {"age": KEYS["age"].to_list(), "sex": KEYS["sex"].to_list(), "seen": stamps.to_pylist()}
        ),
        "csv": tmp_path / "people.csv",
        "parquet": tmp_path / "p.parquet",
        "with a zone": pa.table(
            {"age": KEYS["age"], "sex": KEYS["sex"], "seen": stamps.cast(pa.timestamp("us", "UTC"))}
        ),
    }
    for name, source in sources.items():
        people = eq.Microdata(source, confidential="seen", keys=["age", "sex"])
        assert people.attribute.unit == unit, name
        assert people.values[people.codes].tolist() == numbers(dates, unit).tolist(), name
    assert any(f"read as {unit} since 1970-01-01" in remark.sentence for remark in people.remarks)


def test_the_released_file_of_a_csv_is_read_back(tmp_path: Path) -> None:
    KEYS.assign(seen=DAYS.astype(str)).to_csv(tmp_path / "people.csv", index=False)
    asked = ["people.csv", "--confidential", "seen", "--keys", "age,sex"]
    made = run_command(
        tmp_path,
        [
            "protect",
            *asked,
            "--technique",
            "rounding:base=30",
            "--out",
            "shown.csv",
            "--certificate",
            "shown.json",
        ],
    )
    assert made.returncode == 0, made.stderr
    shown = pd.read_csv(tmp_path / "shown.csv")["seen"]
    expected = np.floor(numbers(DAYS, "days") / 30 + 0.5) * 30
    # The rows of a protected file are in an order of their own.
    back = numbers(shown.to_numpy().astype("datetime64[D]"), "days")
    assert np.sort(back).tolist() == np.sort(expected).tolist()
    assessed = run_command(tmp_path, ["assess", *asked, "--release", "shown.csv", "--eps", "30"])
    assert assessed.returncode == 0, assessed.stderr
    assert "±15 days" in assessed.stdout


def test_released_ranges_and_periods_of_dates() -> None:
    """A range, a month, a quarter or a year is the set of days in it; a null is any day."""
    people = eq.Microdata(
        pd.DataFrame(
            {"seen": [dt.date(2020, 1, 31), dt.date(2020, 2, 1), dt.date(2020, 4, 1), dt.date(2021, 4, 1)]}
        ),
        confidential="seen",
    )
    for text, inside in {
        "2020-02-01": [1],
        "[2020-01-31,2020-02-01]": [0, 1],
        "[2020-01-31,2020-02-01)": [0],
        "2020-01-01 to 2020-03-31": [0, 1],
        ">= 2020-02-01": [1, 2, 3],
        "2020-02": [1],
        "2020-Q1": [0, 1],
        "2020": [0, 1, 2],
        "2020s": [0, 1, 2, 3],
        "*": [0, 1, 2, 3],
    }.items():
        release = eq.ReleasedFile(pd.DataFrame({"seen": [text] * 4}), matching="exact").release(people)
        found = release.posteriors([]).probabilities[0]
        assert np.flatnonzero(found).tolist() == inside, text


def test_dates_in_sentences() -> None:
    people = read(DAYS)
    assert people.attribute.text(people.values[0]) == str(DAYS.min())
    facts = eq.assess(people, eq.Unprotected(), eps=[30]).facts()
    words = facts["data"]["confidential"]["words"]
    assert words.endswith("most of them between about 2019 and 2020")
    spring = eq.assess(read(np.datetime64("2020-03-01") + np.arange(N) % 60), eq.Unprotected()).facts()
    assert "between about 2020-03 and 2020-04" in spring["data"]["confidential"]["words"]
    given = eq.Microdata(
        KEYS.assign(seen=DAYS),
        confidential=eq.Number("seen", domain=range(17900, 18400)),
        keys=["age"],
    )
    told = eq.assess(given, eq.Unprotected()).facts()["data"]["confidential"]["words"]
    assert told == "500 values from 2019-01-04 to 2020-05-17"


@pytest.mark.parametrize(
    "texts",
    [["2020-01-31", "2020-02-31"], ["2020-01-31", "31.1.2020"], ["2020-01-31", "x"], ["2020-01", "2020-02"]],
    ids=str,
)
def test_texts_that_are_not_all_dates_are_no_dates(texts: list[str]) -> None:
    assert as_dates(pa.array(texts)) is None


@pytest.mark.parametrize(
    ("text", "first", "past"),
    [
        ("2020-12", dt.date(2020, 12, 1), dt.date(2021, 1, 1)),
        ("2020-Q4", dt.date(2020, 10, 1), dt.date(2021, 1, 1)),
        ("2020Q1", dt.date(2020, 1, 1), dt.date(2020, 4, 1)),
        ("1999", dt.date(1999, 1, 1), dt.date(2000, 1, 1)),
        ("1990s", dt.date(1990, 1, 1), dt.date(2000, 1, 1)),
    ],
)
def test_periods(text: str, first: dt.date, past: dt.date) -> None:
    assert period_of(text) == (first, past)
    assert not any(map(period_of, ("2020-13", "2020-00", "0000", "2020-Q5", "20", "2020-01-01", "")))
    assert DateScale("hours").with_numbers(text).startswith("[")


# Date keys.

BORN = [
    dt.date(1980, 1, 31),
    dt.date(1980, 2, 1),
    dt.date(1980, 5, 3),
    dt.date(1981, 12, 31),
    dt.date(1990, 1, 1),
]
BIRTHS = pd.DataFrame({"birth": BORN * 4, "pay": range(20)})


@pytest.mark.parametrize("given", ["birth:month/year", {"birth": "month/year"}, {"birth": ["month", "year"]}])
@pytest.mark.parametrize("source", ["frame", "csv"])
def test_keys_become_periods(given: Any, source: str, tmp_path: Path) -> None:
    BIRTHS.to_csv(tmp_path / "people.csv", index=False)
    people = eq.Microdata(
        BIRTHS if source == "frame" else tmp_path / "people.csv", confidential="pay", keys=["birth"]
    )
    for level, expected in (
        (1, ["1980-01", "1980-02", "1980-05", "1981-12", "1990-01"]),
        (2, ["1980", "1980", "1980", "1981", "1990"]),
        (3, ["*"] * 5),
    ):
        technique = eq.Generalisation(levels={"birth": level}, hierarchies=given)
        assert technique.notation == f"generalisation:hierarchies=birth:month/year,levels=birth:{level}"
        release = technique.release(people)
        assert [str(each) for each in release.table["birth"][:5]] == expected
        # Read as a file of unknown origin, each period is the set of its days.
        own, file = (
            each.release(people).posteriors(["birth"]).sizes.tolist()
            for each in (technique, eq.ReleasedFile(release.table))
        )
        assert own == file
        linked = eq.ReleasedFile(release.table, matching="exact").release(people).posteriors(["birth"])
        same = [[a == b for a in expected] for b in expected]
        assert [sum(row) * 4 for row in same] == (linked.probabilities > 0).sum(axis=1).tolist()


def test_quarters_decades_and_tables() -> None:
    ladder = Calendar.of("quarter/decade").ladder("birth", [*BORN, None])
    assert ladder.labels[1] == ("1980-Q1", "1980-Q2", "1981-Q4", "1990-Q1", None)
    assert ladder.labels[2:] == (("1980s", "1990s", None), ("*",))
    people = eq.Microdata(BIRTHS, confidential="pay", keys=["birth"])
    table = eq.tabulate(people, ["birth"], hierarchies={"birth": "year"})
    assert {"1980", "1981", "1990"} <= set(map(str, table.frame["birth"]))


def test_a_tree_of_periods(tmp_path: Path) -> None:
    born = BIRTHS.assign(sex=list("FM") * 10)
    people = eq.Microdata(born, confidential=eq.Tree("birth", "month/year"), keys=["sex"])
    assert people.attribute.geometry.names == ("birth", "month", "year", "any")
    assert people.attribute.geometry.groups[2].tolist() == [0, 0, 0, 1, 2]
    born.to_csv(tmp_path / "people.csv", index=False)
    asked = ["people.csv", "--confidential", "birth", "--keys", "sex", "--hierarchy", "birth=month/year"]
    assessed = run_command(tmp_path, ["assess", *asked, "--eps", "1"])
    assert assessed.returncode == 0, assessed.stderr
    assert "month" in assessed.stdout


def test_what_is_wrong_with_periods() -> None:
    people = eq.Microdata(BIRTHS.assign(job="x"), confidential="pay", keys=["birth", "job"])
    for given, sentence in (
        ({"birth": "year/month"}, r"the periods of dates are year/month; give each once, the shortest first"),
        ({"birth": "month/month"}, r"give each once"),
        ({"job": "month"}, r"key 'job' has the value 'x', which is not a date such as 2020-01-31"),
    ):
        with pytest.raises(eq.InputError, match=sentence):
            eq.Generalisation(k=2, hierarchies=given).release(people)
    with pytest.raises(eq.InputError, match="holds 'x', which is not a date: write dates as 2020-01-31"):
        eq.Microdata(BIRTHS.assign(job="x"), confidential=eq.Tree("job", "year"))
