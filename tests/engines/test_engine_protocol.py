"""What every engine answers: columns, ranges, distinct values, rows and counts, compared with pandas."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import equivoc as eq
from equivoc.data import counted_records
from equivoc.data.tables import EngineTable, open_table
from equivoc.engines.engine import Engine
from tests.engines.test_same_numbers import HOMES, MARKS, ROLES, _people

ENGINES = ("parquet", "parquet folder", "postgresql", "spark")


@pytest.fixture(params=[pytest.param(name, marks=MARKS.get(name, ())) for name in ENGINES])
def source(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    return HOMES[request.param](_people(8), tmp_path, request)


@pytest.fixture
def engine(source: Any) -> Engine:
    table = open_table(source)
    assert isinstance(table, EngineTable)
    return table.engine


def test_columns_and_ranges(engine: Engine) -> None:
    frame = _people(8)
    assert engine.names == tuple(frame.columns)
    assert [engine.kind(name) for name in engine.names] == [
        "other", "integer", "floating", "other", "floating", "floating",
    ]  # fmt: skip
    rows, ranges = engine.extents(["age"])
    assert rows == len(frame)
    assert (ranges["age"].low, ranges["age"].high) == (frame["age"].min(), frame["age"].max())
    assert ranges["age"].filled == frame["age"].notna().sum()


@pytest.mark.parametrize("name", ["job", "age", "born"])
def test_distinct_values(engine: Engine, name: str) -> None:
    found = engine.distinct(name).to_pylist()
    assert len(found) == len(set(found))
    assert set(found) == {None if pd.isna(value) else value for value in _people(8)[name]}


def test_rows_and_counts(engine: Engine) -> None:
    """Rows in which a column that must be present is null are left out of both."""
    frame = _people(8)
    frame = frame[frame["job"].notna()]
    expected = {
        (job, None if pd.isna(age) else age): int(count)
        for (job, age), count in frame.groupby(["job", "age"], dropna=False).size().items()
    }
    columns = {"a": engine.value("job"), "b": engine.value("age")}
    counts: dict[Any, int] = {}
    for batch in engine.counts(columns, present=[engine.value("job")]):
        assert batch.schema.names == ["a", "b", "n"]
        for a, b, n in zip(*(column.to_pylist() for column in batch.columns), strict=True):
            assert (a, b) not in counts
            counts[a, b] = n
    assert counts == expected
    rows = [
        tuple(row.values())
        for batch in engine.rows(columns, present=[engine.value("job")])
        for row in batch.to_pylist()
    ]
    assert {each: rows.count(each) for each in rows} == expected
    probe = engine.counts(columns, present=[engine.value("job")], among=7)
    assert sum(sum(batch.column("n").to_pylist()) for batch in probe) == 7


def test_what_would_not_fit_into_memory(source: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Counts do not need the records; a technique that does offers a sample, if they would have to be expanded."""
    monkeypatch.setattr(counted_records, "LARGEST_EXPANSION", 1000)
    people = eq.Microdata(source, **ROLES)
    assert eq.assess(people, eq.Unprotected()).summary["records"] == 120
    if people.source is not None:  # files are read
        assert people.codes.size == 120
        return
    with pytest.raises(
        eq.InputError, match=r"needs every record of .* in memory: 120 records.* sample=100_000"
    ):
        eq.Sampling(fraction=0.5).release(people, 0)
    drawn = eq.Microdata(source, **ROLES, sample=30)
    assert eq.assess(drawn, eq.Sampling(fraction=0.5)).summary["records"] == 30
