"""What the search over n values writes to."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from equivoc.measure.kept_memory import Floats, room
from equivoc.measure.turn_kernels import DOUBLES, INTEGERS


@dataclass(frozen=True, eq=False)
class Workplace:
    """Arrays for a search; nothing in them is set."""

    doubles: Floats
    integers: NDArray[np.int32]
    sums: Floats
    values: Floats


@contextmanager
def workplace(n: int) -> Iterator[Workplace]:
    """Room for a search over ``n`` values, for as long as the block runs."""
    sizes = DOUBLES * (n + 2), -(-INTEGERS * (n + 2) // 2), n + 1, n
    with room(sum(sizes)) as piece:
        doubles, integers, sums, values = np.split(piece, np.cumsum(sizes)[:-1])
        yield Workplace(
            doubles.reshape(DOUBLES, n + 2),
            integers.view(np.int32)[: INTEGERS * (n + 2)].reshape(INTEGERS, n + 2),
            sums,
            values,
        )
