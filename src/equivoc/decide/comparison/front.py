"""The risk–utility front: the techniques for which nothing else is at least as good in both and better in one."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan


def on_front(risk: Sequence[float], loss: Sequence[float]) -> list[bool]:
    """For each point, whether no other has at most its risk and its loss and less of one of them.

    Points with a missing figure (NaN) are not on the front and do not keep others off it.

    >>> on_front([3, 1, 2, 2], [0, 2, 1, 3])
    [True, True, True, False]
    """
    found = [False] * len(risk)
    places = [place for place, both in enumerate(zip(risk, loss, strict=True)) if not any(map(isnan, both))]
    best: tuple[float, float] | None = None  # the last on the front: risk and loss
    for place in sorted(places, key=lambda place: (loss[place], risk[place])):
        here = risk[place], loss[place]
        if best is None or here == best or risk[place] < best[0]:
            found[place] = True
            best = here
    return found
