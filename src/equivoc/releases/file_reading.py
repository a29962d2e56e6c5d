"""A file of unknown origin, as its readers link it to people: by keys, with confidential values at face value.

Every technique's own table is read like this too, so that knowing how a file was made never makes an intruder weaker
than somebody who does not know it (`strengths.strongest`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from math import sqrt
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from equivoc.data.classes import Classes
from equivoc.data.microdata import Microdata
from equivoc.errors import InputError
from equivoc.intruder.posteriors import Posteriors
from equivoc.intruder.strengths import MOST_PEOPLE, Choice, InapplicableError, choose
from equivoc.linkage.coded_file import CodedFile
from equivoc.linkage.distance_weights import match_tables
from equivoc.linkage.informed_linkage import informed_linkage
from equivoc.linkage.key_linkage import group, linkage
from equivoc.linkage.register import register_linkage
from equivoc.releases.fixed_matching import FixedMatching, level_bins, level_chances
from equivoc.releases.released_columns import read_confidential
from equivoc.releases.symbol_reading import Symbols, read_symbols

if TYPE_CHECKING:
    from equivoc.data.columns import Column
    from equivoc.releases.released_columns import ReleasedConfidential

# Linkage to a file made in an unknown way: several methods, of which the least surprising is used.
#
# - "fits": the records that fit the known values, each with Π 1/|set|;
# - "fits, with N": the same, for someone who knows how many people have each level of a key, and the number N of
#   people like the target (`linkage.informed_linkage`);
# - "near, 0.6" and "near, 0.999": every record, by the distance of its keys (`linkage.distance_weights`), the two
#   results of EM.
#
# A class that no record fits has a row of zeros. The first method is a tree search; the others compare every
# class with every distinct record, and are limited to 2^26 such pairs.

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

    def methods(self, classes: Classes, most: int | None = None) -> tuple[str, ...]:
        """The methods to try, the simplest first; which ones depends only on the size of the files."""
        return (FITS,) if self.too_large(classes, most) else (FITS, FITS_WITH_N, *self.near)

    @property
    def near(self) -> tuple[str, ...]:
        """The methods by distance, the likelier first: two, or one if EM finds the same from both starts."""
        return tuple(self._by_distance)

    def too_large(self, classes: Classes, most: int | None = None) -> bool:
        """True if comparing every class with every record takes too much time or memory."""
        tables = [len(key.labels) * len(key.line.at) for key in self.keys.values()]
        pairs = len(classes) * self._distinct(classes.known)
        return max(pairs, len(classes) * self.width, *tables, 0) > (MOST_PAIRS if most is None else most)

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


OWN_PAIRS = 2**24
"""The most pairs of a class and a record of a technique's own table that are compared by distance, if nobody asks for
it: some seconds."""


@dataclass(frozen=True, eq=False)
class FileReading:
    """The columns of a released file, read against the people's levels and values."""

    people: Microdata = field(repr=False)
    keys: Mapping[str, Symbols] = field(repr=False)
    """Every key of the people, as released."""
    confidential: ReleasedConfidential = field(repr=False)

    @classmethod
    def of(cls, people: Microdata, columns: Mapping[str, Column]) -> Self:
        """The reading of these columns; InputError names a value that cannot be read."""
        keys = {}
        for name in people.keys:
            levels = people.decode(name, np.arange(len(people.levels(name))))
            column = columns[name]
            nulls = (
                int(np.count_nonzero(people.key_codes(name) == len(levels) - 1)) if levels.null_count else 0
            )
            most = most_nulls(nulls, records=len(people), released=len(column.codes))
            keys[name] = read_symbols(column, levels, name=name, role="key", most_nulls=most)
        confidential = read_confidential(columns[people.confidential], people.attribute)
        return cls(people, keys, confidential)

    def exact(self, classes: Classes, matching: str = "exact") -> Posteriors:
        """By one fixed kind of matching, values at face value, without a prior."""
        linkage = self.fixed.linkage(classes, matching)
        return Posteriors(classes, self.people.attribute, linkage, self.confidential.channel)

    def informed(self, classes: Classes, prior: Floats, *, most: int | None = None) -> Choice:
        """The methods of `UnknownMechanism`, and the one whose beliefs are closest to the truth."""
        tried = self.unknown.methods(classes, most) if classes.known else (FITS,)
        return choose(tried, partial(self._by, classes=classes, prior=prior), prior, {})

    def informed_of_others(self, classes: Classes, prior: Floats) -> Posteriors:
        """The informed intruder's posteriors for people who need not be in the file; she does not know their number."""
        chosen = self.informed(self.people.classes(list(classes.known)), prior).used.intruder
        return self._by(FITS if chosen == FITS_WITH_N else chosen, classes, prior)

    def register(self, classes: Classes, prior: Floats) -> Posteriors:
        """By the better of the two results of EM, scaled such that each record and each person counts once."""
        if not classes.known:
            raise InapplicableError("no key is known, so a register adds nothing")
        if self.unknown.too_large(classes):
            raise InapplicableError(f"there are more than {MOST_PAIRS:,} pairs of a class and a record")
        near = choose(self.unknown.near, partial(self._by, classes=classes, prior=prior), prior, {}).used
        try:
            linkage = self.unknown.with_register(near.intruder, classes)
        except InputError:
            raise InapplicableError("the weights of the records are too small to be compared") from None
        return Posteriors(classes, self.people.attribute, linkage, self.confidential.with_prior(prior))

    def strongest(self, classes: Classes, prior: Floats, *, most: int | None = None) -> Choice:
        """Of exact matching, the informed methods and a register, what comes closest to the truth."""
        large = self.unknown.too_large(classes, most) or not self._few_records
        ways = {
            "informed": lambda: self.informed(classes, prior, most=most).used.posteriors,
            **({} if large or not classes.known else {"register": lambda: self.register(classes, prior)}),
            "paper": lambda: self.exact(classes),
        }
        return choose(tuple(ways), lambda name: ways[name](), prior, {})

    def left_out(self, classes: Classes) -> dict[str, str]:
        """Why some intruders are not tried for these classes, by their name."""
        reasons = {"learned": "it is unknown how the file was made, so there is nothing to learn from"}
        if self.unknown.too_large(classes):
            limit = f"there are more than {MOST_PAIRS:,} pairs of a class and a record"
            reasons["register"] = limit
            reasons["matching by distance"] = f"{limit}; only records that fit exactly are used"
        elif not self._few_records:
            reasons["register"] = (
                f"a file has more than {MOST_PEOPLE:,} records; select this intruder to use it"
            )
        elif not classes.known:
            reasons["register"] = "no key is known, so a register adds nothing"
        return reasons

    @property
    def _few_records(self) -> bool:
        return max(len(self.people), len(self.confidential.codes)) <= MOST_PEOPLE

    def _by(self, method: str, classes: Classes, prior: Floats) -> Posteriors:
        """The posteriors by one method; a class that no record fits has the prior."""
        linkage = self.fixed.fitting(classes) if method == FITS else self.unknown.linkage(method, classes)
        linkage = self.fixed.or_last(linkage)
        return Posteriors(classes, self.people.attribute, linkage, self.confidential.with_prior(prior))

    @cached_property
    def fixed(self) -> FixedMatching:
        return FixedMatching(self.people, self.keys, self.confidential)

    @cached_property
    def unknown(self) -> UnknownMechanism:
        own = self.confidential
        return UnknownMechanism(self.people, self.keys, own.groups, int(own.channel.shape[0]))


def most_nulls(nulls: int, *, records: int, released: int) -> float:
    """The most nulls that a released key may have if none of its values was suppressed.

    The number expected from the original's share of nulls; in a file of another size (a sample, a synthetic file) plus
    four standard errors, but in a smaller file no more than the original has.

    >>> most_nulls(100, records=1000, released=1000), most_nulls(100, records=1000, released=250)
    (100.0, 45.0)
    >>> most_nulls(1, records=1000, released=500), round(most_nulls(100, records=1000, released=10_000))
    (1.0, 1126)
    """
    expected = nulls * released / records
    if released == records:
        return expected
    likely = expected + 4 * sqrt(expected)
    return min(likely, float(nulls)) if released < records else likely
