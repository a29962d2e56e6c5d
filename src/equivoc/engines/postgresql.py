"""PostgreSQL: reads the needed columns of one table, once, in a read-only transaction.

The address is ``postgresql:///dbname?table=people`` (``postgresql://host:port/dbname?table=people&schema=hr``). A
password is never part of it: libpq takes it from its own environment and files (``PGPASSWORD``, ``PGPASSFILE``,
``~/.pgpass``, ``PGSERVICEFILE``). Rows are read and then counted here; counting inside the server is not done.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import SplitResult, parse_qsl, quote, urlencode, urlsplit

from equivoc.did_you_mean import did_you_mean
from equivoc.errors import InputError

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
COLUMNS = (
    "SELECT column_name::text, data_type::text FROM information_schema.columns "
    "WHERE table_schema = $1 AND table_name = $2 ORDER BY ordinal_position"
)

UNCHANGED = {
    "smallint",
    "integer",
    "bigint",
    "real",
    "double precision",
    "boolean",
    "text",
    "character varying",
    "date",
    "timestamp without time zone",
    "timestamp with time zone",
}
AS_TEXT = {
    "character",  # its padding is no part of the value
    "name",
    "uuid",
    "time without time zone",
    "USER-DEFINED",  # enumerations, citext
    "numeric",  # becomes a number below, if that loses nothing
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


def column_names(url: str) -> tuple[str, ...]:
    """The table's columns that the role may use, in the table's order."""
    address = parse_address(url)
    with _reading(address) as cursor:
        return tuple(_kinds(cursor, address))


def read_table(url: str, columns: Sequence[str]) -> pa.Table:
    """The named columns of a table, or of a view, in one snapshot.

    The transaction is READ ONLY and REPEATABLE READ. The rows are sorted by all the named columns, text by code
    point, so that the same content gives the same table whatever the server's order. ``numeric`` becomes
    floating-point numbers; InputError if a value has more than 15 digits. All rows are held in memory.
    """
    address = parse_address(url)
    with _reading(address) as cursor:
        kinds = _kinds(cursor, address)
        for name in columns:
            if name not in kinds:
                raise InputError(f"there is no column {name!r}{did_you_mean(name, kinds)}")
            if kinds[name] not in UNCHANGED | AS_TEXT:
                raise InputError(
                    f"column {name!r} is of type {kinds[name]}: give text, numbers, dates or truth values"
                )
        cursor.execute(select(address, {name: kinds[name] for name in columns}).sql(dialect="postgres"))
        answer = cursor.fetch_arrow_table()
    for place, name in enumerate(columns):
        if kinds[name] == "numeric":
            answer = answer.set_column(place, name, _as_numbers(answer.column(place), name))
    return answer.sort_by([(name, "ascending") for name in columns])


def select(address: Address, kinds: dict[str, str]) -> exp.Select:
    """The statement that reads these columns; all names are quoted.

    >>> there = Address("postgresql:///census", "public", "people")
    >>> select(there, {"age": "integer", "salary": "numeric"}).sql(dialect="postgres")
    'SELECT "age" AS "age", CAST("salary" AS TEXT) AS "salary" FROM "public"."people"'
    """
    from sqlglot import exp

    from equivoc.engines import statements

    source = exp.Table(
        this=exp.to_identifier(address.table, quoted=True), db=exp.to_identifier(address.schema, quoted=True)
    )
    wanted = {
        name: exp.cast(statements.column(name), "TEXT") if kind in AS_TEXT else statements.column(name)
        for name, kind in kinds.items()
    }
    return statements.rows(source, wanted)


@contextmanager
def _reading(address: Address) -> Iterator[Any]:
    """A cursor in a read-only transaction; the server's complaints become an InputError of one sentence."""
    try:
        import adbc_driver_manager
        from adbc_driver_postgresql import dbapi
    except ImportError:
        raise InputError("PostgreSQL needs more packages: pip install 'equivoc[postgresql]'") from None
    try:
        with closing(dbapi.connect(address.uri)) as connection, closing(connection.cursor()) as cursor:
            cursor.execute(READ_ONLY)
            yield cursor
            connection.rollback()
    except adbc_driver_manager.Error as problem:
        raise InputError(f"{address} cannot be read: {_said(problem)}") from None


def _kinds(cursor: Any, address: Address) -> dict[str, str]:
    """Each column's type, as information_schema writes it."""
    cursor.execute(COLUMNS, (address.schema, address.table))
    found = cursor.fetch_arrow_table().to_pylist()
    if not found:
        raise InputError(
            f"{address} cannot be read: schema {address.schema!r} has no such table, or this role may not read it"
        )
    return {row["column_name"]: row["data_type"] for row in found}


def _said(problem: Exception) -> str:
    """What libpq or the server says, without the driver's words around it.

    >>> _said(Exception("IO: [libpq] Failed to connect: server: FATAL:  no such role\\nmore"))
    'no such role'
    """
    text = str(problem)
    server = re.search(r"(?:ERROR|FATAL):\s+([^\n]+)", text)
    plain = re.sub(r"^\w+: \[libpq\] (?:Failed to connect: )?", "", text)
    return (server[1] if server else plain.strip().partition("\n")[0]).rstrip(". ")


def _as_numbers(texts: pa.ChunkedArray, name: str) -> pa.ChunkedArray:
    import pyarrow as pa
    import pyarrow.compute as pc

    digits = pc.replace_substring_regex(texts, r"[^0-9]", "")
    # Zeros at either end are not significant.
    digits = pc.utf8_trim(digits, "0")
    if (pc.max(pc.utf8_length(digits)).as_py() or 0) > EXACT_DIGITS:
        raise InputError(
            f"column {name!r} holds numbers of more than {EXACT_DIGITS} digits: round them in a view, or give text"
        )
    return pc.cast(texts, pa.float64())
