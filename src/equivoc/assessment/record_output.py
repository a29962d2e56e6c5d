"""Figures of every record of people in a cluster: written there, because the records stay there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from equivoc.assessment.truth import members
from equivoc.engines.measuring import MeasuringEngine
from equivoc.errors import InputError
from equivoc.number_format import exact

if TYPE_CHECKING:
    import pyarrow as pa

    from equivoc.assessment.assessment import Assessment


def write_records_of(result: Assessment, folder: str, *, beside: Sequence[str]) -> None:
    """Have the engine write the figures of every record; InputError if it cannot, or if the data have changed."""
    people = result.people
    engine = people.engine
    if not isinstance(engine, MeasuringEngine):
        raise InputError(
            "write_records is for people in a Spark cluster; here, write result.records with the frame's own method."
        )
    if isinstance(beside, str):
        raise InputError(f"beside must be a list of columns, such as [{beside!r}]")
    on = [*result.known, people.confidential]
    count = engine.write_records(_by_value(result), on=on, beside=list(beside), folder=folder)
    if count != len(people):
        raise InputError(
            f"{folder} has {count:,} records, but {len(people):,} were counted: the data have changed since; delete "
            "the folder, and read the people again."
        )


def _by_value(result: Assessment) -> pa.Table:
    """A row for each class and each value of the confidential column in it: the values, then the figures."""
    import pyarrow as pa

    people, classes = result.people, result.posteriors.classes
    counts, row = members(classes)
    levels, places = people.source_values
    # Rounding may have given several values of the column the same place.
    order = np.argsort(places, kind="stable")
    bounds = np.searchsorted(places[order], np.arange(len(people.attribute) + 1))
    many = np.diff(bounds)[counts.indices]
    entry = np.repeat(np.arange(len(row)), many)
    nth = np.arange(len(entry)) - np.repeat(np.cumsum(many) - many, many)
    level = order[bounds[counts.indices][entry] + nth]
    columns: dict[str, Any] = {}
    for name, codes in zip(result.known, classes.key_codes.T, strict=True):
        columns[name] = people.decode(name, codes[row[entry]])
    arrays = [*columns.values(), levels.take(pa.array(level))]
    names = [*columns, people.confidential]
    for name, column in {"class": np.arange(len(classes)), **result.class_columns()}.items():
        arrays.append(pa.array(column[row[entry]]))
        names.append(name)
    for e, shares in result.figures.right.items():
        arrays.append(pa.array(shares[entry]))
        names.append(f"true_hit_{exact(e)}")
    for e, bits in {0.0: result.truth.overall.surprises, **result.truth.bits}.items():
        arrays.append(pa.array(bits[entry]))
        names.append(f"surprise_{exact(e)}")
    return pa.Table.from_arrays(arrays, names=names)
