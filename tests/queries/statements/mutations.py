"""Mutated SQL statements: correct ones, changed by deleting, swapping, repeating, and inserting hostile fragments."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import numpy as np

SEEDS = (
    "SELECT SUM(salary) FROM people",
    "SELECT COUNT(*) FROM people WHERE age > 30",
    "SELECT MAX(salary), AVG(salary) FROM people WHERE zip = '02139' AND NOT age < 30",
    "SELECT sum(Salary), COUNT(age) FROM People WHERE age BETWEEN -5 AND 40 OR age IS NULL",
    'SELECT zip, MEDIAN(salary) FROM people WHERE "is member" = TRUE GROUP BY zip',
    "SELECT MIN(salary) FROM people WHERE hired >= '2020-01-01' AND zip NOT LIKE '%a_b%'",
    "SELECT VARIANCE(salary), STDDEV_POP(salary) FROM people WHERE age NOT IN (17, 30.5, -5) AND 0.1 <= score",
    'SELECT "a ""b""; -- ü", COUNT(*) FROM people WHERE "a ""b""; -- ü" <> \'y\'\'z\' GROUP BY "a ""b""; -- ü"',
    "SELECT AVG(salary) FROM people WHERE (zip IS NOT NULL AND (age = 31 OR age = 37)) OR NOT (score != 0.5)",
    "SELECT SUM(salary) FROM people WHERE age = 30; -- answer: 57\nSELECT COUNT(*) FROM people",
)
HOSTILE_FRAGMENTS = (
    ";", "--", "-- answer: 5", "-- answer: F=1, M=2\n", "/*", "*/", "/* x */", "/*+ x */", "'", '"', "''", "`",
    "$$", "\\", "(SELECT MAX(salary) FROM people)", "SELECT", "FROM people", ", people p2",
    "JOIN people ON TRUE", "CROSS JOIN people", "read_csv('/etc/passwd')", "read_text('/etc/passwd')",
    "'/etc/passwd'", "getenv('HOME')", "current_setting('x')", "pg_read_file('/etc/passwd')", "glob('*')",
    "COPY people TO '/tmp/x'", "ATTACH 'x.db'", "PRAGMA version", "INSTALL httpfs", "LOAD httpfs",
    "DROP TABLE people", "WITH x AS (SELECT 1)", "UNION ALL SELECT salary FROM people", "::INTEGER",
    "CAST(salary AS VARCHAR)", "TRY_CAST(age AS INT)", "DISTINCT", "ALL", "ANY", "ONLY", "EXISTS (SELECT 1)",
    "FILTER (WHERE age = 1)", "OVER ()", "OVER (PARTITION BY age)", "HAVING COUNT(*) = 1", "ORDER BY salary",
    "LIMIT 1", "OFFSET 1", "QUALIFY 1 = 1", "USING SAMPLE 1", "TABLESAMPLE 10%", "AS total", "total", "p",
    "p.age", "people.age", "main.people", "salary", "salary = 57", "salary BETWEEN 1 AND 2", "GROUP BY salary",
    "GROUP BY ALL", "GROUP BY 1", "ROLLUP (age)", "CUBE (age)", "GROUPING SETS ((age), ())",
    "CASE WHEN age = 1 THEN 1 ELSE 0 END", "+", "-", "- -", "+ 1", "* 2", "/ 0", "% 2", "|| 'a'", "**", "^",
    "~", "~~", "!~~", "&&", "||", "==", "<=>", "IS DISTINCT FROM 3", "IS TRUE", "ISNULL", "NOTNULL", "NOT NULL",
    "NOT", "NOT NOT", "ILIKE 'a'", "LIKE 'a' ESCAPE 'b'", "SIMILAR TO 'a'", "GLOB 'a'", "= NULL", "IN (NULL)",
    "IN ()", "IN (SELECT 1)", "IN age", "= ANY (1)", "BETWEEN SYMMETRIC 1 AND 2", "COLLATE NOCASE", "AND", "OR",
    "AND TRUE", "OR 1 = 1", "OR TRUE", "=", "<", ">", "(", ")", "((", "))", ",", ".", "..", ":", "::", "?",
    "$1", ":x", "@x", "#1", "{", "}", "[1]", "[1, 2]", "{'a': 1}", "MAP {1: 2}", "x -> x + 1", "INTERVAL 1 DAY",
    "DATE '2020-01-01'", "TIMESTAMP '2020-01-01'", "x'ab'", "b'1'", "e'a\\n'", "U&'a'", "N'a'", "0x1F", "1e",
    "1e999", "1.2.3", ".5", "5.", "1_0", "NaN", "'inf'", "NULL", "TRUE", "COUNT(DISTINCT age)", "SUM(age)",
    "SUM(salary + 1)", "SUM(*)", "*", "COLUMNS(*)", "* EXCLUDE (salary)", "list(salary)",
    "string_agg(salary, ',')", "arg_max(age, salary)", "quantile(salary, 0.5)", "first(salary)", "random()",
    "version()", "now()", "current_user", "current_date", "rowid", "VALUES (1)", "\0", "\u200b", "\u00a0",
    "\u2028", "\ufeff", "\u202e", "\u0430ge", "ＳＥＬＥＣＴ", "＝", "’", "“age”", "；", "\ud800", "İ", "ſalary",
    "\x1b[31m", "\r", "\n", "\t", "\x0b", "9" * 40, "9" * 5000, "'" + "a" * 3000 + "'", "(" * 60, "(" * 3000,
    "NOT " * 400, "- " * 400, "age = 1 AND " * 120, "age = 1 OR " * 1100, "1, " * 1500, '"' + "x" * 3000 + '"',
    "[" * 500, "CASE " * 200,
)  # fmt: skip
_PIECE = re.compile(r"\w+|'[^']*'|\"[^\"]*\"|\s+|.", re.DOTALL)


def mutated(rng: np.random.Generator) -> str:
    """A random statement after one to four changes."""
    pieces = _PIECE.findall(SEEDS[rng.integers(len(SEEDS))])
    for _ in range(min(4, int(rng.geometric(0.6)))):
        change = _CHANGES[rng.integers(len(_CHANGES))]
        pieces = change(pieces, rng) or [" "]
    return "".join(pieces)


def all_mutated(count: int, seed: int) -> Iterator[str]:
    """The same texts for the same seed."""
    rng = np.random.default_rng(seed)
    return (mutated(rng) for _ in range(count))


def _at(pieces: list[str], rng: np.random.Generator) -> int:
    return int(rng.integers(len(pieces)))


def _deletes(pieces: list[str], rng: np.random.Generator) -> list[str]:
    at = _at(pieces, rng)
    return pieces[:at] + pieces[at + 1 :]


def _swaps(pieces: list[str], rng: np.random.Generator) -> list[str]:
    one, other = _at(pieces, rng), _at(pieces, rng)
    out = list(pieces)
    out[one], out[other] = out[other], out[one]
    return out


def _repeats(pieces: list[str], rng: np.random.Generator) -> list[str]:
    start, end = sorted((_at(pieces, rng), _at(pieces, rng)))
    return [*pieces[:end], " ", *pieces[start:end], " ", *pieces[end:]]


def _truncates(pieces: list[str], rng: np.random.Generator) -> list[str]:
    return pieces[: _at(pieces, rng)]


def _inserts(pieces: list[str], rng: np.random.Generator) -> list[str]:
    at = _at(pieces, rng)
    fragment = HOSTILE_FRAGMENTS[rng.integers(len(HOSTILE_FRAGMENTS))]
    return [*pieces[:at], " " * int(rng.integers(2)), fragment, " " * int(rng.integers(2)), *pieces[at:]]


def _replaces(pieces: list[str], rng: np.random.Generator) -> list[str]:
    at = _at(pieces, rng)
    return [*pieces[:at], HOSTILE_FRAGMENTS[rng.integers(len(HOSTILE_FRAGMENTS))], *pieces[at + 1 :]]


def _takes_from_another(pieces: list[str], rng: np.random.Generator) -> list[str]:
    other = _PIECE.findall(SEEDS[rng.integers(len(SEEDS))])
    at = _at(pieces, rng)
    return [*pieces[:at], other[_at(other, rng)], *pieces[at + 1 :]]


def _changes_case(pieces: list[str], rng: np.random.Generator) -> list[str]:
    at = _at(pieces, rng)
    return [*pieces[:at], pieces[at].swapcase(), *pieces[at + 1 :]]


def _changes_a_character(pieces: list[str], rng: np.random.Generator) -> list[str]:
    text = "".join(pieces)
    at = int(rng.integers(len(text)))
    sign = chr(
        int(rng.choice([0, 9, 10, 34, 39, 40, 41, 42, 44, 45, 46, 47, 59, 61, 92, 96, 160, 1072, 65307]))
    )
    return _PIECE.findall(text[:at] + sign + text[at + 1 :])


_CHANGES: tuple[Callable[[list[str], np.random.Generator], list[str]], ...] = (
    _deletes, _deletes, _swaps, _repeats, _truncates, _inserts, _inserts, _replaces, _takes_from_another,
    _takes_from_another, _changes_case, _changes_a_character,
)  # fmt: skip
