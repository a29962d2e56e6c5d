"""How many people are unique in the population, estimated from a sample and its sampling fraction."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from equivoc.checks import check_choice, checked_number
from equivoc.data.classes import Classes
from equivoc.data.microdata import Microdata
from equivoc.errors import InputError
from equivoc.models.of_file import superpopulation
from equivoc.models.of_file.measure import Known, Measure, known_classes
from equivoc.models.of_file.superpopulation import (
    Fit,
    SizeCounts,
    cells,
    negative_binomial,
    pitman,
    slide_negative_binomial,
    zayatz,
)
from equivoc.text import figure, listed

BY_SIZES = {
    "pitman": pitman,
    "negative-binomial": negative_binomial,
    "snb": slide_negative_binomial,
    "zayatz": zayatz,
}
"""The models that need only the sizes of the classes."""
MODELS = ("dankar", *BY_SIZES, "log-linear")
LARGE_SAMPLE = 0.1
"""Sampling fraction up to which Dankar's rule takes Pitman's model."""


@dataclass(frozen=True)
class PopulationUniques:
    """An estimate of how many people are unique in the population on the known keys. Smaller is safer."""

    model: str
    """The model that was used; for Dankar's rule, the one that it picked."""
    uniques: float
    """The expected number of people who are unique in the population."""
    population: float
    """The size of the population: records / fraction."""
    sample_uniques: int
    """How many records are unique in the file."""
    fraction: float
    parameters: Mapping[str, float] = field(default_factory=dict)
    """The fitted parameters of the model."""

    @property
    def share(self) -> float:
        """The share of the population that is unique."""
        return self.uniques / self.population

    @property
    def remaining(self) -> float:
        """How many of the file's unique records are expected to be unique in the population too.

        A population unique is in a simple random sample with probability ``fraction``, and is then unique in it.
        """
        return min(self.fraction * self.uniques, float(self.sample_uniques))


def population_uniques(
    people: Microdata,
    *,
    fraction: float | None = None,
    known: Known = None,
    model: str = "dankar",
    interactions: int = 2,
) -> PopulationUniques:
    """The expected number of population uniques, for a simple random sample of this ``fraction`` of the population.

    Without a ``fraction`` it is records / sum of the survey weights. ``model``:

    - ``"pitman"``: Pitman's sampling formula (N. Hoshino, Applying Pitman's sampling formula to microdata disclosure
      risk assessment, J. Official Statistics 17 (2001), 499–520);
    - ``"negative-binomial"``: Poisson–gamma (J. G. Bethlehem, W. J. Keller and J. Pannekoek, Disclosure control of
      microdata, JASA 85 (1990), 38–45), with the number of possible classes estimated, too;
    - ``"snb"``: slide negative binomial (G. Chen and S. Keller-McNulty, Estimation of identification disclosure risk in
      microdata, J. Official Statistics 14 (1998), 79–95; here fitted by likelihood);
    - ``"zayatz"``: the population's classes are taken to have the sample's sizes (L. Zayatz, Estimation of the percent
      of unique population elements on a microdata file using the sample, 1991);
    - ``"log-linear"``: the expected size of each class from a Poisson model of the keys with main effects
      (``interactions=1``) or all two-way ``interactions`` (2) (C. Skinner and N. Shlomo, Assessing identification risk
      in survey microdata using log-linear models, JASA 103 (2008), 989–1001);
    - ``"dankar"``: Pitman's for fractions up to 0.1; above, the lesser of SNB's and Zayatz' estimates (F. Dankar,
      K. El Emam, A. Neisa and T. Roffey, Estimating the re-identification risk of clinical data sets, BMC Medical
      Informatics and Decision Making 12:66 (2012); the rule as ARX has it).

    `superpopulation` has the formulas. If all records are unique, the estimate is that everyone is;
    with fraction 1, the file's own number. Estimates are as good as their model: compare several.

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"town": [1, 1, 1, 1, 2, 2, 3, 3, 4, 5], "pay": range(10)})
    >>> people = Microdata(frame, confidential="pay", keys=["town"])
    >>> found = population_uniques(people, fraction=0.5)
    >>> found.model, found.sample_uniques, round(found.uniques, 2), round(found.remaining, 2)
    ('snb', 2, 0.77, 0.38)
    """
    check_choice("model", model, MODELS)
    if interactions not in (1, 2) or isinstance(interactions, bool):
        raise InputError(
            f"interactions is {interactions!r}; it must be 1 (main effects) or 2 (all pairs of keys)."
        )
    classes = known_classes(people, known)
    return estimate(classes, checked_fraction(people, fraction), model, interactions)


def estimate(classes: Classes, fraction: float, model: str, interactions: int = 2) -> PopulationUniques:
    """The estimate of one model, or of the one that Dankar's rule picks, from counted classes."""
    sample = SizeCounts.of(classes.sizes, fraction)
    if fraction == 1.0:
        model, fit = ("zayatz" if model == "dankar" else model), Fit(sample.alone, {})
    elif sample.alone == sample.records:
        model, fit = ("pitman" if model == "dankar" else model), Fit(sample.population, {})
    elif model == "dankar":
        model, fit = _picked(sample)
    elif model == "log-linear":
        expected = (
            superpopulation.main_effects(classes) if interactions == 1 else superpopulation.two_way(classes)
        )
        fit = Fit(
            superpopulation.expected_uniques(classes, expected, fraction),
            {"interactions": float(interactions)},
        )
    else:
        fit = BY_SIZES[model](sample)
    return PopulationUniques(
        model, fit.uniques, sample.population, int(sample.alone), fraction, dict(fit.parameters)
    )


def _picked(sample: SizeCounts) -> tuple[str, Fit]:
    """Dankar's rule."""
    if sample.fraction <= LARGE_SAMPLE:
        return "pitman", pitman(sample)
    return min(
        (("snb", slide_negative_binomial(sample)), ("zayatz", zayatz(sample))), key=lambda f: f[1].uniques
    )


def checked_fraction(people: Microdata, fraction: float | None) -> float:
    """The sampling fraction: the one given, or records / sum of the survey weights."""
    if fraction is not None:
        wanted = "a share of the population, above 0 and at most 1"
        return checked_number("fraction", fraction, wanted, lambda x: 1e-9 <= x <= 1)
    weights = people.weights
    if weights is None:
        raise InputError(
            "the sampling fraction is not known; give fraction=0.01, say, or people with survey weights."
        )
    total = float(np.sum(weights))
    if total < len(people) * (1 - 1e-9):
        raise InputError(
            f"the survey weights sum to {total:g}, fewer than the {len(people):,} records; "
            "give weights that sum to the size of the population."
        )
    return min(1.0, len(people) / total)


# The estimates of population uniques, each with a sentence about its value.

NAMES = {"pitman": "Pitman", "negative-binomial": "negative binomial", "snb": "SNB", "zayatz": "Zayatz"}
MOST_WORK = 2_000_000
"""Combinations of key levels × pairs of keys up to which two-way interactions are shown; a second of fitting."""


def uniqueness_measures(classes: Classes, fraction: float, *, true: int | None = None) -> list[Measure]:
    """The share of the population that is unique, by several models; ``true`` is the number, if it is known.

    Nothing without keys, or if the file is the population.
    """
    if not classes.known or fraction >= 1:
        return []
    picked = estimate(classes, fraction, "dankar")
    rows = [_row(classes, picked, f"Dankar's rule ({NAMES[picked.model]})", true, name="Dankar's rule")]
    for model in ("pitman", "negative-binomial", "snb"):
        found = picked if model == picked.model else estimate(classes, fraction, model)
        rows.append(_row(classes, found, f"the {NAMES[model]} model", true, name=NAMES[model]))
    keys = len(classes.known)
    if keys > 1:
        pairs = keys * (keys - 1) // 2
        interactions = 2 if keys > 2 and cells(classes) * pairs <= MOST_WORK else 1
        found = estimate(classes, fraction, "log-linear", interactions)
        effects = "two-way interactions" if interactions == 2 else "main effects"
        rows.append(_row(classes, found, f"a log-linear model with {effects}", true, name="log-linear"))
    return rows


def _row(classes: Classes, found: PopulationUniques, by: str, true: int | None, *, name: str) -> Measure:
    known = "" if true is None else f" (the original has {true:,})"
    return Measure(
        f"population uniques, {name}",
        found.share,
        f"By {by}, {figure(found.uniques)} of the population's {found.population:,.0f} people are unique on "
        f"{listed(classes.known)}{known}, among them {figure(found.remaining)} of the {found.sample_uniques:,} who are "
        "unique in the file; less is safer.",
    )
