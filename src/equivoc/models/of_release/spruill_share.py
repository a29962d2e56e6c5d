"""Spruill's measure: the share of released records whose nearest original record is not their own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equivoc.arguments import check_choice
from equivoc.data.counting.row_codes import row_groups
from equivoc.data.microdata import Microdata
from equivoc.errors import InputError
from equivoc.intruder.release import Release
from equivoc.models.known_classes import Known, known_classes
from equivoc.models.of_release.released_table import ReleasedTable, column_numbers, released_table

Floats = NDArray[np.float64]
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
        released = None if column is None else column_numbers(column.levels, column.codes, name)
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
