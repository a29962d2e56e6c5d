"""A release's table and the original, coded alike, and their common classes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from equivoc.attributes.dates import DateScale, as_dates
from equivoc.attributes.kinds import Categories, Kind, Number
from equivoc.attributes.numbers import Misfit, as_numbers
from equivoc.data.cells import count_cells
from equivoc.data.columns import Column, Encoder, positions
from equivoc.data.microdata import Microdata, check_people
from equivoc.data.missing_keys import sums_that_fit
from equivoc.data.tables import open_table
from equivoc.errors import InputError
from equivoc.models.of_file.anonymity import k_anonymity, l_diversity, t_closeness
from equivoc.models.of_file.measure import Known, Measure
from equivoc.releases.release import Release
from equivoc.releases.symbol_reading import EVERYWHERE, Symbols, read_symbols
from equivoc.text import figure, listed, part

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
    dates = table.people.attribute.dates
    if dates is not None:
        dated = as_dates(column.levels)
        original = None if dated is None else as_dates(dates.written(table.people.values), dated.scale)
        if dated is None or original is None:
            return None
        return Number(name, domain=np.union1d(original.numbers, dated.numbers))
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


def holds_dates(people: Microdata, name: str) -> bool:
    """True for a confidential column of dates, which are numbers."""
    return name == people.confidential and people.attribute.dates is not None


def column_numbers(
    levels: pa.Array, codes: NDArray[np.integer[Any]], name: str, *, dates: bool = False
) -> NDArray[np.float64] | None:
    """A column's numbers, NaN for null; None if it holds anything else. ``dates`` are numbers of days."""
    import pyarrow as pa

    kind = levels.type
    dated = as_dates(levels.drop_null(), DateScale("days")) if dates else None
    if dated is not None:
        return np.asarray(np.append(dated.numbers, np.nan)[: len(levels)][codes])
    if not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)):
        return None
    found = as_numbers(levels.drop_null(), name=name)
    if isinstance(found, Misfit):
        return None
    every: NDArray[np.float64] = np.append(found, np.nan)[: len(levels)]
    return np.asarray(every[codes])


# k, l and t of a released file by the keys that an intruder knows.


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


# A released file with stars, counted as if a star meant any value: how many records each one can be mistaken
# for.

ANY = ", a star is any value"
"""At the end of the names of these measures."""


def records_that_fit(columns: Sequence[tuple[Ints, NDArray[np.bool_]]]) -> Ints | None:
    """How many records agree with each wherever neither has a star, itself included; None if that is too much work.

    Each column is a code per record and whether it is a star.

    >>> age, sex = np.array([20, 20, 30, 0, 0]), np.array([1, 1, 2, 2, 0])
    >>> records_that_fit([(age, age == 0), (sex, sex == 0)]).tolist()
    [3, 3, 3, 3, 5]
    """
    found = sums_that_fit(columns, [np.ones(len(columns[0][0]))])
    return None if found is None else found[0].astype(np.int64)


def star_measures(table: ReleasedTable, release: Release, known: Sequence[str]) -> list[Measure]:
    """k and prosecutor risk where a star means any value; none if no known key has a star."""
    columns = []
    for name in known:
        column = table.column(name)
        people = table.people
        levels = people.key_values(name)
        nulls = int(np.count_nonzero(people.key_codes(name) == len(levels) - 1)) if levels.null_count else 0
        most_nulls = np.inf if _nulls_are_a_value(release, name) else float(nulls)
        try:
            symbols = read_symbols(column, levels, name=name, role="key", most_nulls=most_nulls)
        except InputError:
            return []  # values that cannot be read as keys: nothing is known to be a star
        columns.append((symbols.codes, _stars(symbols)[symbols.codes]))
    if not any(star.any() for _, star in columns):
        return []
    found = records_that_fit(columns)
    starred = int(np.count_nonzero(np.any([star for _, star in columns], axis=0)))
    remark = Measure(
        "records with a star",
        float(starred),
        f"{part(starred, table.rows)} have a star in {listed(known)}. In the measures of the released file a star is a "
        "value of its own, in those whose name says so any value"
        f"{'' if found is not None else '; these are left out: there are too many patterns of stars'}.",
    )
    if found is None:
        return [remark]
    alone, least = int(np.count_nonzero(found == 1)), int(found.min())
    on, meaning = listed(known), "if a star can stand for any value"
    return [
        Measure(
            f"k-anonymity{ANY}",
            float(least),
            f"Every released record fits at least {least - 1:,} other{'s' * (least != 2)} on {on}, {meaning}; "
            f"{part(alone, table.rows)} fit no other; more is safer.",
        ),
        Measure(
            f"prosecutor risk, highest{ANY}",
            1 / least,
            f"She finds the right record with probability {figure(1 / least)} at worst, {meaning}; less is safer.",
        ),
        Measure(
            f"prosecutor risk, average{ANY}",
            float(np.mean(1 / found)),
            f"She finds the right record of a random person with probability {figure(float(np.mean(1 / found)))}, "
            f"{meaning}; less is safer.",
        ),
        remark,
    ]


def _nulls_are_a_value(release: Release, name: str) -> bool:
    """True if the release is known to write null for the original's null only: noise can make more of them."""
    if release.evidence is None:
        return False
    shown = release.evidence.keys[name].labels.null_count
    return bool(0 < shown <= release.people.key_values(name).null_count)


def _stars(symbols: Symbols) -> NDArray[np.bool_]:
    """Which symbols stand for every value."""
    first = symbols.starts[:-1]
    return np.asarray((symbols.lows[first] == EVERYWHERE[0]) & (symbols.highs[first] == EVERYWHERE[1]))
