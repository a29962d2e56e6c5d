"""Whether the package and the plain reading agree on a text: both refuse it, or both give the same answers."""

from __future__ import annotations

import math
from contextlib import suppress

from equivoc.errors import InputError
from equivoc.sql.asking import ask
from equivoc.sql.parsing import parse, parse_one
from tests.queries.statements.plain_sql import NotAllowedError, read
from tests.queries.statements.workforce import Workforce

NAMES = ("age", "zip", "is member", "hired", "score", 'a "b"; -- ü', "salary")


def refused_or_right(work: Workforce, text: str) -> bool:
    """True if the package accepts the text and answers it rightly; False if it refuses it in one sentence.

    Anything else raises: another exception, a wrong answer, a statement that the plain reading does not allow.
    """
    table = work.table
    try:
        statements = parse(text, schema=table.schema)
        questions = ask(table, statements).questions
    except InputError as refused:
        _check_refusal(work, text, str(refused))
        return False
    try:
        plain = read(text, NAMES)
    except NotAllowedError as other:
        raise AssertionError(f"accepted, but not allowed ({other}): {text!r}") from None
    assert len(plain) == len(statements), text
    expected = [pair for statement in plain for pair in work.answers(statement)]
    assert len(expected) == len(questions), text
    recorded = any(statement.comment for statement in statements)
    rewritten = [question.text for question in questions]
    again = ask(table, parse(rewritten, schema=table.schema)).questions if rewritten else ()
    for question, twin, (members, answer) in zip(questions, again, expected, strict=True):
        assert question.members.tolist() == members, text
        assert recorded or _same(question.answer, answer), (text, question.answer, answer)
        assert (twin.text, twin.members.tolist()) == (question.text, members), text
    for plain_question, (members, _) in list(zip(rewritten, expected, strict=True))[:4]:
        [rebuilt] = read(plain_question, NAMES)
        assert [found for found, _ in work.answers(rebuilt)] == [members], text
    for statement in statements:
        [parsed_again] = parse([statement.sql()], schema=table.schema)
        assert parsed_again.sql() == statement.sql(), text
    return True


def _check_refusal(work: Workforce, text: str, sentence: str) -> None:
    """A refusal is one short sentence; the text as one statement alone raises nothing else either."""
    assert sentence.strip()
    assert sentence.isprintable(), repr(sentence)
    assert len(sentence) < 600, len(sentence)
    with suppress(InputError):
        parse_one(text, schema=work.table.schema)


def _same(one: float | None, other: float | None) -> bool:
    if one is None or other is None:
        return one is other
    return math.isclose(one, other, rel_tol=1e-12, abs_tol=1e-12)
