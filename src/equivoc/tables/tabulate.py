"""Tables of totals or counts from people, with margins and subtotals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equivoc.attributes.hierarchy import Rule
from equivoc.checks import checked_whole_number
from equivoc.data.hierarchies import Hierarchies
from equivoc.data.microdata import Microdata, check_people
from equivoc.errors import InputError, did_you_mean
from equivoc.systems.grids import decimal_places
from equivoc.tables.cell_table import OWN_COLUMNS, CellTable, Counted, dimension_of
from equivoc.tables.contributions import (
    Contributions,
    Entries,
    of_holdings,
    of_people,
    sole_holdings,
    summed_up,
)

# The rows that a table is made from: every record or, if an engine counted the people, each combination once.

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


Floats = NDArray[np.float64]

MOST_KEYS = 4
MOST_CELLS = 2_000_000
"""The most cells that a table may have, margins included."""
MOST_NUMBERS = 20_000_000
"""The most contributions that are kept, over all cells."""
LARGEST_TOTAL = 1e300
"""Rules, bounds and costs multiply and add up totals; above this they could exceed what a number can hold."""
YES = ("true", "t", "yes", "y", "1")
NO = ("false", "f", "no", "n", "0", "")


def tabulate(
    people: Microdata,
    by: Sequence[str],
    value: str | None = None,
    *,
    hierarchies: Any = None,
    contributors: str | None = None,
    waiver: str | None = None,
    weighted: bool = True,
    largest: int = 5,
) -> CellTable:
    """The table of people by one to four columns: totals of ``value``, or counts, with all margins.

    ``by``: keys, or confidential columns. ``value``: a confidential number, or a key that holds numbers; None counts
    people. ``hierarchies`` add subtotals (a mapping, a folder or text, see `Hierarchies`). ``contributors`` names a key
    whose value is the contributor's holding: what members of one holding contribute to a cell is one contribution;
    a record without a value stands for itself. ``waiver`` names a key that says who agreed to be published (yes, true
    or 1). Survey weights of the people, if there are any, weigh the totals and the counts, unless ``weighted`` is
    False; contributions are never weighted, and people of weight 0 are no contributors. Each cell keeps its
    ``largest`` contributions, by absolute size: (n, k)-dominance needs n of them.

    A missing category is a category of its own, ``(missing)``.

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"sex": ["F", "F", "M"], "pay": [5, 2, 4]})
    >>> tabulate(Microdata(frame, confidential="pay", keys=["sex"]), ["sex"], "pay").frame
       sex  value  people  largest  second
    0  NaN   11.0       3      5.0     4.0
    1    F    7.0       2      5.0     2.0
    2    M    4.0       1      4.0     NaN
    """
    check_people("people", people)
    names = _checked_by(people, by)
    keep = max(2, checked_whole_number("largest", largest, at_least=1))
    trees = trees_of(hierarchies, names)
    columns = [_levels(people, name) for name in names]
    _check_size([len(levels) for levels in columns], names)
    found = [dimension_of(name, levels, trees.get(name)) for name, levels in zip(names, columns, strict=True)]
    dimensions = tuple(dimension for dimension, _ in found)
    shape = [len(dimension) for dimension in dimensions]
    _check_size([size - 1 for size in shape], names)
    if prod(shape) * keep > MOST_NUMBERS:
        raise InputError(
            f"largest is {largest}, and the table has {prod(shape):,} cells: keep fewer contributions of each cell."
        )
    used = [*names, *_checked_value(people, value), *([] if waiver is None else [waiver])]
    if waiver is not None:
        _check_role(people, "waiver", waiver)
    rows = rows_of(people, used, records=contributors is not None)
    cells = np.zeros(len(rows), dtype=np.int64)
    for name, (_, nodes), size in zip(names, found, shape, strict=True):
        cells = cells * size + nodes[rows.codes(name)]
    amounts = np.ones(len(rows)) if value is None else _amounts(rows, value)
    # In units of the last decimal place, sums are exact: no total differs from its parts by a rounding error.
    places = decimal_places(np.unique(amounts), headroom=float(len(people)))
    factor = 1.0 if places is None else 10.0**places
    amounts = amounts if places is None else np.rint(amounts * factor)
    weights = people.weights if weighted else None
    agreed = np.zeros(len(rows), bool) if waiver is None else _agreed(rows, waiver)
    taken = slice(None) if weights is None else weights > 0
    entries = Entries(cells, amounts, agreed).of(taken)
    holdings = None if contributors is None else _holdings(people, contributors)
    times = rows.times if weights is None else weights
    with np.errstate(over="ignore", invalid="ignore"):
        totals = summed_up(amounts if times is None else times * amounts, cells, dimensions) / factor
        contributed: Contributions = (
            of_people(entries, dimensions, keep=keep, times=rows.times)
            if holdings is None
            else of_holdings(entries, holdings[taken], dimensions, keep=keep)
        )
    check_size(totals, value)
    check_size(contributed.contributions, value)
    return CellTable(
        dimensions,
        value,
        totals,
        contributed.people,
        contributed.top / factor,
        contributed.contributions / factor,
        contributed.waived,
        source=people,
        unwaived=None if waiver is None else contributed.unwaived / factor,
        sole=None if holdings is None else sole_holdings(entries, holdings[taken], dimensions),
        counted=None if value is not None else _counted(contributors, holdings, weights),
    )


def check_size(totals: Floats, value: str | None) -> None:
    """InputError if a total is too large to compute with."""
    if not (np.abs(totals) <= LARGEST_TOTAL).all():
        raise InputError(
            f"a total of {value!r} is too large to compute with, above 1e300: use a larger unit."
        )


def _checked_by(people: Microdata, by: Sequence[str]) -> tuple[str, ...]:
    names = checked_columns(by)
    for name in names:
        if name not in people.keys and name not in people.attributes:
            raise InputError(
                f"{name!r} in by is not a key{did_you_mean(name, [*people.keys, *people.attributes])}"
            )
    return names


def checked_columns(by: Sequence[str]) -> tuple[str, ...]:
    """The columns that a table is by; InputError unless they are one to four different names."""
    if isinstance(by, str) or not isinstance(by, Sequence):
        raise InputError(f"by is {by!r}; give a list of one to {MOST_KEYS} columns.")
    names = tuple(by)
    if not 1 <= len(names) <= MOST_KEYS:
        raise InputError(f"by has {len(names)} columns; give one to {MOST_KEYS}.")
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"by has the column {name!r} twice: name it once.")
        if name in OWN_COLUMNS:
            raise InputError(
                f"by has the column {name!r}, which is a column of the table itself: rename the key."
            )
    return names


def trees_of(hierarchies: Any, names: Sequence[str]) -> dict[str, Rule]:
    """The hierarchy of each key that has one; InputError if one is for another column."""
    if hierarchies is None:
        return {}
    given = Hierarchies.of(hierarchies)
    rules = dict(given.by_key)
    strangers = [key for key in rules if key not in names]
    if strangers and (not given.folder or len(strangers) == len(rules)):
        raise InputError(
            f"there is a hierarchy for {strangers[0]!r}, which is not in by{did_you_mean(strangers[0], names)}"
        )
    return rules


def _levels(people: Microdata, name: str) -> tuple[Any, ...]:
    """The categories of a column."""
    if name in people.keys:
        return people.levels(name)
    return tuple(people.of(name).attribute.labels.to_pylist())


def _check_size(categories: Sequence[int], names: Sequence[str]) -> None:
    size = prod(count + 1 for count in categories)
    if size > MOST_CELLS:
        counts = ", ".join(f"{name} has {count:,}" for name, count in zip(names, categories, strict=True))
        raise InputError(
            f"the table would have {size:,} cells, more than {MOST_CELLS:,} ({counts} categories): use fewer or "
            "coarser keys."
        )


def _checked_value(people: Microdata, value: str | None) -> list[str]:
    """The column to add up, if there is one; InputError if there is no such column."""
    if value is None:
        return []
    if not isinstance(value, str):
        raise InputError(f"value is {value!r}; give the name of a column, or None for counts.")
    if value not in people.attributes and value not in people.keys:
        raise InputError(
            f"value is {value!r}, which is neither confidential nor a key"
            f"{did_you_mean(value, [*people.attributes, *people.keys])}"
        )
    return [value]


def _amounts(rows: CodedRows, value: str) -> Floats:
    """What a person of each row contributes."""
    people = rows.people
    if value in people.attributes:
        alone = people.of(value)
        if not alone.attribute.numeric:
            raise InputError(
                f"value is {value!r}, which holds categories, not numbers; give a column of numbers, or leave it "
                "out to count people."
            )
        return np.asarray(alone.values, dtype=np.float64)[rows.codes(value)]
    levels, codes = people.levels(value), rows.codes(value)
    for level in levels:
        if level is None:
            missing = rows.how_many(codes == len(levels) - 1)
            raise InputError(
                f"the column {value!r} is missing in {missing:,} records, so it has no total: fill it in."
            )
        if (
            isinstance(level, bool)
            or not isinstance(level, (int, float, Decimal))
            or not np.isfinite(float(level))
        ):
            raise InputError(
                f"the column {value!r} holds {level!r}, which is not a number, so it has no total."
            )
    return np.array([float(level) for level in levels])[codes]


def _holdings(people: Microdata, name: str) -> Integers:
    """The number of each record's holding; a record without one has a number of its own."""
    _check_role(people, "contributors", name)
    levels, codes = people.levels(name), people.key_codes(name)
    holdings = codes.astype(np.int64)
    if levels and levels[-1] is None:
        alone = codes == len(levels) - 1
        holdings[alone] = len(levels) + np.flatnonzero(alone)
    return holdings


def _counted(contributors: str | None, holdings: Integers | None, weights: Floats | None) -> Counted:
    """What one contributor adds to a table of counts."""
    each = np.ones(1) if weights is None else weights
    whole = bool(np.array_equal(each, np.rint(each)))
    if holdings is not None:
        each = np.bincount(holdings, weights).astype(np.float64)
    return Counted(contributors, float(np.max(each, initial=0.0)), weights is not None, whole)


def _agreed(rows: CodedRows, name: str) -> NDArray[np.bool_]:
    """True for each row whose waiver is yes."""
    said = []
    for level in rows.people.levels(name):
        text = "" if level is None else str(level).strip().casefold().removesuffix(".0")
        if text not in (*YES, *NO):
            raise InputError(
                f"the waiver column {name!r} holds {level!r}; it must hold yes or no, true or false, 1 or 0."
            )
        said.append(text in YES)
    return np.array(said)[rows.codes(name)]


def _check_role(people: Microdata, role: str, name: str) -> None:
    if name not in people.keys:
        raise InputError(f"{role} is {name!r}, which is not a key{did_you_mean(name, people.keys)}")
