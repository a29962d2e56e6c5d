"""The area under H, certified to a relative gap, for distributions too large to follow every jump."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from equivoc.measure.distribution import Distribution, Floats
from equivoc.measure.entropy import exact_entropy


@dataclass(frozen=True, eq=False)
class CertifiedArea:
    """Bounds of A, and H at the tolerances that were evaluated."""

    bounds: tuple[float, float]
    epsilons: Floats
    entropies: Floats


def certified_area(distribution: Distribution, tolerance: float) -> CertifiedArea:
    cum = distribution.cumulative
    eps = np.array([0.0, distribution.spread])
    H = np.array([distribution.shannon, 0.0])
    while True:
        d = np.diff(eps)
        gap = (H[:-1] - H[1:]) * d
        low, high = float((H[1:] * d).sum()), float((H[:-1] * d).sum())
        if high - low <= tolerance * low or gap.max() <= 0:
            break
        split = np.flatnonzero(gap > tolerance * low / len(gap))
        mids = 0.5 * (eps[split] + eps[split + 1])
        between = (eps[split] < mids) & (mids < eps[split + 1])
        if not between.any():  # the steps left are as fine as double precision
            break
        split, mids = split[between], mids[between]
        h = np.array([exact_entropy(distribution, cum, float(m)) for m in mids])
        eps = np.insert(eps, split + 1, mids)
        H = np.minimum.accumulate(np.insert(H, split + 1, h))
    return CertifiedArea((low, high), eps, H)
