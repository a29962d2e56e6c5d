"""Draws charts. Vega's JavaScript engine aborts the process if it cannot reserve enough addresses."""

from __future__ import annotations

from collections.abc import Sequence
from math import cos, hypot, pi, sin
from pathlib import Path
from typing import Any

from equivoc.errors import InputError
from equivoc.files import replacing
from equivoc.text import HIDDEN

ADDRESSES_NEEDED = 72 << 30
"""Bytes of address space that the engine reserves at its start, with a margin. It uses little of it as memory."""

INHERITED = frozenset(
    [
        "constructor",
        "hasOwnProperty",
        "isPrototypeOf",
        "propertyIsEnumerable",
        "toLocaleString",
        "toString",
        "valueOf",
        "__proto__",
        "__defineGetter__",
        "__defineSetter__",
        "__lookupGetter__",
        "__lookupSetter__",
    ]
)
"""Names that every object of JavaScript has."""


def check_drawing() -> None:
    """InputError if a limit on virtual memory (``ulimit -v``) leaves too few addresses for charts to be drawn."""
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit != resource.RLIM_INFINITY and limit < ADDRESSES_NEEDED:
        raise InputError(
            f"charts cannot be drawn: virtual memory is limited to {limit / 2**30:,.1f} GiB (ulimit -v), and the "
            f"drawing engine reserves {ADDRESSES_NEEDED >> 30} GiB of addresses, of which it uses little. "
            "Raise the limit, or leave the charts out."
        )


def save_chart(chart: Any, path: Path) -> None:
    """Write an Altair chart to a .png or .svg file, completely or not at all."""
    check_drawing()
    png = path.suffix.lower() == ".png"
    with replacing(path) as temporary:
        chart.save(str(temporary), format="png" if png else "svg", scale_factor=2 if png else 1)


def svg(chart: Any) -> str:
    """An Altair chart as the text of an SVG image."""
    import vl_convert

    drawn: str = vl_convert.vegalite_to_svg(chart.to_json())
    return drawn


def drawable(text: object) -> str:
    r"""A name as a chart can show it, on one line: Vega evaluates backslashes, aborts at control characters, and draws
    nothing for a name that JavaScript's objects inherit; such a name gets a hair space at its end.

    >>> drawable("pay\x1b[1m"), drawable("a\n b"), drawable("a\\b"), drawable("constructor") == "constructor\u200a"
    ('pay�[1m', 'a b', 'a＼b', True)
    """
    shown = HIDDEN.sub("�", " ".join(str(text).split())).replace("\\", "＼")
    return f"{shown}\u200a" if shown in INHERITED else shown


# Places for the labels of points in a chart, so that they cover neither each other nor the points.

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
