"""Checks the roles of the columns (confidential, keys, weights) against the table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from equivoc.attributes import numbers
from equivoc.attributes.attribute import Attribute
from equivoc.attributes.kinds import Bare, Kind
from equivoc.attributes.written_values import NUMBER
from equivoc.data.columns import fixed
from equivoc.data.records import Records, open_records
from equivoc.data.tables import Table
from equivoc.errors import InputError, did_you_mean
from equivoc.reading.reading import GUESS, Reading, TwoReadingsError
from equivoc.text import listed

if TYPE_CHECKING:
    import pyarrow as pa

# The most row numbers in a message; "…" follows.
_NAMED_ROWS = 5
_MOST_WORDS = 3
_LONGEST_VALUE = 60


def checked_roles(
    table: Table,
    *,
    confidential: Sequence[str],
    keys: Iterable[str],
    weights: str | None,
    group: str | None = None,
) -> tuple[str, ...]:
    if isinstance(keys, str):
        raise InputError(f"keys must be a list of column names, such as [{keys!r}]")
    if not isinstance(keys, Iterable):
        raise InputError(f"keys must be a list of column names, not {keys!r}: give [] for no keys")
    chosen = tuple(keys)
    names = table.names
    # Several columns without a name are allowed: they have no role.
    repeated = sorted({str(name) for name in names if names.count(name) > 1 and name != ""})
    if repeated:
        raise InputError(f"the table has more than one column named {repeated[0]!r}: rename all but one")
    roles = [
        *(("the confidential column", name) for name in confidential),
        *(("the key", key) for key in chosen),
    ]
    if weights is not None:
        roles.append(("the weights column", weights))
    if group is not None:
        roles.append(("the group column", group))
    for role, name in roles:
        if not isinstance(name, str):
            raise InputError(f"{role} must be given by its name, not {name!r}")
        if name not in names and name in map(str, names):
            raise InputError(
                f"{role} {name!r} has a name that is not text: rename the table's columns to text"
            )
        if name not in names:
            raise InputError(f"{role} {name!r} is not a column of the table{did_you_mean(name, names)}")
    for name in chosen:
        if name in confidential:
            raise InputError(f"{name!r} is the confidential column, so it cannot be a key as well")
        if chosen.count(name) > 1:
            raise InputError(f"the key {name!r} is listed {chosen.count(name)} times: list it once")
    if weights in confidential:
        raise InputError(f"{weights!r} is the confidential column, so it cannot hold the weights")
    if group is not None and group in (*confidential, *chosen, weights):
        raise InputError(
            f"{group!r} has another role, so it cannot be the group column: give the column that says which people "
            "belong together, such as the household's number"
        )
    return chosen


def group_codes(records: Records, name: str) -> NDArray[np.int64]:
    """The group of each record, from 0; a record without one is a group of its own."""
    raw = records.raw(name).combine_chunks().dictionary_encode()
    codes = np.array(raw.indices.fill_null(-1).to_numpy(zero_copy_only=False), np.int64)
    alone = codes < 0
    codes[alone] = len(raw.dictionary) + np.arange(int(alone.sum()))
    return fixed(codes)


def place_attribute(
    records: Records, kind: Kind, *, order: pa.Array | None
) -> tuple[Attribute, NDArray[np.int32]]:
    """The confidential attribute, and the position in its domain of each level of its column."""
    name = kind.name
    levels = records.levels(name)
    if levels.null_count:
        rows = np.flatnonzero(records.codes(name) == len(levels) - 1)
        many = f"{rows.size:,} row{'s' * (rows.size > 1)}"
        named = rows[:_NAMED_ROWS].tolist()
        lines = _lines(records, named)
        shown = ", ".join(map(str, lines or named)) + (", …" if rows.size > _NAMED_ROWS else "")
        counted = f"line{'s' * (rows.size > 1)} {shown} of the file" if lines else f"counting from 0: {shown}"
        words = records.facts.missing.get(name, {})
        said = (
            f"is missing ({listed([repr(word) for word in list(words)[:_MOST_WORDS]])})"
            if words
            else "is null"
        )
        own = f"; if this is a value of its own, {numbers.DECLARE}" if words else ""
        raise InputError(
            f"the confidential column {name!r} {said} in {many} ({counted}): "
            f"fill the values in, or leave these rows out with drop_missing=True{own}"
        )
    placed = kind.resolve(levels, order=order)
    if isinstance(placed, numbers.Misfit):
        raise _misfit(records, name, placed)
    attribute, places = placed
    fixed(attribute.values)
    return attribute, fixed(places)


def why_not_confidential(table: Table, names: Sequence[str], *, given: Reading = GUESS) -> dict[str, str]:
    """Of these columns, those that cannot be confidential by name alone, and the reason; the table is read once."""
    if not names:
        return {}
    try:
        records, _ = open_records(table, keys=[], confidential=names, raw=[], drop_missing=False, given=given)
    except InputError as mistake:  # each of them on its own
        if len(names) == 1:
            # Two readings are a question about the file, not about the column.
            return {} if isinstance(mistake, TwoReadingsError) else {names[0]: str(mistake)}
        alone = (why_not_confidential(table, [each], given=given) for each in names)
        return {name: why for each in alone for name, why in each.items()}
    found = {}
    for name in names:
        if records.facts.missing.get(name):
            try:
                place_attribute(records, Bare(name), order=None)
            except InputError as mistake:
                found[name] = str(mistake)
            continue
        placed = Bare(name).resolve(records.levels(name).drop_null())
        if isinstance(placed, numbers.Misfit):
            found[name] = str(_misfit(records, name, placed))
    return found


def check_key_text(records: Records, name: str) -> None:
    """InputError if a key holds bytes that are not text: no released file could be read again."""
    import pyarrow as pa
    import pyarrow.compute as pc

    levels = records.levels(name)
    if not (pa.types.is_binary(levels.type) or pa.types.is_large_binary(levels.type)):
        return
    for at, level in enumerate(levels):
        try:
            pc.cast(level, pa.large_string())
        except pa.ArrowInvalid:
            row = int(np.argmax(records.codes(name) == at))
            raise InputError(
                f"{_place(records, row)} the key {name!r} holds bytes that are not UTF-8 text, {_shown(level.as_py())}"
                ": give text in UTF-8, or numbers"
            ) from None


def _misfit(records: Records, name: str, misfit: numbers.Misfit) -> InputError:
    """The error about the first row with an invalid value."""
    codes = records.codes(name)
    shown = misfit.levels if misfit.examples is None else misfit.examples
    row = int(np.argmax(np.isin(codes, shown)))
    value = records.levels(name)[int(codes[row])].as_py()
    many = int(np.count_nonzero(np.isin(codes, misfit.levels)))
    said = f"; {many:,} of {len(records):,} values {misfit.all_are}" if misfit.all_are else ""
    return InputError(
        f"{_place(records, row)} the confidential column {name!r} holds {_shown(value)}, "
        f"which {misfit.why}{said}: {misfit.advice}"
    )


def _lines(records: Records, rows: Sequence[int]) -> list[int]:
    """The lines of the CSV file on which these records begin; [] if they are not from a CSV file."""
    return [] if records.csv_file is None else records.csv_file.lines(records.source_rows(rows))


def _place(records: Records, row: int) -> str:
    """The place of a record: its line in the file, or its row."""
    lines = _lines(records, [row])
    if lines and records.csv_file is not None:
        return f"on line {lines[0]} of {records.csv_file.path.name},"
    return f"in row {records.source_rows([row])[0]} (counting from 0)"


def _shown(value: Any) -> str:
    """A value in a message: quoted if it is text, shortened if it is long."""
    text = repr(value) if isinstance(value, str) else str(value)
    return text if len(text) <= _LONGEST_VALUE else f"{text[:_LONGEST_VALUE]}…"


def checked_weights(records: Records, name: str) -> NDArray[np.float64]:
    import pyarrow as pa
    import pyarrow.compute as pc

    raw = records.raw(name)
    if pa.types.is_string(raw.type) or pa.types.is_large_string(raw.type):
        raw = pc.utf8_trim_whitespace(raw)
        words = pc.fill_null(pc.invert(pc.match_substring_regex(raw, NUMBER)), False)
        row = int(pc.index(words, True).as_py())
        if row >= 0:
            raise InputError(
                f"{_place(records, row)} the weights column {name!r} holds {_shown(raw[row].as_py())}: "
                "weights must contain numbers"
            )
        raw = pc.utf8_ltrim(raw, characters="+")
    try:
        weights = np.array(pc.cast(raw, pa.float64(), safe=False).to_numpy(), np.float64)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise InputError(f"the weights column {name!r} must contain numbers, not {raw.type} values") from None
    wrong = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))
    if wrong.size:
        held = "nothing" if np.isnan(weights[wrong[0]]) else f"{weights[wrong[0]]:g}"
        raise InputError(
            f"{_place(records, int(wrong[0]))} the weights column {name!r} holds {held}: "
            "a weight must be a finite number, at least 0"
        )
    # Sums of weights are divisors; Python floats overflow without a warning.
    total = sum(weights.tolist())
    if not 0 < total < float("inf"):
        raise InputError(
            f"the weights column {name!r} sums to {total:g}: some weights must be above 0, and their sum finite"
        )
    return fixed(weights)
