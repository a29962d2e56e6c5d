"""A release's table and the original, coded alike, and their common classes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from equivoc.attributes.kinds import Categories, Kind, Number
from equivoc.attributes.numbers import Misfit, as_numbers
from equivoc.data.counting.cells import count_cells
from equivoc.data.microdata import Microdata, check_people
from equivoc.data.reading.columns import Column, Encoder, positions
from equivoc.data.reading.tables import open_table
from equivoc.errors import InputError
from equivoc.intruder.release import Release

if TYPE_CHECKING:
    import pyarrow as pa

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class ReleasedTable:
    """The released table of ``people``: keys and confidential column only."""

    people: Microdata
    frame: Any = field(repr=False)
    """The table itself."""
    columns: Mapping[str, Column] = field(repr=False)
    rows: int
    origins: Ints | None = field(repr=False)
    """The original record of each row; None if unknown."""

    def column(self, name: str) -> Column:
        """The named column; InputError if the release has none."""
        if name not in self.columns:
            raise InputError(f"the released table has no column {name!r}: leave it out of known.")
        return self.columns[name]


@dataclass(frozen=True, eq=False)
class Crossing:
    """The classes of both files over the same keys; each combination of values in either file is a class.

    Values agree if they are equal: a null agrees with a null, a range such as 20-29 with no single value.
    """

    original: Ints
    """How many records of the original each class has."""
    released: Ints
    """How many rows of the release each class has."""
    own: Ints
    """How many of these rows belong to people of the same class; all of them if the origins of the rows are
    unknown."""


def released_table(people: Microdata, release: Release) -> ReleasedTable:
    """Read a release's table of records; InputError if it released none."""
    table = table_if_any(people, release)
    if table is None:
        raise InputError("the release has no table of records, so there is nothing to compare.")
    return table


def table_if_any(people: Microdata, release: Release) -> ReleasedTable | None:
    """Read a release's table of records, or None if it has none; InputError if it was made from other people."""
    check_people("people", people)
    if not isinstance(release, Release):
        raise InputError(
            f"release is a {type(release).__name__}; make one with a technique: Sampling(0.1).release(people)."
        )
    if release.people is not people:
        raise InputError("the release was made from other people; give those that it was made from.")
    frame = None if release.tabulated else release.table
    if frame is None:
        return None
    table = open_table(frame)
    names = [name for name in (*people.keys, people.confidential) if name in table.names]
    encoders = {name: Encoder(name) for name in names}
    for batch in table.batches(names):
        for name, encoder in encoders.items():
            encoder.add(batch.column(name))
    columns = {name: encoder.column() for name, encoder in encoders.items()}
    rows = max((column.codes.size for column in columns.values()), default=0)
    if rows == 0:
        raise InputError(
            "the released table has no records of the people's columns, so there is nothing to compare."
        )
    return ReleasedTable(people, frame, columns, rows, release.origins)


def released_kind(table: ReleasedTable) -> Kind | None:
    """The domain of the released confidential values: the original's, and released values outside it.

    None if some are missing, or are not numbers although the original's are.
    """
    name = table.people.confidential
    column = table.columns.get(name)
    if column is None or column.levels.null_count:
        return None
    if not table.people.attribute.numeric:
        return Categories(name)
    try:
        found = as_numbers(column.levels, name=name)
    except InputError:  # for example dates
        return None
    return None if isinstance(found, Misfit) else Number(name, domain=np.union1d(table.people.values, found))


def crossing(table: ReleasedTable, known: Sequence[str]) -> Crossing:
    """Count the classes of the ``known`` keys in both files at once."""
    people = table.people
    records = len(people)
    kept = np.ones(table.rows, np.bool_)
    columns, radices = [], []
    for name in known:
        released = table.column(name)
        ours = people.decode(name, np.arange(len(people.levels(name))))
        place = _places(ours, released.levels)
        codes, theirs = people.key_codes(name), place[released.codes]
        if table.origins is not None:
            kept &= codes[table.origins] == theirs
        columns.append(np.concatenate([codes, theirs]))
        radices.append(max(len(ours), int(place.max()) + 1))
    # 0: a record of the original; 1: a row of someone who is elsewhere in the original; 2: a row of its own class.
    kind = np.concatenate([np.zeros(records, np.int64), 1 + kept])
    split = count_cells(columns, kind, radices=radices, span=3).split()
    counts = np.zeros((len(split.sizes), 3), np.int64)
    row = np.repeat(np.arange(len(split.sizes)), np.diff(split.starts))
    counts[row, split.values] = split.counts
    return Crossing(counts[:, 0], counts[:, 1] + counts[:, 2], counts[:, 2])


def _places(ours: pa.Array, theirs: pa.Array) -> Ints:
    """The position of each released level among the original's; new levels come last."""
    place = positions(*_comparable(theirs, ours))
    new = place < 0
    place[new] = len(ours) + np.arange(np.count_nonzero(new))
    return place


def _comparable(one: pa.Array, other: pa.Array) -> tuple[pa.Array, pa.Array]:
    """Levels of two columns in one type: numbers if both are numeric, unchanged if equal, else text."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if one.type == other.type:
        return one, other
    if all(pa.types.is_integer(a.type) or pa.types.is_floating(a.type) for a in (one, other)):
        return pc.cast(one, pa.float64(), safe=False), pc.cast(other, pa.float64(), safe=False)
    return _text(one), _text(other)


def _text(levels: pa.Array) -> pa.Array:
    import pyarrow as pa

    return pa.array([None if v is None else str(v) for v in levels.to_pylist()], pa.large_string())


def column_numbers(
    levels: pa.Array, codes: NDArray[np.integer[Any]], name: str
) -> NDArray[np.float64] | None:
    """A column's numbers, NaN for null; None if it holds anything else."""
    import pyarrow as pa

    kind = levels.type
    if not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)):
        return None
    found = as_numbers(levels.drop_null(), name=name)
    if isinstance(found, Misfit):
        return None
    every: NDArray[np.float64] = np.append(found, np.nan)[: len(levels)]
    return np.asarray(every[codes])
