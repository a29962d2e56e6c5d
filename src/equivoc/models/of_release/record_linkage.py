"""Spruill's measure: the share of released records whose nearest original record is not their own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import nan
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from equivoc.checks import check_choice
from equivoc.data.columns import fixed
from equivoc.data.lattice import row_groups
from equivoc.data.microdata import Microdata
from equivoc.errors import InputError
from equivoc.models.of_file.measure import Known, known_classes
from equivoc.models.of_release.released_table import (
    Crossing,
    ReleasedTable,
    column_numbers,
    crossing,
    holds_dates,
    released_table,
)
from equivoc.releases.release import Release

# Skinner and Elliot's θ: the probability that a unique match is correct.


@dataclass(frozen=True)
class SkinnerElliot:
    """θ, and its estimate from the released file alone. All are NaN if no released record is unique."""

    theta: float
    """Pr(correct match | unique match). Lower is safer."""
    estimate: float
    """θ̂ from the released file and its size, as if it were a sample; NaN if it has more rows than the original."""
    variance: float
    """The estimated variance of θ̂ − θ."""


def skinner_elliot(people: Microdata, release: Release, *, known: Known = None) -> SkinnerElliot:
    """The probability that a match is correct, for a random original person who matches a unique released record.

    With F_j and f_j the records of the original and of the release in class j of the ``known`` keys (None: all),

        θ = Σ_j I(f_j = 1) / Σ_j F_j · I(f_j = 1).

    The numerator counts only unique records that are still in their owner's class; in a sample, all are.
    For a sample that takes each record with probability π (here n/N), n_1, n_2 and n_3 the classes of one, two and
    three of its records, and r = (1 − π)/π,

        θ̂ = π·n_1 / (π·n_1 + 2·(1 − π)·n_2),
        v(θ̂ − θ) = θ̂⁴/n_1² · (6·r²·n_3 + (2·r + 4·r²)·n_2).

    θ itself depends on the sample; to first order θ̂ − θ is θ̂²/n_1 · Σ_j [(F_j − 1)·I(f_j = 1) − 2·r·I(f_j = 2)].
    Each term has mean 0, and its variance is estimated without bias from n_2 and n_3.

    Source: C. J. Skinner and M. J. Elliot, A measure of disclosure risk for microdata, JRSS B 64 (2002), 855–867, for
    the measure and the estimator; the variance is our derivation.

    >>> import pandas as pd
    >>> from equivoc.techniques.sampling import Sampling
    >>> frame = pd.DataFrame({"age": [30, 30, 30, 41, 52, 52, 60, 60], "pay": [1, 2, 3, 4, 5, 6, 7, 8]})
    >>> people = Microdata(frame, confidential="pay", keys=["age"])
    >>> release = Sampling(fraction=0.5).release(people, 6)
    >>> release.table["age"].tolist()
    [30, 41, 60, 60]
    >>> found = skinner_elliot(people, release)
    >>> found.theta, found.estimate
    (0.5, 0.5)
    """
    table = released_table(people, release)
    return theta_of(crossing(table, known_classes(people, known).known), records=len(people))


def theta_of(classes: Crossing, *, records: int) -> SkinnerElliot:
    """θ and its estimate from counted classes; ``records`` are the original's."""
    alone = classes.released == 1
    matches = int(classes.original[alone].sum())
    theta = int(classes.own[alone & (classes.original > 0)].sum()) / matches if matches else nan
    n1, n2, n3 = (int(np.count_nonzero(classes.released == size)) for size in (1, 2, 3))
    share = int(classes.released.sum()) / records
    if n1 == 0 or share > 1:
        return SkinnerElliot(theta, nan, nan)
    estimate = share * n1 / (share * n1 + 2 * (1 - share) * n2)
    r = (1 - share) / share
    variance = estimate**4 / n1**2 * (6 * r**2 * n3 + (2 * r + 4 * r**2) * n2)
    return SkinnerElliot(theta, estimate, variance)


# Truta, Fotouhi and Barth-Jones: minimal, maximal and weighted share of records that can be identified.

Floats = NDArray[np.float64]
_SIZES = np.arange(1, 6)
DEFAULT_WEIGHTS: Floats = fixed((6 - np.maximum.outer(_SIZES, _SIZES)) / 5)
"""5 × 5: 1, 0.8, 0.6, 0.4, 0.2 where the larger of the two classes has 1, 2, 3, 4, 5 records; none counts beyond."""


@dataclass(frozen=True)
class Truta:
    """Shares of the released records, from 0 to 1. Lower is safer; minimal ≤ weighted ≤ maximal."""

    minimal: float
    """Records that are unique in both files: an exact match identifies them."""
    maximal: float
    """All records, each weighted with the chance that a random match is correct."""
    weighted: float
    """The same chances, multiplied by the data owner's weights for class sizes."""


def truta(
    people: Microdata,
    release: Release,
    *,
    known: Known = None,
    weights: ArrayLike | None = None,
) -> Truta:
    """Identification by exact matches on the ``known`` keys (None: all): certain matches only, and any match.

    With c_Ff the number of released records that are still in their owner's class, where that class has F records in
    the original and f in the release, n the released records, and W = (w_Ff) the weights,

        minimal = c_11 / n,   maximal = Σ c_Ff / max(F, f) / n,   weighted = Σ w_Ff / w_11 · c_Ff / max(F, f) / n.

    1/max(F, f) is the chance that a record is paired with its original when the records of a class are paired at
    random; in a sample it is 1/F. ``weights`` is a matrix: rows for F = 1, 2, …, columns for f = 1, 2, …; larger
    classes weigh nothing. No weight may exceed the first, w_11. Without one, `DEFAULT_WEIGHTS`: 1, 0.8, 0.6, 0.4, 0.2
    for max(F, f) = 1 … 5. W = [[1]] makes weighted the minimal, equal weights for all sizes make it the maximal.

    Sources: T. M. Truta, F. Fotouhi, D. Barth-Jones, Disclosure risk measures for microdata (SSDBM 2003) and for the
    sampling disclosure control method (SAC 2004). Theirs are the three measures and the matrix by sizes in both files;
    shares of the *released* records, max(F, f) for releases other than samples, and the default matrix are ours.

    >>> import pandas as pd
    >>> from equivoc.techniques.unprotected import Unprotected
    >>> frame = pd.DataFrame({"age": [30, 41, 41, 52, 52, 52, 52, 52], "pay": range(8)})
    >>> people = Microdata(frame, confidential="pay", keys=["age"])
    >>> truta(people, Unprotected().release(people))
    Truta(minimal=0.125, maximal=0.375, weighted=0.25)
    """
    matrix = _checked(DEFAULT_WEIGHTS if weights is None else weights)
    return identified(crossing(released_table(people, release), known_classes(people, known).known), matrix)


def identified(classes: Crossing, weights: Floats = DEFAULT_WEIGHTS) -> Truta:
    """The three shares from counted classes and a checked matrix of weights."""
    shared = (classes.original > 0) & (classes.own > 0)
    original, released, own = (c[shared] for c in (classes.original, classes.released, classes.own))
    rows = int(classes.released.sum())
    chances = own / np.maximum(original, released)
    held = (original <= weights.shape[0]) & (released <= weights.shape[1])
    weight = weights[original[held] - 1, released[held] - 1] / weights[0, 0]
    return Truta(
        minimal=int(np.count_nonzero((original == 1) & (released == 1))) / rows,
        maximal=float(chances.sum()) / rows,
        weighted=float((weight * chances[held]).sum()) / rows,
    )


def _checked(weights: ArrayLike) -> Floats:
    try:
        matrix = np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError("weights must be a matrix of numbers, such as [[1, 0.5], [0.5, 0.5]].") from None
    if matrix.ndim != 2 or matrix.size == 0:
        raise InputError(
            f"weights has shape {matrix.shape}; give a matrix: "
            "rows for class sizes in the original, columns for those in the release."
        )
    wrong = np.argwhere(~(np.isfinite(matrix) & (matrix >= 0)))
    if wrong.size:
        row, column = wrong[0]
        raise InputError(
            f"weights[{row}][{column}] is {matrix[row, column]}; a weight is a finite number, at least 0."
        )
    if matrix[0, 0] == 0 or matrix.max() > matrix[0, 0]:
        raise InputError(
            f"weights[0][0] is {matrix[0, 0]:g}; records unique in both files must have the largest weight, above 0."
        )
    return matrix


Ints = NDArray[np.int64]
NORMS = {"squared": 2, "absolute": 1}
TIED = 1e-9
"""Distances with a smaller relative difference count as equal."""
FEWEST_NEIGHBOURS = 4


def spruill(
    people: Microdata,
    release: Release,
    *,
    distance: str = "squared",
    known: Known = None,
) -> float:
    """The share of released records that cannot be linked to the record they were made from. Higher is safer.

    A record is linked if, of all originals, its own is the nearest: by the sum of squared or of absolute differences
    over the numeric attributes, each divided by its standard deviation in the original. Of m originals equally near,
    its own among them, the right one is picked with chance 1/m, and the record counts as linked with 1/m.

    The attributes are those of the ``known`` keys (None: all) and the confidential attribute that hold numbers in both
    files; text, ranges and attributes with one value are left out. A null is placed at the attribute's mean, and one
    standard deviation away from all values. The original record of each released row must be known.

    Source: N. L. Spruill, Measures of confidentiality, Proc. ASA Survey Research Section (1982), 260–265, and The
    confidentiality and analytic usefulness of masked business microdata (1983), 602–607. Dividing by standard
    deviations, nulls and ties are ours.

    >>> import pandas as pd
    >>> from equivoc.techniques.unprotected import Unprotected
    >>> frame = pd.DataFrame({"age": [30, 41, 41, 52], "pay": [10, 20, 20, 30]})
    >>> people = Microdata(frame, confidential="pay", keys=["age"])
    >>> spruill(people, Unprotected().release(people))          # two records are alike: each is linked with chance 1/2
    0.25
    """
    check_choice("distance", distance, tuple(NORMS))
    table = released_table(people, release)
    if table.origins is None:
        raise InputError(
            "it is not known from which record each released row was made, so linkage cannot be checked."
        )
    found = neighbourhood(table, known_classes(people, known).known, table.origins)
    if found is None:
        raise InputError(
            "no attribute holds differing numbers in both files, so there is no distance between records."
        )
    return found.unlinked(distance)


@dataclass(frozen=True, eq=False)
class Neighbourhood:
    """Original and released records as points. Equal records are one point; equal searches are done once."""

    places: Floats
    """The distinct originals."""
    weight: Ints
    """How many originals each place has."""
    asked: Floats
    """Released points, each with one of its owners' places."""
    own: Ints
    """The owner's place."""
    times: Ints
    """How many released records have this point and owner."""

    def unlinked(self, distance: str) -> float:
        """The share of released records whose nearest original is not their own."""
        right = _chances(self.places, self.weight, self.asked, self.own, NORMS[distance])
        return float(1.0 - (self.times @ right) / self.times.sum())


def neighbourhood(table: ReleasedTable, known: Sequence[str], origins: Ints) -> Neighbourhood | None:
    """The records over their numeric attributes; None if no attribute is numeric in both files and differs."""
    original, released = _points(table, known)
    if not original:
        return None
    first, of_record, weight = _distinct(original)
    places = np.column_stack(original)[first]
    own = of_record[origins]
    asked, _, times = _distinct([*released, own])
    return Neighbourhood(places, weight, np.column_stack(released)[asked], own[asked], times)


def _distinct(columns: Sequence[NDArray[Any]]) -> tuple[Ints, Ints, Ints]:
    """Of rows that are equal in all columns, the first; for every row, which of these it equals; and how often."""
    ranked = [np.unique(column, return_inverse=True) for column in columns]
    found = row_groups(((rank.reshape(-1), len(levels)) for levels, rank in ranked), len(columns[0]))
    return found.first, found.of, found.times


def _points(table: ReleasedTable, known: Sequence[str]) -> tuple[list[Floats], list[Floats]]:
    """Original and released coordinates, one for each numeric attribute that differs, in standard deviations."""
    people = table.people
    ours: list[Floats] = []
    theirs: list[Floats] = []
    for name in (*known, people.confidential):
        column = table.columns.get(name)
        dates = holds_dates(people, name)
        released = None if column is None else column_numbers(column.levels, column.codes, name, dates=dates)
        original = _original(people, name)
        if original is None or released is None:
            continue
        spread = np.nanstd(original)
        if not spread > 0:
            continue
        centre = np.nanmean(original)
        for side, values in ((ours, original), (theirs, released)):
            side.append(np.nan_to_num((values - centre) / spread, nan=0.0))
        if np.isnan(original).any() or np.isnan(released).any():
            ours.append(np.isnan(original).astype(np.float64))
            theirs.append(np.isnan(released).astype(np.float64))
    return ours, theirs


def _original(people: Microdata, name: str) -> Floats | None:
    if holds_dates(people, name):
        return column_numbers(people.attribute.labels, people.codes, name, dates=True)
    if name == people.confidential:
        return people.values[people.codes] if people.attribute.numeric else None
    levels = people.decode(name, np.arange(len(people.levels(name))))
    return column_numbers(levels, people.key_codes(name), name)


def _chances(places: Floats, weight: Ints, asked: Floats, own: Ints, norm: int) -> Floats:
    """For each released point, the chance that the nearest original is the record's own.

    The number of neighbours grows until the last one is farther away than the first, so that ties are complete, and
    no matrix of all pairs is built.
    """
    from scipy.spatial import cKDTree

    tree = cKDTree(places)
    chances = np.zeros(len(asked))
    waiting = np.arange(len(asked))
    count = FEWEST_NEIGHBOURS
    while waiting.size:
        count = min(count, len(places))
        far, near = tree.query(asked[waiting], k=list(range(1, count + 1)), p=norm)
        tied = far <= far[:, :1] * (1 + TIED) + TIED**2
        whole = ~tied[:, -1] if count < len(places) else np.ones(len(waiting), np.bool_)
        among = np.where(tied, weight[near], 0)
        holds = (tied & (near == own[waiting, None])).any(axis=1)
        chances[waiting[whole]] = (holds / among.sum(axis=1))[whole]
        waiting = waiting[~whole]
        count *= 4
    return chances
