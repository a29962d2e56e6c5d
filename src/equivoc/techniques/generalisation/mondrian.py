"""Mondrian: split the people, key by key at the median, while every part keeps at least k of them.

Strict multidimensional partitioning of LeFevre, DeWitt and Ramakrishnan, *Mondrian Multidimensional K-Anonymity*
(ICDE 2006). A part is cut at the key whose levels in it span the largest share of all the key's levels (of equal keys,
the first), between the two neighbouring levels where the cut comes nearest to halving the part (of equal cuts, the
lower). If a side would be smaller than k, the next widest key is tried. A part that no key can cut is released, each
key as the range of levels that occur in it. Levels are in sort order, null last.

It works on the distinct combinations of levels and their counts, so equal records stay together and the order of
records has no effect. A cut visits every combination of its part: O(combinations · keys · depth).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from equivoc.attributes.level_text import written_range
from equivoc.data.microdata import Microdata
from equivoc.intruder.linkage.level_sets import check_room, equally_likely
from equivoc.intruder.released_column import ReleasedColumn, unchanged


def mondrian_columns(people: Microdata, k: int) -> dict[str, ReleasedColumn]:
    """Every key as released, in ranges that at least k people share in all keys together.

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"age": [20, 21, 35, 37], "pay": [1, 2, 3, 4]})
    >>> people = Microdata(frame, confidential="pay", keys=["age"])
    >>> mondrian_columns(people, 2)["age"].column.to_pylist()
    ['[20,21]', '[20,21]', '[35,37]', '[35,37]']
    """
    from equivoc.techniques.generalisation import mondrian_kernels

    classes = people.classes(people.keys)
    levels = np.array([len(people.levels(key)) for key in people.keys], dtype=np.int64)
    rows = np.array(classes.key_codes, dtype=np.int32, order="C")
    part_of = np.empty(len(rows), dtype=np.int64)
    lows, highs = np.empty((2, min(len(rows), len(people) // k), len(levels)), dtype=np.int64)
    parts = mondrian_kernels.mondrian(rows, classes.sizes.copy(), levels, k, part_of, lows, highs)
    part_of_record = part_of[classes.of_record]
    return {
        key: _column(people, key, lows[:parts, at], highs[:parts, at], part_of_record)
        for at, key in enumerate(people.keys)
    }


def _column(
    people: Microdata, key: str, low: NDArray[np.int64], high: NDArray[np.int64], part_of: NDArray[np.int64]
) -> ReleasedColumn:
    """The key of each record, shown as the range of its part."""
    import pyarrow as pa

    if np.array_equal(low, high):
        return unchanged(people, key)
    levels = people.levels(key)
    ranges, symbol = np.unique(low * len(levels) + high, return_inverse=True)
    check_room(key, symbols=len(ranges), levels=len(levels))
    from_level, to_level = (ends[:, None] for ends in np.divmod(ranges, len(levels)))
    place = np.arange(len(levels))
    labels = [written_range(levels, *divmod(each, len(levels))) for each in ranges.tolist()]
    told = equally_likely((place >= from_level) & (place <= to_level))
    return ReleasedColumn(symbol[part_of], pa.array(labels, pa.large_string()), told, likelihood=told)
