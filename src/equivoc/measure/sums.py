"""Sums of probabilities, few or very many."""

from __future__ import annotations

import numpy as np

from equivoc.measure.kept_memory import Floats
from equivoc.measure.parallel import over_pieces

KERNELS_FROM = 1 << 16
"""Below this many numbers, which a core can keep near itself, NumPy alone is as fast."""
PIECE = 1 << 17


def running_sums(probabilities: Floats, *, out: Floats | None = None) -> Floats:
    """0, and the sum of the first 1, 2, … of them."""
    sums = np.empty(len(probabilities) + 1) if out is None else out
    sums[0] = 0.0
    if len(probabilities) < KERNELS_FROM:
        np.cumsum(probabilities, out=sums[1:])
    else:  # the same sums in half the time
        from equivoc.measure.sum_kernels import add_up

        add_up(probabilities, sums)
    return sums


def sum_and_least(p: Floats) -> tuple[float, float]:
    """The sum, which is not a finite number if one of them is not, and the least of them; at least one is needed."""
    found = np.empty((-(-len(p) // PIECE), 2))

    def look(part: slice) -> None:
        with np.errstate(over="ignore", invalid="ignore"):
            found[part.start // PIECE] = p[part].sum(), p[part].min()

    over_pieces(look, len(p), piece=PIECE)
    return float(found[:, 0].sum()), float(found[:, 1].min())
