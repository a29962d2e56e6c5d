"""Mean H(ε) over people, for the report's chart."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from equivoc.intruder.posteriors import Posteriors

if TYPE_CHECKING:
    from equivoc.measure.curves import Curves
    from equivoc.measure.tree import TreeCurves

Floats = NDArray[np.float64]
MOST_ENTRIES = 1 << 24
"""The most classes × values × tolerances for which every class is evaluated; otherwise a random sample of people is."""
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
