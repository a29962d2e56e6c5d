"""The names that a statement may use: one table, its keys with their kinds, and the confidential attribute."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from equivoc.did_you_mean import did_you_mean
from equivoc.errors import InputError
from equivoc.queries.statements.literals import KeyKind

if TYPE_CHECKING:
    import pyarrow as pa

    from equivoc.data.microdata import Microdata

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
