"""One measure of what a release loses."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Loss:
    """A measure's name, the attribute it is about ("": all), its value (0: nothing is lost) and what that means."""

    measure: str
    attribute: str
    value: float
    meaning: str
