"""Names and paths inside a technique's notation: quoted, as in CSV, where they hold what separates words there."""

from __future__ import annotations

SEPARATORS = ",=+:|"
MARKS = ',+:|;"'
"""A text that holds one of these stands in quotes."""


def quoted(text: str, *, always: bool = False) -> str:
    """The text as a notation has it: in double quotes, those inside it doubled, where it would be misread otherwise.

    >>> quoted("age"), quoted("pay, yearly"), quoted('the "b" one'), quoted(" x"), quoted("12")
    ('age', '"pay, yearly"', '"the ""b"" one"', '" x"', '"12"')
    """
    plain = text.strip() == text != "" and not any(mark in text for mark in MARKS) and not _is_number(text)
    return text if plain and not always else '"' + text.replace('"', '""') + '"'


def split_words(text: str, separator: str) -> list[str]:
    """The pieces between separators that are not in quotes; the pieces keep their quotes.

    A quote opens at the beginning of a piece only, or after another separator: ``a "b"`` is a text with quotes in it.

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
    """Does the piece stand in quotes?"""
    found = piece.strip()
    return len(found) > 1 and found[0] == found[-1] == '"'


def unquoted(piece: str) -> str:
    """The text that a piece stands for: without its quotes, or without the blanks around it.

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
