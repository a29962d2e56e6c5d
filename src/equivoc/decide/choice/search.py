"""The search for the mildest of many settings that meets the requirements, with few assessments."""

from __future__ import annotations

from collections.abc import Callable, Sequence

GRID = 9
"""Settings of the first, coarse grid."""
EXHAUSTIVE = 16
"""Up to this many settings are tried one after the other."""

Missed = Callable[[int], float]
"""By how much the setting of this number misses the requirements; 0 if it meets them. 0 is the mildest setting."""


def mildest(count: int, missed: Missed, *, monotone: bool) -> int | None:
    """The number of the mildest of ``count`` settings that meets the requirements; None if none of those tried does.

    If ``monotone``, every setting stronger than one that meets them is taken to meet them too: the strongest is tried,
    then the mildest, then those between by bisection, 2 + log2(count) at most. Otherwise a coarse grid is tried from
    the mildest on, and the gap before the first that meets them is bisected; if none does, the neighbourhood of the
    closest one is tried more finely. Either way, the result meets them, and the next milder setting, if there is one,
    was tried and does not.

    >>> mildest(100, lambda i: max(0, 70 - i), monotone=True)
    70
    """
    last = count - 1
    if monotone:
        if missed(last) > 0:
            return None
        return 0 if missed(0) == 0 else _between(0, last, missed)
    if count <= EXHAUSTIVE:
        return next((i for i in range(count) if missed(i) == 0), None)
    grid = [round(i * last / (GRID - 1)) for i in range(GRID)]
    found = _first(grid, missed)
    if found is None:
        closest = min(range(GRID), key=lambda place: missed(grid[place]))
        begin, end = grid[max(closest - 1, 0)], grid[min(closest + 1, GRID - 1)]
        steps = min(GRID - 1, end - begin)
        found = _first([begin + round(i * (end - begin) / steps) for i in range(steps + 1)], missed)
    return None if found is None else _between(*found, missed)


def _first(places: Sequence[int], missed: Missed) -> tuple[int, int] | None:
    """The first place that meets the requirements, after the one before it; (0, 0) if it is the first of all."""
    before = 0
    for place in places:
        if missed(place) == 0:
            return before, place
        before = place
    return None


def _between(fails: int, meets: int, missed: Missed) -> int:
    """A place in (fails, meets] that meets the requirements, while the one before it does not: by bisection."""
    while meets - fails > 1:
        middle = (fails + meets) // 2
        if missed(middle) > 0:
            fails = middle
        else:
            meets = middle
    return meets
