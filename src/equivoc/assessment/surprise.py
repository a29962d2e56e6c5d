"""Posteriors compared with the true values: the intruder's surprise at each tolerance.

A person's surprise at ε is −log2 of the mass that the optimal windows at ε give to the window that holds the true
value; at 0 it is −log2 of the true value's probability. Before scoring, the prior is mixed in with the one weight for
the whole file that makes the mean surprise at ε = 0 least (1 − trust; see `equivoc.intruder.truth`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from equivoc.assessment.class_figures import ClassFigures, Shares, class_figures, true_places
from equivoc.intruder.posteriors import Posteriors, ranges, row_entropies
from equivoc.intruder.strengths import Choice
from equivoc.intruder.truth import Truth, gated_truth, hold_against_truth

if TYPE_CHECKING:
    from equivoc.assessment.assessment import Assessment

Floats = NDArray[np.float64]
FULL_TRUST = 1.0 - 1e-9
"""With at least this trust the prior is not mixed in: values of probability 0 keep it."""
MIXED_ENTRIES = 2**23
"""The most entries of posteriors (with the prior mixed in) in memory at once: 64 MB."""


@dataclass(frozen=True, eq=False)
class Guesses:
    """One intruder's best guesses and certainty, compared with the true values."""

    intruder: str
    truth: Truth = field(repr=False)
    right: Shares = field(repr=False)
    """By tolerance, for each entry of ``classes.counts``: the chance that her best guess is right."""


@dataclass(frozen=True, eq=False)
class TruthFigures:
    """Surprise and gain of the intruder, in bits per person; less surprise and more gain are riskier.

    Hits, certainty and the share below half a bit are the largest over all intruders that were computed: the one with
    the least mean surprise need not be the one who names most values.
    """

    own: Guesses
    """Those of the intruder that is used."""
    surprise: dict[float, float]
    """By tolerance: the mean over people, T(ε)."""
    prior_surprise: dict[float, float]
    """The same for the prior, without the release."""
    bits: dict[float, Floats] = field(repr=False)
    """By tolerance: the surprise of each entry of ``classes.counts``."""
    people: NDArray[np.integer[Any]] = field(repr=False)
    """How many people each entry of ``classes.counts`` is."""
    gated: Truth | None = field(default=None, repr=False)
    """The figures with a trust for each person; None if the trust for the whole file is high enough."""
    others: tuple[Guesses, ...] = ()
    """Those of the other intruders that were computed."""

    @property
    def overall(self) -> Truth:
        """Trust, gain and surprises of the intruder that is used."""
        return self.own.truth

    @property
    def everyone(self) -> tuple[Guesses, ...]:
        """The guesses of every intruder that was computed, the one that is used first."""
        return (self.own, *self.others)

    @cached_property
    def true_hit(self) -> dict[float, float]:
        """By tolerance: the share of people for whom the best guess is right, of the intruder with most of them."""
        return {e: self._hits(self.hitting(e), e) for e in self.own.right}

    def hitting(self, eps: float) -> Guesses:
        """The guesses of the intruder who is right about most people at this tolerance."""
        return max(self.everyone, key=lambda each: self._hits(each, eps))

    @cached_property
    def certain(self) -> Guesses:
        """The intruder who is certain and right about most people."""
        return max(self.everyone, key=lambda each: each.truth.certain_right)

    @cached_property
    def exposing(self) -> Guesses:
        """The intruder whom the true values of most people surprise by less than half a bit."""
        return max(self.everyone, key=lambda each: each.truth.below_half_bit)

    def _hits(self, guesses: Guesses, eps: float) -> float:
        return float(np.average(guesses.right[eps], weights=self.people))

    @property
    def named(self) -> dict[str, Any]:
        """Whose figures these are, by figure."""
        return {
            "surprise": self.own.intruder,
            "true_hit": {e: self.hitting(e).intruder for e in self.own.right},
            "certain_right": self.certain.intruder,
            "below_half_bit": self.exposing.intruder,
        }

    @property
    def facts(self) -> dict[str, Any]:
        """The entry ``truth`` of `Assessment.summary`."""
        found, certain = self.overall, self.certain.truth
        facts = {
            "surprise": self.surprise,
            "prior_surprise": self.prior_surprise,
            "gain": found.gain,
            "trust": found.trust,
            "true_hit": self.true_hit,
            "certain_right": round(certain.certain_right),
            "certain_wrong": round(certain.certain_wrong),
            "below_half_bit": self.exposing.truth.below_half_bit,
            "surprise_p05": found.surprise_p05,
            "intruders": self.named,
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
    choice: Choice | None = None,
) -> TruthFigures:
    """Compare the posteriors of the people's own classes with their true values, at ε = 0 and at ``eps``.

    ``choice`` has the intruder whose posteriors these are, and others whose guesses count too. ``prior`` must give each
    value that somebody has a probability above 0. If the trust is below ``gate_below``, trust is also estimated for
    each person: this finds a disclosed group that a single trust for all can hide.
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
    used = "" if choice is None else choice.used.intruder
    return TruthFigures(
        own=Guesses(used, overall, figures.right),
        surprise={e: float(np.average(bits[e], weights=counts.data)) for e in eps},
        prior_surprise={e: float(np.average(before[e][possible], weights=everyone[possible])) for e in eps},
        bits={e: bits[e] for e in eps},
        people=counts.data,
        gated=gated,
        others=() if choice is None else other_guesses(choice, tuple(figures.right), prior),
    )


def other_guesses(choice: Choice, eps: Sequence[float], prior: Floats) -> tuple[Guesses, ...]:
    """The guesses of the intruders who are not used, and of every intruder's other readings of the release."""
    return tuple(guesses(intruder, posteriors, eps, prior) for intruder, posteriors in choice.others)


def guesses(intruder: str, posteriors: Posteriors, eps: Sequence[float], prior: Floats) -> Guesses:
    """One intruder's best guesses at these tolerances, and her certainty: one pass over her posteriors, no areas."""
    classes, geometry = posteriors.classes, posteriors.attribute.geometry
    counts, truths = classes.counts, true_places(classes, posteriors)
    h0, given = np.empty(len(posteriors)), np.empty(len(truths))
    right = {e: np.empty(len(truths)) for e in eps}
    for block in posteriors.blocks():
        begins = counts.indptr[block.classes].astype(np.int64)
        ends = counts.indptr[block.classes + 1].astype(np.int64)
        entries, bounds = ranges(begins, ends), np.concatenate([[0], np.cumsum(ends - begins)])
        row = np.repeat(block.of, ends - begins)
        given[entries] = np.asarray(block.probabilities[row, counts.indices[entries]]).reshape(-1)
        h0[block.classes] = row_entropies(block.probabilities)[block.of]
        measured = geometry.curves(block.probabilities).rows(block.of)
        for e, share in right.items():
            share[entries] = measured.right_guesses(e, truths[entries], bounds)
    row = np.repeat(np.arange(len(posteriors)), np.diff(counts.indptr))
    truth = hold_against_truth(given, prior[counts.indices], counts.data, h0[row])
    return Guesses(intruder, truth, right)


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


# The intruders that were tried, side by side.


def intruder_rows(result: Assessment, choice: Choice) -> list[dict[str, Any]]:
    """The rows of `Assessment.intruders`: those of this choice, and the one that the result uses."""
    tried = {each.intruder: each.posteriors for each in choice.tried}
    tried[result.intruder] = result.posteriors
    at = result.hit_eps
    other = (
        result.truth.others if choice is result.choice else other_guesses(choice, (at,), result.mixed_prior)
    )
    rows = []
    for name, posteriors in tried.items():
        found, truth = result.figures, result.truth
        if name != result.intruder:
            found = class_figures(posteriors, (at,), tolerance=result.precision)
            truth = truth_beside_belief(posteriors, found, (at,), result.mixed_prior)
        # Her other readings of the release count too: the largest is shown.
        right = [truth.own.right, *(each.right for each in other if each.intruder == name)]
        hits = [float(np.average(each[at], weights=truth.people)) for each in right]
        rows.append(
            {
                "intruder": name,
                "h0": found.mean(found.h0),
                "area": found.mean(found.area),
                "surprise": truth.overall.surprise,
                "gain": truth.overall.gain,
                "trust": truth.overall.trust,
                "hit": found.mean(found.hit[at]),
                "true_hit": max(hits),
                "used": name == result.intruder,
            }
        )
    return rows
