"""Tables from elsewhere: what was written reads back, and what is wrong is named."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import equivoc as eq
from equivoc.attributes.hierarchy import Hierarchy
from equivoc.files import write_csv

RELEASED = """region,sex,total
n,F,10
n,M,x
n,Total,25
s,F,..
s,M,40
s,Total,60
Total,F,30
Total,M,55
Total,Total,85
"""
LABELS = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), min_size=1, max_size=6).filter(
    lambda text: text.strip().casefold() not in ("", "total", "*", "(missing)") and "\r" not in text
)


def written_to(folder: Path, text: str) -> Path:
    file = folder / "released.csv"
    file.write_text(text, encoding="utf-8")
    return file


def test_a_suppressed_table(tmp_path: Path) -> None:
    table = eq.CellTable.read(written_to(tmp_path, RELEASED), by=["region", "sex"], value="total")
    assert [d.labels for d in table.dimensions] == [(None, "n", "s"), (None, "F", "M")]
    assert np.isnan(table.values).tolist() == [False] * 5 + [True, False, True, False]
    assert table.values[~np.isnan(table.values)].tolist() == [85, 30, 55, 25, 10, 60, 40]
    assert (table.people < 0).all()
    with pytest.raises(eq.InputError, match="does not say what its largest contributions are"):
        table.unsafe(eq.PPercent(10))
    with pytest.raises(eq.InputError, match="does not say how many contributors"):
        table.unsafe(eq.Threshold(3))
    assert table.frame["value"].isna().sum() == 2


def test_other_words_and_a_frame() -> None:
    frame = pd.DataFrame({"k": ["all", "a", "b"], "v": ["3", "hidden", "1"]})
    table = eq.CellTable.read(frame, by=["k"], value="v", margins=["ALL"], symbols=["Hidden"])
    assert table.values[[0, 2]].tolist() == [3, 1]
    assert np.isnan(table.values[1])
    numbers = pd.DataFrame({"k": [None, "a", "b"], "v": [3.0, np.nan, 1.0]})
    assert np.array_equal(
        eq.CellTable.read(numbers, by=["k"], value="v").values, table.values, equal_nan=True
    )


@settings(max_examples=40)
@given(
    st.lists(LABELS, min_size=1, max_size=4, unique=True),
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 1), st.integers(0, 999)), min_size=1, max_size=20),
)
def test_what_is_written_reads_back(
    tmp_path_factory: pytest.TempPathFactory, labels: list[str], records: list[tuple[int, int, int]]
) -> None:
    """Hostile labels included: quotes, formulas, line ends, blanks."""
    frame = pd.DataFrame(
        [(labels[a % len(labels)], "FM"[b], pay / 100) for a, b, pay in records], columns=["k", "sex", "pay"]
    )
    table = eq.tabulate(
        eq.Microdata(frame, confidential="pay", keys=["k", "sex"]), by=["k", "sex"], value="pay"
    )
    file = tmp_path_factory.mktemp("tables") / "table.csv"
    write_csv(table.frame, file)
    again = eq.CellTable.read(file, by=["k", "sex"])
    assert [set(d.labels) for d in again.dimensions] == [set(d.labels) for d in table.dimensions]
    sort = ["k", "sex"]
    one, other = (t.frame.sort_values(sort, ignore_index=True) for t in (table, again))
    pd.testing.assert_frame_equal(one, other, check_dtype=False)
    rules = [eq.PPercent(10), eq.Dominance(n=2, k=80), eq.Threshold(3)]
    for rule in rules:
        assert sorted(map(str, again.unsafe(rule)[sort].values.tolist())) == sorted(
            map(str, table.unsafe(rule)[sort].values.tolist())
        )
        with_levels = [t.unsafe(rule).sort_values(sort)["protection"].to_numpy() for t in (table, again)]
        assert np.allclose(*with_levels)


def test_subtotals_of_a_hierarchy(tmp_path: Path) -> None:
    tree = Hierarchy.of({"n1": ["north"], "n2": ["north"], "s1": ["s1"]}, key="town")
    text = "town,v\nn1,1\nn2,x\ns1,5\nnorth,3\n,8\n"
    table = eq.CellTable.read(written_to(tmp_path, text), by=["town"], value="v", hierarchies={"town": tree})
    assert table.dimensions[0].labels == (None, "north", "n1", "n2", "s1")
    assert table.dimensions[0].parents.tolist() == [-1, 0, 1, 1, 0]
    assert table.values[[0, 1, 2, 4]].tolist() == [8, 3, 1, 5]
    ages = 'age,v\n21,1\n25,2\n"[20,30)",3\n34,4\n"[30,40)",4\nTotal,7\n'
    table = eq.CellTable.read(written_to(tmp_path, ages), by=["age"], value="v", hierarchies="age:10")
    assert table.values.tolist() == [7, 3, 1, 2, 4, 4]


def test_margins_that_the_file_does_not_have_are_computed_where_they_can_be() -> None:
    frame = pd.DataFrame({"a": ["x", "x", "y", "y"], "b": ["u", "v", "u", "v"], "value": [0.1, 0.2, 4, None]})
    with pytest.raises(eq.InputError, match=r"margin of 'a' \(nothing, 'Total', '\*' in that column\)"):
        eq.CellTable.read(frame, by=["a", "b"])
    table = eq.CellTable.read(frame, by=["a", "b"], missing_margins=True)
    cells = {tuple(map(str, row[:2])): row[2] for row in table.frame.itertuples(index=False)}
    assert cells["x", "nan"] == 0.3
    assert cells["nan", "u"] == 4.1
    assert np.isnan(table.values).sum() == 4  # the cell, its row, its column, everything


def test_counts() -> None:
    frame = pd.DataFrame({"k": ["a", "b", "c", None], "n": [1, 2, None, 30]})
    table = eq.CellTable.read(frame, by=["k"], value="n", counts=True)
    assert table.value is None
    assert table.people.tolist() == [30, 1, 2, -1]
    assert table.unsafe(eq.Threshold(3))["k"].tolist() == ["a", "b"]
    with pytest.raises(eq.InputError, match=r"in row 1 .* holds 2.5, which is not a count"):
        eq.CellTable.read(pd.DataFrame({"k": ["a", "b"], "n": [1, 2.5]}), by=["k"], value="n", counts=True)


def test_the_threshold_of_published_cells_does_not_need_that_of_suppressed_ones() -> None:
    frame = pd.DataFrame({"k": ["a", "b", None], "v": [9, None, 30], "people": [2, None, 8]})
    table = eq.CellTable.read(frame, by=["k"], value="v")
    assert table.unsafe(eq.Threshold(3))["k"].tolist() == ["a"]


@pytest.mark.parametrize(
    ("text", "arguments", "sentence"),
    [
        (
            RELEASED.replace("85", "86"),
            {},
            r"the margin region = \*, sex = \* is 86, but its parts over 'region' add",
        ),
        (RELEASED.replace("85", "86"), {}, r"add up to 85, a difference of -1 \(1 more"),
        (RELEASED.replace("s,Total,60\n", ""), {}, r"no row for the cell region = 's', sex = \*: add it"),
        (RELEASED.replace("n,M,x\n", ""), {}, "no row for the cell region = 'n', sex = 'M'"),
        (
            RELEASED + "n,F,10\n",
            {},
            "region = 'n', sex = 'F' is in the table twice, on line 2 and on line 11",
        ),
        (RELEASED.replace("40", "4,0"), {}, "cannot be read"),
        (
            RELEASED.replace("40", "4 0"),
            {},
            "on line 6 the column 'total' holds '4 0', which is neither a number",
        ),
        (RELEASED.replace("40", "1e999"), {}, "holds '1e999', which is neither"),
        (RELEASED.replace("40", "nan"), {}, "holds 'nan', which is neither"),
        (RELEASED, {"by": ["region", "sexx"]}, "no column 'sexx': did you mean 'sex'"),
        (RELEASED, {"value": "totals"}, "no column 'totals': did you mean 'total'"),
        (RELEASED, {"value": "sex"}, "'sex' is in by"),
        (RELEASED, {"margins": "Total"}, "margins is 'Total'; give a list"),
        (RELEASED, {"margins": ["n", "s", "Total"]}, "'region' has no category, only margins"),
        (RELEASED, {"hierarchies": {"town": 5}}, "hierarchy for 'town', which is not in by"),
        (
            RELEASED,
            {"hierarchies": {"region": Hierarchy.of({"n": ["all"]}, key="region")}},
            "on line 5 the column 'region' has 's', which its hierarchy has neither",
        ),
        ("region,sex,total\n", {}, "no rows"),
        ("region,sex,total,largest\nn,F,3,1\n", {}, "a column 'largest' alone"),
        ("region,sex,total,largest,second\nn,F,3,1,2\n", {}, "on line 2 largest is 1 and second is 2"),
        ("region,sex,total,largest,second\nn,F,3,3,2\n", {}, "together 5, more than the value 3"),
        ("region,sex,total,people\nn,F,3,2.5\n", {}, "on line 2 the column 'people' holds '2.5'"),
        ("region,sex,total,people\nn,F,3,\n", {}, "on line 2 the column 'people' holds None"),
        ("region,sex,total,people\nn,F,3,abc\n", {}, "'people' holds 'abc', which is not a number"),
    ],
)
def test_bad_input(tmp_path: Path, text: str, arguments: dict[str, Any], sentence: str) -> None:
    given = {"by": ["region", "sex"], "value": "total"} | arguments
    with pytest.raises(eq.InputError, match=sentence):
        eq.CellTable.read(written_to(tmp_path, text), **given)


def possible(value: float, people: int | None, largest: float, second: float) -> bool:
    """By trying: whether some contributors, none below 0, have these two largest contributions and this sum."""
    most = range(int(value) + 2) if people is None else [people]
    return any(
        sum(others) + largest + second * (n > 1) == value
        for n in most
        for others in itertools.combinations_with_replacement(range(int(second) + 1), max(n - 2, 0))
        if (n > 1 or second == 0) and (n > 0 or largest == second == 0)
    )


def test_a_row_that_no_contributors_can_have_is_refused() -> None:
    """Every row of small numbers, against trying all contributions; people may not be told."""
    refused = 0
    for people, value, largest, second in itertools.product([None, 0, 1, 2, 3, 4], *[range(5)] * 3):
        if largest < second or largest + second > value:
            continue  # refused for other reasons
        row = {"k": ["a", None], "v": value, "largest": largest, "second": second}
        frame = pd.DataFrame(row | ({} if people is None else {"people": people}))
        if possible(value, people, largest, second):
            assert eq.CellTable.read(frame, by=["k"], value="v").values.tolist() == [value, value]
        else:
            refused += 1
            with pytest.raises(eq.InputError, match=r"in row 0 \(counting from 0\)"):
                eq.CellTable.read(frame, by=["k"], value="v")
    assert refused > 50


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        (
            "a,5,1,4,0\n,5,1,4,0\n",
            r"on line 2 the value is 5, but one contributor, with 4 the largest and 0 the second",
        ),
        ("a,5,2,3,1\n,5,2,3,1\n", r"2 contributors, with 3 the largest and 1 the .* make at most 4: correct"),
        # Of a withheld value, too: the sums say nothing there.
        ("a,,1,4,1\n,,1,4,1\n", "on line 2 people is 1, but second is 1: one contributor has only a largest"),
        ("a,5,0,,\n,5,0,,\n", "on line 2 people is 0, but the value is 5"),
        ("a,0,0,,\nb,3,1,3,\n,3,2,3,0\n", "the total k = [*] has people 2, but its parts have 1 together"),
        ("a,4,3,2,1\nb,3,1,3,\n,7,2,5,2\n", "the total k = [*] has people 2, but a part of it has 3"),
        ("a,4,3,2,1\nb,3,1,3,\n,7,4,2,2\n", "the total k = [*] has largest 2, but a part of it has 3"),
        ("a,4,3,2,1\nb,3,1,3,\n,7,4,6,1\n", "the total k = [*] has largest 6, but its parts have 5 together"),
    ],
)
def test_contributors_that_contradict_the_values(tmp_path: Path, rows: str, sentence: str) -> None:
    file = written_to(tmp_path, f"k,value,people,largest,second\n{rows}")
    with pytest.raises(eq.InputError, match=sentence):
        eq.CellTable.read(file, by=["k"])


def test_people_of_a_table_of_counts_may_be_fewer_holdings() -> None:
    """They were ignored: ten records of one holding were safe by a threshold of three."""
    frame = pd.DataFrame({"k": ["a", "b", None], "n": [10, 9, 19], "people": [1, 5, 6]})
    table = eq.CellTable.read(frame, by=["k"], value="n", counts=True)
    assert table.unsafe(eq.Threshold(3))["k"].tolist() == ["a"]
    frame.loc[0, "people"] = 11
    with pytest.raises(eq.InputError, match=r"in row 0 .* people is 11, but the value counts 10 people"):
        eq.CellTable.read(frame, by=["k"], value="n", counts=True)
