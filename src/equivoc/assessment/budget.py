"""Bits and hit rates on your own data for each privacy budget ε of differential privacy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import exp, log
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from equivoc.assessment.assess import assess
from equivoc.assessment.assessment import Assessment
from equivoc.attributes.attribute import round_tolerance
from equivoc.data.microdata import Microdata, check_people
from equivoc.errors import InputError
from equivoc.measure.curves import curves
from equivoc.measure.distribution import one_tolerance
from equivoc.releases.release import Release
from equivoc.renamed import renamed
from equivoc.techniques.geometric_noise import GeometricNoise, checked_epsilon
from equivoc.techniques.technique import Technique
from equivoc.techniques.unprotected import Unprotected

if TYPE_CHECKING:
    import altair
    import pandas as pd

Floats = NDArray[np.float64]
STEPS = 17
FIGURES = ("h0", "area", "hit")
MOST_VALUES = 4096
"""The most values of the domain for a budget section in a report; with more, it would take minutes."""


@dataclass(frozen=True, eq=False)
class Budget:
    """The figures of each budget: averages over people, and the worst case that the definition allows for anyone."""

    frame: pd.DataFrame = field(repr=False)
    """One row per ε, ascending: epsilon; h0 (bits), area (bits × the unit), hit and true_hit, averages over people for
    `GeometricNoise`; h0_least and hit_most, the worst that ε-differential privacy of a value allows."""
    prior: dict[str, float]
    """h0, area and hit without a release, all values equally likely."""
    unprotected: dict[str, float]
    """h0, area and hit of the unprotected file."""
    known: tuple[str, ...]
    eps: float
    """The tolerance of the hit rates, in the confidential attribute's unit."""

    def facts(self) -> dict[str, Any]:
        """As a plain dict, ready for JSON."""
        return {
            "rows": self.frame.to_dict("records"),
            "prior": self.prior,
            "unprotected": self.unprotected,
            "known": list(self.known),
            "eps": self.eps,
        }

    def plot(self) -> altair.HConcatChart:
        """Bits and hit rate against ε, with the baselines and the worst case."""
        from equivoc.charts.curves import budget_chart

        return budget_chart(self.facts())


@renamed(epsilons="budgets")
def budget(
    people: Microdata,
    *,
    known: Sequence[str] | None = None,
    budgets: ArrayLike | None = None,
    eps: float | None = None,
    seed: int = 0,
) -> Budget:
    """What an intruder who knows the keys ``known`` (None: all) learns if each value is published with budget ε.

    ``budgets`` are the ε of `GeometricNoise` (None: 17 from 0.1 to 8 · (|D| − 1), where almost no noise is
    left); do not confuse them with ``eps``, the tolerance of the hit rates (None: about a tenth of the domain's width).
    All values count as equally likely a priori, so that the worst case that a budget allows bounds every figure.
    The noise is simulated from ``seed``, the same for every ε: do not publish it.

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"sex": list("FFMM"), "pay": [10, 20, 30, 40]})
    >>> found = budget(Microdata(frame, confidential="pay", keys=["sex"]), known=["sex"], budgets=[0.1, 100], eps=0)
    >>> found.frame.h0.round(2).tolist(), found.prior["h0"], found.unprotected["h0"]
    ([2.0, 1.0], 2.0, 1.0)
    """
    check_people("people", people)
    names = people.known_keys(known)
    values = people.values
    if not people.attribute.numeric:
        raise InputError(
            f"{people.confidential!r} holds categories: the privacy budget is shown for geometric noise, which needs "
            "numbers."
        )
    if len(values) == 1:
        raise InputError(f"{people.confidential!r} has one value only: there is nothing to protect.")
    spent = _checked(budgets, len(values))
    width = float(values[-1] - values[0])
    tolerance = round_tolerance(width) if eps is None else one_tolerance("eps", eps)
    rows = []
    for epsilon in spent.tolist():
        result = budgeted(people, GeometricNoise(epsilon), known=names, seed=seed, eps=[tolerance])
        rows.append({"epsilon": epsilon, **_of(result.means, tolerance, (*FIGURES, "true_hit"))})
    import pandas as pd

    frame = pd.DataFrame(rows)
    inside = _most_in_a_window(values, tolerance)
    frame["h0_least"] = [least_entropy(len(values), epsilon) for epsilon in spent.tolist()]
    frame["hit_most"] = [most_hit(len(values), epsilon, inside=inside) for epsilon in spent.tolist()]
    bare = budgeted(people, Unprotected(), known=names, eps=[tolerance]).means
    flat = curves(values, np.full((1, len(values)), 1 / len(values)), tolerance=None)
    prior = {"h0": float(flat.h0[0]), "area": float(flat.area[0]), "hit": float(flat.hit(tolerance)[0])}
    return Budget(frame, prior, _of(bare, tolerance, FIGURES), names, tolerance)


def budgeted(people: Microdata, technique: Technique | Release, **options: Any) -> Assessment:
    """The assessment as `budget` makes it: all values equally likely a priori, as in the worst case beside it.

    The intruder is the informed one. The learned intruder has a different prior for each class, so the worst case does
    not bound her figures.
    """
    result: Assessment = assess(people, technique, prior="uniform", intruder="informed", **options)
    return result


def can_be_budgeted(people: Microdata) -> bool:
    """True if the confidential attribute is numeric with at least two values, and not too many."""
    return people.attribute.numeric and 1 < len(people.values) <= MOST_VALUES


def most_hit(values: int, epsilon: float, *, inside: int = 1) -> float:
    """The highest hit rate that ε-differential privacy of a value allows, with a uniform prior.

    The odds of two values change by at most e^ε; at worst, the w values ``inside`` the best window are e^ε times as
    likely as each other one: w·e^ε / (w·e^ε + values − w).

    >>> round(most_hit(25, 1.0), 3), most_hit(4, 0.0, inside=2)
    (0.102, 0.5)
    """
    return inside / (inside + (values - inside) * exp(-epsilon))


def least_entropy(values: int, epsilon: float) -> float:
    """The least H0, in bits, that ε-differential privacy of a value allows, with a uniform prior.

    Entropy is concave, so its minimum is at a vertex of the allowed set: k values e^ε times as likely as each of the
    others. The worst k depends on ε: 1 for a large ε, more for a small one.

    >>> round(least_entropy(25, 1.0), 3), round(least_entropy(32, 0.0), 3)
    (4.466, 5.0)
    """
    k = np.arange(1, values)
    less = exp(-epsilon)
    high = 1 / (k + (values - k) * less)
    low = high * less
    bits = -k * high * np.log2(high) - (values - k) * low * (np.log2(high) - epsilon / log(2))
    return float(bits.min())


def _checked(budgets: ArrayLike | None, values: int) -> Floats:
    if budgets is None:
        return np.geomspace(0.1, 8.0 * (values - 1), STEPS)
    try:
        given = np.atleast_1d(np.asarray(budgets, dtype=np.float64))
    except (TypeError, ValueError):
        raise InputError(f"budgets is {budgets!r}; give a list of numbers above 0.") from None
    if given.ndim != 1 or not given.size:
        raise InputError("budgets must be a list of at least one number above 0, such as [0.1, 1, 10].")
    for epsilon in given.tolist():
        checked_epsilon("budget", epsilon)
    return np.unique(given)


def _of(means: dict[str, Any], tolerance: float, names: Sequence[str]) -> dict[str, float]:
    return {name: means[name][tolerance] if "hit" in name else means[name] for name in names}


def _most_in_a_window(values: Floats, eps: float) -> int:
    """The largest number of values of the domain in one window of length ``eps``, by the measure's rule."""
    even = curves(values, np.full((1, len(values)), 1 / len(values))).hit(eps)[0]
    return round(float(even) * len(values))
