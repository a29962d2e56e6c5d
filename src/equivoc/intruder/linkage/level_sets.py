"""Released symbols that mean sets of levels: a range, a group, a star.

The intruder knows the levels of each symbol, and takes them as equally likely a priori:
``P(true = v | symbol s) = [v ∈ s] / |s|``.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from equivoc.errors import InputError

LARGEST_TABLE = 2**25
"""Symbols × levels of one key: a table of 256 MB."""


def check_room(key: str, *, symbols: int, levels: int) -> None:
    """InputError if the table of symbols × levels would be too large."""
    if symbols * levels > LARGEST_TABLE:
        raise InputError(
            f"key {key!r} has {levels:,} values, released as {symbols:,} different ones: too many "
            "combinations; round the key, or give it fewer values."
        )


def equally_likely(members: NDArray[np.bool_]) -> NDArray[np.float64]:
    """The channel of symbols with these ``members`` (symbols × levels).

    >>> equally_likely(np.array([[True, True, False], [False, False, True]]))
    array([[0.5, 0.5, 0. ],
           [0. , 0. , 1. ]])
    """
    return np.asarray(members / members.sum(axis=1, keepdims=True))


def groups_and_star(
    group_of: NDArray[np.integer], codes: NDArray[np.integer], starred: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """P(symbol | level) if levels are shown as groups, and some records as a star: (groups + 1) × levels.

    Up to a factor per symbol. The number of starred records of each group is known: how often its levels occur in the
    original, minus the records that show the group. ``group_of`` gives each level's group; ``codes`` each record's
    level; ``starred`` which records show the star, the last symbol.

    >>> groups_and_star(np.array([0, 0, 1]), np.array([0, 1, 1, 1, 2]), np.array([1, 0, 0, 0, 1]) > 0)
    array([[1.  , 1.  , 0.  ],
           [0.  , 0.  , 1.  ],
           [0.25, 0.25, 1.  ]])
    """
    groups = int(group_of.max()) + 1
    of_record = group_of[codes]
    shares = np.bincount(of_record, starred, groups) / np.maximum(np.bincount(of_record, minlength=groups), 1)
    members = np.arange(groups)[:, None] == group_of
    return np.vstack([members, shares[group_of]])
