"""Key values as text in a released column: one value, a range, or a set."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import inf
from typing import Any

STAR = "*"
"""Text for a suppressed value."""
NULL_TEXT = "NA"
"""Text for a null within a set."""


def is_number(level: Any) -> bool:
    """Whether a value of a key is a number that can be ordered and cut into ranges."""
    return isinstance(level, (int, float)) and not isinstance(level, bool)


def written(level: Any) -> str | None:
    """One value as text; a null stays null.

    >>> written(20), written(20.0), written(2.5), written("cook"), written(None)
    ('20', '20', '2.5', 'cook', None)
    """
    if level is None:
        return None
    if isinstance(level, float) and level.is_integer() and abs(level) < 2**53:
        return str(int(level))
    return str(level)


def written_range(levels: Sequence[Any], low: int, high: int) -> str | None:
    """Levels ``low`` to ``high``: one value unchanged, all levels as ``*``, numbers as a closed range, else a set.

    >>> written_range((20, 21, 22, 23), 1, 2), written_range(("cook", "judge", "nurse"), 0, 1)
    ('[21,22]', '{cook,judge}')
    >>> written_range((20, 21, None), 1, 2), written_range((20, 21, None), 0, 2), written_range((20, 21), 1, 1)
    ('{21,NA}', '*', '21')
    """
    if low == high:
        return written(levels[low])
    if high - low == len(levels) - 1:
        return STAR
    if is_number(levels[low]) and is_number(levels[high]):
        return f"[{written(levels[low])},{written(levels[high])}]"
    found = written_set(levels[low : high + 1])
    # If a level has the same text as this set, add a blank: the two then differ, and the meaning stays the same.
    while found in levels:
        found = "{ " + found[1:]
    return found


def written_set(levels: Sequence[Any]) -> str:
    """These values as a set.

    >>> written_set(["cook", "judge, retired", None])
    '{cook,"judge, retired",NA}'
    """
    return "{" + ",".join(_element(level) for level in levels) + "}"


def _element(level: Any) -> str:
    """A member of a set; quoted as in CSV if it would be ambiguous without quotes."""
    text = written(level)
    if text is None:
        return NULL_TEXT
    plain = text.strip() == text and text not in MISSING and not any(mark in text for mark in ',{}"')
    return text if plain else '"' + text.replace('"', '""') + '"'


# Parses generalised values in released text: a range, a set, masked characters, or a suppressed value.

_NUMBER = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
_PLAIN_NUMBER = re.compile(_NUMBER)
_BRACKETS = re.compile(
    rf"([\[\](])\s*({_NUMBER}|-(?:inf|∞)|)\s*[,;]\s*({_NUMBER}|\+?(?:inf|∞)|)\s*([\])\[])", re.IGNORECASE
)
_DASH = re.compile(rf"({_NUMBER})\s*[-–—]\s*({_NUMBER})")
_BOUND = re.compile(rf"(<=|>=|<|>|≤|≥)\s*({_NUMBER})")
_AND_MORE = re.compile(rf"({_NUMBER})\s*\+")
_TO = re.compile(rf"({_NUMBER})\s+to\s+({_NUMBER})", re.IGNORECASE)
_WORD_BEFORE = re.compile(rf"([a-z][a-z ]*?)\s+({_NUMBER})", re.IGNORECASE)
_WORD_AFTER = re.compile(rf"({_NUMBER})\s+((?:and|or)\s+[a-z]+)", re.IGNORECASE)
_SIGN_OF = {
    **dict.fromkeys(("under", "below", "less than", "younger than"), "<"),
    **dict.fromkeys(("over", "above", "more than", "older than"), ">"),
    **dict.fromkeys(
        ("up to", "at most", "or less", "or under", "or younger", "and under", "and younger"), "<="
    ),
    **dict.fromkeys(
        ("at least", "from", "or more", "or over", "or older", "and over", "and older", "and more"), ">="
    ),
}
"""What words before or after a number say: "under 20", "65 and over"."""
_QUOTED = re.compile(r'\s*"((?:[^"]|"")*)"\s*(?=,|\Z)', re.DOTALL)
_UNQUOTED = re.compile(r"([^,]*)(?=,|\Z)", re.DOTALL)
MISSING = ("", NULL_TEXT, "NULL")
"""Texts that mean a suppressed or missing value: in CSV, in R, in ARX."""
_GROUPED = re.compile(r"\d{1,3}(?:\.\d{3})+")
_DIGITS = re.compile(r"[\d.]*\d[\d.]*")


@dataclass(frozen=True)
class Anything:
    """A suppressed value, which can be anything: ``*``, ``NA``, ``NULL``, an empty field."""


@dataclass(frozen=True)
class Span:
    """All numbers between two ends, which may be infinite."""

    low: float
    high: float
    low_open: bool = False
    high_open: bool = False


@dataclass(frozen=True)
class OneOf:
    """One of several values: ``{cook,judge}``."""

    members: tuple[str, ...]
    quoted: tuple[bool, ...] = field(default=(), compare=False, repr=False)
    """Which members were written in quotes: ``"NA"`` is a text, NA is a missing value."""


@dataclass(frozen=True)
class Masked:
    """Text in which each ``*`` hides one character: ``2*``, ``123**``."""

    text: str


@dataclass(frozen=True)
class Plain:
    """An ordinary value, not generalised."""

    text: str


Meaning = Anything | Span | OneOf | Masked | Plain


def meaning(text: str) -> Meaning | None:
    """The meaning of a released text; None for a range or set that does not parse.

    >>> meaning("[20,30)")
    Span(low=20.0, high=30.0, low_open=False, high_open=True)
    >>> meaning("65+")
    Span(low=65.0, high=inf, low_open=False, high_open=True)
    >>> meaning("-5--1") == Span(-5, -1)
    True
    >>> meaning("under 20")
    Span(low=-inf, high=20.0, low_open=True, high_open=True)
    >>> meaning("{cook, judge}"), meaning("123**"), meaning("*"), meaning("cook"), meaning("[20,")
    (OneOf(members=('cook', 'judge')), Masked(text='123**'), Anything(), Plain(text='cook'), None)
    """
    text = text.strip()
    if text in MISSING or not text.strip("*"):
        return Anything()
    if _PLAIN_NUMBER.fullmatch(text):
        return Plain(text)
    for read in (_brackets, _dash, _bound, _and_more, _in_words):
        found = read(text)
        if found is not None:
            return found if _holds_something(found) else None
    if text[0] == "{":
        return _members(text)
    if text[0] in "[]" or (text[0] == "(" and "," in text):
        return None
    return Masked(text) if "*" in text else Plain(text)


def as_number(text: str) -> float | None:
    """The text as a number, or None; "inf" and "nan" are not numbers here."""
    return float(text) if _PLAIN_NUMBER.fullmatch(text) else None


def _brackets(text: str) -> Span | None:
    """``[20,30)``, ``(20,30]``, and the notation with outward brackets for open ends: ``[20,30[``."""
    found = _BRACKETS.fullmatch(text)
    if found is None:
        return None
    opening, low, high, closing = found.groups()
    below, above = as_number(low), as_number(high)
    return Span(
        -inf if below is None else below,
        inf if above is None else above,
        below is None or opening in "](",
        above is None or closing in ")[",
    )


def _dash(text: str) -> Span | None:
    found = _DASH.fullmatch(text)
    return Span(float(found[1]), float(found[2])) if found else None


def _bound(text: str) -> Span | None:
    found = _BOUND.fullmatch(text)
    return None if found is None else _beyond(found[1], float(found[2]))


def _beyond(sign: str, number: float) -> Span:
    if sign in (">", ">=", "≥"):
        return Span(number, inf, sign == ">", True)
    return Span(-inf, number, True, sign == "<")


def _and_more(text: str) -> Span | None:
    found = _AND_MORE.fullmatch(text)
    return Span(float(found[1]), inf, False, True) if found else None


def _in_words(text: str) -> Span | None:
    """``20 to 29``, ``under 20``, ``65 and over``."""
    both = _TO.fullmatch(text)
    if both is not None:
        return Span(float(both[1]), float(both[2]))
    before, after = _WORD_BEFORE.fullmatch(text), _WORD_AFTER.fullmatch(text)
    words, number = (
        (before[1], before[2]) if before is not None else (after[2], after[1]) if after else ("", "")
    )
    sign = _SIGN_OF.get(" ".join(words.casefold().split()))
    return None if sign is None else _beyond(sign, float(number))


def without_thousands(text: str) -> str | None:
    """The text with ``3.000`` read as 3000; None if its numbers cannot all be read so, or none of them has a point.

    >>> without_thousands("[0, 3.000["), without_thousands("[1.5, 3.000["), without_thousands("20-29")
    ('[0, 3000[', None, None)
    """
    pointed = [number for number in _DIGITS.findall(text) if "." in number]
    if not pointed or not all(map(_GROUPED.fullmatch, pointed)):
        return None
    return _GROUPED.sub(lambda number: number[0].replace(".", ""), text)


def _holds_something(span: Span) -> bool:
    return span.low < span.high or (span.low == span.high and not (span.low_open or span.high_open))


def _members(text: str) -> OneOf | None:
    """The members of ``{cook, judge}``: blanks around one are not part of it, unless it is quoted as in CSV."""
    if len(text) < 3 or text[-1] != "}":
        return None
    members, quoted, rest = [], [], text[1:-1]
    while True:
        found = _QUOTED.match(rest) or _UNQUOTED.match(rest)
        if found is None:
            return None
        quoted.append(found.re is _QUOTED)
        members.append(found[1].replace('""', '"') if quoted[-1] else found[1].strip())
        if found.end() == len(rest):
            return OneOf(tuple(members), tuple(quoted))
        rest = rest[found.end() + 1 :]
