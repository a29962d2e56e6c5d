"""The H(ε) explorer: mean figures at one tolerance, the whole curve, and one class with its windows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from equivoc.assessment.class_figures import true_places
from equivoc.assessment.surprise import surprises_at
from equivoc.attributes.words import closeness
from equivoc.errors import InputError
from equivoc.intruder.posteriors import ranges
from equivoc.report.facts.assessment_facts import curve_facts
from equivoc.report.facts.bounds import shown_bounds
from equivoc.report.facts.json_values import json_values
from equivoc.web.live.held_people import Asked, HeldPeople

if TYPE_CHECKING:
    from equivoc.assessment.assessment import Assessment

FEW = 3
"""A class of fewer people is marked as small."""
CURVE_POINTS = 33
"""Tolerances of the curve: half as many as in a report, so that it follows while keys are toggled."""
MOST_VALUES = 2000
"""A posterior with more values is sent without those of probability 0, and at most this many."""


def explore(held: HeldPeople, given: Mapping[str, Any]) -> dict[str, Any]:
    """The figures at the tolerance that is asked for; ``curve`` adds the whole curve, ``class`` one class."""
    asked = Asked.of(given)
    result = held.beliefs(asked)
    eps = result.hit_eps if asked.eps is None else asked.eps
    told: dict[str, Any] = {
        "intruder": result.intruder,
        "eps": eps,
        "close": closeness(held.people.attribute, eps, held.spec.unit).phrase,
        "mean": held.measured.get((result, "mean", eps), lambda: mean_figures(result, eps)),
    }
    if given.get("curve"):
        told["curve"] = held.measured.get((result, "curve"), lambda: _curve(result))
    told |= {"eps_max": float(held.people.attribute.geometry.width), **_looked_up(held, result, eps, given)}
    found: dict[str, Any] = json_values(told)
    return found


def mean_figures(result: Assessment, eps: float) -> dict[str, float]:
    """Averages over people at one tolerance: bits, and shares of people."""
    posteriors = result.posteriors
    classes, sizes = posteriors.classes, posteriors.sizes
    counts, truths = classes.counts, true_places(classes, posteriors)
    h = np.empty(len(posteriors))
    hit, right = np.empty(len(posteriors)), np.empty(len(truths))
    for part, measured in posteriors.measured():
        h[part], hit[part] = measured.at(eps), measured.hit(eps)
        begins, ends = counts.indptr[part].astype(np.int64), counts.indptr[part + 1].astype(np.int64)
        entries = ranges(begins, ends)
        bounds = np.concatenate([[0], np.cumsum(ends - begins)])
        right[entries] = measured.right_guesses(eps, truths[entries], bounds)
    overall = result.truth.overall
    bits = (
        overall.surprises
        if eps == 0
        else surprises_at(posteriors, [eps], overall.trust, result.mixed_prior)[eps]
    )
    one = np.array([eps])
    curve = result.mean_curve(one)
    return {
        "h": float(np.average(h, weights=sizes)),
        "hit": float(np.average(hit, weights=sizes)),
        "true_hit": float(np.average(right, weights=counts.data)),
        "surprise": float(np.average(bits, weights=counts.data)),
        "prior_h": float(curve.prior[0]),
        "prior_hit": float(result.prior.hit(eps)[0]),
        "unprotected_h": float(curve.unprotected[0]),
    }


def _curve(result: Assessment) -> dict[str, Any]:
    facts = curve_facts(result, shown_bounds(result.people), most=CURVE_POINTS)
    truth = facts["truth"]
    return {**facts, "truth": truth["bits"], "truth_eps": truth["eps"]}


def _looked_up(held: HeldPeople, result: Assessment, eps: float, given: Mapping[str, Any]) -> dict[str, Any]:
    """The class that is asked for, or the largest one; a sentence if nobody has these keys."""
    if "class" not in given:
        return {}
    wanted = given["class"]
    if wanted is None:
        largest = int(np.argmax(result.posteriors.sizes))
        return {"class": {**class_facts(held, result, largest, eps), "chosen": "largest"}}
    if not isinstance(wanted, dict):
        raise InputError('class must be key values by name, such as {"age": 37}.')
    found = held.class_of(result.known, wanted)
    if found is None:
        return {"class": None, "missing": "Nobody in the file has this combination of values."}
    return {"class": class_facts(held, result, found, eps)}


def class_facts(held: HeldPeople, result: Assessment, found: int, eps: float) -> dict[str, Any]:
    """One class: the posterior's values, its windows at ε, and its figures."""
    posteriors, attribute = result.posteriors, held.people.attribute
    row = np.array([found])
    measured = posteriors.curves_of(row)
    probabilities = _row(posteriors, found)
    own = np.flatnonzero(probabilities > 0)
    if len(own) > MOST_VALUES:
        own = np.sort(own[np.argsort(-probabilities[own], kind="stable")[:MOST_VALUES]])
    size = int(posteriors.sizes[found])
    classes = posteriors.classes
    begin, end = int(classes.counts.indptr[found]), int(classes.counts.indptr[found + 1])
    truths = true_places(classes, posteriors)[begin:end]
    right = measured.right_guesses(eps, truths, np.array([0, end - begin]))
    values = [_shown(value) for value in attribute.values[own]]
    return {
        "keys": held.keys_of(result.known, found),
        "size": size,
        "small": size < FEW,
        "values": values,
        "probabilities": probabilities[own],
        "windows": _windows(held, probabilities, own, eps),
        "h": float(measured.at(eps)[0]),
        "h0": float(measured.h0[0]),
        "hit": float(measured.hit(eps)[0]),
        "true_hit": float(np.average(right, weights=classes.counts.data[begin:end])),
        "unprotected_h0": _entropy(classes.counts.data[begin:end]),
    }


def _windows(
    held: HeldPeople, probabilities: NDArray[np.float64], sent: NDArray[np.int64], eps: float
) -> list[dict[str, Any]]:
    """The optimal windows at ε: from, to, probability, and the places of their values among those that are sent."""
    attribute = held.people.attribute
    own = np.flatnonzero(probabilities > 0)
    place = {int(value): at for at, value in enumerate(sent)}
    if attribute.ordered:
        from equivoc.measure.curve import curve

        places = attribute.geometry.positions[own]
        found = curve(places, probabilities[own] / probabilities[own].sum(), tolerance=1e-3).windows(eps)
        groups = [
            (own[np.searchsorted(places, low) : np.searchsorted(places, high, side="right")].tolist(), p)
            for low, high, p in found
        ]
    else:
        from equivoc.measure.tree import tree_curve

        geometry: Any = attribute.geometry
        there = set(own.tolist())
        groups = [
            ([leaf for leaf in group.leaves if leaf in there], group.probability)
            for group in tree_curve(geometry.groups, probabilities).windows(eps)
        ]
    return [
        {
            "low": _shown(attribute.values[members[0]]),
            "high": _shown(attribute.values[members[-1]]),
            "p": float(p),
            "values": [place[member] for member in members if member in place],
        }
        for members, p in groups
    ]


def _row(posteriors: Any, found: int) -> NDArray[np.float64]:
    table = posteriors.probabilities[[found]]
    dense = table.toarray() if hasattr(table, "toarray") else np.asarray(table)
    return np.asarray(dense, dtype=np.float64).reshape(-1)


def _entropy(counts: NDArray[np.integer[Any]]) -> float:
    shares = counts / counts.sum()
    return float(-(shares * np.log2(shares)).sum()) + 0.0


def _shown(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
