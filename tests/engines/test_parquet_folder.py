"""Parquet files: a folder of them is one table; damaged files and files that differ end in one sentence."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import equivoc as eq

ROLES = {"confidential": "pay", "keys": ["age", "sex"]}


def _write(path: Path, ages: list[int], *, sex: str | int = "F", pay: float = 1.0) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table({"age": ages, "sex": [sex] * len(ages), "pay": [pay] * len(ages)}), path)


def test_files_in_the_order_of_their_names(tmp_path: Path) -> None:
    for name, ages in (("b.parquet", [30, 31]), ("a.parquet", [50]), ("c.PQ", [40])):
        _write(tmp_path / name, ages)
    for ignored in (".hidden.parquet", "_temporary/x.parquet"):
        _write(tmp_path / ignored, [99])
    (tmp_path / "README").write_text("not a table")
    people = eq.read(tmp_path, **ROLES)
    assert people.frame["age"].tolist() == [50, 30, 31, 40]
    assert people.source == tmp_path


def test_columns_may_have_another_order(tmp_path: Path) -> None:
    _write(tmp_path / "a.parquet", [30])
    pq.write_table(pa.table({"pay": [2.0], "age": [31], "sex": ["M"]}), tmp_path / "b.parquet")
    assert eq.read(tmp_path, **ROLES).frame.to_numpy().tolist() == [[30, "F", 1.0], [31, "M", 2.0]]


def test_folders_named_after_values(tmp_path: Path) -> None:
    for year, pay in ((2019, 7.0), (2020, 8.0)):
        path = tmp_path / f"year={year}" / "x.parquet"
        path.parent.mkdir()
        pq.write_table(pa.table({"age": [year - 1980], "pay": [pay]}), path)
    people = eq.read(tmp_path, confidential="pay", keys=["year", "age"])
    assert people.levels("year") == (2019, 2020)
    assert people.frame.to_numpy().tolist() == [[2019, 39, 7.0], [2020, 40, 8.0]]


def test_a_column_that_is_also_a_folder(tmp_path: Path) -> None:
    _write(tmp_path / "age=3" / "x.parquet", [30])
    with pytest.raises(
        eq.InputError, match=r"'age' is a column of x\.parquet and also in the names of folders"
    ):
        eq.read(tmp_path, **ROLES)


@pytest.mark.parametrize(
    ("others", "told"),
    [
        ({"b.parquet": {"sex": 1}}, r"column 'sex' holds string in .*a\.parquet, but int64 in .*b\.parquet"),
        ({"year=1/x.parquet": {}}, "at different depths"),
        ({"2020/x.parquet": {}}, "Parquet files in the folder 2020"),
    ],
)
def test_files_that_differ(tmp_path: Path, others: dict[str, dict[str, int]], told: str) -> None:
    _write(tmp_path / "a.parquet", [30])
    for name, given in others.items():
        _write(tmp_path / name, [31], **given)  # type: ignore[arg-type]
    with pytest.raises(eq.InputError, match=told):
        eq.read(tmp_path, **ROLES)


@pytest.mark.parametrize("missing", ["a.parquet", "b.parquet"])
def test_a_file_that_lacks_a_column(tmp_path: Path, missing: str) -> None:
    for name in ("a.parquet", "b.parquet"):
        table = pa.table({"age": [1], "sex": ["F"], "pay": [1.0]})
        pq.write_table(table.drop(["sex"]) if name == missing else table, tmp_path / name)
    with pytest.raises(eq.InputError, match=r"column 'sex'.*give files of the same columns"):
        eq.read(tmp_path, confidential="pay", keys=["age"])


def test_a_folder_without_parquet_files(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("age,pay\n1,2\n")
    with pytest.raises(eq.InputError, match="a folder without Parquet files"):
        eq.read(tmp_path, **ROLES)


@pytest.mark.parametrize("in_folder", [False, True])
def test_a_damaged_row_group_in_the_middle(tmp_path: Path, in_folder: bool) -> None:
    """The counts need every row group: nothing is left out silently."""
    rng = np.random.default_rng(1)
    table = pa.table({"age": rng.integers(0, 50_000, 60_000), "pay": rng.random(60_000)})
    path = tmp_path / "b.parquet"
    pq.write_table(table, path, row_group_size=20_000, compression="snappy")
    if in_folder:
        pq.write_table(table, tmp_path / "a.parquet")
    group = pq.ParquetFile(path).metadata.row_group(1).column(0)
    start = group.dictionary_page_offset or group.data_page_offset
    damaged = bytearray(path.read_bytes())
    damaged[start : start + group.total_compressed_size] = bytes(group.total_compressed_size)
    path.write_bytes(damaged)
    with pytest.raises(eq.InputError, match=r"cannot be read: .") as caught:
        eq.read(tmp_path if in_folder else path, confidential="pay", keys=["age"])
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("column", ["age", "pay"])
def test_damage_that_only_a_checksum_shows(tmp_path: Path, column: str) -> None:
    """Without compression every byte of a page decodes to some value."""
    rng = np.random.default_rng(2)
    table = pa.table({"age": rng.integers(0, 50, 9000), "other": rng.random(9000), "pay": rng.random(9000)})
    path = tmp_path / "people.parquet"
    pq.write_table(table, path, row_group_size=3000, compression="none", write_page_checksum=True)
    assert len(eq.read(path, confidential="pay", keys=["age"])) == 9000
    chunk = pq.ParquetFile(path).metadata.row_group(1).column(table.column_names.index(column))
    middle = chunk.dictionary_page_offset + chunk.total_compressed_size // 2
    damaged = bytearray(path.read_bytes())
    damaged[middle] ^= 1
    path.write_bytes(damaged)
    with pytest.raises(eq.InputError, match=f"its column '{column}' is damaged"):
        eq.read(path, confidential="pay", keys=["age"])
    assert len(eq.read(path, confidential="other")) == 9000  # reads neither


def test_linked_folders_are_refused(tmp_path: Path) -> None:
    """Left out in silence, their people would be missing."""
    _write(tmp_path / "elsewhere" / "x.parquet", [30])
    _write(tmp_path / "table" / "year=1" / "x.parquet", [40])
    (tmp_path / "table" / "year=2").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(eq.InputError, match="a link to another folder, year=2: give folders without links"):
        eq.read(tmp_path / "table", **ROLES)


def test_far_too_many_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("equivoc.engines.parquet._MOST_ENTRIES", 20)
    for number in range(21):
        (tmp_path / f"{number}.txt").touch()
    with pytest.raises(eq.InputError, match="more than 20 files and folders: give one that holds only"):
        eq.read(tmp_path, **ROLES)
