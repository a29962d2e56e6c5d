"""Keys of every kind: what may be compared with them, and that comparisons are exact."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pytest

from equivoc.data.microdata import Microdata
from equivoc.errors import InputError
from equivoc.sql.asking import PeopleTable, ask
from equivoc.sql.parsing import parse
from equivoc.sql.schema import schema_of

UTC = dt.UTC


def members(key: pa.Array, condition: str) -> list[int]:
    """The people whose key meets a condition; GROUP BY must lead to the same people, each in a group of their own."""
    people = Microdata(pa.table({"k": key, "salary": range(len(key))}), confidential="salary", keys=["k"])
    table = PeopleTable.of(people, schema_of(people))
    statements = parse([f"SELECT SUM(salary) FROM people WHERE {condition}"], schema=table.schema)
    [question] = ask(table, statements).questions
    return [int(at) for at in question.members]


def grouped(key: pa.Array) -> bool:
    """True if the text of each group's question finds the group again."""
    people = Microdata(pa.table({"k": key, "salary": range(len(key))}), confidential="salary", keys=["k"])
    table = PeopleTable.of(people, schema_of(people))
    questions = ask(table, parse("SELECT SUM(salary) FROM people GROUP BY k", schema=table.schema)).questions
    again = ask(table, parse([question.text for question in questions], schema=table.schema)).questions
    same = [one.members.tolist() == two.members.tolist() for one, two in zip(questions, again, strict=True)]
    return all(same) and sum(question.people for question in questions) == len(key)


INT = pa.array([2**63 - 1, -(2**63), 2**53 + 1, 2**53, 0, None])
UINT = pa.array([2**64 - 1, 2**64 - 2, 0], pa.uint64())
FLOAT = pa.array([0.1, 0.30000000000000004, 0.3, 1e300, -5e-324, None])
FLOAT32 = pa.array([0.1, 0.25, 16777216.0, None], pa.float32())
DECIMAL = pa.array([Decimal("0.10"), Decimal("12345678901234.56"), None], pa.decimal128(38, 10))
SECONDS = pa.array([dt.datetime(2020, 1, 1), dt.datetime(2020, 1, 1, 0, 0, 1), None], pa.timestamp("s"))
NANOSECONDS = pa.array([0, 1000, 10**18], pa.timestamp("ns"))
MADRID = pa.timestamp("us", "Europe/Madrid")
ZONED = pa.array([dt.datetime(2020, 1, 1, tzinfo=UTC), dt.datetime(2020, 7, 1, tzinfo=UTC)], MADRID)
TIME = pa.array([dt.time(12, 30), dt.time(12, 30, 0, 1), None], pa.time64("us"))
DATE64 = pa.array([dt.date(2020, 1, 1), dt.date(2021, 1, 1)], pa.date64())
BOOLEAN = pa.array([True, False, None])


@pytest.mark.parametrize(
    ("key", "condition", "expected"),
    [
        (INT, "k = 9223372036854775807", [0]),
        (INT, "k > 9223372036854775806.5", None),
        (INT, "k <= -9223372036854775808", [1]),
        (INT, "k = 9007199254740993", [2]),
        (INT, "k > 9007199254740992", [0, 2]),
        (INT, "k > -0.123456789012345678", [0, 2, 3, 4]),
        (INT, "k < 99999999999999999999", [0, 1, 2, 3, 4]),
        (INT, "k = 0.5", []),
        (INT, "NOT k = 0.5", [0, 1, 2, 3, 4]),
        (UINT, "k = 18446744073709551615", [0]),
        (UINT, "k > 18446744073709551614", [0]),
        (UINT, "k > -1", [0, 1, 2]),
        (FLOAT, "k = 0.1", [0]),
        (FLOAT, "k = 0.30000000000000004", [1]),
        (FLOAT, "k = 0.3", [2]),
        (FLOAT, "k >= 1e300", [3]),
        (FLOAT, "k < 0", [4]),
        (FLOAT32, "k = 0.1", [0]),
        (FLOAT32, "k <= 0.1", [0]),
        (FLOAT32, "k = 0.25", [1]),
        (DECIMAL, "k = 0.1", [0]),
        (DECIMAL, "k > 12345678901234.559", [1]),
        (DECIMAL, "k < 999999999999999999", [0, 1]),
        (DECIMAL, "k > 0.099999999999999999", [0, 1]),
        (SECONDS, "k > '2020-01-01 00:00:00.5'", [1]),
        (SECONDS, "k = '2020-01-01'", [0]),
        (SECONDS, "k < '1600-01-01'", []),
        (NANOSECONDS, "k > '1600-01-01'", [0, 1, 2]),
        (NANOSECONDS, "k = '1970-01-01 00:00:00.000001000'", [1]),
        (ZONED, "k = '2020-07-01T02:00:00+02:00'", [1]),
        (ZONED, "k IN ('2020-01-01 00:00:00+00:00', '2020-01-01 01:00:00+00:00')", [0]),
        (TIME, "k > '12:30'", [1]),
        (TIME, "k IN ('12:30:00', '01:00')", [0]),
        (DATE64, "k >= '2020-06-01'", [1]),
        (BOOLEAN, "k = TRUE OR k IS NULL", [0, 2]),
        (BOOLEAN, "FALSE < k", [0]),
        (pa.array([b"a", None]), "k IS NULL", [1]),
        (pa.nulls(2), "k IS NULL", [0, 1]),
        (pa.array(["a", "b", "a", None]).dictionary_encode(), "k <> 'b'", [0, 2]),
    ],
)  # fmt: skip
def test_comparisons_are_exact(key: pa.Array, condition: str, expected: list[int] | None) -> None:
    if expected is None:
        with pytest.raises(InputError, match="more than 18 digits"):
            members(key, condition)
    else:
        assert members(key, condition) == expected


@pytest.mark.parametrize(
    "key",
    [INT, UINT, FLOAT, FLOAT32, DECIMAL, SECONDS, NANOSECONDS, ZONED, TIME, DATE64, BOOLEAN, pa.nulls(2)],
)
def test_each_group_is_found_again_by_its_text(key: pa.Array) -> None:
    assert grouped(key)


@pytest.mark.parametrize(
    ("key", "condition", "said"),
    [
        (pa.array([b"a", b"b"]), "k = 'a'", "only IS NULL and IS NOT NULL apply"),
        (SECONDS, "k = '2020-01-01 00:00:00+00:00'", "holds times"),
        (SECONDS, "k = '2020-01-01 00:00:00.0000001'", "holds times"),
        (ZONED, "k = '2020-01-01 00:00:00'", "write one with its offset"),
        (TIME, "k = '25:00'", "times of day"),
        (FLOAT, "k = 1e999", "too large"),
        (FLOAT32, "k = 1e39", "too large"),
        (pa.array([1, 2**62 + 1], pa.timestamp("ns")), "k = '2020-01-01'", "nanoseconds"),
        (pa.array([Decimal("1e25")], pa.decimal128(38, 0)), "k = 1", "more than 18 digits"),
        (DECIMAL, "k = 1234567890123456789", "more than 18 digits"),
    ],
)  # fmt: skip
def test_what_cannot_be_compared_exactly_is_refused(key: pa.Array, condition: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        members(key, condition)


@pytest.mark.parametrize("key", [pa.array([b"a"]), pa.array([float("inf")]), pa.array(["a\0b"])])
def test_groups_that_cannot_be_written_are_refused(key: pa.Array) -> None:
    with pytest.raises(InputError, match="cannot be written in a condition"):
        grouped(key)


def test_a_file_is_also_known_by_its_name(tmp_path: Path) -> None:
    path = tmp_path / "Staff 2024.csv"
    path.write_text("age,salary\n30,5\n40,7\n", encoding="utf-8")
    people = Microdata(path, confidential="salary", keys=["age"])
    table = PeopleTable.of(people, schema_of(people))
    found = ask(
        table,
        parse('SELECT SUM(salary) FROM "staff 2024"; SELECT MAX(salary) FROM People', schema=table.schema),
    ).questions
    assert [question.answer for question in found] == [12, 7]
    assert all('FROM "people"' in question.text for question in found)
    other = schema_of(people, table="wages")
    assert other.tables == ("people", "wages")


def test_rounded_values_are_asked() -> None:
    frame = pa.table({"age": [30, 40], "salary": [12, 27]})
    people = Microdata(frame, confidential="salary", keys=["age"], round_to=10)
    table = PeopleTable.of(people, schema_of(people))
    [question] = ask(table, parse("SELECT SUM(salary) FROM people", schema=table.schema)).questions
    assert question.answer == 40


@pytest.mark.parametrize(
    "hostile", ["SET threads = 1", "SELECT * FROM read_csv('/etc/passwd')", "COPY people TO '/tmp/x'"]
)
def test_the_database_has_no_way_out(hostile: str) -> None:
    """Only our own statements reach it; if another did, it could not open a file or change a setting."""
    people = Microdata(pa.table({"age": [1], "salary": [2]}), confidential="salary", keys=["age"])
    scratch = PeopleTable.of(people, schema_of(people))._scratch
    import duckdb

    with pytest.raises(duckdb.Error):
        scratch.rows(hostile)
    with pytest.raises(duckdb.Error):
        scratch.columns(hostile)
