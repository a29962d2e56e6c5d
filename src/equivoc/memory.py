"""A limit on the memory of one table, checked before it is allocated."""

from __future__ import annotations

from equivoc.errors import InputError

LARGEST_TABLE = 2 * 2**30
"""The most bytes that one table of numbers may take."""


def check_memory(what: str, *, rows: int, columns: int, advice: str) -> None:
    """InputError if a table of doubles of this size would take more than LARGEST_TABLE."""
    size = 8 * rows * columns
    if size > LARGEST_TABLE:
        raise InputError(
            f"{what} has {rows:,} × {columns:,} numbers and would take {size / 2**30:,.1f} GiB, more than "
            f"{LARGEST_TABLE / 2**30:g} GiB: {advice}."
        )
