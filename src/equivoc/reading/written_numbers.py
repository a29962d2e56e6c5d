"""Numbers as a column writes them: which decimal mark and which mark between thousands fit all of its texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from equivoc.attributes.written_values import MISSING_WORDS
from equivoc.reading.reading import Reading

if TYPE_CHECKING:
    import pyarrow as pa

Mask = NDArray[np.bool_]

_CHARACTERS = {".": ".", ",": ",", "'": "'\u2019", " ": " \u00a0\u202f\u2009"}
"""The characters of each mark: straight and curly apostrophes, blanks of any width."""
_EXPONENT = r"([eE][+-]?\d+)?"
_WHOLE = rf"^[+-]?\d+{_EXPONENT}$"
_LONG = r"^[+-]?\d{4}"
_FIRST = 1000
"""Texts that are tried before all of them."""


class Notation(NamedTuple):
    """How numbers are written."""

    decimal: str
    thousands: str | None

    def pattern(self, *, strict: bool) -> str:
        """The format of a number; not ``strict``: thousands may also stand without marks."""
        point = rf"\x{ord(self.decimal):02x}"
        if self.thousands is None:
            return rf"^[+-]?(\d+({point}\d*)?|{point}\d+){_EXPONENT}$"
        between = _class(self.thousands)
        whole = r"\d{1,3}" if strict else r"\d+"
        return rf"^[+-]?(([1-9]\d{{0,2}}({between}\d{{3}})+|{whole})({point}\d*)?|{point}\d+){_EXPONENT}$"


POINT = Notation(".", None)


def _class(marks: str) -> str:
    """Any character of these marks, for a regular expression."""
    characters = "".join(_CHARACTERS[mark] for mark in marks)
    return "[" + "".join(rf"\x{{{ord(each):04x}}}" for each in characters) + "]"


@dataclass(frozen=True, eq=False)
class Look:
    """What the distinct texts of a column are, apart from words for a missing value."""

    texts: pa.Array = field(repr=False)
    """Without blanks around them; null where nothing stands."""
    missing: Mask = field(repr=False)
    """Which texts are read as missing."""
    notations: tuple[Notation, ...]
    """Those in which every other text is a number; none if they are not numbers."""
    marks: str
    """The marks that occur; "" if the notation does not matter."""

    @property
    def decimals(self) -> set[str]:
        """The decimal marks that fit, if that makes a difference."""
        return {each.decimal for each in self.notations} if self.marks else set()

    @property
    def decides(self) -> str | None:
        """The decimal mark, if the column shows it."""
        fits = self.decimals
        return next(iter(fits)) if len(fits) == 1 and set(self.marks) & {".", ","} else None

    @property
    def ambiguous(self) -> bool:
        """True if its numbers have two values, depending on the decimal mark."""
        return len(self.decimals) > 1 and bool(set(self.marks) & {".", ","})

    def notation(self, decimal: str) -> Notation | None:
        """The notation with this decimal mark; None if none fits."""
        return next((each for each in self.notations if each.decimal == decimal), None)

    def example(self) -> int:
        """The place of the first text with a mark."""
        marked = _marked(self.texts, self.marks) & ~self.missing
        return int(np.argmax(marked))


def look(levels: pa.Array, *, given: Reading, column: str, guess: bool) -> Look:
    """Look at all distinct texts of a column. Not ``guess``: only words that the caller named are missing."""
    import pyarrow.compute as pc

    texts = pc.utf8_trim_whitespace(levels)
    there = ~_mask(levels.is_null())
    named = _is_one_of(texts, given.missing_in(column)) & there
    if not guess:
        return Look(texts, named, (), "")
    likely = named | (_missing_words(texts) & there)
    rest = texts.filter(_array(there & ~likely))
    notations, marks = fitting(rest, given=given)
    return Look(texts, likely if notations else named, notations, marks)


def fitting(texts: pa.Array, *, given: Reading) -> tuple[tuple[Notation, ...], str]:
    """The notations in which all of the texts are numbers, and the marks that occur in them.

    >>> import pyarrow as pa
    >>> fitting(pa.array(["1.234", "500"]), given=Reading())
    ((Notation(decimal='.', thousands=None), Notation(decimal=',', thousands='.')), '.')
    >>> fitting(pa.array(["1.234", "5000"]), given=Reading())[0]
    (Notation(decimal='.', thousands=None),)
    >>> fitting(pa.array(["1 234,5"]), given=Reading())
    ((Notation(decimal=',', thousands=' '),), ', ')
    """
    import pyarrow.compute as pc

    if not len(texts):
        return (), ""
    whole = pc.match_substring_regex(texts, _WHOLE)
    marked = texts.filter(pc.invert(whole))
    if not len(marked):
        return (POINT, Notation(",", None)), ""
    # Most files have decimal points and no other mark.
    others = pc.any(pc.match_substring_regex(marked, _class(",' "))).as_py()
    possible = _CHARACTERS if others else "."
    marks = "".join(mark for mark in possible if _marked(marked, mark).any())
    long = False
    if given.thousands is None and len(marks) > 0:
        pieces = (texts.slice(0, _FIRST), texts.slice(_FIRST))
        long = any(pc.any(pc.match_substring_regex(piece, _LONG)).as_py() for piece in pieces)
    found = []
    for each in _candidates(marks, given):
        if each.thousands is not None and long:
            continue  # 1234 beside 1.234: the mark does not stand between thousands
        pattern = each.pattern(strict=given.thousands is None)
        if not pc.all(pc.match_substring_regex(marked.slice(0, _FIRST), pattern)).as_py():
            continue
        if pc.all(pc.match_substring_regex(marked, pattern)).as_py():
            found.append(each)
    return tuple(found), marks


def _candidates(marks: str, given: Reading) -> Sequence[Notation]:
    """The notations that use every mark that occurs."""
    found = []
    for decimal in (".", ","):
        if given.decimal not in (None, decimal) or given.thousands == decimal:
            continue
        others = [mark for mark in marks if mark != decimal]
        if len(others) > 1:
            continue
        thousands = others[0] if others else None
        if thousands is not None and given.thousands not in (None, thousands):
            continue
        found.append(Notation(decimal, thousands))
    return found


def plain_numbers(texts: pa.Array, notation: Notation) -> pa.Array:
    """The texts with a decimal point and without marks between thousands."""
    import pyarrow.compute as pc

    if notation.thousands is not None:
        texts = pc.replace_substring_regex(texts, _class(notation.thousands), "")
    return texts if notation.decimal == "." else pc.replace_substring(texts, notation.decimal, ".")


def _marked(texts: pa.Array, marks: str) -> Mask:
    """Which texts have one of these marks."""
    import pyarrow.compute as pc

    characters = "".join(_CHARACTERS[mark] for mark in marks)
    found = np.zeros(len(texts), np.bool_)
    for each in characters:
        found |= _mask(pc.fill_null(pc.match_substring(texts, each), False))
    return found


def _missing_words(texts: pa.Array) -> Mask:
    import pyarrow as pa
    import pyarrow.compute as pc

    found = np.zeros(len(texts), np.bool_)
    # Numbers are most of a column: they begin with a digit, words for nothing do not.
    doubtful = np.flatnonzero(~_mask(pc.fill_null(pc.match_substring_regex(texts, r"^[+-]?\d"), True)))
    words = pc.utf8_lower(texts.take(pa.array(doubtful)))
    found[doubtful] = _mask(pc.is_in(words, value_set=pa.array(sorted(MISSING_WORDS), texts.type)))
    return found


def _is_one_of(texts: pa.Array, words: Sequence[str]) -> Mask:
    import pyarrow as pa
    import pyarrow.compute as pc

    if not words:
        return np.zeros(len(texts), np.bool_)
    return _mask(pc.is_in(texts, value_set=pa.array([word.strip() for word in words], texts.type)))


def named_values(levels: pa.Array, words: Sequence[str]) -> Mask:
    """Which values of a column of any type the caller's words name: -8 names -8 and -8.0.

    >>> import pyarrow as pa
    >>> named_values(pa.array([1.5, -8.0, None]), ["-8", "NA"]).tolist()
    [False, True, False]
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = levels.type
    if not words or pa.types.is_null(kind):
        return np.zeros(len(levels), np.bool_)
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return _is_one_of(pc.utf8_trim_whitespace(levels), words)
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        numbers = [number for number in map(_number, words) if number is not None]
        return _mask(
            pc.is_in(levels.cast(pa.float64(), safe=False), value_set=pa.array(numbers, pa.float64()))
        )
    return _is_one_of(levels.cast(pa.string()), words)


def _number(word: str) -> float | None:
    try:
        return float(word)
    except ValueError:
        return None


def _mask(array: pa.Array) -> Mask:
    return np.asarray(array.to_numpy(zero_copy_only=False), np.bool_)


def _array(mask: Mask) -> pa.Array:
    import pyarrow as pa

    return pa.array(mask)
