"""Query sets and answers of random statements, against a plain reading with three-valued logic."""

from __future__ import annotations

import itertools
import threading
from functools import cache

import numpy as np
import pyarrow as pa
from hypothesis import example, given, settings
from hypothesis import strategies as st

from equivoc.data.microdata import Microdata
from equivoc.sql.asking import PeopleTable, ask
from equivoc.sql.parsing import parse
from equivoc.sql.schema import schema_of
from equivoc.sql.statement import Like, Not
from tests.queries.statements.agreement import refused_or_right
from tests.queries.statements.plain_sql import FUNCTIONS, like
from tests.queries.statements.workforce import HOSTILE, TEXTS, workforce


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def string(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


numbers = st.sampled_from(
    [
        "-5",
        "0",
        "17",
        "30",
        "30.5",
        "031",
        "3.7e1",
        "-0",
        "99999999999999999999",
        "0.1",
        "1e-7",
        "0.5",
        "1_000",
    ]
)
texts = st.one_of(st.sampled_from(TEXTS), st.sampled_from(["x", "y'z", "a", "zz"])).map(string)
patterns = st.lists(
    st.sampled_from(["%", "_", "%_%", "2", "1", "a", "\\", "'", ".", "日", "é"]), max_size=5
).map(lambda signs: string("".join(signs)))
literals = {
    "age": numbers,
    '"age"': numbers,
    "AGE": numbers,
    "zip": texts,
    '"is member"': st.sampled_from(["TRUE", "FALSE", "true"]),
    "hired": st.sampled_from(["'2020-01-01'", "'2020-12-31'", "'1999-02-28'", "'20200615'"]),
    "score": numbers.filter(lambda written: len(written) < 20),
    quoted(HOSTILE): texts,
}
comparisons = st.sampled_from(["=", "<>", "!=", "<", "<=", ">", ">="])


@st.composite
def leaf(draw: st.DrawFn) -> str:
    key = draw(st.sampled_from(sorted(literals)))
    value = literals[key]
    not_ = draw(st.sampled_from(["", "NOT "]))
    kind = draw(st.sampled_from(["compare", "mirrored", "between", "in", "null", "like"]))
    if kind == "compare":
        return f"{key} {draw(comparisons)} {draw(value)}"
    if kind == "mirrored":
        return f"{draw(value)} {draw(comparisons)} {key}"
    if kind == "between":
        return f"{key} {not_}BETWEEN {draw(value)} AND {draw(value)}"
    if kind == "in":
        return f"{key} {not_}IN ({', '.join(draw(st.lists(value, min_size=1, max_size=4)))})"
    if kind == "null" or key not in ("zip", quoted(HOSTILE)):
        return f"{key} IS {not_}NULL"
    return f"{key} {not_}LIKE {draw(patterns)}"


conditions = st.recursive(
    leaf(),
    lambda inner: st.one_of(
        inner.map("NOT {}".format),
        inner.map("({})".format),
        st.tuples(inner, st.sampled_from([" AND ", " or ", "\nOR "]), inner).map("".join),
        st.tuples(inner, inner).map(lambda pair: f"({pair[0]} OR {pair[1]}) AND NOT ({pair[0]})"),
    ),
    max_leaves=8,
)
aggregates = st.lists(
    st.one_of(
        st.sampled_from(sorted(FUNCTIONS)).map("{}(salary)".format),
        st.sampled_from(["COUNT(*)", "count(zip)", 'COUNT("is member")', "Sum( Salary )"]),
    ),
    min_size=1,
    max_size=3,
)
group_keys = st.sampled_from(["age", "zip", "Hired", '"is member"'])


@settings(max_examples=100)
@given(
    aggregates,
    st.none() | conditions,
    st.lists(st.sampled_from(["age", "zip", "Hired", '"is member"']), max_size=2),
)
@example(["SUM(salary)"], "zip LIKE '_' AND NOT zip LIKE '%\\%'", [])
@example(["MEDIAN(salary)"], None, [quoted(HOSTILE), "score"])
def test_random_statements_are_answered_as_the_plain_reading_does(
    asked: list[str], condition: str | None, groups: list[str]
) -> None:
    where = "" if condition is None else f" WHERE {condition}"
    by = f" GROUP BY {', '.join(groups)}" if groups else ""
    text = f"SELECT {', '.join([*groups, *asked])} FROM people{where}{by}"
    assert refused_or_right(workforce(), text)


@given(st.text("ab%_", max_size=8), st.text("ab%_", max_size=6))
def test_the_plain_like_is_the_definition(text: str, pattern: str) -> None:
    def covers(text: str, pattern: str) -> bool:
        if not pattern:
            return not text
        if pattern[0] == "%":
            return any(covers(text[at:], pattern[1:]) for at in range(len(text) + 1))
        return bool(text) and pattern[0] in ("_", text[0]) and covers(text[1:], pattern[1:])

    assert like(text, pattern) == covers(text, pattern)


TRIPLES = tuple("".join(text) for text in itertools.product("a.\\é\n_", repeat=3))


@cache
def of_texts(texts: tuple[str, ...]) -> PeopleTable:
    """People with one key, k."""
    frame = pa.table({"k": texts, "salary": range(len(texts))})
    people = Microdata(frame, confidential="salary", keys=["k"])
    return PeopleTable.of(people, schema_of(people))


@given(
    st.lists(st.sampled_from(["a", ".", "\\", "é", "\n"]), max_size=3)
    .flatmap(lambda signs: st.permutations(["%", "_", "%", *signs]))
    .map("".join)
)
def test_patterns_with_several_wildcards(pattern: str) -> None:
    [found] = of_texts(TRIPLES).members([Like("k", pattern)])
    assert found.tolist() == [at for at, text in enumerate(TRIPLES) if like(text, pattern)]


def test_no_pattern_takes_long() -> None:
    """Some versions of DuckDB would try all ways to place the signs, and this test would not end."""
    table = of_texts(("a" * 300,))
    for pattern in ("%a_" * 19 + "%b", "_%" + "%a" * 18 + "b", "%" * 19 + "b", "%a" * 20 + "b"):
        found = table.members([Like("k", pattern), Not(Like("k", pattern))])
        assert [each.tolist() for each in found] == [[], [0]]


def test_a_null_key_meets_neither_a_condition_nor_its_negation() -> None:
    work = workforce()
    is_null, either = ask(
        work.table,
        parse(
            "SELECT COUNT(*) FROM people WHERE age IS NULL;"
            "SELECT COUNT(*) FROM people WHERE age = 30 OR NOT age = 30",
            schema=work.table.schema,
        ),
    ).questions
    assert is_null.people > 0
    assert is_null.people + either.people == len(work.records)


def test_many_conditions_at_once_are_found_as_one_by_one() -> None:
    table = workforce().table
    text = ";".join(f"SELECT COUNT(*) FROM people WHERE age > {at % 70} OR zip = '{at}'" for at in range(250))
    conditions = [statement.condition for statement in parse(text, schema=table.schema)]
    together = table.members(conditions)
    assert all(
        np.array_equal(one, table.members([c])[0]) for one, c in zip(together, conditions, strict=True)
    )


def test_threads_share_one_table() -> None:
    table = workforce().table
    [statement] = parse("SELECT SUM(salary) FROM people WHERE age >= 30", schema=table.schema)
    expected = ask(table, [statement]).questions[0].members.tolist()
    found: list[bool] = []

    def work() -> None:
        for _ in range(20):
            found.append(ask(table, [statement]).questions[0].members.tolist() == expected)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [True] * 80
