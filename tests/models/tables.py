"""Small tables: those of the papers, and generated ones with null keys."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import pyarrow as pa
from hypothesis import strategies as st

from equivoc.data.microdata import Microdata

Rows = list[tuple[Any, ...]]
"""Records: the keys, then the confidential value."""

KEYS = ("a", "b", "c", "d")


def microdata(rows: Rows, **arguments: Any) -> Microdata:
    """The rows as people with the keys a, b, … and the confidential attribute v."""
    keys = KEYS[: len(rows[0]) - 1]
    columns = [list(column) for column in zip(*rows, strict=True)]
    table = pa.table(dict(zip([*keys, "v"], map(pa.array, columns), strict=True)))
    for name, weights in arguments.items():
        table = table.append_column(name, pa.array(weights))
    return Microdata(table, confidential="v", keys=keys, weights="weights" if arguments else None)


def grouped(rows: Rows) -> dict[tuple[Any, ...], list[Any]]:
    """The confidential values of each class, by plain dictionaries; None is a key value like any other."""
    classes = defaultdict(list)
    for *keys, value in rows:
        classes[tuple(keys)].append(value)
    return dict(classes)


@st.composite
def tables(draw: st.DrawFn, keys: int = 2, most: int = 40) -> Rows:
    """Up to ``most`` records with one to ``keys`` keys; a key may be null, a value is a small integer."""
    levels = [draw(st.sampled_from([1, 2, 5])) for _ in range(draw(st.integers(1, keys)))]
    key = [st.one_of(st.integers(0, n - 1), st.none()) for n in levels]
    record = st.tuples(*key, st.integers(0, draw(st.sampled_from([0, 2, 9]))))
    return draw(st.lists(record, min_size=1, max_size=most))


INPATIENTS = [
    ("13053", 28, "heart"),
    ("13068", 29, "heart"),
    ("13068", 21, "viral"),
    ("13053", 23, "viral"),
    ("14853", 50, "cancer"),
    ("14853", 55, "heart"),
    ("14850", 47, "viral"),
    ("14850", 49, "viral"),
    ("13053", 31, "cancer"),
    ("13053", 37, "cancer"),
    ("13068", 36, "cancer"),
    ("13068", 35, "cancer"),
]
"""Machanavajjhala et al. (2007), figure 1: zip, age, condition."""
CONDITIONS = {"heart": 1, "viral": 2, "cancer": 3}


def four_anonymous() -> Rows:
    """Their figure 2: zip to three digits (four from 148 on), age below 30, in the thirties, 40 and above."""

    def age(years: int) -> str:
        return "<30" if years < 30 else "3*" if years < 40 else ">=40"

    return [
        (zipcode[:4] if zipcode > "14" else zipcode[:3], age(a), CONDITIONS[c])
        for zipcode, a, c in INPATIENTS
    ]


def three_diverse() -> Rows:
    """Their figure 3: zip to four digits, age up to 40 or above."""
    return [(zipcode[:4], a <= 40, CONDITIONS[c]) for zipcode, a, c in INPATIENTS]


SALARIES = [
    ("47677", 29, 3),
    ("47602", 22, 4),
    ("47678", 27, 5),
    ("47905", 43, 6),
    ("47909", 52, 11),
    ("47906", 47, 8),
    ("47605", 30, 7),
    ("47673", 36, 9),
    ("47607", 32, 10),
]
"""Li et al. (2007), table 3: zip, age, salary in thousands."""


def three_diverse_salaries() -> Rows:
    """Their table 4: zip to three digits (four where all agree), age by tens, 40 and above together."""
    return [
        (z[:4] if a >= 40 else z[:3], "2*" if a < 30 else "3*" if a < 40 else ">=40", s)
        for z, a, s in SALARIES
    ]


def close_salaries() -> Rows:
    """Their table 5: zip to four digits, age up to 40 or 40 and above."""
    return [(z[:4], a < 40, s) for z, a, s in SALARIES]


HOUSEHOLDS = [
    ("urban", "female", "secondary incomplete", "employed", 180),
    ("urban", "female", "secondary incomplete", "employed", 180),
    ("urban", "female", "primary incomplete", "non-LF", 215),
    ("urban", "male", "secondary complete", "employed", 76),
    ("rural", "female", "secondary complete", "unemployed", 186),
    ("urban", "male", "secondary complete", "employed", 76),
    ("urban", "female", "primary complete", "non-LF", 180),
    ("urban", "male", "post-secondary", "unemployed", 215),
    ("urban", "female", "secondary incomplete", "non-LF", 186),
    ("urban", "female", "secondary incomplete", "non-LF", 76),
]
"""Benschop, Machingauta and Welch, Statistical disclosure control: a practice guide, tables 4.1 and 4.5: residence,
gender, education, labour status, survey weight."""


def households() -> Microdata:
    rows = [(*keys, at) for at, (*keys, _) in enumerate(HOUSEHOLDS)]
    return microdata(rows, weights=[record[-1] for record in HOUSEHOLDS])
