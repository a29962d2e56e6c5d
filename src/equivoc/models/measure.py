"""One row of the table of measures."""

from __future__ import annotations

from typing import NamedTuple


class Measure(NamedTuple):
    """One figure and its sentence."""

    measure: str
    value: float
    meaning: str
