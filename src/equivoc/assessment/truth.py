"""Posteriors compared with the true values, for the people in the data and for a control group."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equivoc.assessment.class_figures import true_places
from equivoc.attributes.numbers import nearest_places
from equivoc.data.classes import Classes
from equivoc.intruder.posteriors import Posteriors

Floats = NDArray[np.float64]
Shares = Mapping[float, Floats]
"""For each tolerance and entry of ``classes.counts``, the chance that her guess is right (`ClassFigures.right`)."""
DOUBT = 0.01
"""The probability spread evenly over D before the surprise is computed, so that it stays finite."""


def true_hits(classes: Classes, shares: Shares) -> dict[float, Floats]:
    """Per class and tolerance: the share of its people whose true value is within ε/2 of the best guess."""
    counts, row = _members(classes)
    return {
        e: np.bincount(row, weights=counts.data * share, minlength=counts.shape[0]) / classes.sizes
        for e, share in shares.items()
    }


def of_records(classes: Classes, entries: Floats) -> Floats:
    """Figures of the entries of ``classes.counts``, record by record."""
    counts, row = _members(classes)
    span = counts.shape[1]
    entry = row * span + counts.indices  # ascending: rows one after the other, columns ascending within a row
    wanted = classes.of_record.astype(np.int64) * span + classes.people.codes
    return np.asarray(entries[np.searchsorted(entry, wanted)])


def truth_figures(posteriors: Posteriors, shares: Shares) -> dict[str, Any]:
    """True hits, truth and surprise for a random person of the classes.

    ``true_hit``: the share of people whose true value is within ε/2 of the best guess, by tolerance. ``truth``: the
    mean posterior probability of the true value. ``surprise``: the mean of −log2 of it, in bits (the logarithmic
    score), after 1 % of the probability is spread evenly over D. Higher hits and truth are riskier; lower surprise
    is. A true value outside D counts as the nearest value of D.
    """
    classes = posteriors.classes
    counts, row = _members(classes)
    places = true_places(classes, posteriors)
    column = nearest_places(places, posteriors.attribute.geometry.positions)
    given = posteriors.of_values(row, column)
    if not posteriors.attribute.ordered:
        given = np.where(places < 0, 0.0, given)  # a category that is not in the domain
    doubted = (1 - DOUBT) * given + DOUBT / len(posteriors.values)
    hits = true_hits(classes, shares)
    return {
        "true_hit": {e: float(np.average(share, weights=classes.sizes)) for e, share in hits.items()},
        "truth": float(np.average(given, weights=counts.data)),
        "surprise": float(-np.average(np.log2(doubted), weights=counts.data)),
    }


def beyond(people: dict[str, Any], control: dict[str, Any]) -> dict[str, Any]:
    """The difference between the people in the data and the control group; more is riskier. Hits, truth, and bits."""
    return {
        "true_hit": {e: hit - control["true_hit"][e] for e, hit in people["true_hit"].items()},
        "truth": people["truth"] - control["truth"],
        "surprise": control["surprise"] - people["surprise"],
    }


def _members(classes: Classes) -> tuple[Any, NDArray[np.int64]]:
    """The people of the classes by value, and the class of each entry."""
    counts = classes.counts
    return counts, np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
