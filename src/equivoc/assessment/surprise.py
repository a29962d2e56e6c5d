"""Posteriors compared with the true values: the intruder's surprise at each tolerance.

A person's surprise at ε is −log2 of the mass that the optimal windows at ε give to the window that holds the true
value; at 0 it is −log2 of the true value's probability. Before scoring, the prior is mixed in with the one weight for
the whole file that makes the mean surprise at ε = 0 least (1 − trust; see `equivoc.intruder.beliefs.truth`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equivoc.assessment.class_figures import ClassFigures
from equivoc.intruder.beliefs.gated import gated_truth
from equivoc.intruder.beliefs.truth import Truth, hold_against_truth
from equivoc.intruder.posteriors import Posteriors, ranges

Floats = NDArray[np.float64]
FULL_TRUST = 1.0 - 1e-9
"""With at least this trust the prior is not mixed in: values of probability 0 keep it."""
MIXED_ENTRIES = 2**23
"""The most entries of posteriors (with the prior mixed in) in memory at once: 64 MB."""


@dataclass(frozen=True, eq=False)
class TruthFigures:
    """Surprise and gain of the intruder, in bits per person; less surprise and more gain are riskier."""

    surprise: dict[float, float]
    """By tolerance: the mean over people, T(ε)."""
    prior_surprise: dict[float, float]
    """The same for the prior, without the release."""
    true_hit: dict[float, float]
    """By tolerance: the share of people for whom her best guess is right."""
    overall: Truth = field(repr=False)
    """Trust, gain, and the numbers of people about whom she is certain and right, or certain and wrong."""
    bits: dict[float, Floats] = field(repr=False)
    """By tolerance: the surprise of each entry of ``classes.counts``."""
    gated: Truth | None = field(default=None, repr=False)
    """The figures with a trust for each person; None if the trust for the whole file is high enough."""

    @property
    def facts(self) -> dict[str, Any]:
        """The entry ``truth`` of `Assessment.summary`."""
        found = self.overall
        facts = {
            "surprise": self.surprise,
            "prior_surprise": self.prior_surprise,
            "gain": found.gain,
            "trust": found.trust,
            "true_hit": self.true_hit,
            "certain_right": round(found.certain_right),
            "certain_wrong": round(found.certain_wrong),
            "below_half_bit": found.below_half_bit,
            "surprise_p05": found.surprise_p05,
        }
        if self.gated is not None:
            gated = ("surprise", "trust", "below_half_bit", "surprise_p05")
            facts["gated"] = {name: getattr(self.gated, name) for name in gated}
        return facts


def truth_beside_belief(
    posteriors: Posteriors,
    figures: ClassFigures,
    eps: Sequence[float],
    prior: Floats,
    *,
    gate_below: float = 0.0,
) -> TruthFigures:
    """Compare the posteriors of the people's own classes with their true values, at ε = 0 and at ``eps``.

    ``prior`` must give each value that somebody has a probability above 0. If the trust is below ``gate_below``,
    trust is also estimated for each person: this finds a disclosed group that a single trust for all can hide.
    """
    eps = tuple(dict.fromkeys((0.0, *eps)))
    counts = posteriors.classes.counts
    row = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
    cells = (
        posteriors.of_values(row, counts.indices),
        prior[counts.indices],
        counts.data,
        figures.h0[row],
    )
    overall = hold_against_truth(*cells)
    gated = None
    if overall.trust < gate_below:
        gated = gated_truth(*cells, _known_of_classes(posteriors, figures)[row])
    everyone = np.bincount(counts.indices, weights=counts.data, minlength=counts.shape[1])
    geometry = posteriors.attribute.geometry
    without = geometry.curves(prior[None, :])
    places, whole = geometry.positions, np.array([0, len(prior)])
    bits = {e: overall.surprises for e in eps if e == 0}
    known = figures.surprises if overall.trust >= FULL_TRUST else {}
    bits |= {e: known[e] for e in eps if e > 0 and e in known}
    bits |= surprises_at(posteriors, [e for e in eps if e not in bits], overall.trust, prior)
    possible = everyone > 0
    before = {e: without.surprises(e, places, whole) for e in eps}
    return TruthFigures(
        surprise={e: float(np.average(bits[e], weights=counts.data)) for e in eps},
        prior_surprise={e: float(np.average(before[e][possible], weights=everyone[possible])) for e in eps},
        true_hit={e: float(np.average(right, weights=counts.data)) for e, right in figures.right.items()},
        overall=overall,
        bits={e: bits[e] for e in eps},
        gated=gated,
    )


def _known_of_classes(posteriors: Posteriors, figures: ClassFigures) -> Floats:
    """Classes × predictors of trust: the class's keys, H0, largest probability, and |M_o|."""
    most = np.empty(len(posteriors))
    for block in posteriors.blocks():
        table = block.probabilities
        largest = table.max(axis=1) if isinstance(table, np.ndarray) else table.max(axis=1).toarray()
        most[block.classes] = np.asarray(largest).reshape(-1)[block.of]
    classes = posteriors.classes
    return np.column_stack([classes.key_codes, figures.h0, most, classes.sizes])


def surprises_at(
    posteriors: Posteriors, eps: Sequence[float], trust: float, prior: Floats
) -> dict[float, Floats]:
    """The surprise of each entry of the classes' counts at tolerances above 0, with the prior mixed in."""
    counts, geometry = posteriors.classes.counts, posteriors.attribute.geometry
    truths = geometry.positions[counts.indices]
    found = {e: np.empty(len(truths)) for e in eps}
    if not eps:
        return found
    for block in posteriors.blocks():
        order = np.argsort(block.of, kind="stable")
        rows = block.probabilities.shape[0]
        step = rows if trust >= FULL_TRUST else max(1, MIXED_ENTRIES // len(prior))
        bounds = np.searchsorted(block.of[order], np.arange(0, rows + step, step))
        for at, begin in enumerate(range(0, rows, step)):
            chosen = order[bounds[at] : bounds[at + 1]]
            if not len(chosen):
                continue
            table = block.probabilities[begin : begin + step]
            if trust < FULL_TRUST:
                dense = table if isinstance(table, np.ndarray) else table.toarray()
                table = trust * dense + (1.0 - trust) * prior
            measured = geometry.curves(table).rows(block.of[chosen] - begin)
            classes = block.classes[chosen]
            begins, ends = (
                counts.indptr[classes].astype(np.int64),
                counts.indptr[classes + 1].astype(np.int64),
            )
            entries = ranges(begins, ends)
            starts = np.concatenate([[0], np.cumsum(ends - begins)])
            for e in eps:
                found[e][entries] = measured.surprises(e, truths[entries], starts)
    return found
