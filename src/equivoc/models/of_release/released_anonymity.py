"""k, l and t of a released file by the keys that an intruder knows."""

from __future__ import annotations

from dataclasses import dataclass

from equivoc.data.microdata import Microdata
from equivoc.intruder.release import Release
from equivoc.models.known_classes import Known
from equivoc.models.of_file.anonymity import k_anonymity
from equivoc.models.of_file.closeness import t_closeness
from equivoc.models.of_file.diversity import l_diversity
from equivoc.models.of_release.released_table import crossing, released_kind, table_if_any


@dataclass(frozen=True)
class ReleasedAnonymity:
    """k, l and t of the released file; None where one does not apply, and why."""

    k: float | None
    """The size of the smallest class. Larger is safer."""
    l: float | None
    """The least number of different confidential values in a class. Larger is safer."""
    t: float | None
    """The largest distance of a class's values from everyone's, from 0 to 1. Smaller is safer."""
    why_not: str
    """Why some of them do not apply; "" if all do."""


def released_anonymity(people: Microdata, release: Release, *, known: Known = None) -> ReleasedAnonymity:
    """k, l (distinct) and t (ordered values: by rank; others: equal distances) of the released file.

    Classes are rows that agree on the ``known`` keys as they were released; a range, a star or a missing value is
    a value of its own. A known key that was not released does not tell rows apart.
    """
    table = table_if_any(people, release)
    if table is None:
        return ReleasedAnonymity(
            None, None, None, "the release has no file of records, so it has no k, l or t"
        )
    asked = people.keys if known is None else known
    keys = [key for key in asked if key in table.columns]
    kind = released_kind(table)
    if kind is None:
        sizes = crossing(table, keys).released
        name = people.confidential
        why = (
            f"the released file has no column {name!r}"
            if name not in table.columns
            else f"some released values of {name!r} are missing or are not single values"
        )
        return ReleasedAnonymity(float(sizes[sizes > 0].min()), None, None, f"{why}, so it has no l or t")
    released = Microdata(table.frame, confidential=kind, keys=keys)
    return ReleasedAnonymity(
        float(k_anonymity(released)), float(l_diversity(released)), t_closeness(released), ""
    )
