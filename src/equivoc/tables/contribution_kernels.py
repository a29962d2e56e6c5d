"""Compiled loops over contributors: enter each contribution into its cell and keep the largest ones."""

# mypy: allow-untyped-defs, allow-untyped-decorators, allow-untyped-calls

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Booleans = NDArray[np.bool_]


@njit(cache=True, nogil=True)
def enter_contributors(
    cells: Integers,
    amounts: Floats,
    agreed: Booleans,
    starts: Integers,
    people: Integers,
    top: Floats,
    contributions: Floats,
    unwaived: Floats,
    waived: Booleans,
) -> None:
    """Add every contributor to the cells that her entries are in; entries in cell −1 are left out.

    Contributor i has the entries ``starts[i]`` to ``starts[i + 1]``; those in one cell are one contribution, their sum.
    ``waived`` is True at first for all cells, and stays True where every contributor agreed.
    """
    for contributor in range(starts.size - 1):
        begin, end = starts[contributor], starts[contributor + 1]
        if end == begin + 1:
            if cells[begin] >= 0:
                _enter(
                    cells[begin], amounts[begin], agreed[begin], people, top, contributions, unwaived, waived
                )
            continue
        order = np.argsort(cells[begin:end], kind="mergesort") + begin
        at = 0
        while at < order.size:
            cell, amount, agrees = cells[order[at]], 0.0, True
            while at < order.size and cells[order[at]] == cell:
                amount += amounts[order[at]]
                agrees = agrees and agreed[order[at]]
                at += 1
            if cell >= 0:
                _enter(cell, amount, agrees, people, top, contributions, unwaived, waived)


@njit(cache=True, nogil=True)
def _enter(cell, amount, agrees, people, top, contributions, unwaived, waived):
    """One contribution. Of two of the same size the positive one comes first, whatever the order of the entries."""
    size = abs(amount)
    people[cell] += 1
    contributions[cell] += size
    if not agrees:
        waived[cell] = False
        unwaived[cell] = max(unwaived[cell], size)
    place = top.shape[1]
    while place > 0 and (
        size > abs(top[cell, place - 1])
        or (size == abs(top[cell, place - 1]) and amount > top[cell, place - 1])
    ):
        place -= 1
        if place + 1 < top.shape[1]:
            top[cell, place + 1] = top[cell, place]
        top[cell, place] = amount
