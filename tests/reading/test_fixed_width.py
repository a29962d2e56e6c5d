"""Fixed-width files by ARGUS's metadata and by described layouts, against slices of the lines by hand."""

from __future__ import annotations

import csv
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from equivoc.errors import InputError
from equivoc.reading.fixed_width import (
    Field,
    Layout,
    fixed_width_batches,
    is_r_data,
    read_layout,
    write_as_csv,
)

RDA = """\
GEMEENTE 1 4 9999
    <RECODEABLE>
    <CODELIST> "C:gem.cdl"
    <IDLEVEL> 1
"AGE GROUP" 5 2 99 98
    <RECODABLE>
    <HIERARCHICAL>
    <HIERCODELIST> "lists\\age.hrc"
    <HIERLEADSTRING> "@"
PAY 8 7 "     -1"
    <NUMERIC>
    <DECIMALS> 2
WEIGHT 15 4
    <WEIGHT>
    <DECIMALS> 1
HH 19 3
    <HOUSE_ID>
"""
LINES = ["0012 7x 123.4512.5  1", "999999x     -1 1.0  2", "  1 98x   5.0099.9100"]
TABLE = {
    "GEMEENTE": ["0012", None, "1"],
    "AGE GROUP": ["7", None, None],
    "PAY": ["123.45", None, "5.00"],
    "WEIGHT": ["12.5", "1.0", "99.9"],
    "HH": ["1", "2", "100"],
}


@pytest.fixture
def layout(tmp_path):
    def layout(text: str, name: str = "people.rda") -> Layout:
        path = tmp_path / name
        path.write_bytes(text.encode("windows-1252"))
        return read_layout(path)

    return layout


def read(lines: list[str], layout: Layout) -> dict[str, list[str | None]]:
    batches = list(fixed_width_batches(lines, layout, source="people.asc"))
    return pa.Table.from_batches(batches).to_pydict()


def test_metadata_of_argus(layout):
    found = layout(RDA)
    region, age, pay, weight, household = found.fields
    assert region == Field("GEMEENTE", 1, 4, None, ("9999",), ("key",), "C:gem.cdl")
    assert age == Field("AGE GROUP", 5, 2, None, ("99", "98"), ("key",), None, "lists\\age.hrc")
    assert (pay.decimals, pay.roles, weight.roles, household.roles) == (
        2,
        ("number",),
        ("weights",),
        ("group",),
    )
    assert (found.separator, found.header, found.implied) == (None, False, False)


def test_a_file_by_metadata_of_argus(layout):
    assert read(LINES, layout(RDA)) == TABLE


def test_blanks_line_ends_and_blank_lines(layout):
    found = layout("A 1 2\nB 4 3")
    lines = [" 1 abc\r\n", "\n", " 2\n", "    \t\n", "3  x\n", "\x1a"]
    assert read(lines, found) == {"A": ["1", "2", "3"], "B": ["abc", None, "x"]}


def test_a_line_that_ends_inside_a_number_is_refused(layout):
    with pytest.raises(
        InputError, match=r"line 2 of people.asc ends inside 'B' \(characters 4 to 6\); give whole"
    ):
        read([" 1 123", " 1 12"], layout("A 1 2\nB 4 3"))


def test_free_format_with_a_separator(layout):
    found = layout('<SEPARATOR> ";"\nREGION 2 "99"\n <RECODEABLE>\nVALUE 10\n')
    assert (found.separator, found.names, found.missing) == (";", ("REGION", "VALUE"), {"REGION": ("99",)})
    assert layout('<SEPARATOR> ","\n<NAMESINFRONT>\nREGION 2\n').header


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("x.csv", "name,start,width,decimals,missing\nage,1,2,,99 98\npay,3,5,2,-1\n"),
        ("x.csv", "Name;Start;Width;Decimals;Missing\nage;1;2;0;99 98\npay;3;5;2;-1\n"),
        (
            "x.toml",
            '[columns]\nage = { start = 1, width = 2, missing = [99, "98"] }\n'
            "pay = { start = 3, width = 5, decimals = 2, missing = -1 }\n",
        ),
        (
            "x.toml",
            '[[columns]]\nname = "age"\nstart = 1\nwidth = 2\nmissing = ["99", "98"]\n'
            '[[columns]]\nname = "pay"\nstart = 3\nwidth = 5\ndecimals = 2\nmissing = "-1"\n',
        ),
    ],
)
def test_described_layouts(layout, name, text):
    """Implied decimals go to values without a point; a missing code is one before that."""
    found = layout(text, name)
    assert found.implied
    assert found.missing == {"age": ("99", "98"), "pay": ("-1",)}
    lines = ["2012345", "99   -1", "98  -12", "30  1.5", " 7    0", "11   -7"]
    assert read(lines, found) == {
        "age": ["20", None, None, "30", "7", "11"],
        "pay": ["123.45", None, "-0.12", "1.5", "0.00", "-0.07"],
    }


def test_codelists(layout, tmp_path):
    (tmp_path / "sex.cdl").write_text('1,Male\n2,"Female, all"\n\n')
    assert layout("SEX 1 1 9\n <CODELIST> sex.cdl\nX 2 1").value_labels("SEX") == {
        "1": "Male",
        "2": "Female, all",
    }
    assert layout("SEX 1 1").value_labels("SEX") == {}


@pytest.mark.parametrize(
    ("name", "text", "sentence"),
    [
        ("x.rda", "", "describes no column"),
        ("x.rda", "A 1\n", "line 1 of the layout .* is 'A 1'; give name, start and width, such as A 1 4"),
        ("x.rda", "A x 2\n", "is 'A x 2'; give"),
        ("x.rda", 'A 1 2 "9\n', "line 1 of the layout .* has a quote that is not closed"),
        ("x.rda", "<DECIMALS> 2\nA 1 2\n", "line 1 of the layout .* is '<DECIMALS> 2', before any variable"),
        (
            "x.rda",
            "A 1 2\n <DECIMALS> two\n",
            "line 2 of the layout .* gives decimals as 'two'; give a number",
        ),
        ("x.rda", "<SPSS>\nA 1 2\n", "is for a file of SPSS; give the .sav file itself"),
        ("x.rda", "RDX3\nX", "is a data file of R, not metadata of ARGUS"),
        ("x.rda", "A 1 4\nB 4 2\n", "has 'A' in characters 1 to 4, but 'B' begins at 4"),
        ("x.rda", "A 1 4\na 5 2\n", "describes 'A' twice"),
        ("x.rda", "A 0 4\n", "gives 'A' the start 0 and the width 4; both count from 1"),
        ("x.csv", "name,start\nA,1\n", "gives no width of 'A'"),
        ("x.csv", "name,start,width\nA,1,2.5\n", "gives '2.5' as the width of 'A'; give a whole number"),
        (
            "x.csv",
            "name,begin,width\nA,1,2\n",
            "column 1 of the layout .* has 'begin'; give name, start, width",
        ),
        ("x.csv", "name,start,width\n,1,2\n", "column 1 of the layout .* has no name"),
        ("x.toml", "[columns\n", "is not TOML"),
        ("x.toml", "columns = 3\n", r"has no \[columns\]; write age"),
        ("x.toml", "[columns]\nA = { start = true, width = 1 }\n", "gives True as the start of 'A'"),
    ],
)
def test_what_is_wrong_with_a_layout(layout, name, text, sentence):
    with pytest.raises(InputError, match=sentence):
        layout(text, name)


def test_data_of_r_is_told_by_its_first_bytes():
    for start in (b"RDX2\n", b"RDX3\n", b"RDA3\n", b"\x1f\x8b\x08", b"BZh9", b"\xfd7zXZ\x00"):
        assert is_r_data(start)
    assert not any(map(is_r_data, (b"REGION 1 2", b'   <SEPARATOR> ";"')))


text = st.text(
    st.characters(codec="utf-8", exclude_characters="\r\n\x1a", exclude_categories=["Cc", "Zl", "Zp"]),
    max_size=4,
)


@settings(max_examples=30)
@given(st.lists(st.tuples(text, text, st.integers(-999, 9999)), min_size=1, max_size=8))
def test_what_is_padded_comes_back_through_csv(tmp_path_factory, rows):
    """Also with letters of several bytes, quotes and commas; blanks at the ends of values are not part of them."""
    layout = Layout((Field("a", 1, 4), Field("b", 6, 4), Field("n", 11, 4)), Path("x"))
    lines = [f"{a:4}|{b:>4}|{n:4}" for a, b, n in rows]
    folder = tmp_path_factory.mktemp("fixed")
    target = folder / "people.csv"
    assert write_as_csv(lines, layout, target, source="x") == len(rows)
    with target.open(encoding="utf-8", newline="") as file:
        back = list(csv.reader(file))
    assert back[0] == ["a", "b", "n"]
    assert [tuple(row) for row in back[1:]] == [(a.strip(" "), b.strip(" "), str(n)) for a, b, n in rows]
