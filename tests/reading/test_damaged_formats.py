"""Files of other formats that cannot be read as one table of records: one sentence each, and what to do."""

from __future__ import annotations

import gzip
import io
import re
import struct
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import openpyxl
import pandas as pd
import pyreadstat
import pytest

import equivoc as eq
from equivoc.errors import InputError
from equivoc.reading.formats.opening import open_format
from tests.reading import r_bytes as r
from tests.reading.ods_bytes import cell, spreadsheet
from tests.reading.test_formats import FILES, rows


def read(path: Path, **options: object) -> None:
    table = open_format(path, **options)  # type: ignore[arg-type]
    assert table is not None
    for _ in table.batches(table.names):
        pass


def refusal(path: Path, **options: object) -> str:
    with pytest.raises(InputError) as caught:
        read(path, **options)
    said = str(caught.value)
    assert "\n" not in said
    assert len(said) < 500
    return said.replace(str(path), path.name)


def book(change: Callable[[openpyxl.Workbook], None]) -> bytes:
    made = openpyxl.Workbook()
    for row in rows():
        made.active.append(row)
    change(made)
    held = io.BytesIO()
    made.save(held)
    return held.getvalue()


def _error(made: openpyxl.Workbook) -> None:
    made.active["C4"] = "#DIV/0!"
    made.active["C4"].data_type = "e"


def _formula(made: openpyxl.Workbook) -> None:
    made.active["E5"] = "=E4*2"


def _second_sheet(made: openpyxl.Workbook) -> None:
    made.create_sheet("costs")["A1"] = "rent"


def _empty(made: openpyxl.Workbook) -> None:
    made.remove(made.active)
    made.create_sheet("one")
    made.create_sheet("two")


def _second_names(made: openpyxl.Workbook) -> None:
    made.active.insert_rows(2)
    for at, unit in enumerate(["years", "", "", "day", "euro"], 1):
        made.active.cell(2, at, unit)


def _title(made: openpyxl.Workbook) -> None:
    made.active.insert_rows(1)
    made.active["A1"] = "Table 3: people"


def _same_names(made: openpyxl.Workbook) -> None:
    made.active["C1"] = "age"


def _far_away(made: openpyxl.Workbook) -> None:
    made.active["XFD1048576"] = 1


WORKBOOKS = {
    "error": (_error, "the cell C4 holds the error #DIV/0!; correct or empty it"),
    "formula": (_formula, "the cell E5 holds a formula without its result"),
    "merged": (lambda made: made.active.merge_cells("A1:B1"), "the cells A1:B1 are merged; split them"),
    "two-sheets": (_second_sheet, "2 sheets with entries, 'Sheet', 'costs': choose one, as in sheet='Sheet'"),
    "empty": (_empty, "has no entries in any sheet"),
    "two-rows-of-names": (_second_names, "row 2 looks like a second row of names (A2 holds 'years'"),
    "title": (_title, "row 1 has a single entry, 'Table 3: people'"),
    "same-names": (_same_names, "the columns A and C have the same name, 'age'"),
    "too-large": (_far_away, "has 1,048,576 rows and 16,384 columns"),
}


@pytest.mark.parametrize("name", WORKBOOKS)
def test_workbooks(name: str, tmp_path: Path) -> None:
    change, says = WORKBOOKS[name]
    path = tmp_path / "a.xlsx"
    path.write_bytes(book(change))
    assert says in refusal(path)


ERROR = cell("x").replace(
    "office:value-type", 'table:formula="of:=1/0" calcext:value-type="error" office:value-type'
)
MERGED = cell("age").replace("<table:table-cell", '<table:table-cell table:number-columns-spanned="2"', 1)
TOO_MANY = cell(1).replace("<table:table-cell", '<table:table-cell table:number-columns-repeated="16384"', 1)
SPREADSHEETS = {
    "error": (
        {"a": [["x", "y"], [1, ERROR.replace(">x<", ">#DIV/0!<")]]},
        "the cell B2 holds the error #DIV/0!",
    ),
    "merged": ({"a": [[MERGED, None], [1, 2]]}, "the cells A1:B1 are merged"),
    "two-sheets": ({"a": rows(), "b": [], "c": rows()}, "2 sheets with entries, 'a', 'c'"),
    "empty": ({"a": []}, "has no entries in any sheet"),
    "too-large": ({"a": [["x"], *([[TOO_MANY]] * 2000)]}, "has 2,001 rows and 16,384 columns"),
}


@pytest.mark.parametrize("name", SPREADSHEETS)
def test_spreadsheets(name: str, tmp_path: Path) -> None:
    sheets, says = SPREADSHEETS[name]
    path = tmp_path / "a.ods"
    path.write_bytes(spreadsheet(sheets))
    assert says in refusal(path)


def test_a_sheet_is_chosen(tmp_path: Path) -> None:
    path = tmp_path / "a.xlsx"
    path.write_bytes(book(_second_sheet))
    table = open_format(path, sheet="Sheet")
    assert table is not None
    assert table.names == ("age", "sex", "region", "born", "income")
    assert "no sheet 'cost': did you mean 'costs'?" in refusal(path, sheet="cost")
    assert "choose from" in refusal(path, sheet="zzz")


def compound(content: bytes) -> bytes:
    """The first bytes of Microsoft's compound files, and this."""
    return bytes.fromhex("d0cf11e0a1b11ae1") + bytes(504) + content


def packed(content: bytes, name: str) -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, content)
    return held.getvalue()


def two_frames() -> bytes:
    frame = r.frame({"x": r.reals([1])}, 1)
    return r.workspace({"first": frame, "limit": r.reals([1]), "second": frame})


OTHERS = {
    "password": ("a.xlsx", compound("EncryptedPackage".encode("utf-16-le")), "is protected by a password"),
    "old-workbook": ("a.xls", compound(bytes(1000)), "the format of before 2007: save it as .xlsx"),
    "text-as-sav": ("a.sav", b"age,pay\n1,2\n", "by its name it is an SPSS file, but its first bytes"),
    "text-as-xlsx": ("a.xlsx", b"age,pay\n1,2\n", "by its name it is an Excel workbook"),
    "binary-workbook": ("a.xlsb", packed(b"", "xl/workbook.bin"), "is a binary workbook: save it as .xlsx"),
    "rda-of-argus": ("a.rda", b"sex 1 1\n  <RECODEABLE>\n", "is text, not a file of R"),
    "two-frames": (
        "a.RData",
        two_frames(),
        "holds 2 data frames, 'first', 'second': choose one, as in sheet='first'",
    ),
    "no-frame": ("a.RData", r.workspace({"limit": r.reals([1])}), "holds no data frame, but limit (numbers)"),
    "no-frame-rds": ("a.rds", r.rds(r.reals([1])), "holds no data frame, but numbers"),
    "feather-1": ("a.feather", b"FEA1" + bytes(100), "version 1"),
    "list-column": (
        "a.rds",
        r.rds(r.frame({"x": r.frame({"y": r.reals([1])}, 1)}, 1)),
        "the column 'x' of a.rds cannot be read: it holds an object of class data.frame",
    ),
}


@pytest.mark.parametrize("name", OTHERS)
def test_other_files(name: str, tmp_path: Path) -> None:
    file, content, says = OTHERS[name]
    path = tmp_path / file
    path.write_bytes(content)
    assert says in refusal(path)


def test_a_frame_is_chosen(tmp_path: Path) -> None:
    path = tmp_path / "a.RData"
    path.write_bytes(two_frames())
    table = open_format(path, sheet="second")
    assert table is not None
    assert table.names == ("x",)
    assert "no data frame 'third'" in refusal(path, sheet="third")


def test_options_that_do_not_fit(tmp_path: Path) -> None:
    path = tmp_path / "a.sav"
    FILES["sav"][1](path)
    assert "sheet is 'x', but a.sav is an SPSS file, which has one table" in refusal(path, sheet="x")
    assert "a.sav is not a Stata file" in refusal(path, format="stata")
    assert "labels is 'both'" in refusal(path, labels="both")


def test_a_zip_of_zeros(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("equivoc.reading.formats.workbook.MOST_BYTES", 10_000)
    monkeypatch.setattr("equivoc.reading.formats.r.MOST_BYTES", 10_000)
    sheet, saved = tmp_path / "a.xlsx", tmp_path / "a.rds"
    sheet.write_bytes(packed(bytes(100_000), "xl/workbook.xml"))
    assert "workbooks are read up to" in refusal(sheet)
    saved.write_bytes(gzip.compress(b"X\n\0\0\0\2" + bytes(2_000_000)))
    assert "files of R are read up to that" in refusal(saved)


@pytest.mark.parametrize(
    "name", ["arrow_file", "xlsx", "ods", "sav", "zsav", "por", "dta", "xpt", "sas", "rds", "rdata"]
)
def test_damaged_files_end_in_a_sentence(name: str, tmp_path: Path) -> None:
    """Cut short anywhere, or with bytes overwritten: refused in one sentence, or read."""
    ending, write = FILES[name]
    whole = tmp_path / f"whole.{ending}"
    write(whole)
    content, path = whole.read_bytes(), tmp_path / f"a.{ending}"
    step = max(1, len(content) // 25)
    changed = [content[:end] for end in range(4, len(content), step)]
    changed += [content[:at] + b"\xff\x00\x7f\xff" + content[at + 4 :] for at in range(8, len(content), step)]
    refused = []
    for each in changed:
        path.write_bytes(each)
        try:
            read(path)
        except InputError as problem:
            refused.append(str(problem))
    assert len(refused) > 10
    assert not [sentence for sentence in refused if "\n" in sentence]


@pytest.mark.parametrize(
    ("library", "file"),
    [("pyreadstat", "sav"), ("pyreadstat", "dta"), ("python_calamine", "xlsx"), ("rdata", "rds")],
)
def test_a_library_that_is_missing(
    library: str, file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / f"a.{file}"
    FILES[file][1](path)
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(InputError, match=re.escape("pip install 'equivoc[formats]'")):
        eq.read(path, confidential="income", keys=["age"])


def codes(values: list[float], labels: dict[float, str], path: Path) -> tuple[list[object], str]:
    """What an SPSS column is read as, and the note on it."""
    pyreadstat.write_sav(pd.DataFrame({"x": values}), str(path), variable_value_labels={"x": labels})
    table = open_format(path)
    assert table is not None
    held = [value for batch in table.batches(["x"]) for value in batch.column(0).to_pylist()]
    return held, table.notes.get("x", "")


def test_labels_of_some_values_only(tmp_path: Path) -> None:
    path = tmp_path / "a.sav"
    assert codes([1, 2], {1: "yes", 2: "no", 3: "never"}, path) == (["yes", "no"], "")
    assert codes([5, 6], {1: "yes"}, path) == ([5, 6], "")
    held, note = codes([1200, 99, 1300], {99: "refused"}, path)
    assert held == [1200, 99, 1300]
    assert note.startswith("99 is 'refused', but 2 other values have no label: read as numbers")
    held, note = codes([1, 2], {1: "other", 2: "other"}, path)
    assert held == [1, 2]
    assert "several of its codes have the label 'other'" in note


def test_a_workbook_that_lies_about_sizes(tmp_path: Path) -> None:
    path = tmp_path / "a.xlsx"
    content = bytearray(book(lambda made: None))
    directory = [found.start() for found in re.finditer(b"PK\x01\x02", bytes(content))]
    entry = next(at for at in directory if content[at + 46 :].startswith(b"xl/worksheets/sheet1.xml"))
    content[entry + 24 : entry + 28] = struct.pack("<I", 10)
    path.write_bytes(bytes(content))
    assert "damaged" in refusal(path)
