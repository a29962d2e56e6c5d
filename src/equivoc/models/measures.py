"""Every measure that applies to a file or a release, in one frame, each with a sentence on what it means here."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from equivoc.checks import check_choice
from equivoc.data.microdata import Microdata, check_people
from equivoc.data.missing_keys import MISSING_KEYS, OWN
from equivoc.data.read import control_people
from equivoc.errors import InputError
from equivoc.intruder.posteriors import Posteriors
from equivoc.intruder.prior import Prior
from equivoc.models.of_file.file_measures import compared_measures, file_measures
from equivoc.models.of_file.measure import Known, Measure, known_classes
from equivoc.models.of_file.population import checked_fraction
from equivoc.models.of_release.guessing import guess_measures, posterior_figures
from equivoc.models.of_release.release_measures import (
    CERTAIN,
    by_variance,
    decreasing,
    reciprocal,
    release_measures,
)
from equivoc.releases.release import Release
from equivoc.text import bits, figure, listed, part

Floats = NDArray[np.float64]


class Measured(Protocol):
    """H0 and area of every class."""

    @property
    def h0(self) -> Floats: ...
    @property
    def area(self) -> Floats: ...


def measures(
    people: Microdata,
    release: Release | None = None,
    *,
    known: Known = None,
    fraction: float | None = None,
    control: Any = None,
    prior: Prior = "marginal",
    intruder: str = "strongest",
    missing_keys: str = OWN,
) -> Any:
    """Every measure that applies: a frame of the people's kind with the columns measure, value and meaning.

    ``known`` are the keys that the intruder knows (None: all). Without a ``release`` the file is taken as published as
    it is. With one, the measures of a single file are about the released table, where there is one; those that
    end in "original" are about the people's own file, for comparison. A measure that does not apply has no row; people
    without a confidential attribute have the measures of their keys.
    ``fraction`` is the share of the population that the file is a random sample of: it adds the population's uniques.
    ``control`` are people who are not in the data, as in `assess`: with a released table they add singling out and
    membership inference. ``prior`` and ``intruder`` are those of `assess`.
    ``missing_keys``: in k, prosecutor and individual risk of the people's own file, a missing key is a value of its own
    ("own") or matches any value ("any", sdcMicro's counting); a release has both, where it has stars. Remarks on how
    the people were read (``people.remarks``) come last.

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"sex": list("FFMMM"), "pay": [50, 107, 77, 77, 80]})
    >>> found = measures(Microdata(frame, confidential="pay", keys=["sex"]))
    >>> found.set_index("measure").loc["k-anonymity", "meaning"]
    'Everyone looks like at least 1 other on sex; nobody is alone; more is safer.'
    """
    check_people("people", people)
    others = None if control is None else control_people(people, control)
    rows = measure_rows(
        people,
        release,
        known=known,
        fraction=fraction,
        control=others,
        prior=prior,
        intruder=intruder,
        missing_keys=missing_keys,
    )
    return people.like(
        {
            "measure": [row.measure for row in rows],
            "value": np.array([row.value for row in rows], np.float64),
            "meaning": [row.meaning for row in rows],
        }
    )


def measure_rows(
    people: Microdata,
    release: Release | None = None,
    *,
    known: Known = None,
    fraction: float | None = None,
    control: Microdata | None = None,
    prior: Prior = "marginal",
    intruder: str = "strongest",
    missing_keys: str = OWN,
    believed: tuple[Posteriors, Measured] | None = None,
    bare: Measured | None = None,
) -> list[Measure]:
    """The rows of `measures`, in its order: remaining uncertainty, the released file, both files, the original.

    ``believed`` are the posteriors and their measure, ``bare`` the measure of the unprotected file's classes, if they
    were computed before.
    """
    classes = known_classes(people, known)
    check_choice("missing_keys", missing_keys, MISSING_KEYS)
    if release is not None:
        people.check_confidential()
    if fraction is not None:
        if release is not None:
            raise InputError(
                "fraction is for a file that is a sample itself; leave it out if a release is given."
            )
        fraction = checked_fraction(people, fraction)
    if control is not None and release is None:
        raise InputError("a control group needs a release: give the released table, too.")
    if not people.attributes:
        return [
            *file_measures(people, classes, fraction=fraction, missing_keys=missing_keys),
            *_remarks(people),
        ]
    published = Posteriors(classes, people.attribute, classes.counts, None)
    if bare is None:
        bare = published.curves(tolerance=None)
    if release is None:
        return [
            *_left(published, bare),
            *_risks(published, bare, None),
            *file_measures(people, classes, fraction=fraction, missing_keys=missing_keys),
            *_remarks(people),
        ]
    compared = release_measures(people, release, classes, control=control)
    if believed is None:
        posteriors = release.posteriors(classes.known, prior=prior, intruder=intruder)
        believed = posteriors, posteriors.curves(tolerance=None)
    return [
        *_left(*believed),
        *_risks(*believed, release),
        *compared,
        *_left(published, bare, of=", original"),
        *compared_measures(people, classes, missing_keys=missing_keys),
        *_remarks(people),
    ]


def _remarks(people: Microdata) -> list[Measure]:
    """How the people were read, where it is not as it may be meant: numbers of people."""
    return [Measure(each.about, float(each.people), each.sentence) for each in people.remarks]


def _left(posteriors: Posteriors, curves: Measured, *, of: str = "") -> list[Measure]:
    """H0 and A over people: the intruder's remaining uncertainty."""
    sizes = posteriors.sizes
    unit = posteriors.classes.people.confidential
    h0, area = (float(np.average(each, weights=sizes)) for each in (curves.h0, curves.area))
    knowing = f"An intruder who knows {listed(posteriors.known) or 'nothing else'}"
    most = float(np.log2(len(posteriors.values)))
    return [
        Measure(
            f"H0{of}",
            h0,
            f"{knowing} has {bits(h0)} of uncertainty about the exact {unit} of a random person (at "
            f"most {figure(most)}); she is certain of {_certain(posteriors, curves)}; more is safer.",
        ),
        Measure(
            f"A{of}",
            area,
            f"{knowing} has {figure(area)} bits × {unit} of uncertainty over all tolerances about a random person; "
            "values far apart count more than close ones; more is safer.",
        ),
    ]


def _certain(posteriors: Posteriors, curves: Measured) -> str:
    certain = int(posteriors.sizes[curves.h0 < CERTAIN].sum())
    return part(certain, len(posteriors.classes.people))


def _risks(posteriors: Posteriors, curves: Measured, release: Release | None) -> list[Measure]:
    """Decreasing functions of the intruder's uncertainty, over people, and her best guess."""
    sizes = posteriors.sizes
    figures = posterior_figures(posteriors)
    per_bit = reciprocal(curves.h0)
    order = np.argsort(per_bit, kind="stable")
    middle = float(per_bit[order][np.searchsorted(np.cumsum(sizes[order]), sizes.sum() / 2)])
    most = float(np.log2(len(posteriors.values)))
    by_entropy = float(np.average(decreasing(curves.h0, most), weights=sizes))
    scale = "on a scale from 1 (certain) over 0.5 (no information from the release) towards 0; less is safer."
    variance = []
    if figures.variance is not None:
        spread = float(np.average(by_variance(figures.variance, posteriors.values), weights=sizes))
        said = f"By the variance that is left to her, a random person's risk is {figure(spread)} {scale}"
        variance.append(Measure("Trottini–Fienberg, variance", spread, said))
    return [
        Measure(
            "Oganian–Domingo-Ferrer",
            middle,
            (
                f"1/H0 is at most {figure(middle)} per bit for half of the people, and"
                if np.isfinite(middle)
                else "1/H0 is"
            )
            + f" infinite (she is certain) for {_certain(posteriors, curves)}; less is safer.",
        ),
        *variance,
        Measure(
            "Trottini–Fienberg, entropy",
            by_entropy,
            f"By the entropy that is left to her, a random person's risk is {figure(by_entropy)} {scale}",
        ),
        *guess_measures(posteriors, figures.largest, release),
    ]
