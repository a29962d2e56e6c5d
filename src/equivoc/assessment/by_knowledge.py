"""Risk by knowledge: mean H0 and area over people for each number of known keys."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from equivoc.assessment.class_figures import ClassFigures, class_figures
from equivoc.intruder.posteriors import Posteriors

MOST_KEYS = 6
"""With at most this many known keys, every subset is measured; otherwise no key, each key alone, and all."""


@dataclass(frozen=True)
class SubsetFigures:
    """H0 and area for an intruder who knows some of the keys. Bits, and bits × the attribute's unit."""

    known: tuple[str, ...]
    classes: int
    h0: float
    """The mean over people; so are the other figures unless stated otherwise."""
    area: float
    h0_unprotected: float
    """For the unprotected file."""
    area_unprotected: float
    h0_sum: float
    """Over classes, each counting once."""
    area_sum: float


def subset_figures(
    believed: Callable[[tuple[str, ...]], Posteriors],
    known: tuple[str, ...],
    *,
    all_known: tuple[ClassFigures, ClassFigures],
    tolerance: float | None,
) -> list[SubsetFigures]:
    """The figures for every subset of the known keys.

    ``believed`` gives the posteriors of an intruder who knows these keys; ``all_known`` are the figures already
    computed for all known keys, of the release and of the unprotected file.
    """
    found = []
    for subset in _subsets(known):
        if subset == known:
            own, bare = all_known
        else:
            posteriors = believed(subset)
            own = class_figures(posteriors, (), tolerance=tolerance, truth=False)
            bare = class_figures(published(posteriors), (), tolerance=tolerance, truth=False)
        found.append(
            SubsetFigures(
                subset,
                len(own.h0),
                own.mean(own.h0),
                own.mean(own.area),
                bare.mean(bare.h0),
                bare.mean(bare.area),
                float(own.h0.sum()),
                float(own.area.sum()),
            )
        )
    return found


def published(posteriors: Posteriors) -> Posteriors:
    """The same classes for the unprotected file: the distribution of each class's own values."""
    return Posteriors(posteriors.classes, posteriors.attribute, posteriors.classes.counts, None)


def risk_by_knowledge(subsets: Sequence[SubsetFigures]) -> dict[str, Any]:
    """H0 and area over people for every number of known keys, averaged over the subsets of that size.

    ``low`` and ``high`` are those of the riskiest and the safest subset; ``pooled`` averages are the paper's, in which
    each class counts once; ``unprotected`` is the figure of the unprotected file.
    """
    sizes = []
    for size in sorted({len(subset.known) for subset in subsets}):
        alike = [subset for subset in subsets if len(subset.known) == size]
        row: dict[str, Any] = {"size": size, "subsets": len(alike)}
        for figure in ("h0", "area"):
            means = [getattr(subset, figure) for subset in alike]
            row[figure] = float(np.mean(means))
            row[f"{figure}_low"], row[f"{figure}_high"] = min(means), max(means)
            row[f"{figure}_unprotected"] = float(
                np.mean([getattr(s, f"{figure}_unprotected") for s in alike])
            )
            classes = sum(subset.classes for subset in alike)
            row[f"{figure}_pooled"] = sum(getattr(subset, f"{figure}_sum") for subset in alike) / classes
        sizes.append(row)
    listed = [
        {
            "known": list(subset.known),
            **{
                name: getattr(subset, name)
                for name in ("classes", "h0", "area", "h0_unprotected", "area_unprotected")
            },
        }
        for subset in subsets
    ]
    most = max(len(subset.known) for subset in subsets)
    return {"every_subset": most <= MOST_KEYS, "sizes": sizes, "subsets": listed}


def _subsets(known: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    every = range(len(known) + 1)
    for size in every if len(known) <= MOST_KEYS else (0, 1, len(known)):
        yield from combinations(known, size)
