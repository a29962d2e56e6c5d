"""Room for a search over very many values, kept from one call to the next.

Memory fresh from the system takes about as long to touch for the first time as the search takes to use it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from equivoc.measure.distribution import Floats
from equivoc.measure.turn_kernels import DOUBLES, INTEGERS

LARGEST_KEPT = 1 << 20
"""Values. Room for more, some 90 MB, is given back to the system at once."""
MOST_KEPT = 2
"""How many are kept: one for each of the two threads of a search."""


@dataclass(frozen=True, eq=False)
class Workplace:
    """What the search for ``n`` values writes to; nothing in it is set."""

    doubles: Floats
    integers: NDArray[np.int32]
    sums: Floats
    values: Floats


_kept: list[tuple[Floats, NDArray[np.int32]]] = []


@contextmanager
def workplace(n: int) -> Iterator[Workplace]:
    """Room for ``n`` values, for as long as the block runs; kept room if there is any that is large enough."""
    doubles, integers = DOUBLES * (n + 2), INTEGERS * (n + 2)
    try:
        reals, wholes = _kept.pop()  # one step, so that no two threads get the same
    except IndexError:
        reals, wholes = np.empty(0), np.empty(0, np.int32)
    if len(wholes) < integers:
        reals, wholes = np.empty(doubles + 2 * n + 1), np.empty(integers, np.int32)
    yield Workplace(
        doubles=reals[:doubles].reshape(DOUBLES, n + 2),
        integers=wholes[:integers].reshape(INTEGERS, n + 2),
        sums=reals[doubles : doubles + n + 1],
        values=reals[doubles + n + 1 : doubles + 2 * n + 1],
    )
    if n <= LARGEST_KEPT and len(_kept) < MOST_KEPT:
        _kept.append((reals, wholes))
