"""Estimated area under H, for rows with many values when no certified area is requested."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from equivoc.measure.area.certified import certified_area
from equivoc.measure.input.distribution import NATS_PER_BIT, Distribution
from equivoc.measure.parallel import over_pieces

TAIL = 1e-12
"""Probability at either end that is left out if its effect is negligible."""
OF_TAILS = 1e-10
"""More than the entropy of both tails, in nats."""
CHECKED_TO = 5e-3
"""The relative gap of the certified areas that estimates are checked against."""


def estimated_area(distribution: Distribution) -> float:
    """A in bits × unit, mostly within 1 %."""
    from equivoc.measure.area import estimate_kernels as kernels

    x, cumulative = distribution.values, distribution.cumulative
    h0 = distribution.shannon * NATS_PER_BIT
    # Extreme values with negligible probability make every evaluation slow.
    first, past = np.searchsorted(cumulative, [TAIL, cumulative[-1] - TAIL]).tolist()
    if first > 1 or past < len(x):
        first = max(first - 1, 0)
        area = float(
            kernels.estimated_area(x[first:past], cumulative[first : past + 1] - cumulative[first], h0)
        )
        if distribution.spread * OF_TAILS <= 1e-3 * area:
            return area / NATS_PER_BIT
    return float(kernels.estimated_area(x, cumulative, h0)) / NATS_PER_BIT


def largest_error(estimates: Sequence[tuple[Distribution, float]]) -> float:
    """Upper bound of the relative error of these estimated areas; 0.0 if there are none.

    Each estimate is compared with the farther of its two certified bounds.
    """
    found = [0.0]

    def check(part: slice) -> None:
        for distribution, estimate in estimates[part]:
            low, high = certified_area(distribution, CHECKED_TO).bounds
            found.append(max(abs(estimate - low), abs(estimate - high)) / low)

    over_pieces(check, len(estimates), piece=1)
    return max(found)
