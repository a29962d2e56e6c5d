"""Checks that a table agrees with itself: totals with their parts, values with their contributors."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from equivoc.errors import InputError
from equivoc.tables.attacker import cell_name
from equivoc.tables.cell_table import CellTable
from equivoc.text import exact

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

ROUNDING = 1e-12
"""Sums of doubles may differ by this share of what is added."""
CLOSE = 1e-9
"""Contributions may miss the value by this, and by this share of it: they are read from decimals."""


def check_adds_up(table: CellTable) -> None:
    """InputError that names the first total that differs from the sum of its parts, if all of them are known."""
    relations, unknown = table.relations, np.isnan(table.values)
    values = np.where(unknown, 0.0, table.values)
    known = (abs(relations) @ unknown.astype(np.float64)) == 0
    differences = relations @ values
    wrong = np.flatnonzero(known & (np.abs(differences) > ROUNDING * (abs(relations) @ np.abs(values))))
    if not wrong.size:
        return
    row = relations[[int(wrong[0])]]
    total, part = int(row.indices[row.data < 0][0]), int(row.indices[row.data > 0][0])
    over = table.by[int(np.flatnonzero(table.nodes[total] != table.nodes[part])[0])]
    total_value = float(table.values[total])
    # Nine decimals: what is left of the rounding error of the sum is not shown.
    parts = float(np.round(total_value + differences[wrong[0]], 9))
    more = f" ({wrong.size - 1:,} more totals do not add up)" if wrong.size > 1 else ""
    raise InputError(
        f"the margin {cell_name(table, total)} is {exact(total_value)}, but its parts over {over!r} add up to "
        f"{exact(parts)}, a difference of {exact(float(np.round(parts - total_value, 9)))}{more}: correct the table."
    )


def check_contributors(
    values: Floats, people: Integers, top: Floats, *, place: Callable[[int], str], counts: bool
) -> None:
    """InputError that names the first row whose value its contributors cannot have, none of them being below 0.

    ``people`` are the rows' contributors (−1: not known), ``top`` their two largest contributions (or no columns). n
    contributors of at most x_2 each, but for the largest, x_1, make at most x_1 + (n − 1)·x_2: one makes x_1, two make
    x_1 + x_2, and any number of them x_1 if x_2 is 0. ``counts``: every contributor is at least one person.
    """
    nobody = np.flatnonzero((people == 0) & ((values != 0) & ~np.isnan(values) | (top != 0).any(axis=1)))
    if nobody.size:
        row = int(nobody[0])
        found = f"the value is {exact(float(values[row]))}"
        if values[row] == 0 or np.isnan(values[row]):
            found = f"largest is {exact(float(top[row, 0]))}"
        raise InputError(f"{place(row)} people is 0, but {found}: nobody contributes nothing but 0.")
    many = np.flatnonzero(people > values) if counts else np.zeros(0, np.int64)
    if many.size:
        row = int(many[0])
        raise InputError(
            f"{place(row)} people is {people[row]:,}, but the value counts {exact(float(values[row]))} people."
        )
    if not top.shape[1]:
        return
    alone = np.flatnonzero((people == 1) & (top[:, 1] > 0))
    if alone.size:
        row = int(alone[0])
        raise InputError(
            f"{place(row)} people is 1, but second is {exact(float(top[row, 1]))}: one contributor has only a largest "
            "contribution."
        )
    others = np.where(people < 0, np.inf, people - 1)
    most = top[:, 0] + np.multiply(others, top[:, 1], out=np.zeros(len(top)), where=top[:, 1] > 0)
    low = np.flatnonzero((people != 0) & (values > most + CLOSE * (1 + np.abs(values))))
    if low.size:
        row = int(low[0])
        one, two = exact(float(top[row, 0])), exact(float(top[row, 1]))
        who = "one contributor" if people[row] == 1 else f"{people[row]:,} contributors"
        who = "contributors" if people[row] < 0 else who
        raise InputError(
            f"{place(row)} the value is {exact(float(values[row]))}, but {who}, with {one} the largest and {two} the "
            f"second largest contribution, make at most {exact(float(most[row]))}: correct the row."
        )


def check_contributors_add_up(table: CellTable) -> None:
    """InputError that names the first total with fewer contributors, or a smaller largest one, than one of its parts,
    or with more than all parts together. Contributors may be in several parts."""
    relations = table.relations.tocoo()
    part, total = relations.data > 0, np.zeros(relations.shape[0], dtype=np.int64)
    total[relations.row[~part]] = relations.col[~part]
    rows, parts = relations.row[part], relations.col[part]
    described = [("people", table.people.astype(np.float64), table.people >= 0)]
    if table.top.shape[1]:
        described.append(("largest", table.top[:, 0], ~np.isnan(table.values)))
    for name, numbers, known in described:
        least, most = np.zeros(len(total)), np.zeros(len(total))
        np.maximum.at(least, rows, np.where(known, numbers, 0.0)[parts])
        np.add.at(most, rows, np.where(known, numbers, np.inf)[parts])
        own = numbers[total]
        close = CLOSE * (1 + np.abs(own)) if name == "largest" else 0.0
        wrong = np.flatnonzero(known[total] & ((own < least - close) | (own > most + close)))
        if wrong.size:
            row = int(wrong[0])
            short = own[row] < least[row]
            limit = (
                f"a part of it has {exact(float(least[row]))}"
                if short
                else (f"its parts have {exact(float(most[row]))} together")
            )
            raise InputError(
                f"the total {cell_name(table, int(total[row]))} has {name} {exact(float(own[row]))}, but {limit}: "
                "correct the table."
            )
