"""One measure of what a release loses."""

from __future__ import annotations

from dataclasses import dataclass

ROUNDING = 1e-12
"""Smaller losses are rounding errors of equal tables."""


@dataclass(frozen=True)
class Loss:
    """One measure: less is better, 0 is the loss of the unprotected file."""

    measure: str
    attribute: str
    """The attribute it is about; "" if it is about all columns."""
    value: float
    meaning: str
    """What the value means, in a sentence with its unit."""
    unit: str = ""
    """The unit of the value, in a few words."""

    def __post_init__(self) -> None:
        if self.value < ROUNDING:
            object.__setattr__(self, "value", 0.0)
