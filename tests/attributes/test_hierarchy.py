"""Hierarchies from files, widths and text; one sentence for every mistake in them."""

from __future__ import annotations

import pickle
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from equivoc.attributes.hierarchy import Hierarchy, Intervals, Ladder
from equivoc.attributes.level_text import written_range
from equivoc.data.hierarchies import Hierarchies
from equivoc.data.microdata import Microdata
from equivoc.errors import InputError

JOBS = "cook;works;*\njudge;rules;*\nnurse;works;*\n"


@pytest.fixture
def file(tmp_path):
    def file(text: str, name: str = "job.csv") -> Path:
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return file


@pytest.mark.parametrize(
    "text",
    [
        JOBS,
        JOBS.replace(";", ","),
        JOBS.replace(";", "\t"),
        "job;group;all\n" + JOBS,
        "Value,a,b\n" + JOBS.replace(";", ","),
        "\ufeff" + JOBS,
        "\n" + JOBS.replace(";", " ; ").replace("\n", "\r\n\r\n"),
        JOBS.replace(";*", ""),
    ],
    ids=[
        "semicolon",
        "comma",
        "tab",
        "header",
        "header 'value'",
        "byte order mark",
        "blanks",
        "no star on top",
    ],
)
def test_a_file_in_any_of_its_forms(file, text):
    ladder = Hierarchy.read(file(text), key="job").ladder("job", ["cook", "judge", "nurse"])
    assert ladder.labels == (("cook", "judge", "nurse"), ("works", "rules"), ("*",))
    assert [groups.tolist() for groups in ladder.groups] == [[0, 1, 2], [0, 1, 0], [0, 0, 0]]


def test_commas_inside_cells_do_not_mislead(file):
    """Ranges contain commas: the separator that gives all rows equally many cells is used, or cells are quoted."""
    plain = file("20;[20,30);*\n31;[30,40);*\n", "age.csv")
    quoted = file('20,"[20,30)",*\n31,"[30,40)",*\n', "ages.csv")
    for path in (plain, quoted):
        assert Hierarchy.read(path, key="age").ladder("age", [20, 31]).labels[1] == ("[20,30)", "[30,40)")


def test_values_are_found_as_text_and_as_numbers(file):
    hierarchy = Hierarchy.read(file("007;low\n8.50;low\n90;high\n"), key="x")
    assert hierarchy.ladder("x", [7, 8.5, 90.0]).labels[1] == ("low", "high")
    assert hierarchy.ladder("x", ["007", "90"]).labels[1] == ("low", "high")
    with pytest.raises(InputError, match="value '7', which"):
        hierarchy.ladder("x", ["7"])


def test_a_null_stays_null_unless_it_has_a_row(file):
    levels = ["cook", "judge", None]
    assert Hierarchy.read(file(JOBS), key="job").ladder("job", levels).labels[1:] == (
        ("works", "rules", None),
        ("*",),
    )
    with_row = Hierarchy.read(file(JOBS + ";rules;*\n"), key="job").ladder("job", levels)
    assert with_row.labels[1] == ("works", "rules")
    assert with_row.groups[1].tolist() == [0, 1, 1]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "job.csv is empty; give a row for each value"),
        ("job;group\n", "job.csv is empty"),
        ("cook\njudge\n", "job.csv has 1 cells in the row of 'cook' (line 1)"),
        ("cook;a;*\njudge;*\n", "job.csv has 2 cells in the row of 'judge' (line 2)"),
        ("cook;;*\n", "an empty group in the row of 'cook'"),
        ("cook;a\ncook;b\n", "two rows for 'cook'"),
        ("a;x;p\nb;x;p\nc;x;q\n", "not a tree: 'x' belongs to 'p' (line 1) and to 'q' (line 3)"),
    ],
)
def test_a_mistake_in_a_file_is_named(file, text, message):
    with pytest.raises(InputError) as raised:
        Hierarchy.read(file(text), key="job")
    assert message in str(raised.value)
    assert "\n" not in str(raised.value)


def test_files_that_cannot_be_read(tmp_path, file):
    with pytest.raises(InputError, match=r"hierarchy of 'job' cannot be used: there is no file .*none\.csv"):
        Hierarchy.read(tmp_path / "none.csv", key="job")
    (tmp_path / "bytes.csv").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match=r"bytes\.csv is not a text file"):
        Hierarchy.read(tmp_path / "bytes.csv", key="job")


def test_a_value_that_is_in_no_hierarchy(file):
    path = file(JOBS)
    with pytest.raises(InputError) as raised:
        Hierarchy.read(path, key="job").ladder("job", ["cook", "pilot"])
    assert str(raised.value) == (
        f"key 'job' has the value 'pilot', which is not in the hierarchy {path}; add a row for it."
    )
    with pytest.raises(InputError, match="key 'job' has the value 'cook', which is in no interval"):
        Intervals.of(10).ladder("job", [1, "cook"])
    with pytest.raises(InputError, match="value 'True', which is in no interval"):
        Intervals.of(10).ladder("flag", [True])


def test_intervals_by_hand():
    ladder = Intervals.of((5, 10)).ladder("x", [-7, -5, 0, 4.5, 5, 12, None])
    assert ladder.labels[1] == ("[-10,-5)", "[-5,0)", "[0,5)", "[5,10)", "[10,15)", None)
    assert ladder.labels[2] == ("[-10,0)", "[0,10)", "[10,20)", None)
    assert ladder.labels[3] == ("*",)
    # In binary 0.3 / 0.1 is less than 3.
    assert Intervals.of(0.1).ladder("x", [0.3]).labels[1] == ("[0.3,0.4)",)


@given(
    st.lists(st.integers(-(10**6), 10**6), min_size=1, max_size=30, unique=True),
    st.integers(1, 50),
    st.integers(2, 5),
)
def test_an_interval_holds_its_value_and_nests(numbers, width, times):
    ladder = Intervals.of((width, width * times)).ladder("x", sorted(numbers))
    ends = [[tuple(map(int, label[1:-1].split(","))) for label in step] for step in ladder.labels[1:3]]
    for level, number in enumerate(sorted(numbers)):
        (low, high), (wide_low, wide_high) = (ends[s][ladder.groups[s + 1][level]] for s in (0, 1))
        assert wide_low <= low <= number < high <= wide_high
        assert (high - low, wide_high - wide_low) == (width, width * times)
        assert low % width == 0
        assert wide_low % (width * times) == 0


@pytest.mark.parametrize(
    ("widths", "message"),
    [
        (0, "width is 0; it must be above 0"),
        ((5, -10), "width is -10"),
        ((5, 8), "intervals of 5 do not nest in intervals of 8"),
        ((5, 5), "intervals of 5 do not nest in intervals of 5"),
        ((10, 5), "do not nest"),
        ((), "the widths of intervals are ()"),
        (True, "the widths of intervals are True"),
        (float("nan"), "the widths of intervals are nan"),
        ("5/x", "the widths of intervals are ['5', 'x']"),
    ],
)
def test_widths_that_do_not_nest(widths, message):
    with pytest.raises(InputError) as raised:
        Intervals.of(widths)
    assert message in str(raised.value)


class TestHierarchies:
    @pytest.fixture
    def people(self):
        table = pa.table({"job": ["cook", "judge"], "age": [20, 35], "sex": ["F", "M"], "pay": [1, 2]})
        return Microdata(table, confidential="pay", keys=["job", "age", "sex"])

    def test_every_key_has_a_ladder_in_the_order_of_the_keys(self, file, people):
        ladders = Hierarchies.of({"age": 10, "job": file(JOBS)}).ladders(people)
        assert [ladder.labels[1] for ladder in ladders] == [
            ("works", "rules"),
            ("[20,30)", "[30,40)"),
            ("*",),
        ]

    def test_text_is_read_back_as_the_same_hierarchies(self, file):
        path = file(JOBS)
        given = Hierarchies.of(f"job:{path}+age:2.5/10")
        assert given == Hierarchies.of({"age": (Decimal("2.5"), 10.0), "job": str(path)})
        assert str(given) == f"age:2.5/10+job:{path}"
        assert Hierarchies.of(str(given)) == given == pickle.loads(pickle.dumps(given))
        assert hash(given) == hash(Hierarchies.of(str(given)))

    def test_a_folder_gives_its_files_and_may_hold_others(self, file, people):
        folder = file(JOBS).parent
        file("x;y\n", "unrelated.csv")
        given = Hierarchies.of(str(folder))
        assert str(given) == str(folder)
        assert given.ladders(people)[0].labels[1] == ("works", "rules")
        assert given == Hierarchies.of(folder)

    def test_mistakes(self, tmp_path, file, people):
        with pytest.raises(InputError, match="has no hierarchy; put a CSV file for each key"):
            Hierarchies.of(tmp_path)
        file("x;y\n", "unrelated.csv")
        with pytest.raises(InputError, match="hierarchy for 'unrelated', which is not a key"):
            Hierarchies.of(tmp_path).ladders(people)
        with pytest.raises(InputError, match="hierarchy for 'agee', which is not a key: did you mean 'age'"):
            Hierarchies.of({"agee": 10, "age": 10}).ladders(people)
        with pytest.raises(InputError, match="'nowhere': there is no such folder"):
            Hierarchies.of("nowhere")
        with pytest.raises(InputError, match="name a key twice"):
            Hierarchies.of("age:5+age:10")
        with pytest.raises(InputError, match="10: there is no such folder"):
            Hierarchies.of(10)


def test_a_ladder_gets_a_star_on_top_once():
    assert Ladder.of([1, 2], [["*", "*"]]).top == 1
    assert Ladder.of([1, 2], [["all", "all"]]).labels == (("1", "2"), ("all",), ("*",))


@pytest.mark.parametrize(
    ("levels", "low", "high", "label"),
    [
        ((-5, -2, 3), 0, 1, "[-5,-2]"),
        ((1.5, 2.0, 3.0), 1, 2, "[2,3]"),
        ((1, 2, None), 1, 2, "{2,NA}"),
        (("a", "b,c", 'd"', "e"), 1, 2, '{"b,c","d"""}'),
        (("a", "b", None), 2, 2, None),
        ((1, 2, 3), 0, 2, "*"),
        ((False, True, None), 0, 1, "{False,True}"),
    ],
)
def test_how_a_range_of_levels_is_written(levels, low, high, label):
    assert written_range(levels, low, high) == label


REGIONS = """Nr
@Groningen
@@1
@@2
@3
Os
@4
Zd
"""
CHAINS = {
    "1": ("Groningen", "Nr"),
    "2": ("Groningen", "Nr"),
    "3": ("3", "Nr"),
    "4": ("4", "Os"),
    "Zd": ("Zd", "Zd"),
}


@pytest.mark.parametrize("lead", ["@", "#", "-", "."])
def test_a_file_of_tau_argus(file, lead):
    """Each code that has none below it is a value; a short branch joins the others from below."""
    hierarchy = Hierarchy.read(file(REGIONS.replace("@", lead), "region.hrc"), key="region")
    assert {row[0]: row[1:] for row in hierarchy.rows} == CHAINS
    assert hierarchy.lines == (3, 4, 5, 7, 8)
    ladder = hierarchy.ladder("region", ["1", "2", "3", "4", "Zd"])
    assert ladder.labels[2:] == (("Nr", "Os", "Zd"), ("*",))
    assert ladder.groups[2].tolist() == [0, 0, 0, 1, 2]


def test_a_file_of_tau_argus_without_levels_has_the_total_alone(file):
    hierarchy = Hierarchy.read(file("F\nM\n\n", "sex.HRC"), key="sex")
    assert hierarchy.rows == (("F", "*"), ("M", "*"))
    assert hierarchy.level_names(1) == ("any",)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", r"the hierarchy .*x\.hrc is empty; give a line for each code\."),
        ("a\n@@b\n", r"line 2 of the hierarchy .*x\.hrc is too deep; begin each code with one '@' more"),
        ("a\n@\n", r"line 2 of the hierarchy .*x\.hrc has no code; begin"),
        ("a\n#b\n-c\n", r"has codes that begin with '#' and '-'; put one sign before codes below others"),
        ("a\n@b\nc\n@b\n", r"two rows for 'b' \(line 2 and line 4\)"),
        ("a\n@b\n@@1\nc\n@b\n@@2\n", r"is not a tree: 'b' belongs to 'a' \(line 3\) and to 'c' \(line 6\)"),
    ],
)
def test_what_is_wrong_with_a_file_of_tau_argus(file, text, sentence):
    with pytest.raises(InputError, match=sentence):
        Hierarchy.read(file(text, "x.hrc"), key="x")


def test_a_folder_with_files_of_arx_and_of_tau_argus(file, tmp_path):
    file("20;young;*\n70;old;*\n", "adult_hierarchy_age.csv")
    file("a\n@1\n@2\n", "zip.hrc")
    found = Hierarchies.of(tmp_path)
    assert [(key, rule.rows) for key, rule in found.by_key] == [
        ("age", (("20", "young", "*"), ("70", "old", "*"))),
        ("zip", (("1", "a"), ("2", "a"))),
    ]
    file("1;a\n2;a\n", "zip.csv")
    with pytest.raises(InputError, match=r"two hierarchies of 'zip': zip\.csv and zip\.hrc; keep one"):
        Hierarchies.of(tmp_path)
