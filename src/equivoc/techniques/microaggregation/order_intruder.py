"""The posterior of group members, given the sums of groups that do not overlap."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from equivoc.queries.even_grids import EvenGrid
from equivoc.techniques.microaggregation.sum_intruder import MOST_CHANNEL_ENTRIES, too_fine

_MOST_TERMS = 3e9
_MOST_TABLE_ENTRIES = 4e7


def order_channel(
    grid: EvenGrid,
    sizes: NDArray[np.int64],
    sums: NDArray[np.int64],
    groups: NDArray[np.int64],
    *,
    name: str,
) -> NDArray[np.float64]:
    """P(a member has each of the grid's values | every group's size and sum, and that no two groups overlap).

    A row per pair of size and sum, which ``groups`` says how many groups have. ``sums`` are counted in steps above the
    least value. All originals are equally likely in which, in the order of the means, no member is above one of the
    next group. So a group lies between its neighbours' means, and groups of equal means hold that mean only: equal
    pairs tell the same. With ``E_j(a, b)`` the number of tuples of group j's size and sum with least value a and
    greatest b, the weight of b as the end of groups 1 … j is ``F_j(b) = Σ_a E_j(a, b) · Σ_(b' ≤ a) F_(j−1)(b')``, and
    from the top likewise. ``name`` is the attribute's, for the error about too fine a grid.

    >>> from equivoc.queries.even_grids import even_grid
    >>> pairs, once = np.array([2, 2]), np.array([1, 1])
    >>> order_channel(even_grid([0, 1, 2, 3, 4]), pairs, np.array([2, 4]), once, name="pay").round(3)
    array([[0.2, 0.6, 0.2, 0. , 0. ],
           [0. , 0.2, 0.6, 0.2, 0. ]])
    """
    from equivoc.techniques.microaggregation.order_kernels import members_in_order

    up = np.argsort(sums / sizes, kind="stable")
    size, total = sizes[up], sums[up]
    alone = groups[up] == 1
    floor, ceiling = total // size, -(-total // size)
    low = np.where(alone, np.concatenate([[0], ceiling[:-1]]), ceiling)
    high = np.where(alone, np.concatenate([floor[1:], [grid.steps]]), floor)
    # If all others are as high as can be, this is the least that is left for one; and the other way round.
    low, high = np.maximum(low, total - (size - 1) * high), np.minimum(high, total - (size - 1) * low)
    begin = np.searchsorted(grid.positions, low, side="left")
    end = np.searchsorted(grid.positions, high, side="right")
    entries = (end - begin) * size * (total - size * grid.positions[begin] + 1.0)
    if (
        len(sums) * len(grid.positions) > MOST_CHANNEL_ENTRIES
        or entries.max() > _MOST_TABLE_ENTRIES
        or entries @ size > _MOST_TERMS
    ):
        raise too_fine(grid, int(size.max()), name=name)
    members = members_in_order(grid.positions, size, total, begin, end)
    return np.asarray(members[np.argsort(up)])
