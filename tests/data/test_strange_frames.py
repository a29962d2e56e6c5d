"""Frames with columns of rare types work, or give an error of one sentence; so do meaningless arguments."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from equivoc.attributes.numbers import even_domain
from equivoc.data.microdata import Microdata
from equivoc.errors import InputError

SALARY = [1, 2, 3, 1]


def refusal(source: Any, **options: Any) -> str:
    with pytest.raises(InputError) as caught:
        Microdata(source, **{"confidential": "salary", **options})
    return str(caught.value)


def keyed(key: Any) -> Microdata:
    return Microdata(pd.DataFrame({"key": key, "salary": SALARY}), confidential="salary", keys=["key"])


def test_periods() -> None:
    key = pd.PeriodIndex(["2020-11", "2020-03", None, "2019-12"], freq="M")
    people = keyed(key)
    assert people.levels("key") == ("2019-12", "2020-03", "2020-11", None)
    assert people.key_codes("key").tolist() == [2, 1, 3, 0]
    assert people.frame["key"].dtype == key.dtype
    assert people.frame["key"].tolist()[:2] == list(key[:2])


def test_intervals_are_in_their_own_order() -> None:
    ends = [(10, 20), (5, 10), (0, 5), (10, 20)]
    people = keyed(pd.arrays.IntervalArray.from_tuples(ends))
    assert people.levels("key") == ("(0, 5]", "(5, 10]", "(10, 20]")
    assert people.key_codes("key").tolist() == [2, 1, 0, 2]
    cut = pd.cut([11, 6, 1, 12], [0, 5, 10, 20])
    people = keyed(cut)
    assert people.key_codes("key").tolist() == [2, 1, 0, 2]
    assert people.frame["key"].tolist() == list(cut)


def test_sparse_columns() -> None:
    people = keyed(pd.arrays.SparseArray([0, 0, 7, 0]))
    assert people.levels("key") == (0, 7)
    sparse = pd.DataFrame({"salary": pd.arrays.SparseArray([0.0, 2.5])})
    assert Microdata(sparse, confidential="salary").values.tolist() == [0, 2.5]


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"key": pd.Series([10**30, 10**30 + 1, 5, 5], dtype=object), "salary": SALARY}),
        pl.DataFrame({"key": pl.Series([10**30, 10**30 + 1, 5, 5], dtype=pl.Int128), "salary": SALARY}),
        pa.table({"key": pa.array([10**30, 10**30 + 1, 5, 5], pa.decimal128(38)), "salary": SALARY}),
    ],
    ids=["pandas", "polars", "arrow"],
)
def test_long_integers_are_kept_apart_as_keys_and_refused_as_confidential(frame: Any) -> None:
    assert sorted(Microdata(frame, confidential="salary", keys=["key"]).classes(["key"]).sizes) == [1, 1, 2]
    message = refusal(frame, confidential="key")
    assert "in row 1 (counting from 0)" in message
    assert f"{10**30 + 1}" in message
    assert f"cannot be distinguished from {10**30}" in message


@pytest.mark.parametrize("kind", ["csv", "parquet", "pandas", "polars", "pyarrow", "duckdb"], indirect=True)
def test_neighbouring_integers_that_are_one_float(make: Any) -> None:
    message = refusal(make({"salary": [2**53, 5, 2**53 + 1]}))
    assert "9007199254740993" in message
    assert "cannot be distinguished from 9007199254740992 in double precision" in message
    rounded = Microdata(make({"salary": [2**53, 5, 2**53 + 1]}), confidential="salary", round_to=10)
    assert rounded.codes.tolist() == [1, 0, 1]


def test_numbers_written_in_two_ways_are_one_number(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text("salary\n1.0\n1\n+1\n1e0\n")
    assert Microdata(path, confidential="salary").values.tolist() == [1]
    decimals = pa.table({"salary": [Decimal("0.1"), Decimal("0.100000000000000001")]})
    assert "cannot be distinguished from" in refusal(decimals)


def test_one_text_of_two_types() -> None:
    frame = pd.DataFrame({"key": pd.Series([1, "1", 2, "x"], dtype=object), "salary": SALARY})
    assert "column 'key' holds '1' both as text and as something else" in refusal(frame, keys=["key"])


class Unspeakable:
    def __str__(self) -> str:
        raise RuntimeError("no words")


@pytest.mark.parametrize(
    "key",
    [
        pd.Series(["\ud800", "a", "b", "c"], dtype=object),
        pd.Series([Unspeakable(), "a", "b", "c"], dtype=object),
        pa.array([pa.MonthDayNano([1, 2, 3])] * 4),
        pl.Series([object()] * 4, dtype=pl.Object),
    ],
    ids=["surrogate", "object", "calendar interval", "polars object"],
)
def test_columns_that_cannot_be_keys(key: Any) -> None:
    table: Any = {pd.Series: pd.DataFrame, pl.Series: pl.DataFrame}.get(type(key), pa.table)
    assert "column 'key' holds" in refusal(table({"key": key, "salary": SALARY}), keys=["key"])


def test_dates_that_python_does_not_have(tmp_path: Path) -> None:
    table = pa.table({"key": pa.array([-800_000], pa.date32()), "salary": [1]})
    pq.write_table(table, tmp_path / "people.parquet")
    for source in (table, tmp_path / "people.parquet"):
        people = Microdata(source, confidential="salary", keys=["key"])
        with pytest.raises(InputError, match="outside the years 1 to 9999"):
            people.levels("key")


def test_a_relation_that_cannot_be_read() -> None:
    connection = duckdb.connect()
    relation = connection.sql("SELECT 1 AS salary")
    connection.close()
    assert "the DuckDB relation cannot be read" in refusal(relation)
    wrong = duckdb.sql("SELECT CAST(x AS INT) AS salary FROM (VALUES ('1'), ('x')) t(x)")
    assert "the DuckDB relation cannot be read" in refusal(wrong)


def test_arguments_that_make_no_sense() -> None:
    frame = pd.DataFrame({"age": SALARY, "salary": SALARY})
    assert "keys must be a list of column names, not None" in refusal(frame, keys=None)
    assert "keys must be a list of column names, not 5" in refusal(frame, keys=5)
    assert "drop_missing must be True or False, not 'no'" in refusal(frame, drop_missing="no")
    assert "rename the table's columns to text" in refusal(pd.DataFrame({0: [1]}), confidential="0")
    with pytest.raises(InputError, match="known is 5; give a list of keys"):
        Microdata(frame, confidential="salary", keys=["age"]).classes(5)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "domain",
    [
        "123",
        b"12",
        {1: 2},
        ["1", "2"],
        [10**400],
        range(10**12),
        range(10**30),
        [2**53, 2**53 + 1],
        iter(int, 1),
    ],
    ids=["text", "bytes", "mapping", "texts", "too large", "long", "longer", "one float", "endless"],
)
def test_domains_that_make_no_sense(domain: Any) -> None:
    assert "domain " in refusal(pa.table({"salary": SALARY}), domain=domain)


@pytest.mark.parametrize(
    ("low", "high", "step"),
    [
        (0, 1e18, 1),
        (0, 50, 1e-9),
        (0, 1, 5e-324),
        (-1e308, 1e308, 1),
        (float("nan"), 1, 1),
        (0, float("inf"), 1),
        (0, 1, float("nan")),
        (0, 1, 0),
        (0, 1, -1),
        (2, 1, 1),
        (1e18, 1e18 + 1000, 1),
        ("0", 1, 1),
        (True, 1, 1),
        pytest.param(10**400, 1, 1, id="too large"),
    ],
)
def test_even_domains_that_are_refused(low: Any, high: Any, step: Any) -> None:
    with pytest.raises(InputError, match=r"^domain: "):
        even_domain(low, high, step)


def test_even_domains_are_written_as_one_would() -> None:
    assert even_domain(10, 250, 10).tolist() == list(range(10, 260, 10))
    assert even_domain(0, 0.5, 0.1).tolist() == [0, 0.1, 0.2, 0.3, 0.4, 0.5]
    assert even_domain(0.25, 1, 0.5).tolist() == [0.25, 0.75]
    assert even_domain(0, 999_999, 1).size == 1_000_000
    assert even_domain(5, 5, 1).tolist() == [5]
    assert np.allclose(even_domain(-1, 1, 0.7), [-1, -0.3, 0.4])
