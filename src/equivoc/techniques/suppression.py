"""Local suppression: single values of keys are starred until every combination of keys occurs k times."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from itertools import combinations
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from equivoc.attributes.level_text import STAR, written
from equivoc.data.microdata import Microdata, check_people
from equivoc.errors import InputError
from equivoc.intruder.prior import ReleasedColumn, unchanged
from equivoc.linkage.coded_file import check_room, equally_likely, groups_and_star
from equivoc.linkage.key_linkage import group
from equivoc.notation.declared import number
from equivoc.notation.ranges import Range
from equivoc.releases.linked_release import LinkedRelease
from equivoc.techniques.generalisation import check_enough, check_no_star
from equivoc.techniques.technique import Randomness, Technique, knows_shares

# A greedy choice of few key values to star (suppress) so that every combination occurs at least k times.
#
# Combinations that occur k times are not changed. For the others, sets T of keys to star are tried in order
# of size: people who agree on all keys outside T, and are k or more, are released with T starred. Among sets
# of one size, the one that covers most people comes first. If fewer than k people remain at the end, they are
# joined with one released group, and all values in which they and the group differ are starred; the group
# with the fewest new stars is chosen.
#
# Only distinct combinations and their counts are used, so the order of records has no effect.


def starred_cells(
    codes: NDArray[np.integer[Any]], sizes: NDArray[np.int64], levels: Sequence[int], *, k: int
) -> NDArray[np.bool_]:
    """Combinations × keys: True where a value is starred. ``codes`` are distinct combinations, ``sizes`` their counts
    (k or more in total).

    >>> starred_cells(np.array([[0, 0], [1, 0], [1, 1]]), np.array([2, 1, 1]), [2, 2], k=2)
    array([[False, False],
           [False,  True],
           [False,  True]])
    """
    stars = np.zeros(codes.shape, dtype=bool)
    small = np.flatnonzero(sizes < k)
    keys = range(codes.shape[1])
    for size in range(1, len(keys) + 1):
        small = _star_keys(list(combinations(keys, size)), small, stars, codes, sizes, levels, k)
    if len(small):
        _join_released(small, stars, codes, sizes, levels)
    return stars


def _star_keys(
    choices: list[tuple[int, ...]],
    small: NDArray[np.int64],
    stars: NDArray[np.bool_],
    codes: NDArray[np.integer[Any]],
    sizes: NDArray[np.int64],
    levels: Sequence[int],
    k: int,
) -> NDArray[np.int64]:
    """Star one set of keys after the other, the one that covers most people first; returns who is not yet covered."""
    # The number of people that a set covers can only fall as others are covered: an old count is an upper bound.
    waiting = [(-int(sizes[small].sum()), chosen) for chosen in choices] if len(small) else []
    heapify(waiting)
    while waiting:
        _, chosen = heappop(waiting)
        kept = tuple(key for key in range(codes.shape[1]) if key not in chosen)
        together = group(codes[small].astype(np.int64), kept, levels).class_of
        served = np.bincount(together, sizes[small])[together] >= k
        now = (-int(sizes[small[served]].sum()), chosen)
        if not now[0]:
            continue
        if waiting and waiting[0] < now:
            heappush(waiting, now)
            continue
        stars[small[served][:, None], chosen] = True
        small = small[~served]
    return small


def _join_released(
    left: NDArray[np.int64],
    stars: NDArray[np.bool_],
    codes: NDArray[np.integer[Any]],
    sizes: NDArray[np.int64],
    levels: Sequence[int],
) -> None:
    """Star all values in which the remaining people and one released group differ, in both."""
    star = np.array(levels)
    shown = np.where(stars, star, codes).astype(np.int64)
    common = np.where((codes[left] == codes[left[0]]).all(axis=0), codes[left[0]], star)
    released = np.setdiff1d(np.arange(len(codes)), left)
    groups = group(shown[released], tuple(range(len(levels))), [each + 1 for each in levels])
    of_group = shown[released[groups.first]]
    people = np.bincount(groups.class_of, sizes[released])
    after = (of_group == star) | (of_group != common)
    before = (of_group == star).sum(axis=1)
    cost = people * (after.sum(axis=1) - before) + sizes[left].sum() * after.sum(axis=1)
    chosen = int(np.argmin(cost))
    stars[np.concatenate([left, released[groups.class_of == chosen]])] = after[chosen]


MOST_KEYS = 12


@dataclass(frozen=True)
class Suppression(Technique):
    """Star values of keys such that every released combination, a star being a value of its own, occurs k times.

    Few values are starred; finding the minimum is NP-hard (Meyerson and Williams, PODS 2004). The method is described
    at the top of this file. A file that is already k-anonymous is released unchanged. Nothing is random.

    A star is a null in the released table, or ``*`` in a key that has nulls of its own (the column is text then).

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"age": [20, 20, 31, 31], "sex": list("FFFM"), "pay": [10, 20, 30, 40]})
    >>> people = Microdata(frame, confidential="pay", keys=["age", "sex"])
    >>> release = Suppression(k=2).release(people)
    >>> release.keys["sex"].column.to_pylist(), release.suppressed
    (['F', 'F', None, None], 2)
    """

    name: ClassVar[str] = "suppression"
    k: int = number(
        "records that agree in all released keys; more is safer",
        at_least=1,
        whole=True,
        tries=Range(2, 100, monotone=False, whole=True, unit="records"),
    )

    @property
    def random(self) -> bool:
        return False

    @property
    def whole_records(self) -> bool:
        return True

    def release(self, people: Microdata, rng: Randomness = None) -> SuppressedRecords:
        """Star the values; ``rng`` is not used."""
        check_people("people", people)
        check_enough(self.name, self.k, people)
        if len(people.keys) > MOST_KEYS:
            raise InputError(
                f"suppression: there are {len(people.keys)} keys and 2^{len(people.keys)} ways to star them; "
                f"give at most {MOST_KEYS}."
            )
        classes = people.classes(people.keys)
        levels = [len(people.levels(key)) for key in people.keys]
        stars = starred_cells(classes.key_codes, classes.sizes, levels, k=self.k)
        columns = {
            key: _column(people, key, stars[:, at][classes.of_record]) for at, key in enumerate(people.keys)
        }
        confidential = unchanged(people, people.confidential)
        return SuppressedRecords(people, columns, confidential, mechanism=self.mechanism(people))

    def mechanism(self, people: Microdata) -> str:
        shares = (
            f"{knows_shares(people, people.keys)[:-1]}, and so how often it was starred."
            if people.keys
            else ""
        )
        return (
            f"She knows that values of keys were starred until every combination occurred {self.k} times or more, and "
            f"that all other values are true.{shares}"
        )


@dataclass(frozen=True, eq=False)
class SuppressedRecords(LinkedRelease):
    """The file with some key values starred; for the intruder, a star may stand for any value."""

    @property
    def suppressed(self) -> int:
        """How many values are starred."""
        return sum(
            int((released.codes == len(self.people.levels(key))).sum()) for key, released in self.keys.items()
        )


def _column(people: Microdata, key: str, starred: NDArray[np.bool_]) -> ReleasedColumn:
    """The key with one symbol more than it has levels: the star."""
    import pyarrow as pa

    if not starred.any():
        return unchanged(people, key)
    levels = people.levels(key)
    check_room(key, symbols=len(levels) + 1, levels=len(levels))
    if levels[-1] is None:
        check_no_star("suppression", people, key)
        labels = pa.array([*map(written, levels), STAR], pa.large_string())
    else:
        labels = people.decode(key, np.array([*range(len(levels)), -1]))
    members = np.vstack([np.eye(len(levels), dtype=bool), np.ones(len(levels), dtype=bool)])
    codes = people.key_codes(key)
    likelihood = groups_and_star(np.arange(len(levels)), codes, starred)
    shown = np.where(starred, len(levels), codes)
    return ReleasedColumn(shown, labels, equally_likely(members), likelihood=likelihood)
