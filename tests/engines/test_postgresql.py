"""Reading from a real PostgreSQL server, as a role that may read one table."""

from __future__ import annotations

import datetime
import random
import sys

import pandas as pd
import pyarrow as pa
import pytest

import equivoc as eq
from equivoc.engines.postgresql import PostgresqlTable, parse_address
from tests.postgresql_server import PASSWORDS, PostgresqlServer


def column_names(url: str) -> tuple[str, ...]:
    return PostgresqlTable(parse_address(url)).names


def read_table(url: str, names: list[str]) -> pa.Table:
    """All rows, sorted."""
    table = PostgresqlTable(parse_address(url))
    rows = pa.Table.from_batches(list(table.rows({name: table.value(name) for name in names})))
    return rows.sort_by([(name, "ascending") for name in names])


ROWS = [(30, "F", 12.5), (41, "M", 27.25), (30, None, 9.0), (52, "é", 27.25), (30, "F", 12.5)]


@pytest.fixture(scope="session")
def census(postgresql_server: PostgresqlServer) -> PostgresqlServer:
    values = ", ".join(
        f"({age}, {'NULL' if sex is None else repr(sex)}, {salary}, 'secret {salary}')"
        for age, sex, salary in ROWS
    )
    postgresql_server.run(f"""
        CREATE TABLE people (age integer, sex text, salary numeric(12, 2), note text);
        INSERT INTO people VALUES {values};
        CREATE TABLE hidden (age integer); INSERT INTO hidden VALUES (1);
        GRANT SELECT (age, sex, salary) ON people TO reader;
    """)
    return postgresql_server


@pytest.fixture(autouse=True)
def _passwords(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if "census" in request.fixturenames:
        server: PostgresqlServer = request.getfixturevalue("census")
        monkeypatch.setenv("PGPASSFILE", str(server.password_file))


def test_the_same_people_as_from_a_frame(census: PostgresqlServer) -> None:
    roles = {"confidential": "salary", "keys": ["age", "sex"]}
    people = eq.read(census.address("people"), **roles)
    frame = pd.DataFrame(ROWS, columns=["age", "sex", "salary"])
    held = eq.Microdata(frame.sort_values(["age", "sex", "salary"]), **roles)
    assert people.source is None
    assert len(people) == len(ROWS)
    assert people.levels("sex") == held.levels("sex") == ("F", "M", "é", None)
    assert people.values.tolist() == held.values.tolist()
    assert [people.key_codes(key).tolist() for key in people.keys] == [
        held.key_codes(key).tolist() for key in held.keys
    ]
    assert people.codes.tolist() == held.codes.tolist()


def test_records_come_in_one_order_whatever_the_server_does(census: PostgresqlServer) -> None:
    rng = random.Random(3)
    rows = [(rng.randrange(4), rng.choice("aBÄz"), rng.randrange(3)) for _ in range(200)]
    for again in range(2):
        rng.shuffle(rows)
        values = ", ".join(f"({a}, '{b}', {c})" for a, b, c in rows)
        census.run(f"""
            CREATE TABLE shuffled_{again} (a integer, b text, c bigint);
            INSERT INTO shuffled_{again} VALUES {values};
            GRANT SELECT ON shuffled_{again} TO reader;
        """)
        people = eq.read(census.address(f"shuffled_{again}"), confidential="c", keys=["b", "a"])
        found = people.frame[["b", "a", "c"]].itertuples(index=False, name=None)
        assert list(found) == sorted((b, a, c) for a, b, c in rows)


def test_only_the_columns_asked_for_are_read(census: PostgresqlServer) -> None:
    """The role may not read ``note``: a statement with * would be refused."""
    assert column_names(census.address("people")) == ("age", "sex", "salary")
    with pytest.raises(
        eq.InputError, match=r"'note' is not a column of the table: choose from age, sex, salary"
    ):
        eq.read(census.address("people"), confidential="note", keys=["age"])


def test_types(census: PostgresqlServer) -> None:
    census.run("""
        CREATE TYPE grade AS ENUM ('low', 'high'); CREATE DOMAIN pay AS numeric;
        CREATE TABLE kinds (flag boolean, day date, padded character(6), id uuid, g grade, p pay, small smallint,
            real_one real, at time, many integer[], raw bytea);
        INSERT INTO kinds VALUES
            (true, '2020-02-29', 'ab', '00000000-0000-0000-0000-00000000000a', 'high', 1234567890.12345, 3, 0.5,
             '12:30', '{1}', 'x'),
            (NULL, NULL, NULL, NULL, NULL, 'NaN', NULL, NULL, NULL, NULL, NULL);
        GRANT SELECT ON kinds TO reader;
    """)
    names = ["flag", "day", "padded", "id", "g", "p", "small", "real_one", "at"]
    first, second = read_table(census.address("kinds"), names).to_pylist()
    assert first == {
        "flag": True, "day": datetime.date(2020, 2, 29), "padded": "ab",
        "id": "00000000-0000-0000-0000-00000000000a", "g": "high", "p": 1234567890.12345, "small": 3,
        "real_one": 0.5, "at": "12:30:00",
    }  # fmt: skip
    assert second.pop("p") != second.get("p")
    assert set(second.values()) == {None}
    for name, kind in (("many", "ARRAY"), ("raw", "bytea")):
        with pytest.raises(eq.InputError, match=f"column '{name}' is of type {kind}: give text"):
            read_table(census.address("kinds"), [name])


def test_text_is_compared_byte_by_byte(census: PostgresqlServer) -> None:
    """Whatever the column's collation calls equal, and whatever that collation is called."""
    census.run("""
        CREATE COLLATION public."C" (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
        CREATE TABLE cases (loose text COLLATE public."C", strict text COLLATE pg_catalog."C", own text, pay integer);
        INSERT INTO cases VALUES ('a', 'a', 'a', 1), ('A', 'A', 'A', 2);
        GRANT SELECT ON cases TO reader;
    """)
    keys = ["loose", "strict", "own"]
    assert census.run("SELECT count(DISTINCT loose) FROM cases").strip() == "1"
    for key in keys:
        people = eq.read(census.address("cases"), confidential="pay", keys=[key])
        assert people.levels(key) == ("A", "a")
        assert people.classes([key]).sizes.tolist() == [1, 1]
    table = PostgresqlTable(parse_address(census.address("cases")))
    # Without need, an expression would hide the lengths of the texts from the server's plans.
    assert ["COLLATE" in table.value(key).sql(dialect="postgres") for key in keys] == [True, False, False]


def test_numbers_that_would_become_equal_are_refused(census: PostgresqlServer) -> None:
    census.run("""
        CREATE TABLE long_numbers (n numeric);
        INSERT INTO long_numbers VALUES (9007199254740992), (9007199254740993);
        GRANT SELECT ON long_numbers TO reader;
    """)
    with pytest.raises(eq.InputError, match=r"column 'n' holds numbers of more than 15 digits"):
        read_table(census.address("long_numbers"), ["n"])


def test_nothing_can_be_written(census: PostgresqlServer) -> None:
    """Even a view whose function may write as its owner cannot, because the transaction is read-only."""
    census.run("""
        CREATE TABLE written (n integer);
        CREATE FUNCTION writing() RETURNS integer LANGUAGE sql SECURITY DEFINER
            AS 'INSERT INTO written VALUES (1) RETURNING n';
        CREATE VIEW trap AS SELECT writing() AS n;
        GRANT SELECT ON trap TO reader;
    """)
    with pytest.raises(eq.InputError, match="cannot execute INSERT in a read-only transaction"):
        read_table(census.address("trap"), ["n"])
    assert census.run("SELECT count(*) FROM written").strip() == "0"


def test_one_snapshot_at_repeatable_read(census: PostgresqlServer) -> None:
    census.run("""
        CREATE VIEW state AS SELECT current_setting('transaction_isolation') AS isolation,
            current_setting('transaction_read_only') AS read_only;
        GRANT SELECT ON state TO reader;
    """)
    found = read_table(census.address("state"), ["isolation", "read_only"]).to_pylist()
    assert found == [{"isolation": "repeatable read", "read_only": "on"}]


@pytest.mark.parametrize(
    "name", ['p"; DROP TABLE people; --', "p'; DROP TABLE people; --", "Ünï %20 ?&", "$1"]
)
def test_any_name_is_only_a_name(census: PostgresqlServer, name: str) -> None:
    quoted = '"' + name.replace('"', '""') + '"'
    census.run(f"""
        CREATE SCHEMA {quoted}; GRANT USAGE ON SCHEMA {quoted} TO reader;
        CREATE TABLE {quoted}.{quoted} ({quoted} integer); INSERT INTO {quoted}.{quoted} VALUES (7);
        GRANT SELECT ON {quoted}.{quoted} TO reader;
    """)
    there = census.address(name, schema=name)
    assert read_table(there, [name]).to_pylist() == [{name: 7}]
    with pytest.raises(eq.InputError, match="has no such table"):
        read_table(census.address(name), [name])
    assert census.run("SELECT count(*) FROM people").strip() == str(len(ROWS))


@pytest.mark.parametrize(
    ("table", "others", "told"),
    [
        ("hidden", {}, "has no such table, or this role may not read it"),
        ("peple", {}, "has no such table"),
        ("people", {"user": "nobody"}, "password authentication failed for user|role .* does not exist"),
        ("people", {"dbname": "other"}, "other.* does not exist"),
        ("people", {"host": "/nowhere"}, "No such file or directory"),
    ],
)
def test_what_fails_is_said_in_one_sentence(
    census: PostgresqlServer, monkeypatch: pytest.MonkeyPatch, table: str, others: dict[str, str], told: str
) -> None:
    if "user" in others:
        monkeypatch.setenv("PGPASSWORD", "a wrong one")
    with pytest.raises(eq.InputError, match=told) as caught:
        eq.read(census.address(table, **others), confidential="salary", keys=["age"])
    assert "\n" not in str(caught.value)
    assert not any(word in str(caught.value) for word in (*PASSWORDS.values(), "a wrong one", "libpq"))


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("postgresql://me:hunter2@host/db?table=t", "contains a password"),
        ("postgresql://me:@host/db?table=t", "contains a password"),
        ("postgresql:///db?table=t&password=hunter2", "contains a password"),
        ("postgresql:///db?table=t&pass%77ord=hunter2", "contains a password"),
        ("postgresql:///db?table=t&sslpassword=hunter2", "contains a password"),
        ("postgresql://[::1/db?password=hunter2", "cannot be read: write postgresql:///dbname"),
        ("postgresql:///db", "names no table"),
        ("postgresql:///db?table=", "names no table"),
        ("postgresql:///db?table=t&schema=", "names no schema"),
        ("postgresql:///db?table", "cannot be read"),
        ("postgresql:///db?table=a&table=b", "'table' twice"),
        ("postgresql:///db?table=a&tabel=b", "'tabel' is not known: did you mean 'table'"),
        ("postgresql:///db?table=a&options=-crole%3Dx", "'options' is not known"),
        ("postgresql:db?table=a", "is not an address"),
        ("postgresql:///db?table=a#b", "is not an address"),
        ("postgresql:///db?table=a%00b", "control character"),
        ("postgresql:///db\n?table=a", "control character"),
    ],
)
def test_bad_addresses(url: str, told: str) -> None:
    with pytest.raises(eq.InputError, match=told) as caught:
        parse_address(url)
    assert "hunter2" not in str(caught.value)


def test_without_the_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "adbc_driver_postgresql", None)
    with pytest.raises(eq.InputError, match=r"pip install 'equivoc\[postgresql\]'"):
        eq.read("postgresql:///db?table=t", confidential="salary")
