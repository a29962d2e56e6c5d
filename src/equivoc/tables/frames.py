"""Cells as frames of the caller's kind: their categories, values, contributors, and why they are unsafe."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from equivoc.attributes.level_text import written
from equivoc.tables.dimension import Dimension
from equivoc.tables.rules import as_rules, protection_levels

if TYPE_CHECKING:
    import pyarrow as pa

    from equivoc.tables.cell_table import CellTable

Integers = NDArray[np.int64]


def cell_frame(table: CellTable, cells: Integers, columns: Mapping[str, Any]) -> Any:
    """The chosen cells with their categories (null: the margin), followed by these columns, one entry per cell.

    The frame is of the kind that the people came in; pandas for a table from elsewhere.
    """
    import pyarrow as pa

    nodes = table.nodes[cells]
    arrays: dict[str, Any] = {
        dimension.name: node_labels(dimension).take(pa.array(nodes[:, at]))
        for at, dimension in enumerate(table.dimensions)
    }
    arrays |= {name: _column(values) for name, values in columns.items()}
    if table.source is not None:
        return table.source.like(arrays)
    frame = pa.table(arrays)
    return frame.to_pandas(integer_object_nulls=True)


def table_frame(table: CellTable) -> Any:
    """Every cell: its value, number of contributors, and largest two contributions."""
    largest = [
        np.where(table.people > at, table.top[:, at], np.nan) if table.top.shape[1] > at else _unknown(table)
        for at in range(2)
    ]
    people = np.where(table.people < 0, np.nan, table.people) if (table.people < 0).any() else table.people
    return cell_frame(
        table,
        np.arange(len(table)),
        {"value": table.values, "people": people, "largest": largest[0], "second": largest[1]},
    )


def unsafe_frame(table: CellTable, rule: Any) -> Any:
    """The unsafe cells: value, number of contributors, the rules that they violate, and the protection they need."""
    rules = as_rules(rule)
    found = np.array([each.unsafe(table) for each in rules])
    cells = np.flatnonzero(found.any(axis=0))
    patterns, pattern_of = np.unique(found[:, cells], axis=1, return_inverse=True)
    texts = ["; ".join(np.array([each.text for each in rules])[by]) for by in patterns.T]
    why = np.array(texts, dtype=object)[pattern_of.ravel()]
    return cell_frame(
        table,
        cells,
        {
            "value": table.values[cells],
            "people": table.people[cells],
            "why": why,
            "protection": protection_levels(table, rules)[cells],
        },
    )


def node_labels(dimension: Dimension) -> pa.Array:
    """The label of each node, null for the margin; as text if subtotals are text and categories are not."""
    import pyarrow as pa

    kinds = {type(label) for label in dimension.labels[1:]}
    mixed = len(kinds) > 1
    return pa.array([written(label) for label in dimension.labels] if mixed else list(dimension.labels))


def _column(values: Any) -> Any:
    import pyarrow as pa

    return pa.array(values, pa.string()) if values.dtype == object else pa.array(values, from_pandas=True)


def _unknown(table: CellTable) -> NDArray[np.float64]:
    return np.full(len(table), np.nan)
