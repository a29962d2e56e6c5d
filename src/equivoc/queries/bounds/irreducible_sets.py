"""Smallest sets of statements with a property that more statements only strengthen."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from math import comb


def irreducible(items: Sequence[int], holds: Callable[[Sequence[int]], bool]) -> list[int]:
    """A subset for which ``holds`` and from which nothing can be left out; ``holds(items)`` must be true.

    ``holds`` must stay true when items are added. Splits in halves (Junker's QuickXplain): about ``k · log2(n / k)``
    questions for k of n items.

    >>> irreducible(range(100), lambda some: {7, 40, 41} <= set(some))
    [7, 40, 41]
    """

    def needed(fixed: list[int], rest: Sequence[int], *, grown: bool) -> list[int]:
        if grown and holds(fixed):
            return []
        if len(rest) == 1:
            return list(rest)
        half = len(rest) // 2
        second = needed([*fixed, *rest[:half]], rest[half:], grown=half > 0)
        first = needed([*fixed, *second], rest[:half], grown=bool(second))
        return [*first, *second]

    return sorted(needed([], list(items), grown=True)) if len(items) else []


def smallest(
    items: Sequence[int], holds: Callable[[Sequence[int]], bool], *, most: int
) -> tuple[list[int], bool]:
    """A subset for which ``holds``, irreducible, and whether it is proven that none is smaller.

    The proof asks ``holds`` for every smaller set; it is tried if these are at most ``most`` sets in all.

    >>> smallest(range(9), lambda some: {2, 5} <= set(some) or {0, 1, 3} <= set(some), most=100)
    ([2, 5], True)
    """
    found = irreducible(items, holds)
    if sum(comb(len(items), size) for size in range(1, len(found))) > most:
        return found, False
    for size in range(1, len(found)):
        for some in combinations(items, size):
            if holds(list(some)):
                return list(some), True
    return found, True
