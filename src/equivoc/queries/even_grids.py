"""Domains whose values lie on an even grid, with or without gaps."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from equivoc.errors import InputError

# As shares of the spread: the smallest step that is searched for, and the rounding tolerance of the search.
_FINEST = 1e-6
_TOLERANCE = 1e-8


@dataclass(frozen=True)
class EvenGrid:
    """Values written as ``origin + positions · step``."""

    origin: float
    step: float
    positions: NDArray[np.int64]

    @property
    def steps(self) -> int:
        """Steps from the least value to the greatest."""
        return int(self.positions[-1])


def even_grid(values: ArrayLike) -> EvenGrid:
    """The coarsest even grid that holds every one of the ascending values.

    >>> even_grid([10, 30, 60]).step, even_grid([10, 30, 60]).positions
    (10.0, array([0, 2, 5]))
    """
    domain = np.asarray(values, dtype=np.float64)
    if domain.ndim != 1 or len(domain) == 0:
        raise InputError(
            f"values has shape {domain.shape}; the domain must be a plain sequence of at least one number."
        )
    bad = np.flatnonzero(~np.isfinite(domain))
    if len(bad):
        raise InputError(f"values[{bad[0]}] is {domain[bad[0]]}; every value must be a finite number.")
    falling = np.flatnonzero(np.diff(domain) <= 0)
    if len(falling):
        place = int(falling[0]) + 1
        raise InputError(
            f"values[{place}] is {domain[place]:g}, not above the one before it; values must ascend."
        )
    if len(domain) == 1:
        return EvenGrid(float(domain[0]), 1.0, np.zeros(1, dtype=np.int64))
    spread = float(domain[-1] - domain[0])
    tolerance = max(_TOLERANCE * spread, 64 * float(np.spacing(np.max(np.abs(domain)))))
    step = 0.0
    for gap in np.unique(np.diff(domain)):
        step = _common_step(step, float(gap), tolerance=tolerance)
        if step < _FINEST * spread:
            raise _uneven()
    positions = np.rint((domain - domain[0]) / step).astype(np.int64)
    step = spread / int(positions[-1])
    if np.max(np.abs(domain - (domain[0] + positions * step))) > 1e-6 * step:
        raise _uneven()
    return EvenGrid(float(domain[0]), step, positions)


def _uneven() -> InputError:
    return InputError(
        "values do not lie on an even grid, which the exact posterior needs: round the confidential "
        "attribute (round_to) or give a domain with an even step."
    )


def _common_step(one: float, other: float, *, tolerance: float) -> float:
    """Euclid's greatest common divisor of two lengths; a remainder within the tolerance counts as 0."""
    while other > tolerance:
        one, other = other, one % other
    return one
