"""Makes text printable: control characters escaped, characters that the output encoding lacks replaced."""

from __future__ import annotations

import re
import unicodedata

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
