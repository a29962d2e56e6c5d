"""The people as a table in DuckDB: finds who meets each condition, many conditions in one pass.

The table lives in memory and has the keys only; its connection opens no file and cannot be reconfigured. Inside it, the
keys are called k0, k1, …: a column's own name never reaches the engine.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from equivoc.errors import InputError
from equivoc.queries.statements.conditions import Condition, keys_of
from equivoc.queries.statements.exact_aggregates import ConfidentialValues
from equivoc.queries.statements.literals import MOST_DIGITS, KeyKind
from equivoc.queries.statements.schema import Schema
from equivoc.queries.statements.writing import condition_sql

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

    from equivoc.data.microdata import Microdata

_AT_ONCE = 100
"""Conditions in one pass over the table."""
_RECORD = "record"


@dataclass(frozen=True, eq=False)
class PeopleTable:
    """People, opened once, and asked from any number of threads."""

    people: Microdata
    schema: Schema
    values: ConfidentialValues
    """The confidential values after rounding; codes of the domain where they are not numbers."""
    _connection: duckdb.DuckDBPyConnection = field(repr=False)
    _inexact: frozenset[str]
    """Keys with more digits than can be compared exactly."""

    @classmethod
    def of(cls, people: Microdata, schema: Schema) -> PeopleTable:
        """The table of people; ``schema`` is `schema_of` of the same people."""
        import pyarrow as pa

        columns: dict[str, Any] = {_RECORD: pa.array(np.arange(len(people)))}
        inexact = set()
        for at, (key, kind) in enumerate(schema.keys):
            column = _comparable(people.decode(key, people.key_codes(key)), kind)
            if column is None:
                inexact.add(key)
            else:
                columns[f"k{at}"] = column
        numeric = people.attribute.numeric
        values = people.values[people.codes] if numeric else people.codes
        return cls(
            people,
            schema,
            ConfidentialValues(np.asarray(values, np.float64)),
            _in_memory(pa.table(columns)),
            frozenset(inexact),
        )

    def members(self, conditions: Sequence[Condition | None]) -> list[NDArray[np.int64]]:
        """The record numbers, ascending, of the people for whom each condition is true (None: everyone).

        As in SQL, a comparison with a null key is neither true nor false.
        """
        place = {condition: at for at, condition in enumerate(dict.fromkeys(conditions))}
        found: list[NDArray[np.int64]] = []
        different = list(place)
        for start in range(0, len(different), _AT_ONCE):
            found += self._pass(different[start : start + _AT_ONCE])
        return [found[place[condition]] for condition in conditions]

    def _pass(self, conditions: Sequence[Condition | None]) -> Iterator[NDArray[np.int64]]:
        from equivoc.engines.statements import column

        names = {key: f"k{at}" for at, (key, _) in enumerate(self.schema.keys)}
        wanted = [column(_RECORD).sql(dialect="duckdb")]
        for at, condition in enumerate(conditions):
            for key in keys_of(condition):
                if key in self._inexact:
                    raise InputError(
                        f"the key {key!r} holds decimals of more than {MOST_DIGITS} digits, or times in nanoseconds, "
                        "which cannot be compared exactly: give it as text or as whole numbers"
                    )
            sql = (
                "TRUE"
                if condition is None
                else condition_sql(condition, dialect="duckdb", column_of=names.__getitem__, linear_like=True)
            )
            wanted.append(f"COALESCE({sql}, FALSE) AS c{at}")
        with self._connection.cursor() as cursor:
            answer = cursor.execute(f"SELECT {', '.join(wanted)} FROM people").fetchnumpy()
        order = np.asarray(answer[_RECORD])
        sorted_already = bool(np.all(order[1:] > order[:-1]))
        for at in range(len(conditions)):
            chosen = order[np.asarray(answer[f"c{at}"], np.bool_)]
            yield (chosen if sorted_already else np.sort(chosen)).astype(np.int64, copy=False)


def _in_memory(table: pa.Table) -> duckdb.DuckDBPyConnection:
    """A database with this table and no way out."""
    import duckdb

    connection = duckdb.connect(
        ":memory:",
        config={
            "autoinstall_known_extensions": "false",
            "autoload_known_extensions": "false",
            "temp_directory": "",
        },
    )
    connection.execute("SET enable_progress_bar = false")
    connection.register("given", table)
    connection.execute("CREATE TABLE people AS SELECT * FROM given")
    connection.unregister("given")
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")
    return connection


def _comparable(column: pa.Array, kind: KeyKind) -> pa.Array | None:
    """The column in a type that every literal can be compared with exactly; None if it does not fit one."""
    import pyarrow as pa

    wanted: dict[KeyKind, pa.DataType] = {
        "float32": pa.float64(),
        "date": pa.date32(),
        "time": pa.time64("us"),
        "timestamp": pa.timestamp("us"),
        "timestamp with zone": pa.timestamp("us", "UTC"),
    }
    if kind == "other":  # only its nulls can be asked about
        return pa.array(np.zeros(len(column), np.int8), mask=column.is_null().to_numpy(zero_copy_only=False))
    if kind == "decimal":
        different = column.unique()
        types = (pa.decimal128(MOST_DIGITS, places) for places in range(MOST_DIGITS + 1))
        fitting = next((each for each in types if _cast(different, each) is not None), None)
        return None if fitting is None else column.cast(fitting)
    return _cast(column, wanted[kind]) if kind in wanted else column


def _cast(column: pa.Array, kind: pa.DataType) -> pa.Array | None:
    """The column in another type; None if a value would change."""
    import pyarrow as pa

    try:
        return column.cast(kind)
    except pa.ArrowInvalid:
        return None
