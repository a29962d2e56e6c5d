"""Applies the reading of a file to its columns: words become null, numbers get the plain notation, in all faces alike.

Every column is looked at as a whole, by its distinct texts; the records are not read again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

import numpy as np

from equivoc.attributes.written_values import is_missing_word
from equivoc.data.columns import Column, arrange
from equivoc.errors import InputError
from equivoc.reading.reading import DECIMALS, Answer, Reading, TwoReadingsError
from equivoc.reading.written_numbers import Look, fitting, look, named_values, plain_numbers

if TYPE_CHECKING:
    import pyarrow as pa

Place = Callable[[str, int], str]
"""Where the record with this level of a column stands: "on line 3 of people.csv,"."""


@dataclass(frozen=True)
class TextFacts:
    """How the texts of a file were read."""

    decimal: str | None = None
    thousands: str | None = None
    missing: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """Of each column, the words that were read as missing, with their numbers of rows."""


@dataclass(frozen=True)
class ColumnRoles:
    """What the columns that are read are for."""

    decisive: Sequence[str]
    """Confidential numbers and weights: their notation has to be known."""
    others: Sequence[str]
    """Keys: read as numbers where the notation is known."""
    kept: Sequence[str] = ()
    """Declared categories: nothing is guessed about their texts."""


def read_as_texts(
    columns: Mapping[str, Column],
    *,
    roles: ColumnRoles,
    given: Reading,
    place: Place,
    elsewhere: Callable[[], Iterable[pa.Array]],
) -> tuple[dict[str, Column], TextFacts]:
    """The columns of a text file, read as the caller says and as their texts show.

    ``elsewhere`` gives the distinct texts of the file's other columns: they are asked only if nothing else decides.
    """
    looks = {
        name: look(column.levels, given=given, column=name, guess=name not in roles.kept)
        for name, column in columns.items()
        if is_text(column.levels)
    }
    dates = {
        name: written
        for name, seen in looks.items()
        if name not in roles.kept and (written := written_dates(seen, given, name, place)) is not None
    }
    decisive = [name for name in roles.decisive if name in looks and name not in dates]
    for name in decisive:
        _check_given(name, columns[name], looks[name], given, place)
    decimal = _decimal(looks, decisive, given, place, elsewhere)
    found, thousands = dict(columns), given.thousands
    missing: dict[str, dict[str, int]] = {}
    for name, seen in looks.items():
        if name in dates:
            found[name], words = _without(columns[name], *dates[name])
            missing |= {name: words} if words else {}
            continue
        # A key that fits two notations, and nothing decides: it stays as it is written.
        open_ = decimal is None and seen.ambiguous
        notation = None if open_ else seen.notation(decimal or ".")
        levels = columns[name].levels
        if notation is not None and notation.thousands is not None:
            thousands = notation.thousands
        changed = notation is not None and (notation.decimal == "," or notation.thousands is not None)
        if changed and seen.marks and notation is not None:
            levels = plain_numbers(seen.texts, notation)
        found[name], words = _without(columns[name], levels, seen.missing)
        if words:
            missing[name] = words
    return found, TextFacts(decimal or ".", thousands, missing)


def written_dates(seen: Look, given: Reading, name: str, place: Place) -> tuple[pa.Array, Any] | None:
    """The texts as 2020-01-31, if all of them are dates in the format that the caller gave, and which are missing."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if given.dates is None or len(seen.texts) == seen.texts.null_count:
        return None
    blank = np.array(
        [text is not None and is_missing_word(text) for text in seen.texts.to_pylist()], np.bool_
    )
    missing = seen.missing | blank
    texts = [None if gone else text for text, gone in zip(seen.texts.to_pylist(), missing, strict=True)]
    times = [None if text is None else _time(text, given.dates) for text in texts]
    there = [at for at, text in enumerate(texts) if text is not None]
    wrong = [at for at in there if times[at] is None]
    if not there or len(wrong) == len(there):
        return None
    if wrong:
        raise InputError(
            f"{place(name, wrong[0])} the column {name!r} holds {texts[wrong[0]]!r}, which is no date as "
            f"dates={given.dates!r} says, while others are: write all of them in one way"
        )
    whole = all(
        time is None or time == time.replace(hour=0, minute=0, second=0, microsecond=0) for time in times
    )
    form = "%Y-%m-%d" if whole else "%Y-%m-%d %H:%M:%S"
    written = pa.array([None if time is None else time.strftime(form) for time in times], seen.texts.type)
    return pc.if_else(pa.array(missing), seen.texts, written), missing


def _time(text: str, form: str) -> datetime | None:
    try:
        return datetime.strptime(text, form)
    except ValueError:
        return None


def without_missing(columns: Mapping[str, Column], *, given: Reading) -> tuple[dict[str, Column], TextFacts]:
    """The columns of a typed table, in which only what the caller names is missing."""
    found, missing = dict(columns), {}
    for name, column in columns.items():
        named = named_values(column.levels, given.missing_in(name))
        found[name], words = _without(column, column.levels, named)
        if words:
            missing[name] = words
    return found, TextFacts(missing=missing)


def _without(column: Column, levels: pa.Array, missing: Any) -> tuple[Column, dict[str, int]]:
    """The column with these levels, those that are missing null; and the words with their numbers of records."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not missing.any():
        same = levels is column.levels
        return (column if same else arrange([column.codes], levels)), {}
    sizes = np.bincount(column.codes, minlength=len(levels))
    words: dict[str, int] = {}
    for at in np.flatnonzero(missing):
        word = str(column.levels[int(at)].as_py()).strip()
        words[word] = words.get(word, 0) + int(sizes[at])
    cleared = pc.if_else(pa.array(missing), pa.scalar(None, levels.type), levels)
    return arrange([column.codes], cleared), words


def _check_given(name: str, column: Column, seen: Look, given: Reading, place: Place) -> None:
    """InputError if a column of numbers does not have the notation that the caller named."""
    if seen.notations or (given.decimal is None and given.thousands is None):
        return
    rest = seen.texts.filter(_array(~seen.missing)).drop_null()
    free, _ = fitting(rest, given=Reading())
    if not free:
        return  # reading the values says which is no number
    at = next(
        at
        for at, text in enumerate(seen.texts.to_pylist())
        if text is not None
        and not seen.missing[at]
        and not fitting(rest.filter(_equal(rest, text)), given=given)[0]
    )
    marks = [
        f"{mark}={value!r}"
        for mark in ("decimal", "thousands")
        if (value := getattr(given, mark)) is not None
    ]
    raise InputError(
        f"{place(name, at)} the column {name!r} holds {column.levels[at].as_py()!r}, which is not a number with "
        f"{' and '.join(marks)}: leave that out, or name the mark that the file has"
    )


def _decimal(
    looks: Mapping[str, Look],
    decisive: Sequence[str],
    given: Reading,
    place: Place,
    elsewhere: Callable[[], Iterable[pa.Array]],
) -> str | None:
    """The file's decimal mark; None if no column shows it."""
    if given.decimal is not None:
        return given.decimal
    shown = {name: mark for name in decisive if (mark := looks[name].decides) is not None}
    if len(set(shown.values())) > 1:
        one, other = (next(name for name in shown if shown[name] == mark) for mark in (".", ","))
        raise InputError(
            f"{place(other, looks[other].example())} the column {other!r} has a decimal comma, but {one!r} has a "
            "decimal point: write both in one way"
        )
    doubtful = [name for name in decisive if looks[name].ambiguous]
    if shown:
        return next(iter(shown.values()))
    keys = {
        mark for name, seen in looks.items() if name not in decisive and (mark := seen.decides) is not None
    }
    if doubtful and len(keys) != 1:
        keys = {
            mark
            for texts in elsewhere()
            if (mark := look(texts, given=given, column="", guess=True).decides) is not None
        } | keys
    if doubtful and len(keys) != 1:
        raise _two_readings(doubtful[0], looks[doubtful[0]], place)
    return next(iter(keys)) if len(keys) == 1 else "." if keys else None


def _two_readings(name: str, seen: Look, place: Place) -> TwoReadingsError:
    at = seen.example()
    text = seen.texts[at].as_py()
    [(mark, value), (_, other)] = _values(seen, text)
    return TwoReadingsError(
        f"{place(name, at)} the column {name!r} holds {text!r}, which is {value} with decimal={mark!r} and "
        f"{other} with thousands={mark!r}, and nothing in the file decides: say which",
        two_answers(seen),
    )


def two_answers(seen: Look) -> tuple[Answer, Answer]:
    """What can be said about an ambiguous column: its mark is a decimal mark, or stands between thousands."""
    text = seen.texts[seen.example()].as_py()
    [(mark, value), (_, other)] = _values(seen, text)
    return Answer({"decimal": mark}, f"{text} is {value}"), Answer({"thousands": mark}, f"{text} is {other}")


def _values(seen: Look, text: str) -> list[tuple[str, str]]:
    """The text as a number with its mark as the decimal mark, and with the other one."""
    import pyarrow as pa

    mark = next(mark for mark in seen.marks if mark in DECIMALS)
    found = []
    for decimal in (mark, "," if mark == "." else "."):
        notation = seen.notation(decimal)
        assert notation is not None
        found.append((decimal, plain_numbers(pa.array([text]), notation)[0].as_py()))
    return found


def is_text(levels: pa.Array) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_string(levels.type) or pa.types.is_large_string(levels.type))


def _equal(texts: pa.Array, text: str) -> pa.Array:
    import pyarrow.compute as pc

    return pc.equal(texts, text)


def _array(mask: Any) -> pa.Array:
    import pyarrow as pa

    return pa.array(mask)
