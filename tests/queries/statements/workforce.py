"""People with awkward keys, shared by the tests of SQL statements: nulls, leading zeros, dates, hostile names."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa

from equivoc.data.microdata import Microdata
from equivoc.sql.asking import PeopleTable
from equivoc.sql.schema import schema_of
from tests.queries.statements.plain_sql import PlainStatement, aggregate

HOSTILE = 'a "b"; -- ü'
"""A column's name with everything that could be mistaken for SQL."""
TEXTS = (
    "F",
    "M",
    "02139",
    "2139",
    "it's",
    "50%",
    "a_b",
    "a\\b",
    "ß",
    "é",
    "日本",
    "",
    " ",
    "--",
    ";",
    "👍🏽",
    "NULL",
)
COLUMNS = ("age", "zip", "is member", "hired", "score", HOSTILE)


@dataclass(frozen=True, eq=False)
class Workforce:
    """The people as a table to ask, and as plain records."""

    table: PeopleTable
    records: tuple[dict[str, Any], ...]

    def answers(self, statement: PlainStatement) -> list[tuple[list[int], float | None]]:
        """Members and answer of each question, in the order of `ask`: by group, then by aggregate."""
        inside = [at for at, record in enumerate(self.records) if statement.meets(record) is True]
        groups: dict[tuple[Any, ...], list[int]] = {} if statement.groups else {(): inside}
        keys = tuple(dict.fromkeys(statement.groups))
        for at in inside if keys else ():
            groups.setdefault(tuple(self.records[at][key] for key in keys), []).append(at)
        ordered = sorted(groups, key=lambda group: [(value is None, _rank(value)) for value in group])
        found = []
        for group in ordered:
            for function, column in statement.aggregates:
                chosen = groups[group]
                if function == "COUNT" and column is not None:
                    chosen = [at for at in chosen if self.records[at][column] is not None]
                values = [Fraction(self.records[at]["salary"]) / 4 for at in chosen]
                found.append((chosen, aggregate(function, values, len(chosen))))
        return found


def _rank(value: Any) -> Any:
    """Text by code point, as UTF-8 sorts it."""
    return 0 if value is None else value


@cache
def workforce(people: int = 40, seed: int = 3) -> Workforce:
    """Random people. A salary is a multiple of a quarter; the plain records hold it times four."""
    rng = np.random.default_rng(seed)

    def some(values: list[Any]) -> list[Any]:
        return [values[at] for at in rng.integers(0, len(values), people)]

    columns: dict[str, list[Any]] = {
        "age": some([-5, 0, 17, 30, 31, 37, 41, 65, None]),
        "zip": some([*TEXTS, None]),
        "is member": some([True, False, None]),
        "hired": some([dt.date(2020, 1, 1), dt.date(2020, 12, 31), dt.date(1999, 2, 28), None]),
        "score": some([-1.5, 0.0, 0.1, 0.5, 1 / 3, 1e-7, 12345678.9, None]),
        HOSTILE: some(["x", "y'z", None]),
        "salary": some(list(range(40, 300))),
    }
    arrow = pa.table({**columns, "salary": [value / 4 for value in columns["salary"]]})
    microdata = Microdata(arrow, confidential="salary", keys=COLUMNS)
    records = tuple(dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True))
    return Workforce(PeopleTable.of(microdata, schema_of(microdata)), records)
