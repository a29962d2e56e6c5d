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
from equivoc.data.missing_keys import MISSING_KEYS, OWN, missing_codes, sums_that_fit
from equivoc.errors import InputError
from equivoc.intruder.prior import ReleasedColumn, unchanged
from equivoc.linkage.coded_file import check_room, equally_likely, groups_and_star
from equivoc.linkage.key_linkage import group
from equivoc.notation.declared import choice, number
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


def fewest_stars(
    codes: NDArray[np.integer[Any]], missing: NDArray[np.bool_], sizes: NDArray[np.int64], *, k: int
) -> NDArray[np.bool_]:
    """As `starred_cells`, if a star and a ``missing`` value match any value: each record could be equal to k records.

    One combination after the other is starred, because each star makes others larger, too: by size of the set of keys,
    at each size the set that helps most people first, and the rarest combination first.

    >>> status = np.array([[0], [1], [2]])
    >>> fewest_stars(status, np.zeros((3, 1), bool), np.array([2, 2, 1]), k=3).T
    array([[False, False,  True]])
    """
    hidden = missing.copy()
    every = np.arange(len(codes))
    found = _fits_if(codes, hidden, sizes, every, ())
    for size in range(1, codes.shape[1] + 1):
        # The number of people that a set helps may change as others are starred; the order is that of the beginning.
        helped = {
            chosen: -int(sizes[small][_fits_if(codes, hidden, sizes, small, chosen) >= k].sum())
            for chosen in combinations(range(codes.shape[1]), size)
            if len(small := np.flatnonzero(found < k))
        }
        for chosen in sorted(helped, key=lambda each: (helped[each], each)):
            small = np.flatnonzero(found < k)
            enough = small[_fits_if(codes, hidden, sizes, small, chosen) >= k]
            for each in enough[np.argsort(sizes[enough], kind="stable")]:
                if found[each] < k:
                    before = _agree(codes, hidden, each)
                    hidden[each, list(chosen)] = True
                    new = _agree(codes, hidden, each) & ~before
                    found[new] += sizes[each]
                    found[each] += sizes[new].sum()
    return np.asarray(hidden & ~missing)


def _fits_if(
    codes: NDArray[np.integer[Any]],
    hidden: NDArray[np.bool_],
    sizes: NDArray[np.int64],
    rows: NDArray[np.int64],
    chosen: Sequence[int],
) -> NDArray[np.int64]:
    """How many people each of these rows would fit if its values of the ``chosen`` keys were hidden."""
    if not len(rows):
        return np.zeros(0, np.int64)
    then = hidden[rows]
    then[:, list(chosen)] = True
    both, stars = np.concatenate([codes[rows], codes]).astype(np.int64), np.concatenate([then, hidden])
    amounts = np.concatenate([np.zeros(len(rows), np.int64), sizes])
    found = sums_that_fit(list(zip(both.T, stars.T, strict=True)), [amounts], first=len(rows))
    if found is None:
        raise InputError(
            "suppression: there are too many combinations with stars to compare each with every other; use "
            "missing_keys=own, or fewer keys."
        )
    return np.rint(found[0]).astype(np.int64)


def _agree(
    codes: NDArray[np.integer[Any]], hidden: NDArray[np.bool_], row: np.integer[Any]
) -> NDArray[np.bool_]:
    """Which rows could be equal to this one."""
    return np.asarray((hidden | hidden[row] | (codes == codes[row])).all(axis=1))


MOST_KEYS = 12


@dataclass(frozen=True)
class Suppression(Technique):
    """Star values of keys such that every released combination, a star being a value of its own, occurs k times.

    With ``missing_keys="any"`` a star and a missing key match any value, as in sdcMicro: each record could be equal to
    k released records, itself included. That needs fewer stars, and protects less: the others' values are still shown.

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

    missing_keys: str = choice(
        "a star and a missing key are a value of their own, which is safer, or match any value",
        *MISSING_KEYS,
        default=OWN,
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
        if self.missing_keys == OWN:
            stars = starred_cells(classes.key_codes, classes.sizes, levels, k=self.k)
        else:
            stars = fewest_stars(classes.key_codes, missing_codes(classes), classes.sizes, k=self.k)
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
        until = (
            f"every combination occurred {self.k} times or more"
            if self.missing_keys == OWN
            else f"each record could be equal to {self.k} or more, a star or a missing value matching any value"
        )
        return f"She knows that values of keys were starred until {until}, and that all other values are true.{shares}"


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
