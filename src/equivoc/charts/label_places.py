"""Places for the labels of points in a chart, so that they cover neither each other nor the points."""

from __future__ import annotations

from collections.abc import Sequence
from math import cos, hypot, pi, sin

LETTER = 7.0
"""Pixels of one digit, about."""
LINE = 12.0
DISTANCES = (14.0, 19.0, 26.0, 34.0)
DIRECTIONS = tuple(pi * step / 8 for step in (0, 4, 8, 12, 2, 6, 10, 14, 1, 3, 5, 7, 9, 11, 13, 15))
MARK = 7.0
"""The radius of a point, with a margin."""


def label_places(
    points: Sequence[tuple[float, float]], lengths: Sequence[int], *, width: float, height: float
) -> list[tuple[float, float]]:
    """The centre of each label, in pixels like the ``points``; ``lengths`` are the labels' numbers of letters.

    Each label takes the first free place around its point, near ones first; if there is none, the least covered.

    >>> label_places([(50, 50), (50, 51)], [1, 1], width=100, height=100)[0]
    (64.0, 50.0)
    """
    taken: list[tuple[float, float, float]] = []
    for (x, y), letters in zip(points, lengths, strict=True):
        half = letters * LETTER / 2
        candidates = [
            (x + (distance + half - LETTER / 2) * cos(angle), y - distance * sin(angle))
            for distance in DISTANCES
            for angle in DIRECTIONS
        ]
        inside = [
            (a, b) for a, b in candidates if half <= a <= width - half and LINE / 2 <= b <= height - LINE / 2
        ] or candidates
        best = min(inside, key=lambda place: _cost(place, half, (x, y), points, taken))
        taken.append((*best, half))
    return [(x, y) for x, y, _ in taken]


def _cost(
    place: tuple[float, float],
    half: float,
    own: tuple[float, float],
    points: Sequence[tuple[float, float]],
    taken: Sequence[tuple[float, float, float]],
) -> int:
    """How many points and labels a label here would cover, and how many points are nearer to it than its own."""
    x, y = place

    def away(point: tuple[float, float]) -> float:
        return hypot(max(abs(x - point[0]) - half, 0.0), max(abs(y - point[1]) - LINE / 2, 0.0))

    over_points = sum(away(point) < MARK for point in points)
    over_labels = sum(abs(x - a) < half + other and abs(y - b) < LINE for a, b, other in taken)
    nearer = sum(away(point) < away(own) for point in points if point != own)
    return 2 * (over_points + over_labels) + nearer
