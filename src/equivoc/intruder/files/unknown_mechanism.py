"""Linkage to a file made in an unknown way: several methods, of which the least surprising is used.

- "fits": the records that fit the known values, each with Π 1/|set|;
- "fits, with N": the same, for someone who knows how many people have each level of a key, and the number N of
  people like the target (`beliefs.informed_linkage`);
- "near, 0.6" and "near, 0.999": every record, by the distance of its keys (`beliefs.matching`), the two results of EM.

A class that no record fits has a row of zeros. The first method is a tree search; the others compare every class with
every distinct record, and are limited to 2^26 such pairs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equivoc.data.classes import Classes
from equivoc.data.microdata import Microdata
from equivoc.intruder.beliefs.informed_linkage import informed_linkage
from equivoc.intruder.beliefs.matching import match_tables
from equivoc.intruder.beliefs.register import register_linkage
from equivoc.intruder.files.level_tables import level_bins, level_chances
from equivoc.intruder.files.released_symbols import Symbols
from equivoc.intruder.linkage.coded_file import CodedFile
from equivoc.intruder.linkage.key_linkage import linkage
from equivoc.intruder.linkage.linkage_walk import group

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
FITS = "fits"
FITS_WITH_N = "fits, with N"
SAME = 0.01
"""If no probability of the two results of EM differs by more than this, one of them is tried."""
MOST_PAIRS = 2**26
"""The most pairs of a class and a distinct released record, cells of the linkage, or cells of a key's table."""


@dataclass(frozen=True, eq=False)
class UnknownMechanism:
    """The released records as codes, and what their symbols may mean."""

    people: Microdata = field(repr=False)
    keys: Mapping[str, Symbols] = field(repr=False)
    groups: Ints = field(repr=False)
    """Of each record, the group of its confidential value."""
    width: int
    """How many such groups there are."""

    def methods(self, classes: Classes) -> tuple[str, ...]:
        """The methods to try, the simplest first; which ones depends only on the size of the files."""
        return (FITS,) if self.too_large(classes) else (FITS, FITS_WITH_N, *self.near)

    @property
    def near(self) -> tuple[str, ...]:
        """The methods by distance, the likelier first: two, or one if EM finds the same from both starts."""
        return tuple(self._by_distance)

    def too_large(self, classes: Classes) -> bool:
        """True if comparing every class with every record takes too much time or memory."""
        tables = [len(key.labels) * len(key.line.at) for key in self.keys.values()]
        pairs = len(classes) * self._distinct(classes.known)
        return max(pairs, len(classes) * self.width, *tables, 0) > MOST_PAIRS

    def linkage(self, method: str, classes: Classes) -> Any:
        """Classes × groups, by any method but "fits"; by distance also for other people than those of the file."""
        columns = [list(self.keys).index(name) for name in classes.known]
        if method == FITS_WITH_N:
            return informed_linkage(
                classes.key_codes, classes.sizes, self._by_chances, known=columns, may_fit_nothing=True
            ).linkage
        return linkage(self._own_codes(classes), self._by_distance[method], known=columns)

    def with_register(self, method: str, classes: Classes) -> Any:
        """Classes × groups: the weights by distance, scaled such that each record and each person counts once."""
        columns = [list(self.keys).index(name) for name in classes.known]
        released = self._by_distance[method]
        return register_linkage(classes.key_codes, classes.sizes, released, known=columns).linkage

    def _distinct(self, known: tuple[str, ...]) -> int:
        """How many distinct combinations of these keys were released."""
        columns = tuple(list(self.keys).index(name) for name in known)
        sizes = [len(key.labels) for key in self.keys.values()]
        return len(group(self._codes, columns, sizes).first)

    def _own_codes(self, classes: Classes) -> Ints:
        """The classes' codes among the levels of the people of the file.

        A number that is no level becomes the nearest one; a category that is none, one more level.
        """
        if classes.people is self.people:
            return classes.key_codes.astype(np.int64)
        codes = np.empty(classes.key_codes.shape, dtype=np.int64)
        for column, name in enumerate(classes.known):
            line = self.keys[name].line
            place = line.place(classes.people.decode(name, np.arange(len(classes.people.levels(name)))))
            above = np.minimum(np.searchsorted(line.at, place), len(line.at) - 1)
            below = np.maximum(above - 1, 0)
            with np.errstate(invalid="ignore"):  # null − null
                lower = np.abs(place - line.at[below]) < np.abs(line.at[above] - place)
            nearest = np.where(lower, below, above)
            if not line.numeric:
                nearest = np.where(line.at[nearest] == place, nearest, len(line.at))
            codes[:, column] = nearest[classes.key_codes[:, column]]
        return codes

    @cached_property
    def _codes(self) -> Ints:
        codes = np.empty((len(self.groups), len(self.keys)), dtype=np.int64)
        for column, key in enumerate(self.keys.values()):
            codes[:, column] = key.codes
        return codes

    @cached_property
    def _by_chances(self) -> CodedFile:
        """The file with P(true level | symbol) of each key."""
        chances = []
        for name, key in self.keys.items():
            people = np.bincount(self.people.key_codes(name), minlength=len(key.line.at)).astype(np.float64)
            chances.append(level_chances(key, people).T)
        return CodedFile(self._codes, chances, self.groups, self.width)

    @cached_property
    def _by_distance(self) -> dict[str, CodedFile]:
        """By method: the file with the weight of each level given a symbol, and of a category unknown to it."""
        everybody = self.people.classes(self.people.keys)
        found = match_tables(
            everybody.key_codes,
            everybody.sizes,
            self._codes,
            [level_bins(key) for key in self.keys.values()],
        )
        first, *others = found
        different = [first, *(each for each in others if np.abs(each.m - first.m).max(initial=0.0) > SAME)]
        return {
            f"near, {each.start:g}": CodedFile(
                self._codes,
                [np.vstack([table, table.min(axis=0)]) for table in each.weights],
                self.groups,
                self.width,
            )
            for each in different
        }
