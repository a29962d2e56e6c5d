"""The same people from every format as from the plain CSV file; writers are other libraries, or bytes as described."""

from __future__ import annotations

import bz2
import datetime
import gzip
import lzma
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyreadstat
import pytest

import equivoc as eq
from tests.reading import r_bytes as r
from tests.reading.ods_bytes import spreadsheet
from tests.reading.por_bytes import portable
from tests.reading.sas_bytes import data_set
from tests.reading.xport_bytes import transport

AGE = [31, 47, 31, 68, 20, 47, 55, 31]
SEX = ["F", "M", "M", "F", "F", "M", "F", "M"]
REGION: list[str | None] = ["south", "north", None, "east", "south", "south", "north", "east"]
BORN = [datetime.date(1995, 5, 1 + day) for day in range(8)]
INCOME = [2100.5, 1800.0, None, 3999.99, 12.25, 1800.0, 2500.0, None]
NAMES = ("age", "sex", "region", "born", "income")
REGIONS = ["north", "south", "east", "west"]
"""In the order of their codes, 1 to 4; nobody is in the west."""
CODES = [None if each is None else REGIONS.index(each) + 1 for each in REGION]
FIRST_OF_STATA = datetime.date(1960, 1, 1)
FIRST_OF_SPSS = datetime.date(1582, 10, 14)


def columns(**other: Any) -> dict[str, Any]:
    return {"age": AGE, "sex": SEX, "region": REGION, "born": BORN, "income": INCOME, **other}


def rows() -> list[list[Any]]:
    return [list(NAMES), *(list(row) for row in zip(*columns().values(), strict=True))]


def numbers(values: Any) -> list[float | None]:
    return [None if value is None else float(value) for value in values]


def days(first: datetime.date) -> list[float]:
    return [float((day - first).days) for day in BORN]


def csv(path: Path) -> None:
    lines = [",".join("" if entry is None else str(entry) for entry in row) for row in rows()]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def arrow_file(path: Path) -> None:
    pa.feather.write_feather(pa.table(columns()), str(path), compression="lz4")


def arrow_in_pieces(path: Path) -> None:
    table = pa.table(columns(region=pa.array(REGION).dictionary_encode()))
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table, max_chunksize=3)


def arrow_stream(path: Path) -> None:
    table = pa.table(columns())
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_stream(file, table.schema) as writer:
        writer.write_table(table)


def xlsx(path: Path) -> None:
    book = openpyxl.Workbook()
    for row in rows():
        book.active.append(row)
    book.create_sheet("notes")
    book.save(path)


def xlsx_by_pandas_lower_down(path: Path) -> None:
    pd.DataFrame(columns()).to_excel(path, index=False, startrow=2, startcol=1, sheet_name="people")


def ods(path: Path) -> None:
    path.write_bytes(spreadsheet({"people": rows()}))


def sav(path: Path, **options: Any) -> None:
    frame = pd.DataFrame(columns(age=numbers(AGE), region=numbers(CODES)))
    labels = {"region": {float(i): n for i, n in enumerate(REGIONS, 1)}}
    pyreadstat.write_sav(frame, str(path), variable_value_labels=labels, **options)


def sav_with_missing_codes(path: Path) -> None:
    frame = pd.DataFrame(
        columns(
            age=numbers(AGE),
            region=[9.0 if code is None else float(code) for code in CODES],
            income=[-8.0 if value is None else value for value in INCOME],
        )
    )
    labels = {
        "region": {**{float(i): n for i, n in enumerate(REGIONS, 1)}, 9.0: "no answer"},
        "income": {-8.0: "refused"},
    }
    ranges = {"region": [9], "income": [{"lo": -9, "hi": -1}]}
    pyreadstat.write_sav(frame, str(path), variable_value_labels=labels, missing_ranges=ranges)


def por(path: Path) -> None:
    seconds = [(day - FIRST_OF_SPSS).days * 86400.0 for day in BORN]
    held = columns(age=numbers(AGE), region=[c or 9.0 for c in numbers(CODES)], born=seconds)
    labels = {"REGION": {float(i): n for i, n in enumerate(REGIONS, 1)}}
    path.write_bytes(
        portable(
            {name.upper(): values for name, values in held.items()},
            labels=labels,
            missing={"REGION": [9.0]},
            formats={"BORN": 20},
        )
    )


def dta(path: Path, **options: Any) -> None:
    region = pd.Categorical(REGION, categories=REGIONS)
    born = pd.to_datetime(pd.Series(BORN))
    age = np.array(AGE, np.int8)
    frame = pd.DataFrame(columns(age=age, region=region, born=born))
    frame.to_stata(path, write_index=False, convert_dates={"born": "td"}, **options)


def dta_with_letters(path: Path) -> None:
    frame = pd.DataFrame(
        columns(
            region=pd.Series(["a" if code is None else code for code in CODES], dtype=object),
            income=pd.Series(["z" if value is None else value for value in INCOME], dtype=object),
        )
    )
    labels = {"region": {**dict(enumerate(REGIONS, 1)), "a": "no answer"}}
    letters = {"region": ["a"], "income": ["z"]}
    pyreadstat.write_dta(frame, str(path), variable_value_labels=labels, missing_user_values=letters)


def xpt(path: Path) -> None:
    held = columns(born=days(FIRST_OF_STATA), income=[value or "A" for value in INCOME])
    path.write_bytes(transport(held, texts=["sex", "region"], formats={"born": "DATE"}))


def xpt_by_pyreadstat(path: Path) -> None:
    pyreadstat.write_xport(pd.DataFrame(columns(age=numbers(AGE))), str(path), file_format_version=5)


def sas(path: Path) -> None:
    held = columns(born=days(FIRST_OF_STATA), income=[value or "A" for value in INCOME])
    path.write_bytes(data_set(held, texts=["sex", "region"], formats={"born": "DATE"}))


def frame_of_r(**other: bytes) -> bytes:
    held = {
        "age": r.integers(AGE),
        "sex": r.texts(SEX),
        "region": r.factor(REGION, REGIONS),
        "born": r.of_class("Date", days(datetime.date(1970, 1, 1))),
        "income": r.reals(INCOME),
    }
    return r.frame({**held, **other}, len(AGE))


def rds(path: Path) -> None:
    path.write_bytes(gzip.compress(r.rds(frame_of_r())))


def rds_plain_with_text(path: Path) -> None:
    path.write_bytes(r.rds(frame_of_r(region=r.texts(REGION, latin=True), age=r.reals(numbers(AGE)))))


def rdata(path: Path) -> None:
    path.write_bytes(bz2.compress(r.workspace({"limits": r.reals([1, 2]), "people": frame_of_r()})))


def rda(path: Path) -> None:
    path.write_bytes(lzma.compress(r.workspace({"people": frame_of_r()})))


FILES: dict[str, tuple[str, Callable[[Path], None]]] = {
    each.__name__: (ending, each)
    for ending, each in (
        ("feather", arrow_file), ("arrow", arrow_in_pieces), ("arrows", arrow_stream), ("xlsx", xlsx),
        ("xlsx", xlsx_by_pandas_lower_down), ("ods", ods), ("sav", sav), ("sav", sav_with_missing_codes), ("por", por),
        ("dta", dta), ("dta", dta_with_letters), ("xpt", xpt), ("xpt", xpt_by_pyreadstat), ("sas7bdat", sas),
        ("rds", rds), ("rds", rds_plain_with_text), ("RData", rdata), ("rda", rda),
    )
}  # fmt: skip
FILES["sav_compressed"] = "sav", lambda path: sav(path, row_compress=True)
FILES["zsav"] = "zsav", lambda path: sav(path, compress=True)
for version in (114, 117, 118, 119):
    FILES[f"dta_{version}"] = "dta", lambda path, version=version: dta(path, version=version)


def people(path: Path, **options: Any) -> eq.Microdata:
    names = [name.upper() for name in NAMES] if path.suffix == ".por" else NAMES
    *keys, income = names
    return eq.read(path, confidential=income, keys=keys, drop_missing=True, **options)


def cells(found: eq.Microdata) -> dict[str, list[Any]]:
    """Every cell of every record, by the column's name in small letters."""
    held = {name: [found.levels(name)[code] for code in found.key_codes(name)] for name in found.keys}
    held[found.confidential] = found.values[found.codes].tolist()
    return {name.lower(): values for name, values in held.items()}


@pytest.mark.parametrize("name", FILES)
def test_the_same_people_as_from_csv(name: str, tmp_path: Path) -> None:
    ending, write = FILES[name]
    path, plain = tmp_path / f"people.{ending}", tmp_path / "people.csv"
    write(path)
    csv(plain)
    found, expected = people(path), people(plain)
    assert cells(found) == cells(expected)
    assert found.dropped == expected.dropped == 2
    assert [type(each) for each in found.levels(found.keys[0])] == [int] * 5
    # The levels have the same order, so classes have, too.
    assert [found.levels(key) for key in found.keys] == [expected.levels(key) for key in expected.keys]


def test_pandas_reads_the_described_bytes_alike(tmp_path: Path) -> None:
    """The readers of .sas7bdat and .xpt that pandas has are programs of others: the bytes are what they seem."""
    for write, ending in ((sas, "sas7bdat"), (xpt, "xpt")):
        path = tmp_path / f"a.{ending}"
        write(path)
        found = pd.read_sas(path, encoding="utf-8")
        assert found["age"].tolist() == AGE
        assert found["sex"].tolist() == SEX
        assert found["income"].fillna(0).tolist() == [value or 0 for value in INCOME]
        if write is sas:
            assert found["born"].dt.date.tolist() == BORN


@pytest.mark.parametrize("name", ["sav", "dta", "xlsx", "rds", "arrow_file"])
def test_any_name_will_do(name: str, tmp_path: Path) -> None:
    ending, write = FILES[name]
    path, other = tmp_path / f"people.{ending}", tmp_path / "people.csv"
    write(path)
    path.rename(other)
    assert len(people(other)) == 6


def test_what_is_said_of_missing_codes(tmp_path: Path) -> None:
    path = tmp_path / "a.sav"
    sav_with_missing_codes(path)
    found = people(path)
    assert found.reading.format == "spss"
    assert found.reading.missing == {"region": {"9": 1}, "income": {"-8": 2}}
    assert "'9' is missing in region, 1 of 8 records" in found.reading.sentence
    dta_with_letters(path)
    assert people(path).reading.missing == {"region": {".a": 1}, "income": {".z": 2}}
    sas(path)
    assert people(path).reading.missing == {"income": {".A": 2}}


def test_codes_in_place_of_labels(tmp_path: Path) -> None:
    path = tmp_path / "a.sav"
    sav_with_missing_codes(path)
    found = people(path, labels="codes")
    assert found.levels("region") == (1, 2, 3)
    assert found.reading.labels == "codes"


def test_words_among_numbers_in_a_sheet(tmp_path: Path) -> None:
    """As in a text file: a word for a missing value is missing, and the column is numbers."""
    path = tmp_path / "a.xlsx"
    book = openpyxl.Workbook()
    for row in (["age", "pay"], [30, 1200.5], ["NA", "NA"], [31, 1300], [30, 900]):
        book.active.append(row)
    book.save(path)
    found = eq.read(path, confidential="pay", keys=["age"], drop_missing=True)
    assert found.values.tolist() == [900, 1200.5, 1300]
    assert found.reading.missing["pay"] == {"NA": 1}
    assert found.dropped == 1
    said = "read as: an Excel workbook, sheet 'Sheet'; 'NA' is missing in age, 1 of 4 records; 'NA' is missing in pay"
    assert found.reading.sentence.startswith(said)


def test_labels_in_the_order_of_their_codes(tmp_path: Path) -> None:
    path = tmp_path / "a.sav"
    sav(path, variable_measure={"region": "ordinal"})
    assert people(path).levels("region") == ("north", "south", "east")
    path.write_bytes(r.rds(frame_of_r(region=r.factor(REGION, REGIONS, ordered=True))))
    assert people(path).levels("region") == ("north", "south", "east")


@pytest.mark.parametrize("name", ["sav", "zsav", "por", "dta", "xpt", "sas", "dta_with_letters", "xlsx"])
def test_some_rows_at_a_time(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three rows, then three, then two: the same people."""
    monkeypatch.setattr("equivoc.reading.formats.statistics.CELLS_AT_ONCE", 0)
    monkeypatch.setattr("equivoc.reading.formats.statistics.FEWEST_ROWS", 3)
    monkeypatch.setattr("equivoc.reading.formats.sheets.ROWS_AT_ONCE", 3)
    ending, write = FILES[name]
    path, plain = tmp_path / f"people.{ending}", tmp_path / "people.csv"
    write(path)
    csv(plain)
    assert cells(people(path)) == cells(people(plain))
    monkeypatch.setattr("equivoc.reading.formats.statistics.FEWEST_ROWS", 4)
    assert cells(people(path)) == cells(people(plain))
