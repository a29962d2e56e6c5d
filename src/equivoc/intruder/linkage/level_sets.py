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
