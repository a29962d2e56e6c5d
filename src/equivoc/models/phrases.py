"""Lists of names and shares of records as text."""

from __future__ import annotations

from collections.abc import Sequence

from equivoc.number_format import percent


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
