"""The measures of a release against the original, each with a sentence about its value."""

from __future__ import annotations

from math import sqrt

import numpy as np
from numpy.typing import NDArray

from equivoc.checks import check_choice
from equivoc.data.classes import Classes
from equivoc.data.microdata import Microdata
from equivoc.errors import InputError
from equivoc.intruder.posteriors import Posteriors
from equivoc.models.of_file.file_measures import class_size, file_measures, outsiders
from equivoc.models.of_file.measure import Measure
from equivoc.models.of_file.population import uniqueness_measures
from equivoc.models.of_release.closest_record import attack_measures
from equivoc.models.of_release.guessing import posterior_figures
from equivoc.models.of_release.record_linkage import NORMS, identified, neighbourhood, theta_of
from equivoc.models.of_release.released_table import (
    Crossing,
    ReleasedTable,
    crossing,
    released_kind,
    star_measures,
    table_if_any,
)
from equivoc.releases.release import Release
from equivoc.text import figure, part, percent

MOST_LINKED = 200_000
"""With more released records than this, Spruill's share is left out; call `spruill` for it."""


def release_measures(
    people: Microdata, release: Release, classes: Classes, *, control: Microdata | None = None
) -> list[Measure]:
    """The measures of the released table and of both files; none if no table with these keys was released.

    With a ``control`` group also the attacks that it judges.
    """
    table = table_if_any(people, release)
    if table is None or not set(classes.known) <= table.columns.keys():
        return []
    crossed = crossing(table, classes.known)
    return [
        *_released(table, classes, crossed),
        *(star_measures(table, release, classes.known) if classes.known else []),
        *_matches(crossed, len(people)),
        *_linked(table, classes),
        *([] if control is None else attack_measures(table, control, classes.known)),
    ]


def _released(table: ReleasedTable, classes: Classes, crossed: Crossing) -> list[Measure]:
    """The measures of the released table by itself: all, or only k if its confidential values are not numbers."""
    people, known = table.people, classes.known
    kind = released_kind(table)
    if kind is None:
        sizes = crossed.released[crossed.released > 0]
        return [class_size(int(sizes.min()), known, int(np.count_nonzero(sizes == 1)))]
    released = Microdata(table.frame, confidential=kind, keys=known)
    own = released.classes(known)
    rows = file_measures(released, own)
    if table.rows < len(people) and (crossed.released <= crossed.original).all():
        rows += outsiders(released, own, people)
        true = int(np.count_nonzero(crossed.original == 1))
        rows += uniqueness_measures(own, table.rows / len(people), true=true)
    return rows


def _matches(crossed: Crossing, records: int) -> list[Measure]:
    """Measures of exact matches on the keys."""
    found, shares = theta_of(crossed, records=records), identified(crossed)
    rows_released = int(crossed.released.sum())
    unique = part(int(np.count_nonzero(crossed.released == 1)), rows_released)
    rows = []
    if not np.isnan(found.theta):
        rows.append(
            Measure(
                "Skinner–Elliot θ",
                found.theta,
                f"In the release {unique} are unique, and a person of the original who fits one of them is its "
                f"owner with probability {figure(found.theta)}; less is safer.",
            )
        )
    if rows_released < records and not np.isnan(found.estimate):
        rows.append(
            Measure(
                "Skinner–Elliot θ, estimated",
                found.estimate,
                f"From the sample alone, θ is estimated as {figure(found.estimate)} "
                f"(standard error {figure(sqrt(found.variance))}); less is safer.",
            )
        )
    identify = "identified by exact matches on the keys"
    return [
        *rows,
        Measure(
            "Truta, minimal",
            shares.minimal,
            f"In both files {part(round(shares.minimal * rows_released), rows_released)} are unique, and so "
            f"{identify}; less is safer.",
        ),
        Measure(
            "Truta, maximal",
            shares.maximal,
            f"If one record of each class is drawn at random, {percent(shares.maximal)} of the released records are "
            f"expected to be {identify}; less is safer.",
        ),
        Measure(
            "Truta, weighted",
            shares.weighted,
            f"Classes of 2 to 5 count less, larger ones not at all: {percent(shares.weighted)} of the released "
            "records, between the minimal and the maximal share; less is safer.",
        ),
    ]


def _linked(table: ReleasedTable, classes: Classes) -> list[Measure]:
    """Spruill's measure, by both distances."""
    if table.origins is None or table.rows > MOST_LINKED:
        return []
    found = neighbourhood(table, classes.known, table.origins)
    if found is None:
        return []
    rows = []
    for distance in NORMS:
        share = found.unlinked(distance)
        rows.append(
            Measure(
                f"Spruill, {distance} distance",
                share,
                f"{percent(share)} of the released records are not closest to their own original record "
                f"({distance} differences of the numeric attributes); more is safer.",
            )
        )
    return rows


# Risk as a decreasing function of the intruder's uncertainty: two classic functions of the posteriors.

Floats = NDArray[np.float64]
CERTAIN = 1e-12
"""Uncertainty below this (in bits, or as a share of the maximum) counts as 0."""


def oganian_domingo_ferrer(posteriors: Posteriors) -> Floats:
    """1 / H(X | Y = y) of every class: the reciprocal of H0, per bit. Lower is safer; inf where she is certain.

    Source: A. Oganian and J. Domingo-Ferrer, A posteriori disclosure risk measure for tabular data based on
    conditional entropy, SORT 27 (2003), 175–190.

    >>> import pandas as pd
    >>> from equivoc.data.microdata import Microdata
    >>> from equivoc.techniques.unprotected import Unprotected
    >>> frame = pd.DataFrame({"sex": list("FFFFM"), "pay": [1, 2, 3, 4, 5]})
    >>> people = Microdata(frame, confidential="pay", keys=["sex"])
    >>> oganian_domingo_ferrer(Unprotected().release(people).posteriors(["sex"]))
    array([0.5, inf])
    """
    return reciprocal(posteriors.shannon())


def reciprocal(h0: Floats) -> Floats:
    """1/H0, inf where H0 is below the rounding threshold."""
    return np.asarray(np.divide(1.0, h0, out=np.full(len(h0), np.inf), where=h0 >= CERTAIN))


def trottini_fienberg(posteriors: Posteriors, *, uncertainty: str = "variance") -> Floats:
    """1 / (1 + U/U₀) of every class, from 0 to 1: 1 where she is certain. Lower is safer.

    U is her uncertainty about the confidential value: the posterior's variance, or its entropy H0. U₀ is that of a
    uniform distribution over the domain, so ½ means that the release gave no information, and units do not matter.

    Source: M. Trottini and S. E. Fienberg, Modelling user uncertainty for disclosure risk and data utility, Int. J.
    Uncertainty, Fuzziness and Knowledge-Based Systems 10 (2002), 511–527: risk is a decreasing function of the
    intruder's uncertainty. Which function is left open there; this one is ours.

    >>> import pandas as pd
    >>> from equivoc.data.microdata import Microdata
    >>> from equivoc.techniques.unprotected import Unprotected
    >>> frame = pd.DataFrame({"sex": list("FFMM"), "pay": [50, 107, 77, 80]})
    >>> people = Microdata(frame, confidential="pay", keys=["sex"])
    >>> post = Unprotected().release(people).posteriors(["sex"])
    >>> trottini_fienberg(post).round(3), trottini_fienberg(post, uncertainty="entropy").round(3)
    (array([0.334, 0.995]), array([0.667, 0.667]))
    """
    check_choice("uncertainty", uncertainty, ("variance", "entropy"))
    if uncertainty == "entropy":
        return decreasing(posteriors.shannon(), float(np.log2(len(posteriors.values))))
    if not posteriors.attribute.numeric:
        raise InputError(
            f"categories such as {posteriors.attribute.name!r} have no variance; use uncertainty='entropy'."
        )
    variance = posterior_figures(posteriors).variance
    assert variance is not None  # the attribute is numeric
    return by_variance(variance, posteriors.values)


def by_variance(variance: Floats, values: Floats) -> Floats:
    """1 / (1 + U/U₀) with U the variances of some posteriors, U₀ that of equally likely ``values``."""
    return decreasing(variance, float(np.var(values)))


def decreasing(uncertainty: Floats, without: float) -> Floats:
    """1 / (1 + U/U₀); uncertainties below the rounding threshold count as 0."""
    found = np.where(uncertainty < CERTAIN * without, 0.0, uncertainty)
    return np.ones(len(found)) if without == 0 else 1.0 / (1.0 + found / without)
