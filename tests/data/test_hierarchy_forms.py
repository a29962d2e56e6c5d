"""A hierarchy is read alike in every form and everywhere; only numbers and lists of them are widths."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import equivoc as eq

AGES = {20: "young", 21: "young", 35: "old", 36: "old"}
CODES = {20: 1, 21: 1, 35: 2, 36: 2}
FRAME = pd.DataFrame({"age": list(AGES) * 3, "pay": range(12)})
PEOPLE = eq.Microdata(FRAME, confidential="pay", keys=["age"])


def forms(groups: dict[int, Any], folder: Path) -> dict[str, Any]:
    frame = pd.DataFrame({"age": list(groups), "group": list(groups.values())})
    frame.to_csv(folder / "age.csv", index=False)
    return {
        "mapping": groups,
        "lists": {age: [group] for age, group in groups.items()},
        "with a star": {age: (group, "*") for age, group in groups.items()},
        "pandas": frame,
        "polars": pl.from_pandas(frame),
        "pyarrow": pa.Table.from_pandas(frame, preserve_index=False),
        "duckdb": duckdb.from_df(frame),
        "path": folder / "age.csv",
        "text": str(folder / "age.csv"),
    }


def generalised(hierarchy: Any) -> list[str]:
    release = eq.Generalisation(levels={"age": 1}, hierarchies={"age": hierarchy}).release(PEOPLE)
    return [str(value) for value in release.table["age"]]


def redesigned(hierarchy: Any) -> list[Any]:
    table = eq.tabulate(PEOPLE, ["age"])
    return list(eq.Redesign(rule=eq.Threshold(4), hierarchies={"age": hierarchy}).release(table).table["age"])


@pytest.mark.parametrize(
    "form",
    ["mapping", "lists", "with a star", "pandas", "polars", "pyarrow", "duckdb", "path", "text"],
)
@pytest.mark.parametrize("groups", [AGES, CODES], ids=["words", "numbers"])
def test_every_form_everywhere(groups: dict[int, Any], form: str, tmp_path: Path) -> None:
    given = forms(groups, tmp_path)[form]
    expected = [str(groups[age]) for age in FRAME["age"]]
    assert generalised(given) == expected
    labels = list(eq.tabulate(PEOPLE, ["age"], hierarchies={"age": given}).frame["age"])
    assert labels[1:] == [str(groups[20]), "20", "21", str(groups[35]), "35", "36"]
    assert redesigned(given)[1:] == [str(groups[20]), str(groups[35])]
    tree = eq.Microdata(FRAME, confidential=eq.Tree("age", given)).attribute.geometry
    assert tree.groups.tolist() == [[0, 1, 2, 3], [0, 0, 1, 1], [0, 0, 0, 0]]


@pytest.mark.parametrize("widths", [10, 10.0, (10,), [10], "10", np.array([10]), np.int64(10)], ids=repr)
def test_numbers_and_lists_of_them_are_widths(widths: Any) -> None:
    assert set(generalised(widths)) == {"[20,30)", "[30,40)"}


@pytest.mark.parametrize(
    "make", [lambda: pd.Series(AGES), lambda: pd.Series([10, 20]), lambda: pl.Series([10, 20])]
)
def test_what_can_be_both_is_refused_with_both_readings(make: Callable[[], Any]) -> None:
    with pytest.raises(
        eq.InputError, match=r"is a Series, which can be widths .* or the groups of its index"
    ):
        eq.Generalisation(k=2, hierarchies={"age": make()})


def test_a_file_named_like_a_width(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    forms(AGES, tmp_path)["path"].rename(tmp_path / "10")
    with pytest.raises(eq.InputError, match=r"can be widths of intervals or the file of this name"):
        eq.Generalisation(k=2, hierarchies={"age": "10"})
    assert set(generalised("./10")) == {"young", "old"}
    assert set(generalised(10)) == {"[20,30)", "[30,40)"}
