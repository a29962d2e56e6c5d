"""Memory for very many values, kept from one call to the next.

Memory fresh from the system takes about as long to touch for the first time as a search takes to use it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

MOST_KEPT = 1 << 24
"""Doubles, in all: 128 MiB. What does not fit is given back to the system."""

_kept: list[Floats] = []  # in the order in which they came back
_lock = Lock()


@contextmanager
def room(doubles: int) -> Iterator[Floats]:
    """A flat array of so many doubles, for as long as the block runs. What it holds at first is anything.

    >>> with room(3) as three:
    ...     three[:] = 0.5
    ...     float(three.sum())
    1.5
    """
    piece = _smallest_kept(doubles)
    if piece is None:
        piece = np.empty(doubles)
    yield piece[:doubles]
    _keep(piece)


def _smallest_kept(doubles: int) -> Floats | None:
    """The smallest piece that fits; none that is more than twice as large, which others may need."""
    with _lock:
        fitting = [place for place, piece in enumerate(_kept) if doubles <= len(piece) <= 2 * doubles]
        return _kept.pop(min(fitting, key=lambda place: len(_kept[place]))) if fitting else None


def _keep(piece: Floats) -> None:
    """Keep the piece; those that were not asked for since longest make way for it."""
    if len(piece) > MOST_KEPT:
        return
    with _lock:
        _kept.append(piece)
        while sum(map(len, _kept)) > MOST_KEPT:
            _kept.pop(0)
