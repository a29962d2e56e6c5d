"""Meanings of released symbols, with hand-written cases for each notation, and errors."""

from __future__ import annotations

import datetime
from decimal import Decimal
from math import inf
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from equivoc.attributes.level_text import Anything, Masked, OneOf, Plain, Span, meaning
from equivoc.data.columns import Encoder
from equivoc.errors import InputError
from equivoc.releases.symbol_reading import read_symbols


def held(levels: pa.Array, symbols: pa.Array) -> dict[Any, list[Any]]:
    """The levels of each symbol."""
    encoder = Encoder("x")
    encoder.add(symbols)
    read = read_symbols(encoder.column(), levels, name="x", role="key")
    told = {}
    for number, label in enumerate(read.labels.to_pylist()):
        intervals = range(read.starts[number], read.starts[number + 1])
        inside = [
            level
            for level, place in zip(levels.to_pylist(), read.line.place(levels), strict=True)
            if any(read.lows[i] <= place <= read.highs[i] for i in intervals)
        ]
        assert read.sizes[number] == len(inside)
        told[label] = inside
    return told


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("(20,30)", Span(20, 30, True, True)),
        ("[-5, -1]", Span(-5, -1)),
        ("[ 1.5 ; 2e1 [", Span(1.5, 20, False, True)),
        ("]0,1]", Span(0, 1, True)),
        ("[65,)", Span(65, inf, False, True)),
        ("(-inf,20]", Span(-inf, 20, True, False)),
        ("[65,+INF)", Span(65, inf, False, True)),
        ("20-29", Span(20, 29)),
        ("-5--1", Span(-5, -1)),
        ("-5-1", Span(-5, 1)),
        ("20 – 29", Span(20, 29)),
        ("1e-5", Plain("1e-5")),
        ("1e-5-1", Span(1e-5, 1)),
        (">= 65", Span(65, inf, False, True)),
        ("<-3", Span(-inf, -3, True, True)),
        ("≤3", Span(-inf, 3, True)),
        ("65+", Span(65, inf, False, True)),
        ("+65", Plain("+65")),
        ("-", Plain("-")),
        ("self-employed", Plain("self-employed")),
        ("(none)", Plain("(none)")),
        ("<unknown>", Plain("<unknown>")),
        ("{a}", OneOf(("a",))),
        ('{"a,b", c}', OneOf(("a,b", "c"))),
        ("**1", Masked("**1")),
        ("***", Anything()),
        ("NA", Anything()),
        ("  ", Anything()),
        *((text, None) for text in ("[20,", "[20", "[20,30", "(20,x]", "[a,b]", "{a,b", "{}", "]", "29-20")),
        *((text, None) for text in ("(20,20]", "[30,20]")),
        ("[20,20]", Span(20, 20)),
        ("[20, 30[", Span(20, 30, False, True)),
        ("]20,30]", Span(20, 30, True, False)),
        ("(20,30]", Span(20, 30, True, False)),
        ("[0, 3.000[", Span(0, 3, False, True)),
        ("20 to 29", Span(20, 29)),
        ("20 TO 29", Span(20, 29)),
        ("-5 to -1", Span(-5, -1)),
        ("< 20", Span(-inf, 20, True, True)),
        ("<= 20", Span(-inf, 20, True)),
        ("> 55", Span(55, inf, True, True)),
        (">= 55", Span(55, inf, False, True)),
        ("55+", Span(55, inf, False, True)),
        ("under 20", Span(-inf, 20, True, True)),
        ("Under 20", Span(-inf, 20, True, True)),
        ("less than 20", Span(-inf, 20, True, True)),
        ("up to 20", Span(-inf, 20, True)),
        ("20 or less", Span(-inf, 20, True)),
        ("over 65", Span(65, inf, True, True)),
        ("at least 65", Span(65, inf, False, True)),
        ("65 and over", Span(65, inf, False, True)),
        ("65 or more", Span(65, inf, False, True)),
        ("29 to 20", None),
        ("room 20", Plain("room 20")),
        ("20 and some", Plain("20 and some")),
        ("NULL", Anything()),
        ("null", Plain("null")),
    ],
)
def test_ways_of_writing(text, expected):
    assert meaning(text) == expected


@given(st.integers(-99, 99), st.integers(-99, 99), st.sampled_from("[("), st.sampled_from("])"))
def test_ranges_hold_what_lies_in_them(low, high, opening, closing):
    text = f"{opening}{low},{high}{closing}"
    inside = [
        n
        for n in range(-110, 111, 3)
        if (low < n or (low == n and opening == "[")) and (n < high or (n == high and closing == "]"))
    ]
    if low > high or (low == high and opening + closing != "[]"):
        assert meaning(text) is None
    else:
        assert held(pa.array(range(-110, 111, 3)), pa.array([text]))[text] == inside


def test_masked_digits():
    levels = pa.array([-25, -20, 2, 20, 29, 30, 200, 2138])
    symbols = pa.array(["2*", "-2*", "2**", "021**", "2****", "**", "*0"])
    assert held(levels, symbols) == {
        "2*": [20, 29],
        "-2*": [-25, -20],
        "2**": [200],
        "021**": [2138],
        "2****": [2, 20, 29, 200, 2138],
        "**": levels.to_pylist(),
        "*0": [20, 30],
    }
    assert held(pa.array([19.5, 20.0, 29.5, 30.0]), pa.array(["2*"])) == {"2*": [20.0, 29.5]}


def test_masked_text_is_one_character_a_star_or_else_a_beginning():
    levels = pa.array(["02138", "02139", "0213", "10001", "a.b"])
    symbols = pa.array(["0213*", "021*", "1*", "a*b", "a.*", "ax*", "10001"])
    assert held(levels, symbols) == {
        "0213*": ["02138", "02139"],
        "021*": ["0213"],
        "1*": ["10001"],
        "a*b": ["a.b"],
        "a.*": ["a.b"],
        "ax*": [],
        "10001": ["10001"],
    }


def test_levels_come_before_rules():
    """Text that is itself a level means that level, even if it looks like a range or a set."""
    odd = ["*", "20-29", "NA", "[20,", "{a,b}", "a"]
    assert held(pa.array(sorted(odd)), pa.array(odd)) == {text: [text] for text in odd}


def test_null_is_a_level_or_anything():
    symbols = pa.array([None, "*", "NA", "5", ">=5", "{5,NA}"])
    with_null = held(pa.array([5, 6, None]), symbols)
    assert with_null == {
        None: [None],
        "*": [5, 6, None],
        "NA": [5, 6, None],
        "5": [5],
        ">=5": [5, 6],
        "{5,NA}": [5, None],
    }
    without = held(pa.array([5, 6]), pa.array([None, "*", "5"]))
    assert without == {None: [5, 6], "*": [5, 6], "5": [5]}
    words = held(pa.array(["x", None]), pa.array([None, "{x,NA}", "*"]))
    assert words == {None: [None], "{x,NA}": ["x", None], "*": ["x", None]}


@pytest.mark.parametrize(
    ("spelling", "inside"),
    [
        ("[20, 30[", [20, 29]),
        ("]20,30]", [29, 30]),
        ("(20,30]", [29, 30]),
        ("20-29", [20, 29]),
        ("20–29", [20, 29]),
        ("20 to 29", [20, 29]),
        ("29+", [29, 30, 31]),
        (">= 30", [30, 31]),
        ("> 30", [31]),
        ("< 20", [19]),
        ("under 20", [19]),
        ("up to 20", [19, 20]),
        ("30 and over", [30, 31]),
        ("over 30", [31]),
        ("[0, 20.000[", [19]),
    ],
)
def test_each_spelling_is_a_set_of_levels(spelling, inside):
    assert held(pa.array([19, 20, 29, 30, 31]), pa.array([spelling]))[spelling] == inside


def test_points_between_thousands_are_told_by_the_levels():
    """ARX writes [0, 3.000[ for 0 to 3000 where its language has points between thousands."""
    levels = pa.array([0, 1200, 2999, 3000, 4100])
    assert held(levels, pa.array(["[0, 3.000[", "[3.000, 6.000["])) == {
        "[0, 3.000[": [0, 1200, 2999],
        "[3.000, 6.000[": [3000, 4100],
    }
    small = pa.array([0.5, 1.25, 2.0])
    assert held(small, pa.array(["[0, 1.500[", "[1.500, 3.000["])) == {
        "[0, 1.500[": [0.5, 1.25],
        "[1.500, 3.000[": [2.0],
    }
    mixed = pa.array([1, 2, 1200, 2500])
    assert held(mixed, pa.array(["[0, 2.5]", "[1.000, 3.000]"]))["[1.000, 3.000]"] == [1, 2]
    with pytest.raises(InputError, match=r"whose points can be decimal points or stand between thousands"):
        held(pa.array([2, 3, 2000, 3000]), pa.array(["[2.000, 3.000]"]))


def test_numbers_among_words_can_be_in_a_range():
    levels = pa.array(["17", "20", "25", "unknown"])
    assert held(levels, pa.array(["[18,30)", "20-25", "unknown", ">=100"])) == {
        "[18,30)": ["20", "25"],
        "20-25": ["20", "25"],
        "unknown": ["unknown"],
        ">=100": [],
    }


def test_other_types_of_levels():
    day = datetime.date(2001, 5, 1)
    assert held(pa.array([day, datetime.date(2001, 6, 1)]), pa.array(["2001-05-01", "2001-0*-01", "*"])) == {
        "2001-05-01": [day],
        "2001-0*-01": [day, datetime.date(2001, 6, 1)],
        "*": [day, datetime.date(2001, 6, 1)],
    }
    assert held(pa.array([False, True]), pa.array(["True", "false", "{true,false}"])) == {
        "True": [True],
        "false": [False],
        "{true,false}": [False, True],
    }
    assert held(pa.array([Decimal("1.5"), Decimal("2.5")]), pa.array([Decimal("2.5"), None])) == {
        Decimal("2.5"): [Decimal("2.5")],
        None: [Decimal("1.5"), Decimal("2.5")],
    }
    assert held(pa.array([1, 2]), pa.array([1.0, 1.5])) == {1.0: [1], 1.5: []}


@pytest.mark.parametrize(
    ("levels", "symbols", "said"),
    [
        ([20, 30], ["20", "[20,", "[20,", "adult"], "holds '[20,', neither a number nor a range"),
        ([20, 30], ["20", "adult"], "holds 'adult', neither a number nor a range"),
        ([20, 30], ["29-20"], "holds '29-20'"),
        ([20, 30], ["{20,x}"], "holds '{20,x}'"),
        ([20, 30], ["x*"], "holds 'x*'"),
        ([20.0, 30.0], [inf], "holds inf"),
        (
            ["F", "M"],
            ["F", "{F,"],
            "holds '{F,', a range or set that does not parse (records with such values: 1)",
        ),
        (["F", "M"], ["1", "2"], "has none of the original's values, but values such as '1'"),
        (["F", "M"], [1, 2], "has none of the original's values, but values such as 1"),
    ],
)
def test_what_cannot_be_understood_is_named(levels, symbols, said):
    with pytest.raises(InputError) as mistake:
        held(pa.array(levels), pa.array(symbols))
    assert said in str(mistake.value)
    assert "'x'" in str(mistake.value)
    assert "\n" not in str(mistake.value)


def test_records_with_such_values_are_counted():
    with pytest.raises(InputError, match="records with such values: 3"):
        held(pa.array([20, 30]), pa.array(["20", "[20,", "[20,", "adult"]))
