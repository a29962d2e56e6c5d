"""The tolerance at which hit rates are given if the caller names none."""

from __future__ import annotations

from math import floor, log10


def round_tolerance(width: float) -> float:
    """The largest of 1, 2 or 5 times a power of ten that is at most a tenth of the domain's ``width``; 0 for width 0.

    >>> [round_tolerance(width) for width in (4600.0000001, 57, 0.3, 50, 0)]
    [200.0, 5.0, 0.02, 5.0, 0.0]
    """
    if width <= 0:
        return 0.0
    tenth = width / 10 * (1 + 1e-9)  # 0.1 · 3 is above 0.3 in binary, and 0.3 / 0.1 below 3
    power = floor(log10(tenth)) + 1  # the logarithm may be a rounding error off: begin one step above
    steps = (float(f"{digit}e{power - down}") for down in range(3) for digit in (5, 2, 1))
    return next((step for step in steps if step <= tenth), 0.0)
