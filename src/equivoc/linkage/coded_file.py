"""A released file as codes, with the evidence that each released code gives about the true one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from numpy.typing import NDArray

from equivoc.errors import InputError

Codes = npt.NDArray[np.int64]
Matrix = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Unchanged:
    """The evidence of a key released unchanged: each released code is the true one."""

    levels: int
    """How many codes there are."""


@dataclass(frozen=True, eq=False)
class CodedFile:
    """Released codes of n records, and for every key the weight of each true code given a released one.

    >>> CodedFile([[0], [2], [2]], [Unchanged(3)], confidential=[1, 0, 1], confidential_size=2).domain_sizes
    (3,)
    """

    keys: Codes
    """Records × keys: the released code of every key."""
    evidence: Sequence[Matrix | Unchanged]
    """Per key, true codes × released codes: weights of 0 or more, such as P(true code | released code). The scale of
    a row does not matter."""
    confidential: Codes
    """The released confidential rank of every record."""
    confidential_size: int
    """How many confidential ranks can be released."""

    def __post_init__(self) -> None:
        keys = whole_numbers("The released keys", self.keys)
        confidential = whole_numbers("The released confidential ranks", self.confidential)
        object.__setattr__(self, "keys", keys)
        object.__setattr__(self, "confidential", confidential)
        object.__setattr__(self, "evidence", tuple(self.evidence))
        if keys.ndim != 2 or confidential.shape != keys.shape[:1]:
            raise InputError(
                "The released keys must be records × keys, with one confidential rank per record; "
                f"their shapes are {keys.shape} and {confidential.shape}."
            )
        if len(confidential) == 0:
            raise InputError("The released file has no records, so no one can be linked to it.")
        if len(self.evidence) != keys.shape[1]:
            raise InputError(
                f"{keys.shape[1]} keys need one evidence table each, not {len(self.evidence)} tables."
            )
        check_range("The released confidential ranks", confidential, self.confidential_size)
        for key, evidence in enumerate(self.evidence):
            if isinstance(evidence, Unchanged):
                check_range(f"The released codes of key {key}", keys[:, key], evidence.levels)
                continue
            if evidence.ndim != 2 or not (np.isfinite(evidence) & (evidence >= 0)).all():
                raise InputError(f"The evidence of key {key} must be a table of finite weights of 0 or more.")
            check_range(f"The released codes of key {key}", keys[:, key], evidence.shape[1])

    @property
    def domain_sizes(self) -> tuple[int, ...]:
        """Of each key, the number of true values."""
        return tuple(
            evidence.levels if isinstance(evidence, Unchanged) else evidence.shape[0]
            for evidence in self.evidence
        )


def whole_numbers(what: str, codes: npt.ArrayLike) -> Codes:
    """The codes as an array of 64-bit integers, or `InputError` if they are not whole numbers."""
    array = np.asarray(codes)
    if array.size and not np.issubdtype(array.dtype, np.integer):
        raise InputError(f"{what} must be whole-number codes, not {array.dtype}.")
    return array.astype(np.int64, copy=False)


def check_range(what: str, codes: Codes, size: int) -> None:
    """`InputError` unless all codes lie in 0 … size − 1."""
    if codes.size and not 0 <= codes.min() <= codes.max() < size:
        raise InputError(f"{what} must lie from 0 to {size - 1}; found {codes.min()} to {codes.max()}.")


# Released symbols that mean sets of levels: a range, a group, a star.
#
# The intruder knows the levels of each symbol, and takes them as equally likely a priori:
# ``P(true = v | symbol s) = [v ∈ s] / |s|``.

LARGEST_TABLE = 2**25
"""Symbols × levels of one key: a table of 256 MB."""


def check_room(key: str, *, symbols: int, levels: int) -> None:
    """InputError if the table of symbols × levels would be too large."""
    if symbols * levels > LARGEST_TABLE:
        raise InputError(
            f"key {key!r} has {levels:,} values, released as {symbols:,} different ones: too many "
            "combinations; round the key, or give it fewer values."
        )


def equally_likely(members: NDArray[np.bool_]) -> NDArray[np.float64]:
    """The channel of symbols with these ``members`` (symbols × levels).

    >>> equally_likely(np.array([[True, True, False], [False, False, True]]))
    array([[0.5, 0.5, 0. ],
           [0. , 0. , 1. ]])
    """
    return np.asarray(members / members.sum(axis=1, keepdims=True))


def groups_and_star(
    group_of: NDArray[np.integer], codes: NDArray[np.integer], starred: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """P(symbol | level) if levels are shown as groups, and some records as a star: (groups + 1) × levels.

    Up to a factor per symbol. The number of starred records of each group is known: how often its levels occur in the
    original, minus the records that show the group. ``group_of`` gives each level's group; ``codes`` each record's
    level; ``starred`` which records show the star, the last symbol.

    >>> groups_and_star(np.array([0, 0, 1]), np.array([0, 1, 1, 1, 2]), np.array([1, 0, 0, 0, 1]) > 0)
    array([[1.  , 1.  , 0.  ],
           [0.  , 0.  , 1.  ],
           [0.25, 0.25, 1.  ]])
    """
    groups = int(group_of.max()) + 1
    of_record = group_of[codes]
    shares = np.bincount(of_record, starred, groups) / np.maximum(np.bincount(of_record, minlength=groups), 1)
    members = np.arange(groups)[:, None] == group_of
    return np.vstack([members, shares[group_of]])
