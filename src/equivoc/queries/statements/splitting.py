"""Splits SQL text into statements: their words with positions, and the comments that record answers.

An answer comment belongs to the statement in which or behind which it stands: the last one that began before it.
Words are found by sqlglot's tokenizer, so that ``--`` inside a string is no comment.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from equivoc.errors import InputError

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
