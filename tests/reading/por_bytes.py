"""Writes portable files of SPSS (.por), from the description of the format in PSPP's manual for developers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

_DIGITS = "0123456789ABCDEFGHIJKLMNOPQRST"
_LETTERS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz .<(+|&[]!$*);^-/|,%_>?`:#@'=\""
"""The characters of the code table from its position 64 on."""


def number(value: float | None) -> str:
    """In base 30, ended by a slash; the missing value is *. with nothing else."""
    if value is None:
        return "*."
    if value == int(value):
        whole, digits = abs(int(value)), ""
        while whole or not digits:
            whole, digit = divmod(whole, 30)
            digits = _DIGITS[digit] + digits
        return f"{'-' if value < 0 else ''}{digits}/"
    # A quarter is 7.5/30, so halves and quarters need two digits behind the point.
    scaled, digits = round(abs(value) * 30**6), ""
    for _ in range(6):
        scaled, digit = divmod(scaled, 30)
        digits = _DIGITS[digit] + digits
    return f"{'-' if value < 0 else ''}{number(scaled)[:-1]}.{digits}/"


def text(value: str) -> str:
    return number(len(value)) + value


def portable(
    columns: Mapping[str, Sequence[float | str | None]],
    *,
    labels: Mapping[str, Mapping[float, str]] | None = None,
    missing: Mapping[str, Sequence[float]] | None = None,
    formats: Mapping[str, int] | None = None,
) -> bytes:
    """The file: text of 80 characters a line. ``formats`` are codes of formats other than F (5): DATE is 20."""
    body = "A8/20260101" + "6/120000" + "1" + text("equivoc tests")
    body += "4" + number(len(columns)) + "5" + number(11)
    for name, values in columns.items():
        width = max(1, *(len(str(v)) for v in values)) if isinstance(values[0], str) else 0
        shown = [1, width, 0] if width else [(formats or {}).get(name, 5), 11, 2]
        body += "7" + number(width) + text(name) + "".join(map(number, shown * 2))
        body += "".join("8" + number(code) for code in (missing or {}).get(name, ()))
    for name, each in (labels or {}).items():
        body += "D" + number(1) + text(name) + number(len(each))
        body += "".join(number(code) + text(label) for code, label in each.items())
    body += "F"
    for row in zip(*columns.values(), strict=True):
        body += "".join(text(entry or " ") if isinstance(entry, str) else number(entry) for entry in row)
    body += "Z"
    table = "0" * 64 + _LETTERS
    head = "ASCII SPSS PORT FILE".ljust(40) * 5 + table.ljust(256, "0") + "SPSSPORT"
    whole = head + body
    whole += "Z" * (-len(whole) % 80)
    return "".join(f"{whole[at : at + 80]}\r\n" for at in range(0, len(whole), 80)).encode("ascii")
