"""Invalid columns and files given by name: a repeated column, a pipe, invalid weights."""

from __future__ import annotations

import os
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest

import equivoc as eq
from equivoc.techniques.notation import technique_from

FRAME = pd.DataFrame({"age": [20, 20, 30, 30], "pay": [10, 20, 30, 40], "w": [0, 0, 0, 0]})


@pytest.mark.parametrize(
    "words",
    [
        "rounding:base=10",
        "top-bottom-coding:high=25",
        "swapping:rate=1",
        "pram:keep=0.5",
        "microaggregation:size=2",
    ],
)
def test_a_column_named_twice_is_refused(words: str) -> None:
    people = eq.Microdata(FRAME, confidential="pay", keys=["age"])
    with pytest.raises(eq.InputError, match="names a column twice"):
        technique_from(f"{words},on=age+age").release(people, 0)


def test_a_matrix_in_a_pipe_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "m.csv")
    with pytest.raises(eq.InputError, match="not an ordinary file"):
        eq.PRAM(matrix=str(tmp_path / "m.csv"))


@pytest.mark.parametrize(("weight", "told"), [(0.0, "sums to 0"), (1e308, "sums to inf")])
def test_weights_that_sum_to_nothing_or_too_much_are_refused(weight: float, told: str) -> None:
    with pytest.raises(eq.InputError, match=told):
        eq.Microdata(FRAME.assign(w=weight), confidential="pay", keys=["age"], weights="w")


def test_bytes_in_a_released_column_are_refused() -> None:
    people = eq.Microdata(FRAME, confidential="pay", keys=["age"])
    released = pa.table({"age": [20, 20, 30, 30], "pay": [b"\xff", b"1", b"2", b"3"]})
    with pytest.raises(eq.InputError, match="as released holds binary values"):
        eq.ReleasedFile(released).release(people)


def test_numbers_beyond_64_bits_stay_what_they_are() -> None:
    people = eq.Microdata(FRAME.assign(pay=["10", "20", "30", str(10**30)]), confidential="pay", keys=["age"])
    assert people.decode("pay", people.codes).to_pylist() == [10.0, 20.0, 30.0, 1e30]


def test_a_huge_field_in_a_hierarchy_is_refused(tmp_path: Path) -> None:
    (tmp_path / "h.csv").write_text("20;" + "x" * 200_000 + "\n30;x\n")
    with pytest.raises(eq.InputError, match="cannot be read as CSV"):
        eq.Generalisation(k=2, hierarchies={"age": tmp_path / "h.csv"})
