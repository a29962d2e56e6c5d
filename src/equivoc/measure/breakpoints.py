"""Where H changes, all of it and exactly."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from equivoc.measure.distribution import TIE_SHARE, Distribution, Floats
from equivoc.measure.entropy import NATS_PER_BIT
from equivoc.measure.overtaking import overtaking_table


def last_of_ties(ascending: Floats, rounding: float) -> NDArray[np.intp]:
    """Positions of the differences that stand for all: the largest of each run that only rounding tells apart."""
    last, k = [], 0
    while k < len(ascending):
        reach = ascending[k] + min(rounding, TIE_SHARE * ascending[k])
        k = int(np.searchsorted(ascending, reach, side="right"))
        last.append(k - 1)
    return np.array(last)


def jumps(distribution: Distribution) -> tuple[Floats, Floats, float]:
    """The tolerances at which H changes (0 first, ascending), H from there on in bits, and the area.

    Costs about one O(n log n) evaluation per jump (some 5n jumps for n random values) and O(n) memory. Jumps below
    1e-12 bits cannot be told from rounding and are not reported. Differences are taken as they are: 0.3 and 0.1 + 0.2
    are two tolerances here.
    """
    from equivoc.measure import descent_kernels as kernels

    n = len(distribution.values)
    small = n if n <= kernels.SMALL else 0
    table = np.empty((small * (small + 1)) // 2)
    cost, width = np.empty(small + 1), np.empty(small + 1)
    room = 8 * n + 8
    while True:
        epsilons, levels = np.empty(room), np.empty(room)
        count, area = kernels.descend(
            distribution.values,
            distribution.cumulative,
            distribution.shannon * NATS_PER_BIT,
            0.0,
            table,
            overtaking_table(),
            cost,
            width,
            epsilons,
            levels,
        )
        if count <= room:
            break
        room = count
    entropies = levels[:count][::-1] / NATS_PER_BIT
    entropies[0] = distribution.shannon
    return epsilons[:count][::-1].copy(), entropies, float(area) / NATS_PER_BIT
