"""A table of cells that comes from elsewhere: read from a CSV file or a frame, possibly already suppressed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from equivoc.attributes.hierarchy import Hierarchy, Intervals, Rule
from equivoc.attributes.level_text import written
from equivoc.data.tables import CsvTable, Table, open_table
from equivoc.errors import InputError, did_you_mean
from equivoc.files import NUMBER, unescaped
from equivoc.reading.reading import Reading, ReadingOptions, checked_options
from equivoc.reading.written_numbers import fitting, plain_numbers
from equivoc.tables.adding_up import check_adds_up, check_contributors, check_contributors_add_up
from equivoc.tables.attacker import cell_name
from equivoc.tables.cell_table import MISSING, CellTable, Dimension, dimension_of
from equivoc.tables.contributions import rolled_up
from equivoc.tables.tabulate import MOST_CELLS, check_size, checked_columns, trees_of

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

MARGINS = ("", "Total", "*")
"""What stands in a key's column for all categories."""
SYMBOLS = ("", "x", "*", "..", "c")
"""What stands in the column of values for a suppressed cell."""
KNOWN = ("people", "largest", "second")
"""Columns that say who contributes to a cell, if the file has them."""
LARGEST_COUNT = 2.0**53


@dataclass(frozen=True, eq=False)
class Rows:
    """The rows of the file, and how to name one in a message."""

    columns: dict[str, list[Any]] = field(repr=False)
    """Text, numbers or None, for each column."""
    table: Table = field(repr=False)

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))

    def place(self, row: int) -> str:
        """Where a row is."""
        if isinstance(self.table, CsvTable):
            return f"on line {self.table.file.lines([row])[0]}"
        return f"in row {row} (counting from 0)"

    def text(self, name: str, row: int) -> str:
        """An entry as text; nothing is ""."""
        return written(self.columns[name][row]) or ""


def read_cells(
    source: Any,
    *,
    by: Sequence[str],
    value: str = "value",
    hierarchies: Any = None,
    margins: Sequence[str] = MARGINS,
    symbols: Sequence[str] = SYMBOLS,
    counts: bool = False,
    missing_margins: bool = False,
    **reading: Unpack[ReadingOptions],
) -> CellTable:
    """The table in a CSV file, a Parquet file or a frame: a row for each cell, margins included.

    ``by`` are the columns of categories; one of ``margins`` in them stands for all categories. The column ``value``
    holds a number, or one of ``symbols`` for a suppressed cell. ``counts``: the values are numbers of people.
    ``hierarchies`` say which labels are subtotals. Columns named people, largest and second, if there are any, are the
    contributors of a cell and their two largest contributions; the rules then take the value for the sum of all
    contributions, so nobody may have contributed less than 0, and the table may not be weighted. A margin or subtotal
    that is nowhere in the file is an error, unless ``missing_margins``: it is then computed where all its parts are
    published, and unknown elsewhere. ``reading`` says how a file is read, as in `equivoc.read`.
    """
    names = checked_columns(by)
    given = Reading(**checked_options("read_cells", reading))
    table = open_table(source, given=given)
    for name in (*names, value):
        if name not in table.names:
            raise InputError(f"the table has no column {name!r}{did_you_mean(name, table.names)}")
    if value in names:
        raise InputError(f"{value!r} is in by, so it cannot be the column of values.")
    rows = _read(table, (*names, value, *(n for n in KNOWN if n in table.names and n not in (*names, value))))
    _in_plain_notation(rows, (value, *KNOWN), symbols, given)
    trees = trees_of(hierarchies, names)
    all_of = _folded("margins", margins)
    found = [_dimension(rows, name, all_of, trees.get(name)) for name in names]
    dimensions = tuple(dimension for dimension, _ in found)
    shape = tuple(map(len, dimensions))
    if prod(shape) > MOST_CELLS:
        raise InputError(f"the table would have {prod(shape):,} cells, more than {MOST_CELLS:,}.")
    cells = np.ravel_multi_index([nodes for _, nodes in found], shape)
    values = _values(rows, value, _folded("symbols", symbols))
    check_size(np.nan_to_num(values, nan=0.0), value)
    if counts:
        _check_counts(rows, value, values)
    people = _people(rows, values) if "people" in rows.columns else np.full(len(rows), -1)
    top = _top(rows, values)
    check_contributors(values, people, top, place=rows.place, counts=counts)
    if not missing_margins:
        _check_margins(dimensions, cells, margins)
    placed = _placed(cells, values, people, top, dimensions=dimensions, counts=counts, rows=rows, value=value)
    check_adds_up(placed)
    check_contributors_add_up(placed)
    return placed


def _read(table: Table, names: Sequence[str]) -> Rows:
    columns: dict[str, list[Any]] = {name: [] for name in names}
    for batch in table.batches(names):
        for name, array in zip(names, batch.columns, strict=True):
            columns[name] += map(unescaped, array.to_pylist())
        if len(columns[names[0]]) > MOST_CELLS:
            raise InputError(f"the table has more than {MOST_CELLS:,} rows.")
    if not columns[names[0]]:
        raise InputError("the table has no rows, only column names: give a row for each cell.")
    if not isinstance(table, CsvTable):  # not-a-number is how pandas writes nothing
        for name in names:
            columns[name] = [None if entry != entry else entry for entry in columns[name]]
    return Rows(columns, table)


def _in_plain_notation(rows: Rows, names: Sequence[str], symbols: Sequence[str], given: Reading) -> None:
    """Numbers in the notation of the file become plain ones, in place; InputError if two notations fit."""
    import pyarrow as pa

    if not isinstance(rows.table, CsvTable):
        return
    hidden = _folded("symbols", symbols)
    for name in names:
        entries = rows.columns.get(name, [])
        there = [entry.strip() for entry in entries if entry and entry.strip().casefold() not in hidden]
        texts = pa.array(sorted(set(there)), pa.string())
        notations, marks = fitting(texts, given=given)
        if not marks or not notations:
            continue
        if len({plain_numbers(texts, each)[0].as_py() for each in notations}) > 1 and len(notations) > 1:
            mark = "," if "," in marks else "."
            row = next(row for row, entry in enumerate(entries) if entry and mark in entry)
            raise InputError(
                f"{rows.place(row)} the column {name!r} holds {entries[row]!r}, which fits decimal={mark!r} and "
                f"thousands={mark!r}: say which"
            )
        plain = dict(zip(texts.to_pylist(), plain_numbers(texts, notations[0]).to_pylist(), strict=True))
        rows.columns[name] = [plain.get(entry.strip(), entry) if entry else entry for entry in entries]


def _folded(name: str, words: Sequence[str]) -> set[str]:
    if isinstance(words, str) or not all(isinstance(word, str) for word in words):
        raise InputError(f"{name} is {words!r}; give a list of texts.")
    return {word.strip().casefold() for word in words}


def _dimension(rows: Rows, name: str, margins: set[str], tree: Rule | None) -> tuple[Dimension, Integers]:
    """The dimension of a column, and the node of each row."""
    texts = [rows.text(name, row) for row in range(len(rows))]
    labels = {
        text: row for row, text in reversed(list(enumerate(texts))) if text.strip().casefold() not in margins
    }
    if not labels:
        raise InputError(
            f"the column {name!r} has no category, only margins: name another column, or other margins."
        )
    ordered = sorted(labels, key=labels.__getitem__)
    levels = [level for text in ordered if (level := _level(text, tree)) is not _NO_CATEGORY]
    dimension, _ = dimension_of(name, levels, tree)
    node_of = {written(label): node for node, label in enumerate(dimension.labels) if node}
    for text in ordered:
        if text not in node_of:
            raise InputError(
                f"{rows.place(labels[text])} the column {name!r} has {text!r}, which its hierarchy has neither as a "
                "category nor as a group of one that is in the table: add it to the hierarchy."
            )
    return dimension, np.array([node_of.get(text, 0) for text in texts])


_NO_CATEGORY = object()


def _level(text: str, tree: Rule | None) -> Any:
    """The category that a label stands for (None: missing), or `_NO_CATEGORY` for a group of the hierarchy."""
    if tree is None:
        return text
    if isinstance(tree, Hierarchy) and tree.knows([text])[0]:
        return text
    if text == MISSING:
        return None
    if isinstance(tree, Intervals) and NUMBER.fullmatch(text):
        number = float(text)
        return int(number) if number.is_integer() else number
    return _NO_CATEGORY


def _number(rows: Rows, name: str, row: int) -> float | None:
    """A finite number; None: nothing stands there."""
    text = rows.text(name, row).strip()
    if not text:
        return None
    number = float(text) if NUMBER.fullmatch(text) else np.nan
    if not np.isfinite(number):
        raise InputError(
            f"{rows.place(row)} the column {name!r} holds {rows.columns[name][row]!r}, which is not a number such as "
            "1234.5."
        )
    return number


def _values(rows: Rows, name: str, symbols: set[str]) -> Floats:
    found = np.empty(len(rows))
    for row in range(len(rows)):
        text = rows.text(name, row).strip()
        if text.casefold() in symbols and not NUMBER.fullmatch(text):
            found[row] = np.nan
            continue
        if not NUMBER.fullmatch(text) or not np.isfinite(float(text)):
            raise InputError(
                f"{rows.place(row)} the column {name!r} holds {rows.columns[name][row]!r}, which is neither a number "
                f"such as 1234.5 nor a symbol for a suppressed cell ({', '.join(sorted(filter(None, symbols)))})."
            )
        found[row] = float(text)
    return found


def _check_counts(rows: Rows, name: str, values: Floats) -> None:
    wrong = np.flatnonzero((values < 0) | (values != np.rint(values)) & ~np.isnan(values))
    if wrong.size:
        raise InputError(
            f"{rows.place(int(wrong[0]))} the column {name!r} holds {values[wrong[0]]:g}, which is not a count."
        )


def _people(rows: Rows, values: Floats) -> Integers:
    found = np.full(len(rows), -1, dtype=np.int64)
    for row in range(len(rows)):
        number = _number(rows, "people", row)
        if number is None and np.isnan(values[row]):
            continue  # it is suppressed like the value
        if number is None or not 0 <= number < LARGEST_COUNT or number != int(number):
            raise InputError(
                f"{rows.place(row)} the column 'people' holds {rows.columns['people'][row]!r}, which is not a number "
                "of contributors."
            )
        found[row] = int(number)
    return found


def _top(rows: Rows, values: Floats) -> Floats:
    """The two largest contributions; no column if the file does not have them."""
    given = [name for name in ("largest", "second") if name in rows.columns]
    if not given:
        return np.zeros((len(rows), 0))
    if len(given) == 1:
        raise InputError(f"the table has a column {given[0]!r} alone: give both, largest and second.")
    found = np.array([[_number(rows, name, row) or 0.0 for name in given] for row in range(len(rows))])
    low = np.flatnonzero((found < 0).any(axis=1) | (found[:, 0] < found[:, 1]))
    if low.size:
        raise InputError(
            f"{rows.place(int(low[0]))} largest is {found[low[0], 0]:g} and second is {found[low[0], 1]:g}: give the "
            "largest first, and none below 0."
        )
    above = np.flatnonzero(found.sum(axis=1) > values * (1 + 1e-9) + 1e-9)
    if above.size:
        raise InputError(
            f"{rows.place(int(above[0]))} largest and second are together {found[above[0]].sum():g}, more than the "
            f"value {values[above[0]]:g}: without contributions below 0 that is impossible."
        )
    return found


def _absent(dimensions: Sequence[Dimension], cells: Integers) -> list[Integers]:
    """The nodes of each dimension that no row has."""
    nodes = np.unravel_index(cells, tuple(map(len, dimensions)))
    return [np.setdiff1d(np.arange(len(d)), nodes[at]) for at, d in enumerate(dimensions)]


def _check_margins(dimensions: Sequence[Dimension], cells: Integers, margins: Sequence[str]) -> None:
    """InputError if a margin or a subtotal is nowhere in the file: its label may be another one."""
    for dimension, absent in zip(dimensions, _absent(dimensions, cells), strict=True):
        if absent.size and absent[0] == 0:
            words = ", ".join(repr(word) if word else "nothing" for word in margins)
            raise InputError(
                f"no row of the table has the margin of {dimension.name!r} ({words} in that column): say what else "
                "stands for all categories, or missing_margins=True if they were not published."
            )
        if absent.size:
            raise InputError(
                f"no row of the table has the subtotal {dimension.labels[absent[0]]!r} of {dimension.name!r}: add it, "
                "or say missing_margins=True if it was not published."
            )


def _placed(
    cells: Integers,
    values: Floats,
    people: Integers,
    top: Floats,
    *,
    dimensions: tuple[Dimension, ...],
    counts: bool,
    rows: Rows,
    value: str,
) -> CellTable:
    """Every row in its cell; margins that are nowhere in the file are computed."""
    shape = tuple(map(len, dimensions))
    size = prod(shape)
    row_of = np.full(size, -1, dtype=np.int64)
    row_of[cells[::-1]] = np.arange(len(cells))[::-1]
    absent = _absent(dimensions, cells)

    def filled(
        entries: NDArray[Any], nothing: Any, merged: Callable[[NDArray[Any]], NDArray[Any]]
    ) -> NDArray[Any]:
        everywhere = np.full((size, *entries.shape[1:]), nothing, dtype=entries.dtype)
        everywhere[cells] = entries
        return rolled_up(
            everywhere.reshape(*shape, *entries.shape[1:]), dimensions, merged, only=absent
        ).reshape(everywhere.shape)

    def total(parts: NDArray[Any]) -> NDArray[Any]:
        # Not binary sums: 0.1 + 0.2 is 0.3 for whoever adds up what is published.
        return np.asarray(np.round(parts.sum(axis=0), 12))

    found = filled(values, np.nan, total)
    table = CellTable(
        dimensions,
        None if counts else value,
        found,
        np.where(np.isnan(found), -1, found).astype(np.int64)
        if counts and "people" not in rows.columns
        else filled(people, -1, lambda parts: np.where((parts < 0).any(axis=0), -1, parts.sum(axis=0))),
        filled(top, 0.0, lambda parts: -np.sort(-_side_by_side(parts), axis=-1)[..., : top.shape[1]]),
        np.abs(found),
        np.zeros(size, bool),
    )
    _check_each_once(table, cells, row_of, absent, rows)
    return table


def _side_by_side(parts: NDArray[Any]) -> NDArray[Any]:
    beside = np.moveaxis(parts, 0, -2)
    return beside.reshape(*beside.shape[:-2], -1)


def _check_each_once(
    table: CellTable, cells: Integers, row_of: Integers, absent: Sequence[Integers], rows: Rows
) -> None:
    """InputError if a cell has two rows, or none although others of its categories have one."""
    again = np.flatnonzero(row_of[cells] != np.arange(len(cells)))
    if again.size:
        first = int(row_of[cells[again[0]]])
        raise InputError(
            f"the cell {cell_name(table, int(cells[again[0]]))} is in the table twice, {rows.place(first)} and "
            f"{rows.place(int(again[0]))}: keep one."
        )
    expected = np.logical_and.reduce([~np.isin(table.nodes[:, at], gone) for at, gone in enumerate(absent)])
    missing = np.flatnonzero(expected & (row_of < 0))
    if missing.size:
        more = f" and {missing.size - 1:,} more" if missing.size > 1 else ""
        raise InputError(
            f"the table has no row for the cell {cell_name(table, int(missing[0]))}{more}: add it, with 0 if it is "
            "empty, or with a symbol such as x if it is suppressed."
        )
