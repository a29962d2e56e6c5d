"""The same table in every kind that Microdata takes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

KINDS = ["pandas", "nullable pandas", "polars", "pyarrow", "duckdb", "csv", "parquet"]


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def make(kind: str, tmp_path: Path) -> Callable[[dict[str, list[Any]]], Any]:
    """From a plain table to one of the kind."""

    def make(columns: dict[str, list[Any]]) -> Any:
        table = pa.table(columns)
        if kind == "pandas":
            return table.to_pandas()
        if kind == "nullable pandas":
            return table.to_pandas().convert_dtypes()
        if kind == "polars":
            return pl.DataFrame(columns, strict=False)
        if kind == "pyarrow":
            return table
        if kind == "duckdb":
            return duckdb.from_arrow(table)
        path = tmp_path / f"people.{kind}"
        if kind == "parquet":
            pa.parquet.write_table(table, path)
        else:
            pa.csv.write_csv(table, path)
        return path

    return make
