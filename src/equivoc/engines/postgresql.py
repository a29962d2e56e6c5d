"""PostgreSQL: one table or view, counted by the server in a read-only transaction.

The address is ``postgresql:///dbname?table=people`` (``postgresql://host:port/dbname?table=people&schema=hr``). A
password is never part of it: libpq takes it from its own environment and files (``PGPASSWORD``, ``PGPASSFILE``,
``~/.pgpass``, ``PGSERVICEFILE``). The role needs SELECT on the columns with a role, and nothing else.

People are counted by one statement, so the counts are of one snapshot, and no record leaves the server. Rows are read
only for survey weights, for several confidential attributes, and if the keys have too many levels to count them; then
by one statement as well.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any
from urllib.parse import SplitResult, parse_qsl, quote, urlencode, urlsplit

from equivoc.engines.engine import ColumnKind, SqlEngine, empty_batch
from equivoc.errors import InputError, did_you_mean

if TYPE_CHECKING:
    import pyarrow as pa
    from sqlglot import exp

SCHEMES = ("postgresql", "postgres")
OURS = ("table", "schema")
PASSED_ON = (
    "host",
    "hostaddr",
    "port",
    "user",
    "dbname",
    "service",
    "passfile",
    "connect_timeout",
    "application_name",
    "sslmode",
    "sslrootcert",
    "sslcert",
    "sslkey",
)
"""The parameters of an address that libpq gets. None of them is a secret."""
EXAMPLE = "postgresql:///dbname?table=people"

READ_ONLY = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY"
COLUMNS = """
    SELECT column_name::text, data_type::text, COALESCE(collation_schema || '.' || collation_name, 'pg_catalog.' || (
        SELECT datcollate FROM pg_catalog.pg_database WHERE datname = current_database()))::text AS collation
    FROM information_schema.columns WHERE table_schema = $1 AND table_name = $2 ORDER BY ordinal_position
"""
BY_BYTES = ("pg_catalog.C", "pg_catalog.POSIX")
"""Collations that compare text byte by byte. A database's own collation never calls different texts equal."""

INTEGERS = {"smallint", "integer", "bigint"}
FLOATING = {"real", "double precision", "numeric"}
UNCHANGED = INTEGERS | FLOATING | {
    "boolean",
    "date",
    "timestamp without time zone",
    "timestamp with time zone",
}  # fmt: skip
TEXT = {"text", "character varying"}
AS_TEXT = {
    "character",  # its padding is no part of the value
    "name",
    "uuid",
    "time without time zone",
    "USER-DEFINED",  # enumerations, citext
}
EXACT_DIGITS = 15
"""Decimal numbers of so many significant digits are all different as floating-point numbers."""


@dataclass(frozen=True)
class Address:
    """Where a table is: what libpq needs to connect, and the table's name."""

    uri: str
    """For libpq; without table, schema and secrets."""
    schema: str
    table: str

    def __str__(self) -> str:
        return f"table {self.table!r} of {self.uri}"


def is_address(source: object) -> bool:
    """True for a text that begins like an address of PostgreSQL.

    >>> is_address("postgresql:///census?table=people"), is_address("people.csv")
    (True, False)
    """
    return isinstance(source, str) and source.lower().startswith(tuple(f"{s}:" for s in SCHEMES))


def parse_address(url: str) -> Address:
    """The parts of an address; InputError if it has a password, no table, or a parameter that is not known.

    >>> parse_address("postgresql:///census?table=people&host=/run/postgresql")
    Address(uri='postgresql:///census?host=/run/postgresql', schema='public', table='people')
    """
    if not url.isprintable():
        raise InputError("the address of the PostgreSQL table contains a control character.")
    try:
        parts = urlsplit(url)
        secret = parts.password is not None
        given = parse_qsl(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query))
    except ValueError:
        # The text may contain a password, so it is not repeated.
        raise InputError(f"the address of the PostgreSQL table cannot be read: write {EXAMPLE}") from None
    if secret or any("password" in name.lower() for name, _ in given):
        raise InputError(
            "the address of the PostgreSQL table contains a password: leave it out, and give it in PGPASSWORD or in "
            "libpq's password file."
        )
    _check_form(url, parts)
    named = dict(given)
    if len(named) < len(given):
        twice = next(name for name in named if [n for n, _ in given].count(name) > 1)
        raise InputError(f"{url} names {twice!r} twice.")
    for name in named:
        if name not in OURS + PASSED_ON:
            raise InputError(f"{url}: {name!r} is not known{did_you_mean(name, OURS + PASSED_ON)}")
    table, schema = named.pop("table", ""), named.pop("schema", "public")
    if not table or not schema:
        raise InputError(f"{url} names no {'schema' if table else 'table'}: write {EXAMPLE}")
    if not (table + schema).isprintable():  # percent-encoded; a NUL would end the text for libpq
        raise InputError(f"{url}: the name of the table contains a control character.")
    query = urlencode(named, quote_via=quote, safe="/")
    uri = f"postgresql://{parts.netloc}{parts.path}{'?' if query else ''}{query}"
    return Address(uri=uri, schema=schema, table=table)


def _check_form(url: str, parts: SplitResult) -> None:
    if "//" not in url or parts.scheme not in SCHEMES or parts.fragment:
        raise InputError(f"{url} is not an address of a PostgreSQL table: write {EXAMPLE}")


@dataclass(frozen=True)
class PostgresqlTable(SqlEngine):
    """A table or a view of a PostgreSQL database. Its rows have no order."""

    address: Address

    @property
    def label(self) -> str:
        return str(self.address)

    @property
    def ordered(self) -> bool:
        return False

    @property
    def source(self) -> exp.Expression:
        from sqlglot import exp

        table, schema = (
            exp.to_identifier(name, quoted=True) for name in (self.address.table, self.address.schema)
        )
        return exp.Table(this=table, db=schema)

    @cached_property
    def _columns(self) -> dict[str, tuple[str, str]]:
        """Each column's type as information_schema writes it, and its collation, if it is text."""
        with _reading(self.address) as cursor:
            cursor.execute(COLUMNS, (self.address.schema, self.address.table))
            found = cursor.fetch_arrow_table().to_pylist()
        if not found:
            raise InputError(
                f"{self.address} cannot be read: schema {self.address.schema!r} has no such table, or this role may "
                "not read it"
            )
        return {row["column_name"]: (row["data_type"], row["collation"]) for row in found}

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._columns)

    def kind(self, name: str) -> ColumnKind:
        kind, _ = self._columns[name]
        return "integer" if kind in INTEGERS else "floating" if kind in FLOATING else "other"

    def value(self, name: str) -> exp.Expression:
        """The column; text is compared byte by byte, whatever the column's collation calls equal.

        >>> table = PostgresqlTable(Address("postgresql:///census", "public", "people"))
        >>> own = "pg_catalog.en_US.UTF-8"
        >>> table.__dict__["_columns"] = {"age": ("integer", own), "grade": ("USER-DEFINED", own)}
        >>> table.value("age").sql(dialect="postgres"), table.value("grade").sql(dialect="postgres")
        ('"age"', 'CAST("grade" AS TEXT) COLLATE "C"')
        """
        from sqlglot import exp

        from equivoc.engines import statements

        (kind, collation), column = self._columns[name], statements.column(name)
        if kind not in UNCHANGED | TEXT | AS_TEXT:
            raise InputError(f"column {name!r} is of type {kind}: give text, numbers, dates or truth values")
        # The server knows how long a column's texts are, but not those of an expression: its plans would be slower.
        if kind in UNCHANGED or (kind in TEXT and collation in BY_BYTES):
            return column
        text = exp.cast(column, "TEXT") if kind in AS_TEXT else column
        return exp.Collate(this=text, expression=exp.to_identifier("C", quoted=True))

    def stream(self, statement: exp.Expression) -> Iterator[pa.RecordBatch]:
        with _reading(self.address) as cursor:
            cursor.execute(statement.sql(dialect="postgres"))
            reader = cursor.fetch_record_batch()
            empty = True
            for batch in reader:
                empty = False
                yield _with_numbers(batch, statement)
            if empty:
                yield _with_numbers(empty_batch(reader.schema), statement)


@contextmanager
def _reading(address: Address) -> Iterator[Any]:
    """A cursor in a read-only transaction; the server's complaints become an InputError of one sentence."""
    try:
        import adbc_driver_manager
        import pyarrow as pa
        from adbc_driver_postgresql import dbapi
    except ImportError:
        raise InputError("PostgreSQL needs more packages: pip install 'equivoc[postgresql]'") from None
    try:
        with closing(dbapi.connect(address.uri)) as connection, closing(connection.cursor()) as cursor:
            cursor.execute(READ_ONLY)
            yield cursor
            connection.rollback()
    except (adbc_driver_manager.Error, pa.ArrowException, OSError) as problem:
        raise InputError(f"{address} cannot be read: {_said(problem)}") from None


def _said(problem: Exception) -> str:
    """What libpq or the server says, without the driver's words around it.

    >>> _said(Exception("IO: [libpq] Failed to connect: server: FATAL:  no such role\\nmore"))
    'no such role'
    """
    text = str(problem)
    if "statement timeout" in text:
        return (
            "the statement was stopped after the server's statement_timeout: raise it, for example by "
            "ALTER ROLE … SET statement_timeout = '10min'"
        )
    server = re.search(r"(?:ERROR|FATAL):\s+([^\n]+)", text)
    plain = re.sub(r"^\w+: \[libpq\] (?:Failed to connect: )?", "", text)
    return (server[1] if server else plain.strip().partition("\n")[0]).rstrip(". ")


def _with_numbers(batch: pa.RecordBatch, statement: exp.Expression) -> pa.RecordBatch:
    """The batch with ``numeric`` columns, which the driver writes as text, as floating-point numbers."""
    for place, field in enumerate(batch.schema):
        if (field.metadata or {}).get(b"POSTGRESQL:type") == b"numeric":
            texts = getattr(batch.column(place), "storage", batch.column(place))
            batch = batch.set_column(place, field.name, _as_numbers(texts, field.name, statement))
    return batch


def _as_numbers(texts: pa.Array, shown_as: str, statement: exp.Expression) -> pa.Array:
    import pyarrow as pa
    import pyarrow.compute as pc
    from sqlglot import exp

    digits = pc.replace_substring_regex(texts, r"[^0-9]", "")
    # Zeros at either end are not significant.
    digits = pc.utf8_trim(digits, "0")
    if (pc.max(pc.utf8_length(digits)).as_py() or 0) > EXACT_DIGITS:
        aliases = [alias.this for alias in statement.find_all(exp.Alias) if alias.alias == shown_as]
        names = [aliased.name for aliased in aliases if isinstance(aliased, exp.Column)]
        raise InputError(
            f"column {(names or [shown_as])[0]!r} holds numbers of more than {EXACT_DIGITS} digits: "
            "round them in a view, or give text"
        )
    return pc.cast(texts, pa.float64())
