"""The intruder's beliefs held against people's true values: of those in the data, and of a control group."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equivoc.data.classes import Classes
from equivoc.data.microdata import Microdata
from equivoc.data.numbers import nearest_places
from equivoc.errors import InputError
from equivoc.intruder.posteriors import Posteriors

Floats = NDArray[np.float64]
Windows = Mapping[float, tuple[Floats, Floats, Floats]]
"""For each tolerance, what `Curves.best_windows` gives: probability, low and high end, per class."""
DOUBT = 0.01
"""The share of belief that surprise is reckoned with as spread evenly over D: what was ruled out stays finite."""


def true_hits(classes: Classes, windows: Windows) -> dict[float, Floats]:
    """Per class and tolerance: the share of its people whose true value lies in the intruder's best window."""
    counts, row = _members(classes)
    at = classes.people.values[counts.indices]
    shares = {}
    for e, (_, low, high) in windows.items():
        held = counts.data * ((at >= low[row]) & (at <= high[row]))
        shares[e] = np.bincount(row, weights=held, minlength=counts.shape[0]) / classes.sizes
    return shares


def truth_figures(posteriors: Posteriors, windows: Windows) -> dict[str, Any]:
    """How near the truth she is, for a random person of the classes.

    ``true_hit``: the share of people whose value lies in her best window, by tolerance. ``truth``: the mean probability
    that she gives to the true value. ``surprise``: the mean of −log2 of it, in bits (the logarithmic score), one
    hundredth of her belief being spread evenly over D. High hits and truth are riskier, and low surprise is. A true
    value outside D counts as the nearest value of D.
    """
    classes, beliefs = posteriors.classes, posteriors.probabilities
    counts, row = _members(classes)
    column = nearest_places(classes.people.values, posteriors.values)[counts.indices]
    given = np.asarray(beliefs[row, column], dtype=np.float64).reshape(-1)
    doubted = (1 - DOUBT) * given + DOUBT / len(posteriors.values)
    hits = true_hits(classes, windows)
    return {
        "true_hit": {e: float(np.average(share, weights=classes.sizes)) for e, share in hits.items()},
        "truth": float(np.average(given, weights=counts.data)),
        "surprise": float(-np.average(np.log2(doubted), weights=counts.data)),
    }


def control_people(people: Microdata, control: Any) -> Microdata:
    """The control group as people with the same roles: a Microdata, or anything that one can be made of."""
    try:
        if not isinstance(control, Microdata):
            return Microdata(control, confidential=people.confidential, keys=people.keys)
        if control.confidential != people.confidential:
            raise InputError(
                f"its confidential column is {control.confidential!r}, not {people.confidential!r}"
            )
        lacking = [key for key in people.keys if key not in control.keys]
        if lacking:
            raise InputError(f"it lacks the key {lacking[0]!r}")
    except InputError as mistake:
        raise InputError(f"the control group cannot be used: {mistake}") from None
    return control


def beyond(people: dict[str, Any], control: dict[str, Any]) -> dict[str, Any]:
    """What a release tells of those in it beyond what it tells of anyone; more is riskier. Hits, truth, and bits."""
    return {
        "true_hit": {e: hit - control["true_hit"][e] for e, hit in people["true_hit"].items()},
        "truth": people["truth"] - control["truth"],
        "surprise": control["surprise"] - people["surprise"],
    }


def _members(classes: Classes) -> tuple[Any, NDArray[np.int64]]:
    """The people of the classes by value, and the class of each entry."""
    counts = classes.counts
    return counts, np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
