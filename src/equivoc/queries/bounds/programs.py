"""Arbitrary query sets: bounds of each atom's sum by linear programs, only where a person's bound depends on them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from equivoc.queries.bounds.parts import AttainedSums, Part
from equivoc.queries.simplex import attained_range

# The proven bounds are exact up to rounding of doubles; sums stay below 2^50 steps.
_ROUNDING = 1e-6


def program_bounds(part: Part, *, attained: AttainedSums) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Outer bounds of each atom's sum, in whole steps; every whole-number solution met is noted in ``attained``.

    A person is open at her lower end as soon as some solution gives her atom ``s ≤ floor + (m−1)·cap``: the rest of the
    atom can then take up what she leaves. Programs are solved only for the others.
    """
    low, floor, cap = part.ranges.low, part.ranges.floor, part.ranges.cap
    others = part.sizes - 1
    scale = 2.0 ** np.ceil(np.log2(max(1, int(np.max(cap - floor)))))
    enough = (
        (np.maximum(floor + others * cap, low) - low) / scale,
        (np.minimum(cap + others * floor, part.ranges.high) - low) / scale,
    )
    least, greatest = attained_range(
        part.sum_system(scale=scale),
        enough=enough,
        notice=lambda solution: attained.note(low + scale * solution),
    )
    slack = _ROUNDING * np.maximum(1.0, 1e-6 * (part.ranges.high - low))
    lowest = low + np.ceil(scale * least - slack).astype(np.int64)
    highest = low + np.floor(scale * greatest + slack).astype(np.int64)
    return np.maximum(lowest, low), np.minimum(highest, part.ranges.high)
