"""Mean H(ε) and mean surprise T(ε) over people, for the report's chart."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from equivoc.assessment.surprise import surprises_at
from equivoc.intruder.beliefs.truth import Truth
from equivoc.intruder.posteriors import Posteriors

if TYPE_CHECKING:
    from equivoc.measure.curves import Curves
    from equivoc.measure.tree import TreeCurves

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
