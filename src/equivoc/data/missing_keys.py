"""Missing keys, counted as a value of their own or as any value: how many records each could be equal to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equivoc.checks import check_choice
from equivoc.data.classes import Classes
from equivoc.data.lattice import row_codes, row_groups
from equivoc.errors import InputError

OWN, ANY_VALUE = "own", "any"
MISSING_KEYS = (OWN, ANY_VALUE)
"""A missing key is a value of its own; or it matches any value, as sdcMicro counts it."""
MOST_WORK = 200_000_000
"""Comparisons of a class with a pattern of missing keys."""

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Matches:
    """For each class, how many records could be equal to one of its own, itself included."""

    sizes: Ints = field(repr=False)
    weights: Floats | None = field(repr=False)
    """The sum of these records' survey weights; None without weights."""


def matches(classes: Classes, missing_keys: str = OWN) -> Matches:
    """The records with equal known keys, a missing key being a value of its own ("own") or any value ("any").

    >>> import pandas as pd
    >>> from equivoc.data.microdata import Microdata
    >>> people = Microdata(pd.DataFrame({"age": [20, 20, 31, None], "sex": list("FFFF")}), keys=["age", "sex"])
    >>> matches(people.classes(["age", "sex"]), "any").sizes
    array([3, 2, 4])
    """
    check_choice("missing_keys", missing_keys, MISSING_KEYS)
    if missing_keys == OWN or not has_missing(classes):
        return Matches(classes.sizes, classes.weights)
    missing = missing_codes(classes)
    columns = list(zip(classes.key_codes.T.astype(np.int64), missing.T, strict=True))
    amounts = [classes.sizes, *([] if classes.weights is None else [classes.weights])]
    found = sums_that_fit(columns, amounts)
    if found is None:
        raise InputError(
            "the keys have too many patterns of missing values to compare every class with every other: use "
            'missing_keys="own", or fewer keys.'
        )
    return Matches(found[0].astype(np.int64), None if classes.weights is None else found[1])


def has_missing(classes: Classes) -> bool:
    """True if a known key is missing for somebody."""
    return any(classes.people.key_values(name).null_count for name in classes.known)


def missing_codes(classes: Classes) -> Bools:
    """Classes × known keys: True where the key is missing. A null is a key's last level."""
    last = [
        len(levels) - 1 if levels[-1] is None else -1 for levels in map(classes.people.levels, classes.known)
    ]
    return np.asarray(classes.key_codes == np.array(last, np.int64).reshape(1, -1))


def sums_that_fit(
    columns: Sequence[tuple[Ints, Bools]], amounts: Sequence[NDArray[Any]], *, first: int | None = None
) -> list[Floats] | None:
    """For each row, the sums of ``amounts`` over the rows that agree with it wherever neither is missing, itself
    included; None if that needs too many comparisons. ``first``: only the sums of so many rows, the first ones.

    Each column is a code per row and whether it is missing. Rows with the same pattern of missing values are compared
    by the columns in which neither they nor the others have one.
    """
    rows = len(amounts[0])
    asked = rows if first is None else first
    patterns = row_groups([(missing.astype(np.int64), 2) for _, missing in columns], rows)
    # What stands under a missing value does not count.
    coded = [(np.where(missing, 0, codes + 1), int(codes.max()) + 2) for codes, missing in columns]
    groups = row_groups(coded, rows)
    if len(patterns.first) * len(groups.first) * len(columns) > MOST_WORK:
        return None
    totals = [np.bincount(groups.of, amount.astype(np.float64)) for amount in amounts]
    values = [codes[groups.first] for codes, _ in coded]
    pattern = patterns.of[groups.first]
    found = [np.zeros(len(groups.first)) for _ in amounts]
    of_pattern = [np.flatnonzero(pattern == number) for number in range(len(patterns.first))]
    wanted = np.zeros(len(groups.first), np.bool_)
    wanted[groups.of[:asked]] = True
    for own in (each[wanted[each]] for each in of_pattern):
        for other in of_pattern if len(own) else ():
            shared = [value for value in values if value[own[0]] and value[other[0]]]
            both = np.concatenate([own, other])
            codes, _ = row_codes([(value[both], int(value.max()) + 1) for value in shared], len(both))
            distinct, place = np.unique(codes, return_inverse=True)
            place = place.reshape(-1)
            for sums, total in zip(found, totals, strict=True):
                of_others = np.bincount(place[len(own) :], total[other], len(distinct))
                sums[own] += of_others[place[: len(own)]]
    return [sums[groups.of[:asked]] for sums in found]
