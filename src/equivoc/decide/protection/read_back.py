"""The releases that a protected file holds, from the file and the people alone: what an intruder gets to see."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from equivoc.data.microdata import Microdata
from equivoc.data.reading.records import held_columns
from equivoc.data.reading.tables import open_table
from equivoc.data.roles import checked_roles
from equivoc.errors import InputError
from equivoc.intruder.files.stated_mechanism import NeverShownError, StatedMechanism
from equivoc.intruder.linked_release import LinkedRelease
from equivoc.intruder.release import Release
from equivoc.techniques.differential_privacy.noisy_table import NoisyTable
from equivoc.techniques.noise_addition import NoiseAddition
from equivoc.techniques.released_file import PATTERN_SEED, ReleasedFile
from equivoc.techniques.sampling import Sampling
from equivoc.techniques.technique import Technique
from equivoc.techniques.unprotected import Unprotected

if TYPE_CHECKING:
    import pyarrow as pa

Ints = NDArray[np.int64]


def read_back(people: Microdata, technique: Technique, table: pa.Table) -> dict[str, Release]:
    """The release of each confidential attribute; InputError if the technique cannot have made the file."""
    try:
        return {name: _release(people.of(name), technique, table) for name in people.attributes}
    except NeverShownError as mistake:
        raise InputError(mistake.fact) from None


def _release(people: Microdata, technique: Technique, table: pa.Table) -> Release:
    if isinstance(technique, NoisyTable):
        return _counts(people, technique, table)
    if isinstance(technique, (Sampling, Unprotected)):
        return _sample(people, technique, table)
    if isinstance(
        technique, NoiseAddition
    ):  # the intruder who knows the noise, whichever the technique was given
        technique = replace(technique, intruder=None)
    return ReleasedFile(table, channel=technique).release(people)


def _codes(people: Microdata, technique: Technique, table: pa.Table, *, count: str = "") -> tuple[Ints, Ints]:
    """Rows × columns with a role: the position of each value among those of the people; and the column of counts."""
    name = people.confidential
    shown = open_table(table)
    checked_roles(shown, confidential=[name], keys=people.keys, weights=None)
    if count and count not in shown.names:
        raise InputError(f"the file has no column {count!r}")
    columns, raws = held_columns(shown, [*people.keys, name], raw=[count] if count else [])
    found = StatedMechanism.of(technique.notation, LinkedRelease.changing(people, {}), columns).evidence
    rows = np.column_stack([*(found.keys[key].codes for key in people.keys), found.symbols])
    return rows.astype(np.int64), _whole_numbers(raws[count]) if count else np.empty(0, dtype=np.int64)


def _whole_numbers(column: pa.ChunkedArray) -> Ints:
    import pyarrow as pa

    try:
        found = column.cast(pa.int64())
    except pa.ArrowInvalid:
        raise InputError("a count in the file is not a whole number") from None
    if found.null_count:
        raise InputError("a count in the file is missing")
    return np.asarray(found.to_numpy(), dtype=np.int64)


def _sample(people: Microdata, technique: Sampling | Unprotected, table: pa.Table) -> Release:
    """The release in which each row is a record with the same values. It does not matter which one of several."""
    rows, _ = _codes(people, technique, table)
    records = np.column_stack([*(people.key_codes(key) for key in people.keys), people.codes])
    drawn = matching_records(rows, records.astype(np.int64))
    if isinstance(technique, Sampling):
        return technique.of_drawn(people, drawn)
    if len(drawn) < len(people):
        raise InputError(f"the file has {len(drawn):,} rows, and there are {len(people):,} people")
    return technique.release(people)


def matching_records(rows: Ints, records: Ints) -> Ints:
    """The numbers, ascending, of records that have the values of the rows, each used once; InputError if there are not
    enough of them.

    >>> matching_records(np.array([[2], [1], [2]]), np.array([[1], [2], [3], [2]])).tolist()
    [0, 1, 3]
    """
    _, numbers = np.unique(np.vstack([records, rows]), axis=0, return_inverse=True)
    of_record, of_row = np.split(numbers.reshape(-1), [len(records)])
    of_row = np.sort(of_row)
    repeated = np.arange(len(of_row)) - np.searchsorted(of_row, of_row)
    order = np.argsort(of_record, kind="stable")
    place = np.searchsorted(of_record[order], of_row) + repeated
    found = order[np.minimum(place, len(records) - 1)]
    lacking = (place >= len(records)) | (of_record[found] != of_row)
    if lacking.any():
        raise InputError(f"{int(lacking.sum()):,} rows of the file are records of nobody")
    return np.asarray(np.sort(found), dtype=np.int64)


def _counts(people: Microdata, technique: NoisyTable, table: pa.Table) -> Release:
    """The noisy counts, each in its cell."""
    pattern = technique.release(people, PATTERN_SEED)
    shape = pattern.counts.shape
    taken = (*people.keys, people.confidential)
    rows, counted = _codes(people, technique, table, count="count" if "count" not in taken else "count_")
    cells = np.ravel_multi_index(tuple(rows.T), shape)
    if len(cells) != pattern.counts.size or len(np.unique(cells)) < len(cells):
        raise InputError(f"the file does not have each of the {pattern.counts.size:,} cells once")
    counts = np.zeros(pattern.counts.size, dtype=np.int64)
    counts[cells] = counted
    return replace(pattern, counts=counts.reshape(shape))
