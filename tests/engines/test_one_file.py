"""DuckDB reads only the named file, unchanged."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from equivoc.data.read import read
from equivoc.engines.duckdb import connect


@pytest.mark.parametrize("folder", ["year=2020", "c0=7", "salary=1", "~", "file:", "s3:", "a [1]*?'x"])
def test_folders_do_not_change_what_a_file_says(
    folder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path(folder).mkdir()
    table = pa.table({"year": [1, 2, 3], "salary": [4, 5, 6]})
    pq.write_table(table, tmp_path / folder / "people.parquet")
    Path(folder, "people.csv").write_text("year,salary\n1,4\n2,5\n3,6\n")
    for name in ("people.parquet", "people.csv"):
        people = read(f"{folder}/{name}", confidential="salary", keys=["year"])
        assert people.levels("year") == (1, 2, 3)
        assert people.values.tolist() == [4, 5, 6]


def test_a_name_that_looks_like_a_pattern(tmp_path: Path) -> None:
    (tmp_path / "people 1.csv").write_text("age,salary\n8,9\n")
    (tmp_path / "people [1].csv").write_text("age,salary\n1,2\n")
    assert read(tmp_path / "people [1].csv", confidential="salary", keys=["age"]).levels("age") == (1,)


def test_no_other_file_can_be_opened(tmp_path: Path) -> None:
    mine, other = tmp_path / "mine.csv", tmp_path / "other.csv"
    for path in (mine, other):
        path.write_text("age,salary\n1,2\n")
    with connect(mine) as connection:
        assert connection.sql(f"SELECT * FROM read_csv('{mine}')").fetchall() == [(1, 2)]
        with pytest.raises(duckdb.Error):
            connection.sql(f"SELECT * FROM read_csv('{other}')").fetchall()
        with pytest.raises(duckdb.Error):
            connection.execute("SET enable_external_access = true")
