"""Local suppression: single values of keys are starred until every combination of keys occurs k times."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from equivoc.attributes.level_text import STAR, written
from equivoc.data.microdata import Microdata, check_people
from equivoc.errors import InputError
from equivoc.intruder.linkage.level_sets import check_room, equally_likely, groups_and_star
from equivoc.intruder.linked_release import LinkedRelease
from equivoc.intruder.released_column import ReleasedColumn, unchanged
from equivoc.techniques.generalisation.anonymity import check_enough, check_k, check_no_star
from equivoc.techniques.setting import Setting
from equivoc.techniques.suppression.star_patterns import starred_cells
from equivoc.techniques.technique import Randomness, Technique, knows_shares

MOST_KEYS = 12


@dataclass(frozen=True)
class Suppression(Technique):
    """Star values of keys such that every released combination, a star being a value of its own, occurs k times.

    Few values are starred; finding the minimum is NP-hard (Meyerson and Williams, PODS 2004). `star_patterns` describes
    the method. A file that is already k-anonymous is released unchanged. Nothing is random.

    A star is a null in the released table, or ``*`` in a key that has nulls of its own (the column is text then).

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"age": [20, 20, 31, 31], "sex": list("FFFM"), "pay": [10, 20, 30, 40]})
    >>> people = Microdata(frame, confidential="pay", keys=["age", "sex"])
    >>> release = Suppression(k=2).release(people)
    >>> release.keys["sex"].column.to_pylist(), release.suppressed
    (['F', 'F', None, None], 2)
    """

    name: ClassVar[str] = "suppression"
    settings: ClassVar = (
        Setting(
            "k",
            2,
            100,
            stronger="more",
            monotone=False,
            meaning="records that agree in all released keys",
            whole=True,
            unit="records",
        ),
    )
    k: int
    """How many records must agree in all released keys. More is safer."""

    def __post_init__(self) -> None:
        check_k(self.name, self.k)

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
