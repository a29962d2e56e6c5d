"""Class counts for every subset of the keys, from one pass over the data.

The subsets form a lattice, and the table of a subset is a sum over any finer one. Walking it depth first,
each table comes from the finer one that adds the key with the fewest levels (the smallest of the finer
tables, up to correlation), and only the tables between the finest and the current one are in memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from equivoc.errors import InputError

if TYPE_CHECKING:
    from equivoc.data.cells import Cells, WideCells

MOST_KEYS = 12


def largest_size(keys: int, *, min_size: int = 0, max_size: int | None = None) -> int:
    """The largest subset size; InputError if there are no subsets, or too many, to count.

    >>> largest_size(6), largest_size(6, max_size=2), largest_size(20, max_size=2)
    (6, 2, 2)
    """
    most = keys if max_size is None else min(max_size, keys)
    if keys > MOST_KEYS and most == keys:
        raise InputError(
            f"{keys} keys have {2**keys:,} subsets: name at most {MOST_KEYS} keys, "
            "or limit the subsets' size with max_size"
        )
    if min_size < 0 or most < min_size:
        raise InputError(f"subset sizes from {min_size} to {max_size} leave no subset to count")
    return most


def lattice(
    finest: Cells | WideCells, *, min_size: int = 0, max_size: int | None = None
) -> Iterator[tuple[tuple[int, ...], Cells | WideCells]]:
    """Yield ``(positions, cells)`` for every subset of the keys with ``min_size`` to ``max_size`` members.

    ``positions`` are the subset's keys, by their place in ``finest``, those with most levels first; the cells
    are sorted in that order. A table is freed when the walk leaves it, unless the caller keeps it.

    >>> import numpy as np
    >>> from equivoc.data.cells import count_cells
    >>> sex, age, salary = np.array([0, 1, 1]), np.array([0, 1, 2]), np.array([0, 0, 1])
    >>> finest = count_cells([sex, age], salary, radices=[2, 3], span=2)
    >>> [(keys, cells.split().sizes.tolist()) for keys, cells in lattice(finest)]
    [((1, 0), [1, 1, 1]), ((1,), [1, 1, 1]), ((0,), [1, 2]), ((), [3])]
    """
    radices = finest.layout.radices
    most = largest_size(len(radices), min_size=min_size, max_size=max_size)
    order = sorted(range(len(radices)), key=lambda p: -radices[p])
    ordered = finest.select(order)
    if most == len(radices):
        yield from _below(ordered, tuple(order), len(order), min_size)
        return
    for subset in combinations(range(len(order)), most):
        # The parent of a smaller subset is the largest wanted subset without the dropped keys.
        missing = [p for p in range(len(order)) if p not in subset]
        droppable = sum(1 for p in subset if p > max(missing))
        yield from _below(ordered.select(subset), tuple(order[p] for p in subset), droppable, min_size)


def _below(
    cells: Cells | WideCells, keys: tuple[int, ...], droppable: int, min_size: int
) -> Iterator[tuple[tuple[int, ...], Cells | WideCells]]:
    """This table and all that come from it: it may drop one of its last ``droppable`` keys.

    A child that dropped a key may drop only keys behind it, so each subset is reached once: from the table
    that adds its last missing key, which has the fewest levels.
    """
    yield keys, cells
    if len(keys) <= min_size:
        return
    for behind in range(droppable):
        position = len(keys) - 1 - behind
        yield from _below(cells.drop(position), keys[:position] + keys[position + 1 :], behind, min_size)


# Encodes rows of several code columns as one number each, in lexicographic order, to find equal rows.

LARGEST_CODE = 2**62
"""If a product of radices exceeds this, codes are first replaced by their ranks."""
Ints = NDArray[np.int64]


class RowGroups(NamedTuple):
    """The distinct rows, in lexicographic order."""

    first: Ints
    """Of each distinct row, the number of the first row that equals it."""
    of: Ints
    """Of each row, the number of the distinct row that it equals."""
    times: Ints
    """How often each distinct row occurs."""


def row_codes(columns: Iterable[tuple[NDArray[Any], int]], rows: int) -> tuple[Ints, int]:
    """A number for each row, in lexicographic order of the columns, and an upper bound of these numbers.

    ``columns`` are codes from 0 on with their radix. Equal rows get equal numbers.

    >>> row_codes([(np.array([1, 0, 1]), 2), (np.array([0, 5, 7]), 8)], 3)
    (array([ 8,  5, 15]), 16)
    """
    codes, bound = np.zeros(rows, np.int64), 1
    for column, radix in columns:
        if bound * radix > LARGEST_CODE:
            present, codes = np.unique(codes, return_inverse=True)
            bound = len(present)
        codes = codes.reshape(-1) * radix + column  # NumPy 2.0.0 returns the inverse as a column
        bound *= radix
    return codes, bound


def row_groups(columns: Iterable[tuple[NDArray[Any], int]], rows: int) -> RowGroups:
    """Groups equal rows.

    >>> row_groups([(np.array([1, 0, 1]), 2)], 3).of
    array([1, 0, 1])
    """
    codes, _ = row_codes(columns, rows)
    _, first, of, times = np.unique(codes, return_index=True, return_inverse=True, return_counts=True)
    return RowGroups(first, of.reshape(-1), times)
