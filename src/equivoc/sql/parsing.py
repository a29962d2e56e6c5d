"""Parses SQL text into statements: sqlglot reads it, and only what is expected is taken over."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from equivoc.errors import InputError
from equivoc.sql.schema import Schema
from equivoc.sql.statement import Statement
from equivoc.sql.tree_reading import TreeReader
from equivoc.sql.word_check import LONGEST_STATEMENT, StatementWords, check_words, split

_NOTHING = "the text contains no statement; write one, such as SELECT COUNT(*) FROM people"


def parse(text: str | Sequence[str], *, schema: Schema) -> tuple[Statement, ...]:
    """The statements of a text (separated by semicolons), or of a list of texts with one statement each.

    Allowed: ``SELECT`` aggregates of the confidential attribute, COUNT and group keys; ``FROM`` one table; ``WHERE``
    conditions over keys; ``GROUP BY`` keys. Anything else is an InputError with its position.

    >>> schema = Schema((("age", "integer"), ("sex", "text")), "salary")
    >>> [parsed] = parse("select avg(Salary) from people where 30 < age and sex in ('M', 'F')", schema=schema)
    >>> parsed.sql()
    'SELECT AVG("salary") FROM "people" WHERE "age" > 30 AND "sex" IN (\\'F\\', \\'M\\')'
    """
    found = tuple(_parsed(words, schema) for words in split(text))
    if not found:
        raise InputError(_NOTHING)
    return found


def parse_one(text: str, *, schema: Schema) -> Statement:
    """Exactly one statement, without comments; a semicolon at its end is allowed."""
    if not isinstance(text, str):
        raise InputError(f"a statement is given as text, not as {type(text).__name__!r}")
    if len(text) > LONGEST_STATEMENT:
        raise InputError(f"statement 1: it is longer than {LONGEST_STATEMENT:,} characters; shorten it")
    found = list(split(text))
    if not found:
        raise InputError(_NOTHING)
    if len(found) > 1:
        raise found[1].refusal(found[1].words[0].start, "only one statement is allowed at a time")
    parsed = _parsed(found[0], schema)
    if found[0].comments:
        raise found[0].refusal(found[0].comments[0], "comments are not allowed here")
    return parsed


def _parsed(words: StatementWords, schema: Schema) -> Statement:
    check_words(words, schema)
    return TreeReader(words, schema).statement(_tree(words))


def _tree(words: StatementWords) -> Any:
    """sqlglot's tree; its errors become ours."""
    from sqlglot.dialects.dialect import Dialect
    from sqlglot.errors import SqlglotError

    tokens: list[Any] = list(words.words)
    try:
        trees = Dialect.get_or_raise("duckdb").parser().parse(tokens, words.text)
    except RecursionError:
        raise words.refusal(words.words[0].start, "the statement is nested too deeply") from None
    except SqlglotError as wrong:
        found = (getattr(wrong, "errors", None) or [{}])[0]
        place = (found.get("line"), found.get("col"))
        at = next((word for word in words.words if (word.line, word.col) == place), words.words[-1])
        near = words.text[at.start : at.end + 1]
        near = near if len(near) <= 40 else near[:37] + "…"
        raise words.refusal(at.start, f"this is not valid SQL, at or before {near!r}") from None
    if len(trees) != 1 or trees[0] is None:
        raise words.refusal(words.words[0].start, "this is not one SELECT statement")
    return trees[0]
