"""A release whose table and origins are given, and the plain records from which expected values are computed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import strategies as st

from equivoc.data.classes import Classes
from equivoc.data.microdata import Microdata
from equivoc.intruder.posteriors import Posteriors
from equivoc.releases.release import Release

KEYS = ("age", "sex")
Record = dict[str, Any]


@dataclass(frozen=True, eq=False)
class Given(Release):
    """Rows as given, made from the records numbered ``made_from`` (None: unknown)."""

    frame: Any
    made_from: tuple[int, ...] | None

    @property
    def table(self) -> Any:
        return self.frame

    @property
    def origins(self) -> Any:
        return None if self.made_from is None else np.array(self.made_from, np.int64)

    def of_classes(self, classes: Classes) -> Posteriors:
        return Posteriors(classes, self.people.attribute, classes.counts, None)


def microdata(records: list[Record]) -> Microdata:
    return Microdata(pa.Table.from_pylist(records), confidential="pay", keys=list(KEYS))


def given(people: Microdata, rows: list[Record], made_from: list[int] | None) -> Given:
    return Given(people, pa.Table.from_pylist(rows), None if made_from is None else tuple(made_from))


RECORD = st.fixed_dictionaries(
    {
        "age": st.sampled_from([20, 21, 25, 40, None]),
        "sex": st.sampled_from(["F", "M", None]),
        "pay": st.sampled_from([10, 20, 25, 70]),
    }
)


@st.composite
def files(draw: st.DrawFn) -> tuple[list[Record], list[Record], list[int]]:
    """An original, a release made from some of its records in any order (a few of them altered), and which."""
    records = draw(st.lists(RECORD, min_size=1, max_size=12))
    numbers = st.integers(0, len(records) - 1)
    made_from = draw(st.lists(numbers, min_size=1, max_size=12, unique=True))
    altered = draw(st.lists(st.one_of(st.none(), RECORD), min_size=len(made_from), max_size=len(made_from)))
    rows = [new or records[i] for new, i in zip(altered, made_from, strict=True)]
    return records, rows, made_from
