"""Quoting of names and paths in a technique's notation, as in CSV."""

from __future__ import annotations

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


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
