"""Risk by knowledge: how the average person fares as the intruder knows more of the keys."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from equivoc.measure.curves import Curves, curves

if TYPE_CHECKING:
    from equivoc.study.assess import Assessment

MOST_KEYS = 6
"""Up to so many known keys, every subset is measured; beyond: none, each alone, and all."""


def risk_by_knowledge(result: Assessment) -> dict[str, Any]:
    """H0 and area over people for every number of known keys, averaged over the subsets of that size.

    ``low`` and ``high`` are those of the riskiest and the safest subset; ``pooled`` averages are the paper's, in which
    each class counts once; ``unprotected`` is what the file published as it is would leave.
    """
    subsets: list[dict[str, Any]] = []
    for known in _subsets(result.known):
        if known == result.known:
            posteriors, measured = result.posteriors, result.curves
        else:
            posteriors = result.release.posteriors(list(known))
            measured = posteriors.curves()
        bare = curves(result.people.values, posteriors.classes.counts, counts=True)
        subsets.append(
            {
                "known": list(known),
                "classes": len(posteriors),
                **_means("", measured, posteriors.sizes),
                **_means("_unprotected", bare, posteriors.sizes),
                "h0_sum": float(measured.h0.sum()),
                "area_sum": float(measured.area.sum()),
            }
        )
    sizes = []
    for size in sorted({len(subset["known"]) for subset in subsets}):
        alike = [subset for subset in subsets if len(subset["known"]) == size]
        told: dict[str, Any] = {"size": size, "subsets": len(alike)}
        for figure in ("h0", "area"):
            means = [subset[figure] for subset in alike]
            told[figure] = float(np.mean(means))
            told[f"{figure}_low"], told[f"{figure}_high"] = min(means), max(means)
            told[f"{figure}_unprotected"] = float(np.mean([s[f"{figure}_unprotected"] for s in alike]))
            classes = sum(subset["classes"] for subset in alike)
            told[f"{figure}_pooled"] = sum(subset[f"{figure}_sum"] for subset in alike) / classes
        sizes.append(told)
    for subset in subsets:
        del subset["h0_sum"], subset["area_sum"]
    return {"every_subset": len(result.known) <= MOST_KEYS, "sizes": sizes, "subsets": subsets}


def _subsets(known: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    every = range(len(known) + 1)
    for size in every if len(known) <= MOST_KEYS else (0, 1, len(known)):
        yield from combinations(known, size)


def _means(suffix: str, measured: Curves, sizes: Any) -> dict[str, float]:
    return {
        f"h0{suffix}": float(np.average(measured.h0, weights=sizes)),
        f"area{suffix}": float(np.average(measured.area, weights=sizes)),
    }
