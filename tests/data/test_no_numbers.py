"""Columns that are numbers but for some words, and dates: refused alike by Python, the command and the page."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import equivoc as eq
from equivoc.data.suggested_roles.suggest import suggestions
from equivoc.web.preview import guesses, preview
from tests.commands import run_command

Make = Callable[[dict[str, list[Any]]], Any]
WORDS = ["10", "20", "NA", "30", "NA"]
FILES = ["csv", "parquet"]


def refusal(source: Any, **options: Any) -> str:
    with pytest.raises(eq.InputError) as told:
        eq.Microdata(source, confidential="pay", **options)
    assert "\n" not in str(told.value)
    return str(told.value)


def test_numbers_with_a_word_for_missing(make: Make, kind: str) -> None:
    told = refusal(make({"pay": WORDS}))
    if kind == "csv":
        assert told.startswith(
            "the confidential column 'pay' is missing ('NA') in 2 rows (lines 4, 6 of the file)"
        )
        assert "if this is a value of its own" in told
    else:
        assert told.startswith(
            "in row 2 (counting from 0) the confidential column 'pay' holds 'NA', which is"
        )
        assert "; 2 of 5 values are not numbers: if it stands for a missing value, leave these fields" in told
    assert "drop_missing=True" in told
    assert "--categories" in told


@pytest.mark.parametrize(
    "values",
    [
        ["60000,0", "61000,0"],
        ["60000,0", "NA"],
        ["1.200,5", "7"],
        ["1,5", "low", "high"],
        ["$60,000", "$61,000"],
        ["60\u00a0000", "61\u202f000"],
        [",5", ",7"],
        ["5%", "7%"],
        ["\u22125", "\u22126"],
        ["(500)", "600"],
        ["500-", "600"],
        ["60\u2019000", "7"],
        ["1,5e3", "7"],
        ["60000 €", "7 €"],
    ],
    ids=str,
)
def test_numbers_in_another_notation_are_no_categories(make: Make, kind: str, values: list[str]) -> None:
    if (
        kind == "csv"
        and not set("".join(values)) & set("$%€(\u2212")
        and values[0] != "500-"
        and "low" not in values
    ):
        people = eq.Microdata(make({"pay": values}), confidential="pay", drop_missing=True)
        assert people.attribute.kind == "number"  # a text file shows its notation
        return
    told = refusal(make({"pay": values}))
    assert f"holds {values[0]!r}, which is not a number in this notation" in told
    assert "of " in told


@pytest.mark.parametrize(
    "values",
    [
        ["2020-01-31", "2020-02-31"],
        ["2020-01-31", "NA"],
        ["31.12.2020", "NA"],
        ["1/31/20", "2/1/20"],
        ["2020-01-31 09:30", "31.1.2020 10:00:30"],
        ["09:30", "10:45"],
        ["31-Jan-2020", "01FEB2020"],
        ["Jan 31, 2020", "February 1, 2020"],
        ["2020-01", "2020/12"],
        ["Mar 2020", "Dez 20"],
        ["2020Q1", "2020-W05"],
        [dt.time(9, 30), dt.time(10, 45)],
    ],
    ids=str,
)
def test_dates_that_cannot_be_read_are_refused(make: Make, values: list[Any]) -> None:
    told = refusal(make({"pay": values}))
    assert "is a date or time, not a number" in told
    assert "the days since a date" in told


def test_what_is_declared_is_not_asked(make: Make) -> None:
    for values in (WORDS, ["60000,0", "NA"], ["2020-01-31", "2020-02-01"], [dt.date(2020, 1, 31)] * 2):
        people = eq.Microdata(make({"pay": values}), confidential=eq.Categories("pay"))
        assert people.attribute.kind == "categories"
        assert len(people.values) == len(set(values))


def test_dates_whose_type_has_an_order_keep_it() -> None:
    months = pd.Categorical(["2020-02", "2020-01"], categories=["2020-01", "2020-02"], ordered=True)
    people = eq.Microdata(pd.DataFrame({"month": months}), confidential="month")
    assert (people.attribute.kind, people.codes.tolist()) == ("ordered", [1, 0])


def test_words_without_numbers_are_categories(make: Make) -> None:
    words = [
        "flu",
        "20-29",
        "A1",
        "1st",
        "route 66",
        "2019-20",
        "march",
        "may 5",
        "% low",
        "C50.9",
        "1-2-3-4",
    ]
    people = eq.Microdata(make({"pay": words}), confidential="pay")
    assert people.attribute.kind == "categories"


@pytest.mark.parametrize("format", FILES)
@pytest.mark.parametrize(
    "values",
    [WORDS, ["60000,0", "NA", "7,5", "8,5", "9,5"], [f"3{i // 3}.1.2020" for i in range(5)]],
    ids=str,
)
def test_the_command_and_the_page_say_what_python_says(
    values: list[str], format: str, tmp_path: Path
) -> None:
    frame = pd.DataFrame({"income": values, "sex": list("FFMMM")})
    file = tmp_path / f"people.{format}"
    frame.to_csv(file, index=False) if format == "csv" else frame.to_parquet(file)
    with pytest.raises(eq.InputError) as told:
        eq.read(file, confidential="income", keys=["sex"])
    done = run_command(tmp_path, ["assess", file.name, "--confidential", "income", "--keys", "sex"])
    said = str(told.value).replace("drop_missing=True", "--drop-missing")
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"equivoc: {said}.\n")
    found = preview(file)
    missing = values.count("NA")
    assert found.columns[0].problem == str(told.value)
    assert found.columns[0].nulls == (missing if format == "csv" else 0)
    assert found.columns[1].problem == ""
    guess = guesses(found.columns, suggestions(file))[0]
    assert (guess.role, guess.kind) == (
        "confidential",
        "number",
    )  # not categories, which would be read without asking


@pytest.mark.parametrize(
    "words",
    [
        ["assess"],
        ["assess", "--technique", "sampling:fraction=0.5"],
        ["measures"],
        ["report", "--out", "r.html"],
        ["choose", "--technique", "sampling", "--require", "h0 >= 0.1"],
        ["compare", "--technique", "sampling:fraction=0.5"],
        ["protect", "--technique", "suppression:k=2", "--out", "p.csv"],
        ["audit", "--queries", "log.sql"],
        ["gateway", "--policy", "policy.toml", "--store", "store.sqlite"],
        ["table", "--by", "age", "--value", "pay"],
    ],
    ids=" ".join,
)
def test_huge_values_and_keys_that_are_no_text_end_in_a_sentence(words: list[str], tmp_path: Path) -> None:
    huge = pa.table({"age": [1, 2], "pay": [-1.7e308, 1.7e308]})
    raw = pa.table({"age": pa.array([b"\xff", b"a"], pa.binary()), "pay": [1, 2]})
    (tmp_path / "log.sql").write_text("SELECT SUM(pay) FROM people;")
    (tmp_path / "policy.toml").write_text("least_h0 = 0.1\nleast_people = 1\n")
    for table, said in (
        (huge, "which is larger than 1e+150"),
        (raw, "the key 'age' holds bytes that are not UTF-8"),
    ):
        pq.write_table(table, tmp_path / "people.parquet")
        before = sorted(tmp_path.iterdir())
        given = [words[0], "people.parquet", "--confidential", "pay", "--keys", "age", *words[1:]]
        done = run_command(tmp_path, given)
        assert (done.returncode, done.stdout) == (2, ""), done.stderr
        assert said in done.stderr
        assert done.stderr.count("\n") == 1
        assert sorted(tmp_path.iterdir()) == before


def test_a_domain_of_huge_values_is_refused() -> None:
    with pytest.raises(eq.InputError, match=r"domain holds 1e\+200, larger than 1e\+150"):
        eq.Number("pay", domain=[0, 1e200])


def test_bytes_that_are_text_make_a_protected_file(tmp_path: Path) -> None:
    table = pa.table({"k": pa.array([b"\xc3\xa4", b"a"] * 3, pa.binary()), "pay": range(6)})
    pq.write_table(table, tmp_path / "people.parquet")
    people = eq.read(tmp_path / "people.parquet", confidential="pay", keys=["k"])
    for name in ("p.csv", "p.parquet"):
        eq.protect(people, eq.Swapping(rate=0.5), tmp_path / name)
    assert set(pd.read_csv(tmp_path / "p.csv")["k"]) == {"ä", "a"}
