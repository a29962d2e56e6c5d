"""The rows that a table is made from: every record or, if an engine counted the people, each combination once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from equivoc.data.microdata import Microdata

Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class CodedRows:
    """Columns of codes, and how many people each row stands for."""

    people: Microdata
    times: Integers | None = field(default=None, repr=False)
    """How many people each row stands for; None: one each."""
    counted: Mapping[str, NDArray[np.int32]] = field(default_factory=dict, repr=False)
    """The codes of each column that was counted; empty if rows are records."""

    def __len__(self) -> int:
        return len(self.people) if self.times is None else self.times.size

    def codes(self, name: str) -> NDArray[np.int32]:
        """The position of each row's value among the column's levels."""
        if self.times is not None:
            return self.counted[name]
        return self.people.key_codes(name) if name in self.people.keys else self.people.of(name).codes

    def how_many(self, chosen: NDArray[np.bool_]) -> int:
        """How many people the chosen rows stand for."""
        return int(np.count_nonzero(chosen) if self.times is None else self.times[chosen].sum())


def rows_of(people: Microdata, columns: Sequence[str], *, records: bool) -> CodedRows:
    """Rows with these columns. ``records``: each row must be one record.

    An engine (a Parquet file, PostgreSQL, Spark) has counted the people by their keys and their confidential value;
    these counts are enough, unless there are survey weights or several confidential attributes.
    """
    if records or people.engine is None or people.weights is not None or len(people.attributes) > 1:
        return CodedRows(people)
    classes = people.classes([name for name in dict.fromkeys(columns) if name in people.keys])
    counts = classes.counts
    of_class = np.repeat(np.arange(len(classes)), np.diff(counts.indptr))
    counted: dict[str, NDArray[np.int32]] = {
        name: codes[of_class] for name, codes in zip(classes.known, classes.key_codes.T, strict=True)
    }
    counted[people.confidential] = counts.indices.astype(np.int32, copy=False)
    return CodedRows(people, counts.data.astype(np.int64), counted)
