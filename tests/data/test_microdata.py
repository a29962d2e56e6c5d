"""The same people from every kind of table."""

from __future__ import annotations

import datetime as dt
import decimal
import pickle
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from equivoc.data.microdata import Microdata
from equivoc.data.read import read
from equivoc.errors import InputError

Make = Callable[[dict[str, list[Any]]], Any]
KEYS = ["age", "sex", "born", "member", "score"]

PEOPLE: dict[str, list[Any]] = {
    "age": [30, None, 30, 41, None, 30, 41],
    "sex": ["F", "M", "F", None, "M", "M", "F"],
    "born": [dt.date(1990, 1, d) for d in (2, 1, 2, 3, 1, 2, 3)],
    "member": [True, False, True, True, False, False, None],
    "score": [0.5, 1.5, 0.5, None, 1.5, 0.5, -2.0],
    "salary": [12, 27, 9, 14, 27, 25, 31],
    "weight": [1.0, 2.0, 0.5, 1.0, 1.0, 4.0, 0.0],
}


def rows(frame: Any) -> list[tuple[Any, ...]]:
    """Any kind of frame as rows of plain values, missing ones as None."""
    if isinstance(frame, pl.DataFrame):
        return frame.rows()
    if isinstance(frame, duckdb.DuckDBPyRelation):
        return frame.fetchall()
    if isinstance(frame, pd.DataFrame):
        lists = [[None if pd.isna(v) else v for v in frame[name].tolist()] for name in frame.columns]
        return list(zip(*lists, strict=True))
    return list(zip(*(column.to_pylist() for column in frame.columns), strict=True))


FRAME_TYPES = {
    "pandas": pd.DataFrame,
    "nullable pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "pyarrow": pa.Table,
    "duckdb": duckdb.DuckDBPyRelation,
    "csv": pd.DataFrame,
    "parquet": pd.DataFrame,
}


def test_with_no_key_known_there_is_one_class_and_no_column() -> None:
    table = pa.table({"sex": ["F", "M"], "salary": [12, 27]})
    for frame in (table.to_pandas(), pl.DataFrame(table), table):
        everyone = Microdata(frame, confidential="salary", keys=["sex"]).classes([])
        assert len(everyone) == 1
        assert list(everyone.keys.columns) == []
    relation = Microdata(duckdb.from_arrow(table), confidential="salary", keys=["sex"]).classes([])
    assert len(relation) == 1
    with pytest.raises(InputError, match="name a known key"):
        _ = relation.keys


def test_every_kind_gives_the_same_people(make: Make) -> None:
    people = Microdata(make(PEOPLE), confidential="salary", keys=KEYS, round_to=10, weights="weight")
    assert len(people) == 7
    assert people.keys == tuple(KEYS)
    assert people.values.tolist() == [10.0, 30.0]
    assert people.codes.dtype == np.int32
    assert people.codes.tolist() == [0, 1, 0, 0, 1, 1, 1]
    assert people.weights is not None
    assert people.weights.tolist() == PEOPLE["weight"]
    assert people.dropped == 0
    for name in KEYS:
        present = sorted({v for v in PEOPLE[name] if v is not None})
        expected = [*present, *([None] if None in PEOPLE[name] else [])]
        assert list(people.levels(name)) == expected
        assert people.key_codes(name).dtype == np.int32
        assert [people.levels(name)[c] for c in people.key_codes(name)] == PEOPLE[name]


def test_every_kind_gives_the_same_classes(make: Make) -> None:
    people = Microdata(make(PEOPLE), confidential="salary", keys=KEYS, weights="weight")
    for known in ([], ["age"], ["sex", "age"], KEYS, KEYS[::-1]):
        classes = people.classes(known)
        combos = list(zip(*(PEOPLE[name] for name in known), strict=True)) if known else [()] * 7
        expected = Counter(zip(combos, PEOPLE["salary"], strict=True))
        found_keys = [
            tuple(people.levels(name)[code] for name, code in zip(known, codes, strict=True))
            for codes in classes.key_codes
        ]
        counts = classes.counts.tocoo()
        found = {
            (found_keys[row], int(people.values[column])): int(n)
            for row, column, n in zip(counts.row, counts.col, counts.data, strict=True)
        }
        assert found == dict(expected)
        assert classes.counts.dtype == np.int64
        assert classes.sizes.tolist() == [Counter(combos)[key] for key in found_keys]
        assert classes.key_codes.tolist() == sorted(classes.key_codes.tolist())
        assert [found_keys[c] for c in classes.of_record] == combos
        for at, key in enumerate(found_keys):
            total = sum(w for w, combo in zip(PEOPLE["weight"], combos, strict=True) if combo == key)
            assert classes.weights is not None
            assert classes.weights[at] == total


def test_frames_come_back_in_the_kind_that_went_in(make: Make, kind: str) -> None:
    people = Microdata(make(PEOPLE), confidential="salary", keys=["age", "sex", "born"], round_to=10)
    assert isinstance(people.frame, FRAME_TYPES[kind])
    expected = list(
        zip(PEOPLE["age"], PEOPLE["sex"], PEOPLE["born"], [10, 30, 10, 10, 30, 30, 30], strict=True)
    )
    assert rows(people.frame) == expected
    keys = people.classes(["sex", "age"]).keys
    assert isinstance(keys, FRAME_TYPES[kind])
    assert rows(keys) == [("F", 30), ("F", 41), ("M", 30), ("M", None), (None, 41)]


def test_integers_with_nulls_stay_integers(make: Make, kind: str) -> None:
    people = Microdata(make(PEOPLE), confidential="salary", keys=["age"])
    if kind == "pandas":  # the frame itself holds floats
        assert people.frame.dtypes["age"] == np.float64
        return
    assert all(type(level) is int for level in people.levels("age")[:-1])
    if kind in ("nullable pandas", "csv", "parquet"):
        assert people.frame.dtypes["age"] == pd.Int64Dtype()


def test_missing_values_are_named_or_dropped(make: Make) -> None:
    columns = {"age": [1, 2, 3, 1], "salary": [None, 20, None, 10]}
    people = Microdata(make(columns), confidential="salary", keys=["age"], drop_missing=True)
    assert people.dropped == 2
    assert len(people) == 2
    assert people.codes.tolist() == [1, 0]
    assert people.levels("age") == (1, 2)
    assert people.key_codes("age").tolist() == [1, 0]
    assert people.classes(["age"]).sizes.tolist() == [1, 1]


def test_a_given_domain_keeps_values_that_do_not_occur(make: Make) -> None:
    people = Microdata(
        make(PEOPLE), confidential="salary", keys=["sex"], domain=range(50, 0, -10), round_to=10
    )
    assert people.values.tolist() == [10, 20, 30, 40, 50]
    assert people.classes(["sex"]).counts.toarray().tolist() == [
        [2, 0, 1, 0, 0],
        [0, 0, 3, 0, 0],
        [1, 0, 0, 0, 0],
    ]


def test_codes_cannot_be_changed_from_outside(make: Make) -> None:
    people = Microdata(make(PEOPLE), confidential="salary", keys=["sex"])
    classes = people.classes(["sex"])
    for array in (people.values, people.codes, people.key_codes("sex"), classes.sizes, classes.of_record):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0
    with pytest.raises(AttributeError):
        people.values = np.zeros(2)  # type: ignore[misc]


def test_changing_the_frame_afterwards_changes_nothing() -> None:
    frame = pd.DataFrame({"age": [1, 2, 1], "salary": [10.0, 20.0, 10.0]})
    people = Microdata(frame, confidential="salary", keys=["age"])
    frame.loc[:, "salary"] = 99.0
    frame.loc[:, "age"] = 7
    assert people.values.tolist() == [10.0, 20.0]
    assert people.classes(["age"]).sizes.tolist() == [2, 1]


@pytest.mark.parametrize(
    "levels",
    [
        [decimal.Decimal("1.10"), decimal.Decimal("2.50")],
        [dt.datetime(2020, 1, 1, 12), dt.datetime(2020, 1, 2)],
        [dt.time(8), dt.time(9, 30)],
        ["", "é"],
        [-(2**40), 2**62],
        [-0.5, 7.25],
        [b"a", b"b"],
    ],
    ids=lambda levels: type(levels[0]).__name__,
)
def test_keys_of_any_type(levels: list[Any], tmp_path: Path) -> None:
    table = pa.table({"key": [levels[1], None, levels[0], levels[1]], "salary": [1, 2, 3, 1]})
    pq.write_table(table, tmp_path / "people.parquet")
    for source in (table, tmp_path / "people.parquet"):
        people = Microdata(source, confidential="salary", keys=["key"])
        assert people.levels("key") == (*levels, None)
        assert people.key_codes("key").tolist() == [1, 2, 0, 1]
        assert people.classes(["key"]).sizes.tolist() == [1, 2, 1]


def test_nan_is_null_and_minus_zero_is_zero(tmp_path: Path) -> None:
    table = pa.table({"key": [float("nan"), -0.0, 0.0, None], "salary": [-0.0, 0.0, 2.0, 1.0]})
    pq.write_table(table, tmp_path / "people.parquet")
    for source in (table, tmp_path / "people.parquet", pl.DataFrame(pl.from_arrow(table)), table.to_pandas()):
        people = Microdata(source, confidential="salary", keys=["key"])
        assert people.levels("key") == (0.0, None)
        assert people.key_codes("key").tolist() == [1, 0, 0, 1]
        assert people.values.tolist() == [0.0, 1.0, 2.0]
        assert people.codes.tolist() == [0, 0, 2, 1]


def test_categories_sort_as_text_unless_they_have_an_order() -> None:
    names = ["low", "high", "mid", "low"]
    order = ["low", "mid", "high", "never"]
    for ordered, expected in ((False, ("high", "low", "mid")), (True, ("low", "mid", "high"))):
        frame = pd.DataFrame({"level": pd.Categorical(names, order, ordered=ordered), "salary": [1, 2, 3, 4]})
        people = Microdata(frame, confidential="salary", keys=["level"])
        assert people.levels("level") == expected
        assert people.frame.dtypes["level"] == frame.dtypes["level"]
        assert people.frame["level"].tolist() == names
    for dtype, expected in (
        (pl.Categorical(), ("high", "low", "mid")),
        (pl.Enum(order), ("low", "mid", "high")),
    ):
        polars = pl.DataFrame({"level": pl.Series(names, dtype=dtype), "salary": [1, 2, 3, 4]})
        people = Microdata(polars, confidential="salary", keys=["level"])
        assert people.levels("level") == expected
        assert people.frame["level"].to_list() == names


def test_awkward_names(make: Make) -> None:
    names = ['a"b', "select", "größe, cm", "Age", "x'y; --"]
    columns = {name: [at, at + 1, at] for at, name in enumerate(names)} | {"salary": [1, 2, 1]}
    people = Microdata(make(columns), confidential="salary", keys=names)
    for at, name in enumerate(names):
        assert people.levels(name) == (at, at + 1)
    assert people.classes(names[::-1]).sizes.tolist() == [2, 1]
    assert rows(people.frame) == [(0, 1, 2, 3, 4, 1), (1, 2, 3, 4, 5, 2), (0, 1, 2, 3, 4, 1)]


@pytest.mark.parametrize("kind", ["csv", "parquet", "pandas", "polars", "pyarrow"], indirect=True)
def test_names_that_differ_in_case_only(make: Make) -> None:
    people = Microdata(
        make({"age": [1, 2], "Age": [5, 5], "salary": [1, 2]}), confidential="salary", keys=["Age"]
    )
    assert people.levels("Age") == (5,)
    assert people.key_codes("Age").tolist() == [0, 0]


def test_like_keeps_our_types_and_takes_new_columns(make: Make, kind: str) -> None:
    people = Microdata(make(PEOPLE), confidential="salary", keys=["age"])
    frame = people.like({"age": people.decode("age", np.array([1, -1])), "size": np.array([4, 5])})
    assert isinstance(frame, FRAME_TYPES[kind])
    assert rows(frame) == [(41, 4), (None, 5)]


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    table=st.lists(
        st.tuples(st.sampled_from("abc"), st.none() | st.integers(-3, 3), st.integers(0, 4)),
        min_size=1,
        max_size=40,
    ),
    seed=st.integers(0, 2**32 - 1),
)
def test_neither_row_order_nor_order_preserving_names_matter(
    table: list[tuple[str, int | None, int]], seed: int
) -> None:
    def counts(rows: list[tuple[Any, ...]]) -> Any:
        columns = dict(zip(["a", "b", "salary"], map(list, zip(*rows, strict=True)), strict=True))
        classes = Microdata(pa.table(columns), confidential="salary", keys=["a", "b"]).classes(["b", "a"])
        return classes.counts.toarray().tolist(), classes.key_codes.tolist()

    shuffled = [table[at] for at in np.random.default_rng(seed).permutation(len(table))]
    renamed = [
        ({"a": "Aa", "b": "ab", "c": "zz"}[a], None if b is None else b * 1000 + 5, v) for a, b, v in table
    ]
    assert counts(shuffled) == counts(table) == counts(renamed)


def test_a_parquet_file_counts_alike_when_grouped_and_when_streamed(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    size = 150_000  # more than the probe looks at
    for levels in (3, 60_000):
        table = pa.table(
            {
                "a": rng.integers(-2, levels, size),
                "b": rng.choice(["x", "y", None], size),
                "c": pa.array(rng.integers(0, 4, size), mask=rng.random(size) < 0.1),
                "salary": rng.integers(0, 9, size) * 10,
            }
        )
        pq.write_table(table, tmp_path / "people.parquet", row_group_size=40_000)
        filed = read(tmp_path / "people.parquet", confidential="salary", keys=["a", "b", "c"])
        held = Microdata(table, confidential="salary", keys=["a", "b", "c"])
        one, other = filed.classes(["c", "a", "b"]), held.classes(["c", "a", "b"])
        assert np.array_equal(one.sizes, other.sizes)
        assert np.array_equal(one.key_codes, other.key_codes)
        assert (one.counts != other.counts).nnz == 0
        assert np.array_equal(one.of_record, other.of_record)
        assert np.array_equal(filed.codes, held.codes)


def test_a_parquet_file_whose_cells_need_more_than_a_word(tmp_path: Path) -> None:
    rng = np.random.default_rng(6)
    table = pa.table(
        {f"k{i}": rng.integers(0, 2**15, 500) for i in range(6)} | {"salary": rng.integers(0, 9, 500)}
    )
    pq.write_table(table, tmp_path / "people.parquet")
    keys = [f"k{i}" for i in range(6)]
    filed = read(tmp_path / "people.parquet", confidential="salary", keys=keys)
    assert filed.classes(keys).sizes.tolist() == [1] * 500
    assert filed.classes(["k3"]).sizes.sum() == 500


def test_text_in_csv_is_typed_by_all_its_values(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    lines = [f"{n},7,2020-01-0{n % 9 + 1},true,NA,12345678901234567890,0.5,{n}" for n in range(30_000)]
    path.write_text(
        "code,n,day,flag,word,long,x,salary\n" + "\n".join(lines) + "\nA1,,,,,12345678901234567891,1,1.5\n"
    )
    people = read(path, confidential="salary", keys=["code", "n", "day", "flag", "word", "long", "x"])
    assert people.levels("code")[-1] == "A1"
    assert len(people.levels("code")) == 30_001
    assert people.levels("n") == (7, None)
    assert people.levels("day")[0] == dt.date(2020, 1, 1)
    assert people.levels("flag") == (True, None)
    assert people.levels("word") == ("NA", None)
    assert people.levels("long") == ("12345678901234567890", "12345678901234567891")
    assert people.levels("x") == (0.5, 1.0)
    assert people.values[2] == 1.5


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_csv_delimiters_byte_order_mark_and_brackets_in_the_path(delimiter: str, tmp_path: Path) -> None:
    path = tmp_path / "people [1]*.csv"
    text = 'age,"a;b,c",salary\n1,"x,y;z",10\n2,"two\nlines",20\n\n'
    if delimiter != ",":
        text = text.replace(",", delimiter).replace(f'"a;b{delimiter}c"', '"a;b,c"')
    path.write_text("\ufeff" + text, encoding="utf-8", newline="")
    people = read(path, confidential="salary", keys=["age", "a;b,c"])
    assert people.levels("age") == (1, 2)
    assert people.levels("a;b,c")[0] == "two\nlines"
    assert people.values.tolist() == [10, 20]


@pytest.mark.parametrize(
    ("value", "step", "rounded"),
    [
        (5, 10, 10),
        (-5, 10, 0),
        (14.999, 10, 10),
        (0.15, 0.1, 0.2),
        (0.3, 0.1, 0.3),
        (7.5, 2.5, 7.5),
        (1e6 + 0.5, 1, 1000001),
    ],
)
def test_rounding_is_half_up(value: float, step: float, rounded: float) -> None:
    people = Microdata(pa.table({"x": [value]}), confidential="x", round_to=step)
    assert people.values.tolist() == [rounded]


def test_people_can_be_sent_to_another_process(make: Make) -> None:
    people = Microdata(make(PEOPLE), confidential="salary", keys=["sex", "age"], drop_missing=True)
    copy = pickle.loads(pickle.dumps(people))
    assert copy.codes.tolist() == people.codes.tolist()
    assert copy.classes(["age", "sex"]).sizes.tolist() == people.classes(["age", "sex"]).sizes.tolist()
    assert rows(copy.frame) == rows(people.frame)
