"""The measures of a release against the original, each with a sentence about its value."""

from __future__ import annotations

from math import sqrt

import numpy as np

from equivoc.data.classes import Classes
from equivoc.data.microdata import Microdata
from equivoc.intruder.release import Release
from equivoc.models.measure import Measure
from equivoc.models.of_file.file_measures import class_size, file_measures, outsiders
from equivoc.models.of_population.population_measures import uniqueness_measures
from equivoc.models.of_release.released_table import (
    Crossing,
    ReleasedTable,
    crossing,
    released_kind,
    table_if_any,
)
from equivoc.models.of_release.skinner_elliot_theta import theta_of
from equivoc.models.of_release.spruill_share import NORMS, neighbourhood
from equivoc.models.of_release.truta_risk import identified
from equivoc.models.of_synthetic.attack_measures import attack_measures
from equivoc.models.phrases import part
from equivoc.number_format import figure, percent

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
