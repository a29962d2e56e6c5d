"""Refuses words that no allowed statement has, each with its position, before the statement is parsed.

This keeps the parser away from deep nesting and from everything but SELECT, and gives exact positions. What the
words mean together is checked on the parsed tree.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from equivoc.errors import InputError
from equivoc.sql.schema import Schema
from equivoc.systems.system import Aggregate

# Splits SQL text into statements: their words with positions, and the comments that record answers.
#
# An answer comment belongs to the statement in which or behind which it stands: the last one that began
# before it. Words are found by sqlglot's tokenizer, so that ``--`` inside a string is no comment.

LONGEST_STATEMENT = 32_768
"""Characters of one statement."""
_COMMENT = re.compile(r"--(?P<line>[^\n\r]*)|/\*(?P<block>.*?)\*/", re.DOTALL)
_ANSWER = re.compile(r"\s*answers?\s*:(?P<answer>.*)", re.IGNORECASE | re.DOTALL)
_CLOSED = re.compile(
    r"""'(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n\r]*|/\*.*?\*/|\$\$.*?\$\$|(?!['"]|/\*|\$\$).""", re.DOTALL
)


class Word(Protocol):
    """A token of sqlglot: what we use of it."""

    token_type: Any
    text: str
    """Without quotes."""
    start: int
    """The offset of its first character."""
    end: int
    """The offset of its last character."""
    line: int
    col: int


@dataclass(frozen=True)
class AnswerComment:
    """What stands behind ``-- answer:``."""

    text: str
    place: str
    """Where it stands, for messages."""


@dataclass(frozen=True, eq=False)
class StatementWords:
    """One statement's words, and where it stands."""

    text: str = field(repr=False)
    """The whole text that the words' offsets refer to."""
    number: int
    """The statement's position in the log, from 0."""
    words: tuple[Word, ...]
    comments: tuple[int, ...] = ()
    """The offsets of comments between the words, before the first statement, and behind this one."""
    answer: AnswerComment | None = None

    def refusal(self, offset: int, sentence: str) -> InputError:
        """The error to raise about the character at ``offset``."""
        return InputError(f"{place(self.text, self.number, offset)}: {sentence}")


def place(text: str, number: int, offset: int) -> str:
    """Where a character stands.

    >>> place("SELECT 1;\\nSELECT 2", 1, 17)
    'statement 2, line 2, character 8'
    """
    before = text[:offset]
    line = before.count("\n") + 1
    return f"statement {number + 1}, line {line}, character {offset - before.rfind(chr(10))}"


def shown(text: str) -> str:
    """A word for a message: short and printable."""
    short = text if len(text) <= 40 else text[:37] + "…"
    return short if short.isprintable() and short.isascii() else repr(short)


def split(text: str | Sequence[str]) -> Iterator[StatementWords]:
    """The statements of a text, or of a list with one in each entry; InputError where they cannot be told apart."""
    if isinstance(text, str):
        yield from _statements(text, 0)
        return
    if not isinstance(text, Sequence):
        raise InputError(
            f"statements are given as text or as a list of texts, not as {type(text).__name__!r}"
        )
    for number, entry in enumerate(text):
        if not isinstance(entry, str):
            raise InputError(f"statement {number + 1} is {type(entry).__name__!r}; give text")
        found = list(_statements(entry, number))
        if len(found) != 1:
            raise InputError(
                f"statement {number + 1}: this entry of the list has {len(found)} statements; give one"
            )
        yield found[0]


def _statements(text: str, number: int) -> Iterator[StatementWords]:
    words = _words(text, number)
    start = 0  # of the text that belongs to the next statement
    chunk: list[Word] = []
    chunks: list[list[Word]] = []
    gaps: list[tuple[int, int, int]] = []  # from, to, number of statements begun
    for word in words:
        gaps.append((start, word.start, len(chunks) + bool(chunk)))
        start = word.end + 1
        if word.token_type.name == "SEMICOLON":
            if chunk:
                chunks.append(chunk)
            chunk = []
        else:
            chunk.append(word)
    gaps.append((start, len(text), len(chunks) + bool(chunk)))
    if chunk:
        chunks.append(chunk)
    comments: dict[int, list[int]] = {}
    recorded: dict[int, AnswerComment] = {}
    for begin, end, begun in gaps:
        between = text[begin:end]
        if between.strip():
            offset = end - len(between.lstrip())
            comments.setdefault(max(0, begun - 1), []).append(offset)
        for offset, answer in _answers(text, begin, end):
            where = place(text, number + max(0, begun - 1), offset)
            if not begun:
                raise InputError(
                    f"{where}: an answer stands before the first statement; put it behind its own"
                )
            if begun - 1 in recorded:
                raise InputError(f"{where}: the statement has a second answer comment; give one")
            recorded[begun - 1] = AnswerComment(answer, where)
    for at, chunk in enumerate(chunks):
        found = StatementWords(text, number + at, tuple(chunk), tuple(comments.get(at, ())), recorded.get(at))
        if chunk[-1].end - chunk[0].start >= LONGEST_STATEMENT:
            raise found.refusal(
                chunk[0].start, f"the statement is longer than {LONGEST_STATEMENT:,} characters; shorten it"
            )
        yield found


def _words(text: str, number: int) -> list[Word]:
    """sqlglot's tokens of the text."""
    from sqlglot.dialects.dialect import Dialect
    from sqlglot.errors import TokenError

    bad = re.search("[\0\ud800-\udfff]", text)
    if bad:
        begun, _ = _scanned(text, bad.start())
        where = place(text, number + begun, bad.start())
        raise InputError(f"{where}: the character {bad[0]!r} is not allowed in SQL")
    try:
        return list(Dialect.get_or_raise("duckdb").tokenize(text))
    except TokenError:
        begun, at = _scanned(text, len(text))
        if at == len(text):
            raise InputError(f"{place(text, number, 0)}: the text cannot be read as SQL") from None
        opening = text[at : at + 2] if text[at] in "/$" else text[at]
        raise InputError(
            f"{place(text, number + begun, at)}: the {opening} that opens here is never closed"
        ) from None


def _scanned(text: str, end: int) -> tuple[int, int]:
    """How many statements end before ``end``, or before a quote or comment that is never closed; and which it is."""
    at = ended = 0
    empty = True
    while at < end and (closed := _CLOSED.match(text, at)):
        if closed[0] == ";":
            ended += not empty
            empty = True
        elif closed[0].strip() and not closed[0].startswith(("--", "/*")):
            empty = False
        at = closed.end()
    return ended, at


def _answers(text: str, begin: int, end: int) -> Iterator[tuple[int, str]]:
    """The answers in comments between two words, with their offsets."""
    for comment in _COMMENT.finditer(text, begin, end):
        content = comment["line"] if comment["line"] is not None else comment["block"]
        answer = _ANSWER.fullmatch(content)
        if answer:
            yield comment.start(), answer["answer"].strip()


DEEPEST = 32
"""Parentheses inside parentheses, and NOT before NOT."""
MOST_WORDS = 4_000
"""Words, operators and literals of one statement."""
MOST_LITERALS = 1_000
FUNCTIONS: dict[str, Aggregate] = {
    "SUM": "sum",
    "AVG": "avg",
    "COUNT": "count",
    "MIN": "min",
    "MAX": "max",
    "MEDIAN": "median",
    "VARIANCE": "var_samp",
    "VAR_SAMP": "var_samp",
    "VAR_POP": "var_pop",
    "STDDEV": "stddev_samp",
    "STDDEV_SAMP": "stddev_samp",
    "STDDEV_POP": "stddev_pop",
}
"""The aggregates by their SQL names."""
_KEYWORDS = {
    "SELECT": "SELECT",
    "FROM": "FROM",
    "WHERE": "WHERE",
    "GROUP_BY": "GROUP BY",
    "AND": "AND",
    "OR": "OR",
    "NOT": "NOT",
    "BETWEEN": "BETWEEN",
    "IN": "IN",
    "LIKE": "LIKE",
    "IS": "IS",
    "NULL": "NULL",
    "TRUE": "TRUE",
    "FALSE": "FALSE",
}
_SIGNS = {
    "L_PAREN": ("(",),
    "R_PAREN": (")",),
    "COMMA": (",",),
    "EQ": ("=",),
    "NEQ": ("<>", "!="),
    "LT": ("<",),
    "LTE": ("<=",),
    "GT": (">",),
    "GTE": (">=",),
}
_BEGINS_A_LIST = {"SELECT", "COMMA", "L_PAREN", "GROUP_BY"}
_ENDS_A_LIST = {"", "R_PAREN", "FROM", "WHERE", "GROUP_BY"}
_ARITHMETIC = {
    "PLUS",
    "SLASH",
    "DIV",
    "MOD",
    "PERCENT",
    "DPIPE",
    "CARET",
    "DSTAR",
    "AMP",
    "PIPE",
    "TILDE",
    "TILDA",
}
_MISSING = "a closing parenthesis is missing"
_TELLING = {
    "DISTINCT": "DISTINCT is not allowed",
    "JOIN": "joins are not allowed: one table, people, is known",
    "UNION": "UNION is not allowed: write several statements",
    "WITH": "a common table expression (WITH) is not allowed",
    "OVER": "window functions (OVER) are not allowed",
    "ALIAS": "aliases (AS) are not allowed",
    "DCOLON": "casts (::) are not allowed",
    "DOT": "a point outside a number is not allowed: name columns without their table, and write 0.5 for .5",
    "ISNULL": "write IS NULL",
    "NOTNULL": "write IS NOT NULL",
    "EQ": "write = for ==",
    "LIKE": "write LIKE",
    "PARAMETER": "parameters are not allowed: write the value",
    "PLACEHOLDER": "parameters are not allowed: write the value",
    "COLON": "parameters are not allowed: write the value",
    "ILIKE": "ILIKE is not allowed: write LIKE",
    "CAST": "casts (CAST) are not allowed",
    "TRY_CAST": "casts (TRY_CAST) are not allowed",
    "FILTER": "FILTER is not allowed: put its condition into WHERE",
    "HAVING": "HAVING is not allowed",
    "EXISTS": "subqueries (EXISTS) are not allowed",
    "ROLLUP": "ROLLUP is not allowed: name the keys",
    "CUBE": "CUBE is not allowed: name the keys",
}


def check_words(statement: StatementWords, schema: Schema) -> None:
    """InputError at the first word that is not allowed."""
    words = statement.words
    if words[0].token_type.name != "SELECT":
        raise statement.refusal(
            words[0].start, f"a statement must begin with SELECT, not with {shown(words[0].text)}"
        )
    if len(words) > MOST_WORDS:
        raise statement.refusal(
            words[MOST_WORDS].start, f"the statement has more than {MOST_WORDS:,} words; shorten it"
        )
    depth = negations = literals = 0
    for at, word in enumerate(words):
        name = word.token_type.name
        problem = _problem(words, at, schema)
        if problem is not None:
            raise statement.refusal(word.start, problem)
        depth += (name == "L_PAREN") - (name == "R_PAREN")
        if depth < 0 or (depth > 0 and name in ("FROM", "WHERE", "GROUP_BY")):
            raise statement.refusal(word.start, _MISSING if depth > 0 else "this parenthesis closes none")
        negations = negations + 1 if name == "NOT" else negations if name == "L_PAREN" else 0
        if depth + negations > DEEPEST:
            raise statement.refusal(word.start, f"the nesting is deeper than {DEEPEST} levels")
        literals += name in ("STRING", "NUMBER")
        if literals > MOST_LITERALS:
            raise statement.refusal(word.start, f"the statement has more than {MOST_LITERALS:,} literals")
    if depth:
        raise statement.refusal(words[-1].start, _MISSING)


def is_name(word: Word, schema: Schema) -> bool:
    """True if the word names a column or a table, or can only be meant to."""
    kind = word.token_type.name
    if kind in ("VAR", "IDENTIFIER"):
        return True
    return kind not in _KEYWORDS and kind not in ("STRING", "NUMBER") and schema.is_name(word.text)


def word_kind(word: Word, schema: Schema) -> str:
    """What a word is: "name" (a function's too), "literal", "comparison", "truth", or else its type."""
    kind = word.token_type.name
    if kind in ("STRING", "NUMBER"):
        return "literal"
    if kind in ("EQ", "NEQ", "LT", "LTE", "GT", "GTE"):
        return "comparison"
    if kind in ("TRUE", "FALSE"):
        return "truth"
    return "name" if is_name(word, schema) or word.text.upper() in FUNCTIONS else str(kind)


def _problem(words: Sequence[Word], at: int, schema: Schema) -> str | None:
    """Why the word at this position is not allowed, or None."""
    word = words[at]
    name, text = word.token_type.name, word.text
    before, after = _name_at(words, at - 1), _name_at(words, at + 1)
    if name in ("STRING", "NUMBER"):
        file = name == "STRING" and before == "FROM"
        return f"a file cannot be named here: the table is {schema.tables[0]}" if file else None
    if name == "SELECT" and at:
        return "a second SELECT is not allowed: there are no subqueries, and a semicolon ends a statement"
    if name == "NULL" and (_name_at(words, at - 2) if before == "NOT" else before) != "IS":
        return "NULL is allowed in IS NULL and IS NOT NULL only: nothing else is true for it"
    if name in _KEYWORDS and " ".join(text.upper().split()) == _KEYWORDS[name]:
        return None
    if name in _SIGNS and text in _SIGNS[name]:
        stray = name == "COMMA" and (before in _BEGINS_A_LIST or after in _ENDS_A_LIST)
        return "a comma must stand between two entries of a list" if stray else None
    if name == "STAR":
        counted = before == "L_PAREN" and after == "R_PAREN" and words[at - 2].text.upper() == "COUNT"
        star = before in ("SELECT", "COMMA", "L_PAREN")
        return (
            None if counted else "a star is allowed in COUNT(*) only" if star else "arithmetic is not allowed"
        )
    if name == "DASH":
        value = before in ("NUMBER", "STRING", "R_PAREN") or is_name(words[at - 1], schema)
        return None if after == "NUMBER" and not value else "arithmetic is not allowed"
    telling = _TELLING.get(name) or _TELLING.get(text.upper())
    if telling is not None and name != "IDENTIFIER" and not schema.is_name(text):
        return telling
    if after == "L_PAREN" and (name == "IDENTIFIER" or text.upper() not in FUNCTIONS):
        return f"the function {shown(text)} is not allowed"
    if name in ("VAR", "IDENTIFIER") or after == "L_PAREN" or schema.is_name(text):
        return None
    return "arithmetic is not allowed" if name in _ARITHMETIC else f"{shown(text)} is not allowed"


def _name_at(words: Sequence[Word], at: int) -> str:
    """The kind of a word; "" beyond the statement's ends."""
    return words[at].token_type.name if 0 <= at < len(words) else ""
