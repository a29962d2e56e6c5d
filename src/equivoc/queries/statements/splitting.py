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
    comment: AnswerComment | None = None

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


def split(text: str | Sequence[str], *, comments: bool = True) -> Iterator[StatementWords]:
    """The statements of a text, or of a list with one in each entry; InputError where they cannot be told apart.

    With ``comments=False``, a comment is refused.
    """
    if isinstance(text, str):
        yield from _statements(text, 0, comments=comments)
        return
    if not isinstance(text, Sequence):
        raise InputError(
            f"statements are given as text or as a list of texts, not as {type(text).__name__!r}"
        )
    for number, entry in enumerate(text):
        if not isinstance(entry, str):
            raise InputError(f"statement {number + 1} is {type(entry).__name__!r}; give text")
        found = list(_statements(entry, number, comments=comments))
        if len(found) != 1:
            raise InputError(
                f"statement {number + 1}: this entry of the list has {len(found)} statements; give one"
            )
        yield found[0]


def _statements(text: str, number: int, *, comments: bool) -> Iterator[StatementWords]:
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
    recorded: dict[int, AnswerComment] = {}
    for begin, end, begun in gaps:
        if not comments and text[begin:end].strip():
            offset = begin + len(text[begin:end]) - len(text[begin:end].lstrip())
            raise InputError(f"{place(text, number, offset)}: comments are not allowed here")
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
        found = StatementWords(text, number + at, tuple(chunk), recorded.get(at))
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
        raise InputError(
            f"{place(text, number, bad.start())}: the character {bad[0]!r} is not allowed in SQL"
        )
    try:
        return list(Dialect.get_or_raise("duckdb").tokenize(text))
    except TokenError:
        at = semicolons = 0
        while at < len(text) and (closed := _CLOSED.match(text, at)):
            semicolons += closed[0] == ";"
            at = closed.end()
        if at < len(text):
            sentence = (
                f"the {text[at : at + 2] if text[at] in '/$' else text[at]} that opens here is never closed"
            )
        else:
            at, sentence = 0, "the text cannot be read as SQL"
        raise InputError(f"{place(text, number + semicolons, at)}: {sentence}") from None


def _answers(text: str, begin: int, end: int) -> Iterator[tuple[int, str]]:
    """The answers in comments between two words, with their offsets."""
    for comment in _COMMENT.finditer(text, begin, end):
        content = comment["line"] if comment["line"] is not None else comment["block"]
        answer = _ANSWER.fullmatch(content)
        if answer:
            yield comment.start(), answer["answer"].strip()
