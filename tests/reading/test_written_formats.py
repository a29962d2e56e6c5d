"""A table written as the SPSS or Stata file that it was read from: codes, labels, missing codes and formats stay."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyreadstat
import pytest

from equivoc.errors import InputError
from equivoc.reading.formats.coded import CodedTable
from equivoc.reading.formats.opening import open_format
from equivoc.reading.formats.writing import write_alike
from tests.reading.test_formats import (
    FILES,
    NAMES,
    REGION,
    dta,
    dta_with_letters,
    por,
    sav,
    sav_with_missing_codes,
)

Raw = tuple[pd.DataFrame, Any]


def read(path: Path, labels: str = "labels") -> tuple[CodedTable, pa.Table]:
    found = open_format(path, labels=labels)
    assert isinstance(found, CodedTable)
    return found, pa.Table.from_batches(list(found.batches(found.names)))


def raw(path: Path) -> Raw:
    """What the library itself gives: stored codes, and what the file declares."""
    function: Any = pyreadstat.read_sav if path.suffix == ".sav" else pyreadstat.read_dta
    frame, said = function(str(path), user_missing=True)
    return frame, said


@pytest.mark.parametrize("labels", ["labels", "codes"])
@pytest.mark.parametrize("write", [sav, sav_with_missing_codes, dta, dta_with_letters])
def test_a_round_trip(write: Callable[[Path], None], labels: str, tmp_path: Path) -> None:
    ending = FILES[write.__name__][0]
    path, copy = tmp_path / f"people.{ending}", tmp_path / f"copy.{ending}"
    write(path)
    like, table = read(path, labels)
    assert write_alike(table, copy, like) == []
    again, other = read(copy, labels)
    assert other.to_pydict() == table.to_pydict()
    assert again.value_labels == like.value_labels
    assert again.missing == like.missing
    (frame, said), (frame_again, said_again) = raw(path), raw(copy)
    pd.testing.assert_frame_equal(frame, frame_again, check_dtype=False)
    assert said_again.variable_value_labels == said.variable_value_labels
    assert said_again.missing_ranges == said.missing_ranges
    assert said_again.missing_user_values == said.missing_user_values
    assert said_again.variable_measure == said.variable_measure


def test_titles_and_formats_stay(tmp_path: Path) -> None:
    path, copy = tmp_path / "a.sav", tmp_path / "b.sav"
    sav(path, column_labels={"region": "Where she lives"}, variable_format={"born": "EDATE10"})
    like, table = read(path)
    write_alike(table, copy, like)
    _, said = raw(copy)
    assert said.column_names_to_labels["region"] == "Where she lives"
    assert said.original_variable_types["born"] == "EDATE10"


def test_coarser_categories_are_text(tmp_path: Path) -> None:
    path, copy = tmp_path / "a.sav", tmp_path / "b.sav"
    sav(path)
    like, table = read(path)
    coarser = [None if each is None else each if each == "east" else "north or south" for each in REGION]
    changed = table.set_column(table.column_names.index("region"), "region", pa.array(coarser))
    assert write_alike(changed, copy, like) == [
        "region holds values without a code, so it is written as text"
    ]
    assert read(copy)[1].column("region").to_pylist() == coarser


def test_a_null_is_no_code_if_there_are_others(tmp_path: Path) -> None:
    """Where rows without a code are null, too, a null could be either: it stays null."""
    path, copy = tmp_path / "a.sav", tmp_path / "b.sav"
    frame = pd.DataFrame({"x": [1.0, 9.0, None, 2.0]})
    pyreadstat.write_sav(frame, str(path), missing_ranges={"x": [9]})
    like, table = read(path)
    write_alike(table, copy, like)
    again, other = read(copy)
    assert other.column("x").to_pylist() == [1, None, None, 2]
    assert again.missing == {}
    assert raw(copy)[1].missing_ranges == {"x": [{"lo": 9.0, "hi": 9.0}]}


@pytest.mark.parametrize("write", [sav_with_missing_codes, dta_with_letters])
def test_a_suppressed_value_is_no_refused_answer(write: Callable[[Path], None], tmp_path: Path) -> None:
    ending = FILES[write.__name__][0]
    path, copy = tmp_path / f"a.{ending}", tmp_path / f"b.{ending}"
    write(path)
    like, table = read(path)
    incomes = table.column("income").to_pylist()
    incomes[0] = None
    write_alike(table.set_column(table.column_names.index("income"), "income", pa.array(incomes)), copy, like)
    again, other = read(copy)
    assert other.column("income").to_pylist() == incomes
    assert "income" not in again.missing
    assert again.missing["region"] == like.missing["region"]


def test_what_cannot_be_written(tmp_path: Path) -> None:
    path = tmp_path / "a.por"
    por(path)
    like, table = read(path)
    with pytest.raises(InputError, match="can only be read"):
        write_alike(table, tmp_path / "b.por", like)
    stored = tmp_path / "a.sav"
    sav(stored)
    like, table = read(stored)
    with pytest.raises(InputError, match="cannot be written as an SPSS file"):
        write_alike(table.rename_columns(["a name with blanks", *NAMES[1:]]), tmp_path / "b.sav", like)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["a.por", "a.sav"]
