"""Attributes in words: units, domains, and how close a guess is."""

from __future__ import annotations

import pyarrow as pa
import pytest

import equivoc as eq
from equivoc.attributes.attribute import Attribute, closeness, domain_size, measured_in
from equivoc.attributes.hierarchy import Hierarchy
from equivoc.attributes.kinds import Kind

DISEASES = ["flu", "asthma", "ulcer"]
ROWS = (("flu", "lungs", "*"), ("asthma", "lungs", "*"), ("ulcer", "stomach", "*"))
NAMED = eq.Tree("disease", Hierarchy(ROWS, names=("chapter", "all")))
UNNAMED = eq.Tree("disease", Hierarchy(ROWS))


def resolved(kind: Kind, values: list[object]) -> Attribute:
    found = kind.resolve(pa.array(values))
    assert isinstance(found, tuple)
    return found[0]


@pytest.mark.parametrize(
    ("kind", "values", "eps", "label", "phrase"),
    [
        (eq.Number("pay"), [1, 2], 0, "exact", "names a random person's exact pay"),
        (eq.Number("pay", unit="K"), [1, 2], 10, "within ±5K", "is within ±5K of a random person's pay"),
        (
            eq.Ordered("grade", ["abcd"][0:1]),
            ["abcd"],
            2,
            "within ±1 rank",
            "is within ±1 rank of a random person's grade",
        ),
        (
            eq.Ordered("grade", ["a", "b"]),
            ["a"],
            4,
            "within ±2 ranks",
            "is within ±2 ranks of a random person's grade",
        ),
        (NAMED, DISEASES, 0.5, "exact", "names a random person's exact disease"),
        (
            NAMED,
            DISEASES,
            1,
            "right about the chapter",
            "is right about the chapter of a random person's disease",
        ),
        (NAMED, DISEASES, 9, "right about the all", "is right about the all of a random person's disease"),
        (UNNAMED, DISEASES, 1, "right about level 1", "is right about level 1 of a random person's disease"),
    ],
)
def test_closeness(kind: Kind, values: list[object], eps: float, label: str, phrase: str) -> None:
    assert closeness(resolved(kind, values), eps) == (label, phrase)


def test_units_and_domains() -> None:
    pay, grade = resolved(eq.Number("pay"), [1, 2]), resolved(eq.Ordered("grade", ["a", "b"]), ["a"])
    flat, tree = resolved(eq.Categories("disease"), DISEASES), resolved(NAMED, DISEASES)
    assert [measured_in(each) for each in (pay, grade, flat, tree)] == ["pay", "ranks", "levels", "levels"]
    assert [measured_in(each, "K") for each in (pay, tree)] == ["K", "levels"]
    assert [domain_size(each) for each in (pay, grade, flat, tree)] == [
        "2 values",
        "2 categories in order",
        "3 categories",
        "3 categories under a hierarchy of 3 levels",
    ]


@pytest.mark.parametrize(("levels", "asked"), [(2, (0.0,)), (3, (0.0,)), (4, (0.0, 2.0)), (101, (0.0, 10.0))])
def test_default_tolerances_of_ranks_are_whole_steps(levels: int, asked: tuple[float, ...]) -> None:
    grade = resolved(eq.Ordered("grade", list(range(levels))), [0])
    assert grade.geometry.default_tolerances() == asked
