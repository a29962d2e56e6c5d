"""An intruder's posteriors by enumeration of all originals that fit a released table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any


def stands_for(shown: Any, levels: Sequence[Any]) -> list[Any]:
    """The levels that a released value may stand for, read off its text: an interval, a range, a set, a star."""
    if shown == "*":
        return list(levels)
    if isinstance(shown, str) and shown[0] == "[":
        low, high = (float(end) for end in shown[1:-1].split(","))
        closed = shown[-1] == "]"
        return [v for v in levels if v is not None and (low <= v <= high if closed else low <= v < high)]
    if isinstance(shown, str) and shown[0] == "{":
        names = shown[1:-1].split(",")
        return [v for v in levels if ("NA" if v is None else str(v)) in names]
    return [v for v in levels if v == shown or (v is not None and str(v) == shown)]


def beliefs_by_enumeration(
    released: Sequence[dict[str, Any]],
    levels: dict[str, Sequence[Any]],
    known: Sequence[str],
    *,
    reads: Callable[[Any, Sequence[Any]], list[Any]] = stands_for,
) -> dict[tuple[Any, ...], dict[Any, float]]:
    """For each combination of known keys: how often each pay occurs among the records that have them.

    Every original whose records fit the released table has the same weight, and so has each of its records.
    """
    choices = [
        list(product(*(reads(row[name], of_key) for name, of_key in levels.items()))) for row in released
    ]
    names = list(levels)
    found: dict[tuple[Any, ...], dict[Any, float]] = {}
    for original in product(*choices):
        for row, record in zip(released, original, strict=True):
            target = tuple(record[names.index(name)] for name in known)
            pays = found.setdefault(target, {})
            pays[row["pay"]] = pays.get(row["pay"], 0) + 1
    return {
        target: {pay: count / sum(pays.values()) for pay, count in pays.items()}
        for target, pays in found.items()
    }
