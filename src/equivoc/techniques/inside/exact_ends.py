"""Remarks on values of one or two people that a release shows exactly, although it changes whose they are."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from equivoc.checks import is_number
from equivoc.data.microdata import Microdata

FEW = 2
"""So few people can be found by whoever knows that somebody has the largest value."""


def exact_ends(people: Microdata, columns: Iterable[str], how: str) -> tuple[str, ...]:
    """A sentence for each end of a column's values that only one or two people have; ``how`` it is shown exactly.

    Columns without an order have no ends. Neither the value nor the number is told: remarks may be published.

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"pay": [10, 10, 10, 20, 20, 90]})
    >>> exact_ends(Microdata(frame, confidential="pay"), ["pay"], "it is shown")
    ('The largest value of pay is that of one or two people: it is shown.',)
    """
    return tuple(
        f"The {end} value of {name} is that of one or two people: {how}."
        for name in columns
        for end, few in _ends(people, name)
        if 1 <= few <= FEW
    )


def exact_limits(
    people: Microdata, columns: Iterable[str], low: float | None, high: float | None
) -> tuple[str, ...]:
    """A sentence for each limit that is the value of one or two people, or that leaves the end as it is."""
    found = []
    for name in columns:
        levels, counts = _counted(people, name)
        ends = dict(_ends(people, name))
        for limit, end, past in ((low, "smallest", np.less), (high, "largest", np.greater)):
            if limit is None:
                continue
            few = int(counts[levels == limit].sum())
            if 1 <= few <= FEW:
                found.append(
                    f"The limit {limit:g} is the value of {name} of one or two people, and is shown exactly: "
                    "choose one that is nobody's value."
                )
            elif 1 <= ends.get(end, 0) <= FEW and not past(levels[counts > 0], limit).any():
                found.append(
                    f"The {end} value of {name} is that of one or two people and is shown exactly: the limit "
                    f"{limit:g} changes nobody's."
                )
    return tuple(found)


def _ends(people: Microdata, name: str) -> Iterator[tuple[str, int]]:
    """Of how many people the smallest and the largest value are; 0 for an end of the domain that nobody has."""
    levels, counts = _counted(people, name)
    if len(levels) > 1:
        yield "smallest", int(counts[0])
        yield "largest", int(counts[-1])


def _counted(people: Microdata, name: str) -> tuple[Any, Any]:
    """The levels of a column with an order, ascending, and how many people have each; none for other columns."""
    if name == people.confidential:
        if not people.attribute.ordered:
            return np.empty(0), np.empty(0, dtype=np.int64)
        levels, codes = np.asarray(people.values), people.codes
    else:
        there = [level for level in people.levels(name) if level is not None]
        if not all(is_number(level) and math.isfinite(level) for level in there):
            return np.empty(0), np.empty(0, dtype=np.int64)
        levels, codes = np.asarray(there, dtype=np.float64), people.key_codes(name)
    return levels, np.bincount(codes, minlength=len(levels))[: len(levels)]
