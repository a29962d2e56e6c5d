"""The estimates of population uniques, each with a sentence about its value."""

from __future__ import annotations

from equivoc.data.classes import Classes
from equivoc.models.measure import Measure
from equivoc.models.of_population.estimate import PopulationUniques, estimate
from equivoc.models.of_population.log_linear import cells
from equivoc.models.phrases import listed
from equivoc.number_format import figure

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
