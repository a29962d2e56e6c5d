"""Tables from people, against plain loops over the records and pandas."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import equivoc as eq
from equivoc.attributes.hierarchy import Hierarchy
from equivoc.tables.cell_table import MISSING, CellTable, dimension_of
from equivoc.tables.contributions import summed_up

TOWNS = {"n1": ["north"], "n2": ["north"], "s1": ["south"], "s2": ["south"], "e1": ["e1"]}
"""e1 is its own group: no subtotal of its own."""

RECORDS = st.lists(
    st.tuples(
        st.sampled_from(["n1", "n2", "s1", "s2", "e1", None]),
        st.sampled_from(["F", "M", None]),
        st.integers(-9, 30),
        st.sampled_from(["x", "y", "z", None]),
        st.sampled_from(["yes", "no", None]),
        st.sampled_from([0.0, 0.5, 1.0, 2.0]),
    ),
    min_size=1,
    max_size=25,
)


def frame_of(records: list[tuple[Any, ...]]) -> pd.DataFrame:
    names = ["town", "sex", "pay", "holding", "waiver", "weight"]
    frame = pd.DataFrame(
        {name: list(column) for name, column in zip(names, zip(*records, strict=True), strict=True)}
    )
    if not frame["weight"].sum():
        frame["weight"] = 1.0
    for name in ("town", "sex", "holding", "waiver"):
        frame[name] = frame[name].astype(object)
    return frame


def people_of(frame: pd.DataFrame) -> eq.Microdata:
    return eq.Microdata(
        frame, confidential="pay", keys=["town", "sex", "holding", "waiver"], weights="weight"
    )


def members(frame: pd.DataFrame, key: str, label: Any, tree: dict[str, list[str]] | None) -> pd.Series:
    """Which records belong to a node: its own label, or a category below it."""
    if label is None:
        return pd.Series(True, index=frame.index)
    if label == MISSING:
        return frame[key].isna()
    groups = frame[key].map(lambda town: None if pd.isna(town) or tree is None else tree[town][0])
    return (frame[key] == label) | (groups == label)


def by_hand(
    table: CellTable, frame: pd.DataFrame, *, value: str | None, tree: Any, holdings: bool, weighted: bool
) -> list[dict[str, Any]]:
    found = []
    for labels in product(*(d.labels for d in table.dimensions)):
        inside = np.logical_and.reduce(
            [
                members(frame, key, label, tree if key == "town" else None)
                for key, label in zip(table.by, labels, strict=True)
            ]
        )
        rows = frame[inside]
        amounts = rows["pay"] if value else pd.Series(1, index=rows.index)
        weights = rows["weight"] if weighted else 1
        total = float((amounts * weights).sum())
        contributions: dict[Any, float] = {}
        agreed: dict[Any, bool] = {}
        for at in rows.index:
            if weighted and rows.at[at, "weight"] == 0:
                continue
            own = at if not holdings or pd.isna(rows.at[at, "holding"]) else rows.at[at, "holding"]
            contributions[own] = contributions.get(own, 0) + float(amounts[at])
            agreed[own] = agreed.get(own, True) and rows.at[at, "waiver"] == "yes"
        largest = sorted(contributions.values(), key=lambda x: (-abs(x), -x))[:5]
        found.append(
            {
                "total": total,
                "people": len(contributions),
                "top": largest + [0.0] * (5 - len(largest)),
                "absolute": sum(map(abs, contributions.values())),
                "waived": bool(agreed) and all(agreed.values()),
                "unwaived": max((abs(contributions[c]) for c in agreed if not agreed[c]), default=0.0),
            }
        )
    return found


@settings(max_examples=60)
@given(RECORDS, st.booleans(), st.booleans(), st.booleans(), st.booleans())
def test_every_cell_against_a_loop_over_the_records(
    records: list[tuple[Any, ...]], sums: bool, holdings: bool, weighted: bool, hierarchical: bool
) -> None:
    frame = frame_of(records)
    hierarchies = {"town": Hierarchy.of(TOWNS, key="town")} if hierarchical else None
    table = eq.tabulate(
        people_of(frame),
        by=["town", "sex"],
        value="pay" if sums else None,
        hierarchies=hierarchies,
        contributors="holding" if holdings else None,
        waiver="waiver",
        weighted=weighted,
    )
    expected = by_hand(
        table,
        frame,
        value="pay" if sums else None,
        tree=TOWNS if hierarchical else None,
        holdings=holdings,
        weighted=weighted,
    )
    # All numbers are multiples of a half: sums of doubles are exact.
    assert table.values.tolist() == [cell["total"] for cell in expected]
    assert table.people.tolist() == [cell["people"] for cell in expected]
    assert table.top.tolist() == [cell["top"] for cell in expected]
    assert table.contributions.tolist() == [cell["absolute"] for cell in expected]
    assert table.waived.tolist() == [cell["waived"] for cell in expected]
    assert table.unwaived is not None
    assert table.unwaived.tolist() == [cell["unwaived"] for cell in expected]
    assert not np.abs(table.relations @ table.values).max(initial=0)


@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_margins_against_pandas(size: int) -> None:
    rng = np.random.default_rng(size)
    keys = ["a", "b", "c", "d"][:size]
    frame = pd.DataFrame({key: rng.integers(0, 3, 300) for key in keys} | {"pay": rng.integers(0, 90, 300)})
    table = eq.tabulate(eq.Microdata(frame, confidential="pay", keys=keys), by=keys, value="pay")
    cells = table.frame
    assert list(cells.columns) == [*keys, "value", "people", "largest", "second"]
    assert len(cells) == 4**size
    for chosen in product([False, True], repeat=size):
        shown = [key for key, kept in zip(keys, chosen, strict=True) if kept]
        hidden = [key for key in keys if key not in shown]
        part = cells[cells[shown].notna().all(axis=1) & cells[hidden].isna().all(axis=1)]
        if not shown:
            assert part["value"].tolist() == [frame["pay"].sum()]
            continue
        groups = frame.groupby(shown)["pay"]
        expected = pd.DataFrame(
            {"value": groups.sum(), "people": groups.size(), "largest": groups.max()}
        ).reset_index()
        merged = part.merge(expected, on=shown, how="left", suffixes=("", "_pandas"))
        for name in ("value", "people", "largest"):
            assert merged[name].fillna(0).tolist() == merged[f"{name}_pandas"].fillna(0).tolist(), name


def test_the_frame_is_of_the_kind_that_the_people_came_in() -> None:
    import duckdb
    import polars as pl

    plain = {"age": [30, 41, 30], "pay": [5, 7, 6]}
    for source, kind in (
        (pd.DataFrame(plain), pd.DataFrame),
        (pl.DataFrame(plain), pl.DataFrame),
        (pa.table(plain), pa.Table),
        (duckdb.sql("select 30 as age, 5 as pay"), duckdb.DuckDBPyRelation),
    ):
        table = eq.tabulate(eq.Microdata(source, confidential="pay", keys=["age"]), by=["age"], value="pay")
        assert isinstance(table.frame, kind)
        assert isinstance(table.unsafe(eq.Threshold(3)), kind)
    frame = eq.tabulate(eq.Microdata(pa.table(plain), confidential="pay", keys=["age"]), by=["age"]).frame
    assert frame.column("age").to_pylist() == [None, 30, 41]
    assert frame.schema.field("age").type == pa.int64()


def test_a_missing_category_is_not_the_margin() -> None:
    people = eq.Microdata(pd.DataFrame({"age": [30, None], "pay": [1, 2]}), confidential="pay", keys=["age"])
    frame = eq.tabulate(people, by=["age"], value="pay").frame
    assert frame["age"].isna().tolist() == [True, False, False]
    assert frame["age"].tolist()[1:] == ["30", "(missing)"]


def test_no_second_contribution_is_null_and_a_zero_is_zero() -> None:
    people = eq.Microdata(
        pd.DataFrame({"k": ["a", "a", "b"], "pay": [0, 0, 0]}), confidential="pay", keys=["k"]
    )
    frame = eq.tabulate(people, by=["k"], value="pay").frame
    assert frame["second"].isna().tolist() == [False, False, True]
    assert frame["largest"].tolist() == [0, 0, 0]


def test_subtotals_come_before_their_categories_and_repeated_labels_are_left_out() -> None:
    tree = Hierarchy.of({"a1": ["a", "top"], "a2": ["a", "top"], "b": ["b", "top"], "c": ["c", "c"]}, key="k")
    dimension, nodes = dimension_of("k", ["a1", "a2", "b", "c", None], tree)
    assert dimension.labels == (None, "top", "a", "a1", "a2", "b", "c", MISSING)
    assert dimension.parents.tolist() == [-1, 0, 1, 2, 2, 1, 0, 0]
    assert nodes.tolist() == [3, 4, 5, 6, 7]
    assert all(parent < node for node, parent in enumerate(dimension.parents.tolist()))


def test_intervals_are_subtotals_of_numbers() -> None:
    people = eq.Microdata(
        pd.DataFrame({"age": [21, 25, 34], "pay": [1, 2, 4]}), confidential="pay", keys=["age"]
    )
    frame = eq.tabulate(people, by=["age"], value="pay", hierarchies="age:10").frame
    assert frame["age"].tolist()[1:] == ["[20,30)", "21", "25", "[30,40)", "34"]
    assert frame["value"].tolist() == [7, 3, 1, 2, 4, 4]


def test_counts_by_a_confidential_column_and_a_key_as_the_value() -> None:
    frame = pd.DataFrame({"town": ["a", "a", "b"], "size": [2, 3, 5], "disease": ["flu", "none", "flu"]})
    people = eq.Microdata(frame, confidential="disease", keys=["town", "size"])
    assert eq.tabulate(people, by=["town", "disease"]).values.tolist() == [3, 2, 1, 2, 1, 1, 1, 1, 0]
    assert eq.tabulate(people, by=["town"], value="size").values.tolist() == [10, 5, 5]


def test_the_order_of_the_people_changes_nothing() -> None:
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(
        {"k": rng.integers(0, 3, 60), "h": rng.integers(0, 9, 60), "pay": rng.integers(-5, 6, 60)}
    )
    tables = [
        eq.tabulate(
            eq.Microdata(f, confidential="pay", keys=["k", "h"]), by=["k"], value="pay", contributors=c
        )
        for f in (frame, frame.sample(frac=1, random_state=1))
        for c in (None, "h")
    ]
    for one, other in ((0, 2), (1, 3)):
        assert np.array_equal(tables[one].top, tables[other].top)
        assert np.array_equal(tables[one].values, tables[other].values)


def test_decimals_add_up_without_rounding_errors() -> None:
    frame = pd.DataFrame({"k": ["a", "a", "b"], "h": [1, 1, 2], "pay": [0.1, 0.2, 0.7]})
    people = eq.Microdata(frame, confidential="pay", keys=["k", "h"])
    table = eq.tabulate(people, by=["k"], value="pay", contributors="h")
    assert table.values.tolist() == [1.0, 0.3, 0.7]
    assert table.top[:, 0].tolist() == [0.7, 0.3, 0.7]
    assert table.contributions.tolist() == [1.0, 0.3, 0.7]


def test_totals_of_many_nodes_are_summed_once() -> None:
    dimension, _ = dimension_of("k", list(range(1000)))
    assert summed_up(np.ones(5000), np.arange(5000) % 1000 + 1, [dimension])[0] == 5000


FRAME = pd.DataFrame(
    {
        "region": ["n", "s", None],
        "value": ["a", "b", "c"],
        "text": ["x", "y", "z"],
        "waiver": ["yes", "no", "perhaps"],
        "size": [1.0, 2.0, None],
        "pay": [1, 2, 3],
        "many": ["(missing)", None, "q"],
    }
)
PEOPLE = eq.Microdata(FRAME, confidential="pay", keys=["region", "value", "text", "waiver", "size", "many"])


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"by": "region"}, "by is 'region'; give a list of one to 4 columns"),
        ({"by": []}, "by has 0 columns"),
        ({"by": ["regoin"]}, "'regoin' in by is not a key: did you mean 'region'"),
        ({"by": ["region", "region"]}, "'region' twice"),
        ({"by": ["value"]}, "'value', which is a column of the table itself"),
        ({"by": ["region"], "value": "text"}, "'text' holds 'x', which is not a number"),
        ({"by": ["region"], "value": "size"}, "'size' is missing in 1 records"),
        ({"by": ["region"], "value": "pya"}, "neither confidential nor a key: did you mean 'pay'"),
        ({"by": ["region"], "value": 3}, "value is 3; give the name"),
        ({"by": ["region"], "contributors": "pay"}, "contributors is 'pay', which is not a key"),
        ({"by": ["region"], "waiver": "nobody"}, "waiver is 'nobody', which is not a key"),
        ({"by": ["region"], "waiver": "waiver"}, "'waiver' holds 'perhaps'; it must hold yes or no"),
        ({"by": ["region"], "largest": 0}, "largest is 0; it must be a whole number"),
        ({"by": ["region"], "largest": 10**9}, "keep fewer contributions"),
        ({"by": ["many"]}, r"missing values and also the category '\(missing\)'"),
        ({"by": ["region"], "hierarchies": {"text": 5}}, "hierarchy for 'text', which is not in by"),
        (
            {"by": ["region"], "hierarchies": {"region": Hierarchy.of({"n": ["all"]}, key="region")}},
            "'region' has the value 's', which is not in the hierarchy",
        ),
        (
            {
                "by": ["region"],
                "hierarchies": {"region": Hierarchy.of({"n": ["s"], "s": ["t"]}, key="region")},
            },
            "hierarchy of 'region' has the label 's' twice",
        ),
    ],
)
def test_bad_input(arguments: dict[str, Any], sentence: str) -> None:
    with pytest.raises(eq.InputError, match=sentence):
        eq.tabulate(PEOPLE, **arguments)


def test_a_table_that_is_too_large_and_totals_that_overflow() -> None:
    frame = pd.DataFrame({"a": range(2000), "b": range(2000), "pay": [1e149] * 2000, "times": [1e152] * 2000})
    people = eq.Microdata(frame, confidential="pay", keys=["a", "b"], weights="times")
    with pytest.raises(eq.InputError, match=r"4,004,001 cells, more than 2,000,000 .*a has 2,000"):
        eq.tabulate(people, by=["a", "b"])
    with pytest.raises(eq.InputError, match="too large to compute with"):
        eq.tabulate(people, by=["a"], value="pay")
    with pytest.raises(eq.InputError, match="people is a DataFrame"):
        eq.tabulate(frame, by=["a"])  # type: ignore[arg-type]


def test_a_parquet_file_that_is_counted_in_place(tmp_path: Path) -> None:
    frame = pd.DataFrame({"k": ["a", "b", "a"], "pay": [3, 4, 5]})
    frame.to_parquet(tmp_path / "people.parquet")
    people = eq.read(tmp_path / "people.parquet", confidential="pay", keys=["k"])
    assert eq.tabulate(people, by=["k"], value="pay").values.tolist() == [12, 8, 4]


def test_labels_that_look_like_markup_formulas_or_nothing() -> None:
    labels = ["=1+1", "[red]x[/]", "\x1b[31m", "", " ", "Total", "null", "日本", "'"]
    frame = pd.DataFrame({"k": labels, "pay": range(len(labels))})
    table = eq.tabulate(eq.Microdata(frame, confidential="pay", keys=["k"]), by=["k"], value="pay")
    assert sorted(table.frame["k"].dropna()) == sorted(labels)
    assert len(table) == len(labels) + 1
