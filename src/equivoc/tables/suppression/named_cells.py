"""Cells and costs as the caller names them: labels, True and False, words, numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from equivoc.errors import InputError
from equivoc.tables.attacker.equations import cell_name
from equivoc.tables.cell_table import CellTable


def marked_cells(table: CellTable, given: Any, *, name: str) -> NDArray[np.bool_]:
    """True for the named cells: tuples of labels in the order of the keys, None for a margin; or one Boolean a cell."""
    if isinstance(given, np.ndarray) and given.dtype == np.bool_:
        if given.shape != (len(table),):
            raise InputError(f"{name} needs True or False for each of the {len(table)} cells of the table.")
        return given.copy()
    marked = np.zeros(len(table), dtype=bool)
    if isinstance(given, str):
        raise InputError(f"{name} is {given!r}; give a list of cells, each a tuple of labels.")
    for one in given:
        labels = one if isinstance(one, tuple) else (one,)
        if len(labels) != len(table.dimensions):
            raise InputError(
                f"{name}: {one!r} names no cell; give {len(table.dimensions)} labels ({', '.join(table.by)}), "
                "None for a margin."
            )
        nodes = []
        for dimension, label in zip(table.dimensions, labels, strict=True):
            if label not in dimension.labels:
                raise InputError(f"{name}: {dimension.name} has no category {label!r}.")
            nodes.append(dimension.labels.index(label))
        marked[np.ravel_multi_index(nodes, table.shape)] = True
    return marked


def costs(table: CellTable, given: Any) -> NDArray[np.float64]:
    """What suppressing each cell costs."""
    if isinstance(given, str):
        words = {"value": np.abs(table.values), "count": table.people, "equal": np.ones(len(table))}
        return np.asarray(words[given], dtype=np.float64).copy()
    try:
        numbers = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError("cost must be value, count, equal, or a number for each cell.") from None
    if numbers.shape != (len(table),):
        raise InputError(
            f"cost has shape {numbers.shape}; it needs one number for each of {len(table)} cells."
        )
    wrong = np.flatnonzero(~(np.isfinite(numbers) & (numbers >= 0)))
    if len(wrong):
        cell = int(wrong[0])
        raise InputError(
            f"the cost of the cell {cell_name(table, cell)} is {numbers[cell]}; it must be 0 or more."
        )
    return numbers
