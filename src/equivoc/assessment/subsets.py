"""Risk by knowledge: mean H0 and area over people for each number of known keys."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from math import comb
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from equivoc.assessment.class_figures import ClassFigures, class_figures
from equivoc.assessment.surprise import surprises_at
from equivoc.intruder.posteriors import Posteriors
from equivoc.intruder.truth import Truth

if TYPE_CHECKING:
    from equivoc.measure.curves import Curves
    from equivoc.measure.tree import TreeCurves

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


# The contribution of each key: its share of the bits that an intruder gains.


def contributions(h: Mapping[frozenset[str], float], known: tuple[str, ...]) -> dict[str, float]:
    """Shapley values, in bits: the reduction of H0 by each key, averaged over all orders of learning the keys.

    With h(S) the mean H0 of a random person when the keys S are known, key a of the k keys contributes

        Σ over S without a of [h(S) − h(S ∪ {a})] / (k · C(k − 1, |S|)).

    They sum to h(∅) − h(known): the total reduction of H0 by the known keys. More is riskier.

    >>> contributions({frozenset(): 3.0, frozenset({"age"}): 1.0}, ("age",))
    {'age': 2.0}
    """
    k = len(known)
    return {
        key: sum(
            (bits - h[others | {key}]) / (k * comb(k - 1, len(others)))
            for others, bits in h.items()
            if key not in others
        )
        for key in known
    }


def mean_entropies(
    believed: Callable[[tuple[str, ...]], Posteriors], known: tuple[str, ...]
) -> dict[frozenset[str], float]:
    """h(S), in bits, for every subset S of the known keys; ``believed`` gives the posteriors of someone who knows S."""
    h = {}
    for size in range(len(known) + 1):
        for subset in combinations(known, size):
            found = believed(subset)
            h[frozenset(subset)] = float(np.average(found.shannon(), weights=found.sizes))
    return h


# Mean H(ε) and mean surprise T(ε) over people, for the report's chart.

Floats = NDArray[np.float64]
MOST_ENTRIES = 1 << 24
"""The most classes × values × tolerances for which every class is evaluated; above it, a random sample of people."""
DRAWN = 400
"""The size of that sample."""


@dataclass(frozen=True, eq=False)
class MeanCurve:
    """The mean over people of H at some tolerances, in bits: of the release and of both baselines."""

    eps: Floats = field(repr=False)
    release: Floats = field(repr=False)
    prior: Floats = field(repr=False)
    unprotected: Floats = field(repr=False)
    drawn: int | None
    """The number of sampled people; None: the mean is over all."""


@dataclass(frozen=True, eq=False)
class SurpriseCurve:
    """The mean over people of the surprise at some tolerances, T(ε), in bits."""

    eps: Floats = field(repr=False)
    surprise: Floats = field(repr=False)
    drawn: int | None
    """The number of sampled people; None: the mean is over all."""


def mean_entropies_at(posteriors: Posteriors, eps: Floats, *, seed: int = 0) -> tuple[Floats, int | None]:
    """The mean over people of H at each tolerance, and the sample size if it would take too long for all.

    The sample is the same for every release of the same people, so that the curves are comparable.
    """
    sizes = posteriors.sizes
    if len(posteriors) * len(posteriors.attribute) * len(eps) <= 64 * MOST_ENTRIES:
        total = np.zeros(len(eps))
        for part, measured in posteriors.measured():
            total += sizes[part] @ _entropies(measured, eps)
        return np.asarray(total / sizes.sum()), None
    people = np.random.default_rng(seed).choice(len(sizes), size=DRAWN, p=sizes / sizes.sum())
    rows, times = np.unique(people, return_counts=True)
    return np.asarray(times @ _entropies(posteriors.curves_of(rows), eps) / DRAWN), DRAWN


def _entropies(measured: Curves | TreeCurves, eps: Floats) -> Floats:
    """Rows × tolerances: H in bits."""
    if len(measured) * len(eps) <= MOST_ENTRIES and np.array_equal(eps, measured.epsilons):
        return measured.entropies
    return np.column_stack([measured.at(float(e)) for e in eps])


def surprise_curve(
    posteriors: Posteriors, eps: Floats, truth: Truth, prior: Floats, *, seed: int = 0
) -> SurpriseCurve:
    """T at each tolerance, with the same trust at all; over a sample of people if all would take too long.

    At tolerance 0 it is always over all people.
    """
    counts = posteriors.classes.counts
    above = [float(e) for e in eps if e > 0]
    if len(posteriors) * len(posteriors.attribute) * len(eps) <= MOST_ENTRIES:
        bits, weights, drawn = surprises_at(posteriors, above, truth.trust, prior), counts.data, None
    else:
        rng, drawn = np.random.default_rng(seed), DRAWN
        entries = np.sort(rng.choice(len(counts.data), size=DRAWN, p=counts.data / counts.data.sum()))
        rows = np.searchsorted(counts.indptr, entries, side="right") - 1
        table = replace(posteriors, linkage=posteriors.linkage[rows]).probabilities
        dense = table if isinstance(table, np.ndarray) else table.toarray()
        geometry = posteriors.attribute.geometry
        measured = geometry.curves(truth.trust * dense + (1.0 - truth.trust) * prior)
        places, bounds = geometry.positions[counts.indices[entries]], np.arange(DRAWN + 1)
        bits = {e: measured.surprises(e, places, bounds) for e in above}
        weights = np.ones(DRAWN)
    mean = {0.0: truth.surprise} | {e: float(np.average(bits[e], weights=weights)) for e in above}
    return SurpriseCurve(eps, np.array([mean[float(e)] for e in eps]), drawn)
