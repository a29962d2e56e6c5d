"""Words of a notation: quoting of names and paths as in CSV, numbers, and the names of columns."""

from __future__ import annotations

from typing import Any

from equivoc.errors import InputError

COLUMN_WORDS = ("confidential", "keys", "all")
"""The words that stand for columns."""
Columns = str | tuple[str, ...]
"""One of `COLUMN_WORDS`, or columns by name."""
SEPARATORS = ",=+:|"
MARKS = ',+:|;"'
"""Text with one of these characters is quoted."""


def quoted(text: str, *, always: bool = False) -> str:
    """The text as written in a notation: in double quotes, with inner quotes doubled, if it would be ambiguous without.

    >>> quoted("age"), quoted("pay, yearly"), quoted('the "b" one'), quoted(" x"), quoted("12")
    ('age', '"pay, yearly"', '"the ""b"" one"', '" x"', '"12"')
    """
    plain = text.strip() == text != "" and not any(mark in text for mark in MARKS) and not _is_number(text)
    return text if plain and not always else '"' + text.replace('"', '""') + '"'


def split_words(text: str, separator: str) -> list[str]:
    """Split at separators outside quotes; the pieces keep their quotes.

    A quote opens only at the beginning of a piece or after another separator: ``a "b"`` is text that contains quotes.

    >>> split_words('x="a,b",y=2', ","), split_words('"a+b"+c', "+")
    (['x="a,b"', 'y=2'], ['"a+b"', 'c'])
    """
    pieces, inside, fresh, at = [""], False, True, 0
    while at < len(text):
        c = text[at]
        at += 1
        if inside and c == '"' and text[at : at + 1] == '"':
            pieces[-1] += '""'
            at += 1
        elif c == '"' and (inside or fresh):
            pieces[-1] += c
            inside, fresh = not inside, False
        elif c == separator and not inside:
            pieces.append("")
            fresh = True
        else:
            pieces[-1] += c
            fresh = c in SEPARATORS or (fresh and c.isspace())
    return pieces


def is_quoted(piece: str) -> bool:
    """True if the piece is quoted."""
    found = piece.strip()
    return len(found) > 1 and found[0] == found[-1] == '"'


def unquoted(piece: str) -> str:
    """The text of a piece, without its quotes or surrounding blanks.

    >>> unquoted(' "the ""b"" one"'), unquoted(" age ")
    ('the "b" one', 'age')
    """
    found = piece.strip()
    return found[1:-1].replace('""', '"') if is_quoted(piece) else found


def written(value: object) -> object:
    """A value in a notation: 20 and 20.0 read alike; columns are joined by +, with levels ``age:1+zip:2``."""
    if isinstance(value, tuple):
        return "+".join(
            f"{quoted(part[0])}:{part[1]}"
            if isinstance(part, tuple)
            else quoted(part, always=part in COLUMN_WORDS)
            for part in value
        )
    if hasattr(value, "notation"):
        return quoted(value.notation)
    if isinstance(value, str):
        return value if value in COLUMN_WORDS else quoted(value)
    return int(value) if isinstance(value, float) and value.is_integer() else value


def checked_columns(name: str, given: Any) -> Columns:
    """One of `COLUMN_WORDS` or a tuple of names, which may be given as ``age+sex``; InputError if it is neither."""
    found: Columns = ()
    if isinstance(given, str):
        names = tuple(unquoted(each) for each in split_words(given, "+")) if given else ()
        found = given if given in COLUMN_WORDS else names
    elif isinstance(given, (list, tuple)):
        found = tuple(given)
    if not found or not all(isinstance(each, str) for each in found):
        raise InputError(
            f'{name} is {given!r}; give "confidential", "keys", "all" or columns by their names.'
        )
    return found


def number_or_text(text: str) -> Any:
    """A number where the text reads as one, else the text without surrounding blanks.

    >>> number_or_text("3"), number_or_text(" .5"), number_or_text("a3")
    (3, 0.5, 'a3')
    """
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text.strip()


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
