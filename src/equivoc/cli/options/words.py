"""Reads lists of names and numbers, separated by commas, from options."""

from __future__ import annotations

import re
from math import isfinite

from equivoc.errors import InputError

NOTHING = "none"
"""The value of ``--known`` for an intruder who knows no key, unless a key has that name."""
LONGEST_QUOTED = 40
"""The most characters of a caller's text that a message repeats."""

_QUOTED = re.compile(r'"(?:[^"]|"")*"')
_ITEM = re.compile(rf"(?:^|(?<=,))(?:\s*{_QUOTED.pattern}\s*(?=,|$)|[^,]*)")


def names(option: str, text: str) -> list[str]:
    """Names separated by commas; an empty name, for example from an unset shell variable, is an InputError.

    A name with a comma stands in double quotes, a quote in it twice, as in a CSV file.

    >>> names("--keys", 'age, "Wage, per hour"')
    ['age', 'Wage, per hour']
    """
    items = [match.group() for match in _ITEM.finditer(text)]
    found = [
        each[1:-1].replace('""', '"') if _QUOTED.fullmatch(each) else each for each in map(str.strip, items)
    ]
    if not any(found):
        raise InputError(
            f"{option} is empty; name at least one column"
            + (
                f", or give {option} {NOTHING} for an intruder who knows no key."
                if option == "--known"
                else "."
            )
        )
    if not all(found):
        raise InputError(f"{option} {text}: the name at position {found.index('')} is empty.")
    return found


def numbers(option: str, text: str) -> list[float]:
    """Finite numbers separated by commas."""
    found = []
    for position, item in enumerate(text.split(",")):
        written = item.strip()
        shown = written if len(written) <= LONGEST_QUOTED else f"{written[:LONGEST_QUOTED]}…"
        try:
            number = float(written)
        except ValueError:
            raise InputError(f"{option}: {shown!r} at position {position} is not a number.") from None
        if not isfinite(number):
            raise InputError(f"{option}: {shown!r} at position {position} is not a finite number.")
        found.append(number)
    return found


def domain_values(text: str) -> list[float]:
    """``10:250:10`` or a list of values."""
    if ":" not in text:
        return numbers("--domain", text)
    from equivoc.attributes.numbers import even_domain

    parts = numbers("--domain", text.replace(":", ","))
    if len(parts) != 3:
        raise InputError(f"--domain {text}: give low:high:step with a step above 0, such as 10:250:10.")
    low, high, step = parts
    return list(even_domain(low, high, step))
