"""The format of figures on the terminal, in the report and in column names; and what makes any text printable."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Sequence

import numpy as np


def figure(value: float) -> str:
    """A figure to about four significant digits, thousands separated, without an exponent where it can be read.

    >>> figure(259712.4), figure(4.18231), figure(0.0712345), figure(0.0), figure(-1234.5), figure(12.0)
    ('259,712', '4.182', '0.07123', '0', '-1,234', '12')
    """
    if not math.isfinite(value):
        return str(value)
    if abs(value) >= 1e15 or 0 < abs(value) < 1e-4:
        return f"{value:.3e}"
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return np.format_float_positional(float(f"{value:.4g}"), trim="-")


def exact(value: float) -> str:
    """A number with the fewest digits that read back as the same number, without thousands separators.

    For tolerances in column names and keys of records, where two different numbers must not look the same.

    >>> exact(1000000.0), exact(1000001.0), exact(0.1), exact(4600.5), exact(1e300)
    ('1000000', '1000001', '0.1', '4600.5', '1e+300')
    """
    if value and not 1e-7 <= abs(value) < 1e17:
        return repr(float(value)).replace(".0e", "e")
    return np.format_float_positional(float(value), trim="-")


def bits(value: float) -> str:
    """A figure in bits.

    >>> bits(1.0), bits(2.06), bits(0.5)
    ('1 bit', '2.06 bits', '0.5 bits')
    """
    written = figure(value)
    return f"{written} bit" if written == "1" else f"{written} bits"


def amount(value: float, unit: str = "") -> str:
    """A number with the attribute's unit; no blank before a unit of one letter.

    >>> amount(5, "K"), amount(12345.5, "cents"), amount(0.25), amount(259712.44)
    ('5K', '12,345.5 cents', '0.25', '259,712')
    """
    number = f"{value:,.6g}" if 1e-4 <= abs(value) < 1e6 else figure(value)
    return f"{number}{unit}" if len(unit) == 1 else f"{number} {unit}".rstrip()


def probability(value: float) -> str:
    """Two decimals, or more if the value would otherwise look like 0.00 or 1.00.

    >>> probability(0.414), probability(0.0004), probability(0.9996), probability(1.0)
    ('0.41', '0.0004', '0.9996', '1.00')
    """
    for decimals in range(2, 7):
        text = f"{value:.{decimals}f}"
        if value in (0.0, 1.0) or 0.0 < float(text) < 1.0:
            return text
    return f"{value:.2g}"


def percent(share: float) -> str:
    """A share with one decimal, or more if it would otherwise look like nobody (0.0%) or everybody (100.0%).

    >>> percent(0.414), percent(0.0004), percent(0.99996), percent(0.0), percent(1.0)
    ('41.4%', '0.04%', '99.996%', '0.0%', '100.0%')
    """
    for decimals in range(1, 7):
        text = f"{share:.{decimals}%}"
        if not 0.0 < share < 1.0 or 0.0 < float(text[:-1]) < 100.0:
            return text
    return f"{100 * share:.2g}%"


def counted(number: int, thing: str) -> str:
    """A number with its noun, in the plural unless the number is 1.

    >>> counted(1, "record"), counted(1200, "class"), counted(0, "person")
    ('1 record', '1,200 classes', '0 people')
    """
    if number == 1:
        return f"1 {thing}"
    several = "people" if thing == "person" else f"{thing}es" if thing.endswith("s") else f"{thing}s"
    return f"{number:,} {several}"


# Lists of names and shares of records as text.


def listed(names: Sequence[str]) -> str:
    """Names in a row; nothing for none.

    >>> listed(["age", "sex", "race"]), listed([])
    ('age, sex and race', '')
    """
    *first, last = [*names] or [""]
    return f"{', '.join(first)} and {last}" if first else last


def part(count: int, of: int) -> str:
    """A number of records, and their share.

    >>> part(0, 10), part(2, 8)
    ('none of 10 records', '2 of 8 records (25.0%)')
    """
    return f"{count:,} of {of:,} records ({percent(count / of)})" if count else f"none of {of:,} records"


HIDDEN = re.compile(r"[\x00-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]")
"""Control characters, line separators, direction marks, and surrogates."""

FALLBACKS = {
    "ε": "eps",
    "δ": "delta",
    "θ": "theta",
    "α": "alpha",
    "Σ": "sum",
    "±": "+/-",
    "×": "x",
    "·": "*",
    "−": "-",
    "–": "-",
    "—": "-",
    "…": "...",
    "“": '"',
    "”": '"',
    "‘": "'",
    "’": "'",
    "≤": "<=",
    "≥": ">=",
    "→": "->",
    "∞": "inf",
    "\u00a0": " ",
    "\u202f": " ",
}


def printable(text: object, *, keep: str = "") -> str:
    r"""The text with control characters escaped, except those in ``keep``.

    >>> printable("a\x1b[31mb"), printable("a\nb", keep="\n"), printable("ünï ε")
    ('a\\x1b[31mb', 'a\nb', 'ünï ε')
    """
    return HIDDEN.sub(lambda found: found[0] if found[0] in keep else _escape(found[0]), str(text))


def written_with(characters: UnicodeError) -> tuple[str, int]:
    """Error handler for `codecs.register_error`: replaces characters that the encoding lacks."""
    if not isinstance(characters, UnicodeEncodeError):
        raise characters
    lacking = characters.object[characters.start : characters.end]
    written = "".join(_fallback(character) for character in lacking)
    try:
        written.encode(characters.encoding)
    except UnicodeEncodeError:
        written = "".join(map(_escape, lacking))
    return written, characters.end


def _fallback(character: str) -> str:
    if character in FALLBACKS:
        return FALLBACKS[character]
    if "─" <= character <= "╿":
        name = unicodedata.name(character)
        across, down = "HORIZONTAL" in name, "VERTICAL" in name
        corner = {"LEFT", "RIGHT"} & set(name.split()) and {"UP", "DOWN"} & set(name.split())
        return "+" if corner or (across and down) else "|" if down else "-"
    return _escape(character)


def _escape(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")
