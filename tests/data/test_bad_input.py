"""The caller's mistakes: one sentence that names what, where and what to do."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from equivoc.data.microdata import Microdata
from equivoc.data.read import read
from equivoc.errors import InputError

Make = Callable[[dict[str, list[Any]]], Any]
PEOPLE: dict[str, list[Any]] = {"age": [1, 2, 3], "sex": ["F", "M", "F"], "salary": [10, 20, 30]}


def refusal(*args: Any, **kwargs: Any) -> str:
    with pytest.raises(InputError) as caught:
        Microdata(*args, **{"confidential": "salary", **kwargs})
    message = str(caught.value)
    assert "\n" not in message
    return message


def place(kind: str, row: int) -> str:
    """Where a message says that a row of `make` stands: a CSV file has its header on line 1."""
    return f"on line {row + 2} of people.csv," if kind == "csv" else f"in row {row} (counting from 0)"


def test_names(make: Make) -> None:
    table = make(PEOPLE)
    assert "'salry' is not a column of the table: did you mean 'salary'?" in refusal(
        table, confidential="salry"
    )
    assert "the key 'AGE' is not a column of the table: did you mean 'age'?" in refusal(table, keys=["AGE"])
    assert "choose from age, sex, salary" in refusal(table, keys=["qqqqqq"])
    assert "'weigth'" in refusal(table, weights="weigth")
    assert "cannot be a key as well" in refusal(table, keys=["age", "salary"])
    assert "'age' is listed 2 times" in refusal(table, keys=["age", "sex", "age"])
    assert "keys must be a list of column names, such as ['age']" in refusal(table, keys="age")
    assert "by its name, not 3" in refusal(table, keys=[3])
    assert "cannot hold the weights" in refusal(table, weights="salary")


def test_duplicate_columns(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text("age,salary,age\n1,2,3\n")
    pandas = pd.DataFrame([[1, 2, 3]], columns=["age", "salary", "age"])
    arrow = pa.table([[1], [2], [3]], names=["age", "salary", "age"])
    pq.write_table(arrow, tmp_path / "people.parquet")
    for source in (path, pandas, arrow, tmp_path / "people.parquet"):
        assert "more than one column named 'age'" in refusal(source)


def test_missing_values(make: Make, kind: str) -> None:
    message = refusal(make({"age": list(range(9)), "salary": [None, 1, None, 2, None, None, None, None, 3]}))
    rows = "lines 2, 4, 6, 7, 8, … of the file" if kind == "csv" else "counting from 0: 0, 2, 4, 5, 6, …"
    assert f"'salary' is null in 6 rows ({rows})" in message
    assert "drop_missing=True" in message
    nothing = {"age": [1, 2], "salary": pa.array([None, None], pa.float64()).to_pylist()}
    assert "2 rows" in refusal(make(nothing))
    assert "all 2 rows were dropped" in refusal(make(nothing), drop_missing=True)


def test_values_outside_the_domain(make: Make, kind: str) -> None:
    message = refusal(make(PEOPLE), domain=[10, 20])
    assert place(kind, 2) in message
    assert "30" in message
    assert "not in the domain" in message
    message = refusal(make({"salary": [10, 99, 55, 4]}), domain=range(0, 60, 10), round_to=10)
    assert f"{place(kind, 1)} the confidential column 'salary' holds" in message
    assert "once rounded to 10: it goes from 0 to 50" in message


@pytest.mark.parametrize("kind", ["csv", "parquet", "pandas", "polars", "pyarrow", "duckdb"], indirect=True)
def test_text_where_numbers_belong(make: Make, kind: str) -> None:
    message = refusal(make({"salary": ["10", "20", "n/a", "x"]}))
    assert f"{place(kind, 2)} the confidential column 'salary' holds 'n/a', which is not a number" in message


def test_mixed_objects_and_nested_values() -> None:
    assert "row 1 (counting from 0)" in refusal(pd.DataFrame({"salary": [10, "many", 3.5]}))
    assert "one value per record" in refusal(pl.DataFrame({"k": [[1]], "salary": [1]}), keys=["k"])


@pytest.mark.parametrize("kind", ["csv", "parquet", "pandas", "polars", "pyarrow", "duckdb"], indirect=True)
def test_infinite_values(make: Make, kind: str) -> None:
    message = refusal(make({"salary": [1.0, float("-inf")]}))
    assert place(kind, 1) in message
    assert "is infinite" in message


def test_weights(make: Make, kind: str) -> None:
    assert f"{place(kind, 1)} the weights column 'w' holds -2" in refusal(
        make({"salary": [1, 2], "w": [1, -2]}), weights="w"
    )
    assert f"{place(kind, 0)} the weights column 'w' holds nothing" in refusal(
        make({"salary": [1, 2], "w": [None, 1.5]}), weights="w"
    )
    assert "must contain numbers" in refusal(make({"salary": [1, 2], "w": ["a", "b"]}), weights="w")


@pytest.mark.parametrize("step", [0, -1, float("nan"), float("inf"), "ten", True, 10**400, 5e-324])
def test_round_to(step: Any) -> None:
    assert "round_to must be" in refusal(pa.table(PEOPLE), round_to=step)


def test_a_step_that_is_lost_in_the_values() -> None:
    assert "round_to is 1e-300, which is too small for values such as 30" in refusal(
        pa.table(PEOPLE), round_to=1e-300
    )


@pytest.mark.parametrize("domain", [[], [1, float("nan")], ["a"], 5, [[1, 2]], [float("inf")]])
def test_domain(domain: Any) -> None:
    assert "domain must" in refusal(pa.table(PEOPLE), domain=domain)


def test_tables_without_records(make: Make, kind: str) -> None:
    if kind == "csv":
        return
    empty = {"salary": pa.array([], pa.int64()).to_pylist()}
    assert "no records" in refusal(make(empty))


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("a.csv", b"", "is empty"),
        ("a.csv", b"age,salary\n", "no records"),
        ("a.csv", b"age,salary\n1,2\n3,4,5,6\n7,8\n", "a.csv cannot be read"),
        ("a.csv", b'age,salary\n1,2\n3,"4\n5,6\n', "a.csv cannot be read"),
        ("a.csv", b"age,salary\n1,2\n\xff\x81,4\n", "a.csv"),
        ("a.csv", b"\xff\xfea\0,\0b\0\n\0001\0x", "UTF-16"),
        ("a.parquet", b"", "is empty"),
        ("a.parquet", b"PAR1 but nothing else", "not a readable Parquet file"),
        ("a.parquet", b"age,salary\n1,2\n", "not a readable Parquet file"),
        ("a.xlsx", b"PK\x03\x04", "damaged zip file"),
        ("a.json", b"[]", "cannot read .json files"),
        ("a.csv.gz", b"no gzip", "a.csv.gz"),
    ],
)
def test_broken_files(name: str, content: bytes, says: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    assert says in refusal(path)
    assert sorted(tmp_path.iterdir()) == [path]


def test_a_parquet_file_cut_short(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"age": list(range(10_000)), "salary": list(range(10_000))}), path)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    assert "not a readable Parquet file" in refusal(path, keys=["age"])
    # A page overwritten, the footer intact: only reading the data shows it.
    path.write_bytes(whole[:40] + b"\xff" * 4000 + whole[4040:])
    assert "cannot be read" in refusal(path, keys=["age"])


def test_paths_and_other_sources(tmp_path: Path) -> None:
    assert "there is no file" in refusal(tmp_path / "nobody.csv")
    assert "is a folder" in refusal(tmp_path)
    assert "cannot read people from a dict" in refusal({"salary": [1]})
    assert "LazyFrame" in refusal(pl.LazyFrame({"salary": [1]}))


def test_known() -> None:
    people = Microdata(pa.table(PEOPLE), confidential="salary", keys=["age", "sex"])
    for known, says in (
        (["salary"], "'salary' is not a key"),
        (["agee"], "did you mean 'age'"),
        (["age", "age"], "named twice"),
        ("age", "such as ['age']"),
    ):
        with pytest.raises(InputError) as caught:
            people.classes(known)
        assert says in str(caught.value)


def test_a_file_that_changes_after_it_was_read(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"age": [1, 2, 3], "salary": [1, 2, 3]}), path)
    people = read(path, confidential="salary", keys=["age"])
    for ages in ([1, 2, 9], [1, 2], [1, 2, 3, 1], [0, 1, 2]):
        pq.write_table(pa.table({"age": ages, "salary": ages}), path)
        with pytest.raises(InputError, match="has changed since it was read"):
            people.key_codes("age")
