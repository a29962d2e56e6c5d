"""The names that a statement may use: one table, its keys with their kinds, and the confidential attribute."""

from __future__ import annotations

import datetime as dt
import math
import re
from dataclasses import dataclass
from decimal import Context, Decimal
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from equivoc.errors import InputError, did_you_mean

if TYPE_CHECKING:
    import pyarrow as pa

    from equivoc.data.microdata import Microdata

# Literals of SQL as values of a key's kind: which are allowed, and one way to write each.
#
# The limits on digits let an engine compare any literal with any integer or decimal key exactly, in
# DECIMAL(38).

KeyKind = Literal[
    "integer", "decimal", "float", "float32", "text", "boolean", "date", "timestamp", "timestamp with zone",
    "time", "other",
]  # fmt: skip
Value = Decimal | float | str | bool | dt.date | dt.datetime | dt.time
"""A literal: Decimal for keys of integers and decimals, float for keys of floating-point numbers."""
NUMBERS: tuple[KeyKind, ...] = ("integer", "decimal", "float", "float32")
MOST_DIGITS = 18
"""Of a number compared with an integer or decimal key, before and after the point together."""
MOST_INTEGER_DIGITS = 20
"""Of a whole number compared with an integer key: every 64-bit integer can be written."""
LONGEST_STRING = 1_000
"""Characters of a string literal."""
_NUMBER = re.compile(r"-?\d+(\.\d*)?([eE][+-]?\d+)?", re.ASCII)
_EXACT = Context(prec=60)
_WORDS: dict[KeyKind, str] = {
    "integer": "whole numbers: write a number without quotes",
    "decimal": "numbers: write a number without quotes",
    "float": "numbers: write a number without quotes",
    "float32": "numbers: write a number without quotes",
    "text": "text: write it in single quotes",
    "boolean": "truth values: write TRUE or FALSE",
    "date": "dates: write one such as '2024-12-31'",
    "timestamp": "times: write one such as '2024-12-31 23:59:00'",
    "timestamp with zone": "times with a time zone: write one with its offset, such as '2024-12-31 23:59:00+00:00'",
    "time": "times of day: write one such as '23:59:00'",
    "other": "values for which there are no literals: only IS NULL and IS NOT NULL apply",
}


def read_literal(key: str, kind: KeyKind, text: str | bool, *, string: bool) -> Value:
    """A literal's value; InputError (without a position) unless it suits the key.

    ``text`` is a number with its sign, the content of a string (``string=True``), or a truth value.

    >>> read_literal("age", "integer", "030.50", string=False), read_literal("zip", "text", "02139", string=True)
    (Decimal('30.5'), '02139')
    """
    if isinstance(text, bool):
        found: Value | None = text if kind == "boolean" else None
    elif string:
        if len(text) > LONGEST_STRING:
            raise InputError(f"a string has {len(text)} characters; at most {LONGEST_STRING} are allowed")
        found = _of_string(kind, text)
    else:
        found = _number(key, kind, text) if kind in NUMBERS else None
    if found is None:
        shown = repr(text) if string else str(text).upper()
        shown = shown if len(shown) <= 60 else shown[:57] + "…"
        raise InputError(f"{shown} does not suit the key {key!r}, which holds {_WORDS[kind]}")
    return found


def read_label(key: str, kind: KeyKind, text: str) -> Value:
    """A group's value as written in recorded answers, where quotes do not matter."""
    if kind == "boolean":
        folded = text.strip().casefold()
        return read_literal(key, kind, {"true": True, "false": False}.get(folded, text), string=True)
    return read_literal(key, kind, text if kind == "text" else text.strip(), string=kind not in NUMBERS)


def value_of_level(key: str, kind: KeyKind, level: Any) -> Value:
    """A key's value in the data as a literal; InputError if it cannot be written as one."""
    value = _exactly(kind, level)
    if value is None:
        raise InputError(
            f"the key {key!r} holds {level!r}, which cannot be written in a condition: "
            "GROUP BY needs a key of numbers, text, truth values or times"
        )
    return value


def written_number(value: Decimal | float) -> str:
    """A number as SQL reads it: exact for Decimal; for float, the engine's double is the same one.

    >>> written_number(Decimal("30.50")), written_number(30.0), written_number(0.1), written_number(1 / 3)
    ('30.5', '30', '0.1', '0.3333333333333333e0')
    """
    if isinstance(value, Decimal):
        return format(normalised(value), "f")
    if value == math.floor(value) and abs(value) < 1e15:
        return str(int(value))
    shown = repr(value)
    if "e" in shown:
        return shown
    # An engine may read a number with a point as a decimal, and turn up to 15 digits into a double without error.
    return shown if sum(map(str.isdigit, shown)) <= 15 else shown + "e0"


def normalised(number: Decimal) -> Decimal:
    """The number without trailing zeros and without −0; equal numbers become the same in every respect."""
    return _EXACT.normalize(number) if number else Decimal(0)


def _number(key: str, kind: KeyKind, text: str) -> Value | None:
    if not _NUMBER.fullmatch(text):
        return None
    if len(text) > 400:
        raise InputError(f"a number of {len(text)} characters is too long")
    if kind in ("float", "float32"):
        number = float(text)
        if kind == "float32" and math.isfinite(number):
            with np.errstate(over="ignore"):
                number = float(np.float32(number))
        if not math.isfinite(number):
            raise InputError(f"{text} is too large for the key {key!r}")
        return number + 0.0  # −0 is 0
    exact = Decimal(text)
    _, digits, exponent = exact.as_tuple()
    assert isinstance(exponent, int)
    written = "".join(map(str, digits))
    stripped = written.rstrip("0")
    exponent += len(written) - len(stripped)
    significant = stripped.lstrip("0")
    if not significant:
        return Decimal(0)
    before, after = max(0, len(significant) + exponent), max(0, -exponent)
    most = MOST_INTEGER_DIGITS if kind == "integer" and not after else MOST_DIGITS
    if before + after > most:
        raise InputError(
            f"{text if len(text) < 60 else text[:57] + '…'} has more than {most} digits, too many to compare it with "
            f"the key {key!r} exactly"
        )
    return normalised(exact)


def _of_string(kind: KeyKind, text: str) -> Value | None:
    try:
        match kind:
            case "text":
                return text
            case "date":
                return dt.date.fromisoformat(text)
            case "time":
                time = dt.time.fromisoformat(text)
                return time if time.tzinfo is None and _microseconds_at_most(text) else None
            case "timestamp":
                moment = dt.datetime.fromisoformat(text)
                return moment if moment.tzinfo is None and _microseconds_at_most(text) else None
            case "timestamp with zone":
                moment = dt.datetime.fromisoformat(text)
                aware = moment.tzinfo is not None and _microseconds_at_most(text)
                return moment.astimezone(dt.UTC) if aware else None
    except (ValueError, OverflowError):
        pass
    return None


def _microseconds_at_most(text: str) -> bool:
    """Python drops the digits of a second after the sixth; then the literal would mean another moment."""
    fraction = re.search(r"[.,]\d{6}(\d+)", text)
    return fraction is None or not fraction[1].strip("0")


def _exactly(kind: KeyKind, level: Any) -> Value | None:
    match kind:
        case "integer":
            return normalised(Decimal(level))
        case "decimal":
            return normalised(Decimal(level))
        case "float" | "float32":
            return float(level) if math.isfinite(level) else None
        case "text":
            return str(level) if "\0" not in level and len(level) <= LONGEST_STRING else None
        case "boolean":
            return bool(level)
        case "date" | "time" | "timestamp" | "timestamp with zone":
            written = level.isoformat()
            return _of_string(kind, written)
    return None


TABLE = "people"
"""The table's name in every statement that we write."""


@dataclass(frozen=True)
class Schema:
    """What statements may name."""

    keys: tuple[tuple[str, KeyKind], ...]
    """The keys, and what their values are."""
    attribute: str
    """The confidential attribute that is aggregated."""
    attribute_kind: str = "number"
    """"number", "ordered", "categories" or "tree"."""
    confidential: tuple[str, ...] = ()
    """All confidential attributes; no condition may name one."""
    tables: tuple[str, ...] = (TABLE,)
    """The names by which the table is known."""

    def kind(self, key: str) -> KeyKind:
        """What a key's values are."""
        return dict(self.keys)[key]

    @property
    def names(self) -> tuple[str, ...]:
        """All columns that a statement may name somewhere."""
        return tuple(dict.fromkeys([*(name for name, _ in self.keys), self.attribute, *self.confidential]))

    def column(self, name: str, *, quoted: bool) -> str:
        """The column that is meant; InputError (without a position) if there is none, or more than one.

        >>> Schema((("Age", "integer"),), "salary").column("AGE", quoted=False)
        'Age'
        """
        alike = [known for known in self.names if known.casefold() == name.casefold()]
        if len(alike) == 1:
            return alike[0]
        if name in alike and quoted:
            return name
        if alike:
            listed = " or ".join('"' + known.replace('"', '""') + '"' for known in alike)
            raise InputError(f"{name} can be several columns: write {listed}, with the double quotes")
        name = name if len(name) <= 60 else name[:57] + "…"
        raise InputError(f"there is no column {name!r}{did_you_mean(name, self.names)}".rstrip("."))

    def is_table(self, name: str) -> bool:
        """True for a name of the table, in any case."""
        return name.casefold() in {known.casefold() for known in self.tables}

    def is_name(self, word: str) -> bool:
        """True if a word is the table or a column in some case, so that it may stand unquoted."""
        folded = word.casefold()
        return self.is_table(word) or any(folded == known.casefold() for known in self.names)


def schema_of(people: Microdata, *, table: str | None = None) -> Schema:
    """The schema of people; ``table`` is another name for their table (without it: the stem of their file)."""
    attribute = people.attribute
    keys = tuple((name, _kind_of(people.decode(name, np.zeros(0, np.int32)).type)) for name in people.keys)
    stem = table if table is not None else (people.source.stem if people.source is not None else None)
    return Schema(
        keys,
        attribute.name,
        attribute.kind,
        tuple(people.attributes),
        tuple(dict.fromkeys([TABLE, *([] if stem is None else [stem])])),
    )


def _kind_of(kind: pa.DataType) -> KeyKind:
    import pyarrow as pa

    types = pa.types
    if types.is_boolean(kind):
        return "boolean"
    if types.is_integer(kind):
        return "integer"
    if types.is_floating(kind):
        return "float" if types.is_float64(kind) else "float32"
    if types.is_decimal(kind):
        return "decimal"
    if types.is_string(kind) or types.is_large_string(kind):
        return "text"
    if types.is_date(kind):
        return "date"
    if types.is_timestamp(kind):
        return "timestamp" if kind.tz is None else "timestamp with zone"
    return "time" if types.is_time(kind) else "other"
