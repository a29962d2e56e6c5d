"""The riskiest classes for publication: classes of one or two people are counted, not named."""

from __future__ import annotations

import math
from collections.abc import Mapping
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from equivoc.assessment.class_figures import members
from equivoc.attributes.attribute import closeness
from equivoc.errors import InputError
from equivoc.information_loss.utility import losses

if TYPE_CHECKING:
    from equivoc.assessment.assessment import Assessment
    from equivoc.attributes.attribute import Attribute
    from equivoc.data.microdata import Microdata

# The range of the confidential attribute for publication: never one person's value.

FEWEST_PEOPLE = 3
"""Three is the usual threshold of official statistics for a figure that may be shown."""
SHARE = 0.01
DIGITS = 2


class Bounds(NamedTuple):
    """The range of the values that may be shown."""

    low: float
    high: float
    exact: bool
    """True if these are the ends of the domain; otherwise they are rounded percentiles."""
    words: tuple[str, str] | None = None
    """How the ends are written if they are dates; those that are not exact as years, or months of one year."""


def shown_bounds(people: Microdata) -> Bounds | None:
    """The ends of a domain that was given, or of values that were rounded; otherwise the 1st and 99th percentile,
    rounded outward to two digits, each with at least three people at or beyond it. None if there are too few people, or
    for categories.
    """
    values = people.values
    if not people.attribute.numeric:
        return None
    dates = people.attribute.dates
    if people.domain_given or people.rounded:
        ends = float(values[0]), float(values[-1])
        return Bounds(
            *ends, exact=True, words=None if dates is None else (dates.text(ends[0]), dates.text(ends[1]))
        )
    beyond = max(FEWEST_PEOPLE, int(np.ceil(SHARE * len(people))))
    if len(people) < 2 * FEWEST_PEOPLE:
        return None
    codes = np.partition(people.codes, [beyond - 1, len(people) - beyond])
    low, high = float(values[codes[beyond - 1]]), float(values[codes[len(people) - beyond]])
    if dates is not None:
        periods = dates.periods(low, high)
        ends = (dates.number(periods[0][1]), dates.number(periods[1][2]))
        return Bounds(*ends, exact=False, words=(periods[0][0], periods[1][0]))
    return Bounds(_outward(low, ROUND_FLOOR), _outward(high, ROUND_CEILING), exact=False)


def tells_no_value(attribute: Attribute, bounds: Bounds | None) -> bool:
    """True if distances in the domain disclose no person's value: categories, or the ends of the domain are shown."""
    return not attribute.numeric or (bounds is not None and bounds.exact)


def _outward(value: float, rounding: str) -> float:
    """The value to two significant digits, in one direction.

    >>> _outward(123.4, ROUND_CEILING), _outward(-0.0456, ROUND_FLOOR), _outward(0, ROUND_FLOOR)
    (130.0, -0.046, 0.0)
    """
    number = Decimal(repr(value))
    if not number:
        return 0.0
    step = Decimal(1).scaleb(number.adjusted() - DIGITS + 1)
    return float((number / step).to_integral_value(rounding) * step)


# Converts facts to the types of JSON.


def json_values(fact: Any) -> Any:
    """The value with str keys, lists, and finite numbers; numbers that are not finite become None.

    >>> json_values({1.5: (float("nan"), np.float64(2), np.int64(3), None)})
    {'1.5': [None, 2.0, 3, None]}
    """
    if fact is None or isinstance(fact, (str, bool)):
        return fact
    if isinstance(fact, Mapping):
        return {str(key): json_values(value) for key, value in fact.items()}
    if isinstance(fact, np.ndarray):
        return json_values(fact.tolist())
    if isinstance(fact, np.generic):
        return json_values(fact.item())
    if isinstance(fact, (list, tuple)):
        return [json_values(item) for item in fact]
    if isinstance(fact, int):
        return int(fact)
    if isinstance(fact, float):
        return float(fact) + 0.0 if math.isfinite(fact) else None
    return str(fact)


def riskiest_classes(result: Assessment, most: int, *, record_values: bool, unit: str = "") -> dict[str, Any]:
    """The ``most`` classes with the smallest area and H0. Those of fewer than three people are averaged into one
    entry: the key values of a class of one identify a person, and in a class of two each can work out the other's
    value. ``record_values`` names them too.
    """
    posteriors, measured = result.posteriors, result.figures
    fewest = 1 if record_values else FEWEST_PEOPLE
    sizes = posteriors.sizes
    counts, row = members(posteriors.classes)
    weighed = counts.data * result.truth.overall.surprises
    surprise = np.bincount(row, weights=weighed, minlength=len(sizes)) / sizes
    figures = {"h0": measured.h0, "area": measured.area, "surprise": surprise}
    hits = measured.hit
    order = result.riskiest(len(posteriors))
    named = order[sizes[order] >= fewest][:most]
    keys = [
        result.people.decode(name, posteriors.classes.key_codes[named, i]).to_pylist()
        for i, name in enumerate(posteriors.classes.known)
    ]
    small = sizes < fewest
    withheld: dict[str, Any] = {"classes": small.sum(), "people": sizes[small].sum()}
    if small.any():
        withheld |= {name: np.average(f[small], weights=sizes[small]) for name, f in figures.items()}
        withheld["hit"] = [np.average(hit[small], weights=sizes[small]) for hit in hits.values()]
    return {
        "fewest_people": fewest,
        "eps": list(hits),
        "close": [closeness(result.people.attribute, eps, unit).label for eps in hits],
        "withheld": withheld,
        "classes": [
            {
                "keys": [column[i] for column in keys],
                "size": sizes[c],
                **{name: figure[c] for name, figure in figures.items()},
                "hit": [hit[c] for hit in hits.values()],
            }
            for i, c in enumerate(named)
        ],
    }


# The summary of an assessment for publication: without the smallest and largest person's values.


def shown_summary(result: Assessment, bounds: Bounds | None) -> dict[str, Any]:
    """``result.summary`` with the range that may be shown, and without figures from which the true range follows."""
    attribute = result.people.attribute
    domain = {**result.summary["domain"]}
    if attribute.numeric:
        domain |= {
            "low": None if bounds is None else bounds.low,
            "high": None if bounds is None else bounds.high,
            "exact": bounds is not None and bounds.exact,
        }
    summary = {**result.summary, "domain": domain, "dropped": result.people.dropped}
    return summary if tells_no_value(attribute, bounds) else _without(summary, "mean_entropy")


def _without(summary: dict[str, Any], name: str) -> dict[str, Any]:
    return {
        key: _without(value, name) if isinstance(value, dict) else value
        for key, value in summary.items()
        if key != name
    }


# The facts about utility: what the release costs those who use it.

LABELS = {
    "query_error": "Query error",
    "distribution": "Distribution",
    "averages": "Averages",
    "correlations": "Correlations",
    "two_way_tables": "Two-way tables",
    "pmse": "pMSE ratio",
    "prediction": "Prediction",
    "queries_refused": "Queries refused",
}


def utility_facts(result: Assessment) -> dict[str, Any]:
    """One row per measure and attribute, with its unit and meaning; and the default measure as a sentence.

    The random queries and the people held out are drawn with the seed of the release.
    """
    seed = result.seed or 0
    try:
        found = losses(result.people, result.release, seed=seed)
    except InputError as refused:  # a release may be assessed although a column cannot be compared
        return {"seed": seed, "sentence": f"It cannot be measured: {refused}", "rows": []}
    first = next((loss.meaning for loss in found if loss.measure == "query_error"), None)
    nothing = "Nothing is released that a user could count or sum."
    return {
        "seed": seed,
        "sentence": nothing if first is None else f"{first[0].upper()}{first[1:]}.",
        "rows": [
            {
                "measure": loss.measure,
                "label": LABELS[loss.measure] + (f" of {loss.attribute}" if loss.attribute else ""),
                "attribute": loss.attribute,
                "value": loss.value,
                "unit": loss.unit,
                "meaning": loss.meaning,
            }
            for loss in found
        ],
    }


def records_in_words(people: Microdata) -> str:
    """How many records there are, and how many were left out."""
    left_out = f" ({people.dropped:,} left out)" if people.dropped else ""
    return f"{len(people):,} records{left_out}"
