"""Distribution of the sum of several records, accurate in the tails: repeated convolution of a prior."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from equivoc.errors import InputError

# Domains whose values lie on an even grid, with or without gaps.

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


# Finds the number of decimal places of numbers, so that their sums can be exact.

MOST_PLACES = 9
# Extra headroom where a number mistaken for a decimal would cause an error: a double is rarely a short decimal
# by chance unless its last decimal place is close to its last bit.
BEYOND_CHANCE = 4096.0
_EXACT_INTEGERS = 2.0**53


def decimal_places(numbers: NDArray[np.float64], *, headroom: float = 1.0) -> int | None:
    """The fewest decimal places that write every number exactly, or None if there are too many.

    "Exactly" means that the double closest to the written decimal is the number itself. Counted in units of
    the last place, such numbers are integers, and float64 adds integers without error up to 2^53;
    ``headroom`` is how many times the largest of them the caller's sums may reach.

    >>> decimal_places(np.array([10.0, 250.0])), decimal_places(np.array([0.1, 0.25]))
    (0, 2)
    >>> decimal_places(np.array([1 / 3])) is None
    True
    """
    largest = float(np.max(np.abs(numbers), initial=0.0))
    for places in range(MOST_PLACES + 1):
        factor = 10.0**places
        if largest * factor * headroom >= _EXACT_INTEGERS:
            return None
        if np.array_equal(np.rint(numbers * factor) / factor, numbers):
            return places
    return None


# Which values of a domain lie within a record's bounds.


def candidate_span(values: ArrayLike, bounds: NDArray[np.float64]) -> NDArray[np.int64]:
    """For each ``[L, U]``, the half-open range of positions of the ascending ``values`` that it holds: n × 2.

    A value that misses a bound by no more than rounding (a billionth of the smallest gap between values, or
    the last few bits) counts as within it, so that ``0.1 + 0.2`` and ``0.3`` are one value.

    >>> candidate_span([10, 20, 30, 40], np.array([[10.0, 40.0], [20.0, 30.0], [25.0, 40.0]]))
    array([[0, 4],
           [1, 3],
           [2, 4]])
    """
    domain = np.asarray(values, dtype=np.float64)
    gap = float(np.min(np.diff(domain), initial=np.inf))
    last_bits = 8.0 * float(np.spacing(np.max(np.abs(domain))))
    slack = last_bits if np.isinf(gap) else min(gap / 2, max(1e-9 * gap, last_bits))
    first = np.searchsorted(domain, bounds[:, 0] - slack, side="left")
    past_last = np.searchsorted(domain, bounds[:, 1] + slack, side="right")
    return np.column_stack([first, past_last]).astype(np.int64)


# Checks a prior over the domain of the confidential attribute.


def checked_prior(prior: ArrayLike, count: int) -> NDArray[np.float64]:
    """Probabilities over the domain; InputError if they are not."""
    belief = np.asarray(prior, dtype=np.float64)
    if belief.shape != (count,):
        raise InputError(
            f"prior has shape {belief.shape}; it needs one probability for each of the {count} values."
        )
    bad = np.flatnonzero(~(np.isfinite(belief) & (belief >= 0)))
    if len(bad):
        raise InputError(f"prior[{bad[0]}] is {belief[bad[0]]}; a probability is finite and not negative.")
    if abs(belief.sum() - 1.0) > 1e-9:
        raise InputError(f"prior sums to {belief.sum():.12g}; probabilities must sum to 1.")
    return belief


MOST_MULTIPLICATIONS = 6e9
"""Some ten seconds."""
_SHORTEST_SEGMENT = 256
# exp of anything below this underflows in float64.
_LEAST_SAFE_LOG = -690.0


def log_sums(grid: EvenGrid, belief: NDArray[np.float64]) -> Iterator[NDArray[np.float64]]:
    """Logarithms of ``N_0``, ``N_1``, ``N_2``, … without end, ``N_l`` the distribution of the sum of l records.

    Each is over the sums 0, 1, … steps above the least one; −inf: impossible. ``belief`` has a probability for each
    of the grid's values.

    >>> from itertools import islice
    >>> from equivoc.systems.grids import even_grid
    >>> for log in islice(log_sums(even_grid([0, 1]), np.array([0.5, 0.5])), 3):
    ...     print(np.exp(log))
    [1.]
    [0.5 0.5]
    [0.25 0.5  0.25]
    """
    total = np.zeros(1)
    while True:
        yield total
        total = log_convolve(total, grid, belief)


def too_many_sums(grid: EvenGrid, records: int, *, most: float = MOST_MULTIPLICATIONS) -> bool:
    """True if the distribution of the sum of so many records takes more than so many multiplications."""
    return records * (records * grid.steps + 1) * (grid.steps + 1.0) > most


def log_convolve(
    log_sums: NDArray[np.float64], grid: EvenGrid, belief: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Logarithm of the distribution with one more record, computed in segments of the sums.

    Each segment is convolved in plain numbers relative to its own peak: the whole range of a sum of hundreds
    of records does not fit float64, a segment nearly always does. Only positive terms are added, so that the
    smallest tail keeps its relative accuracy (a Fourier transform would lose it).
    """
    on_grid = np.zeros(grid.steps + 1)
    on_grid[grid.positions] = belief
    log_least = float(np.log(belief[belief > 0].min()))
    result = np.full(len(log_sums) + grid.steps, -np.inf)
    segment = max(grid.steps + 1, _SHORTEST_SEGMENT)
    for start in range(0, len(result), segment):
        before = max(0, start - grid.steps)
        source = log_sums[before : start + segment]
        possible = source[source > -np.inf]
        if len(possible) == 0:
            continue
        peak = possible.max()
        target = result[start : start + segment]
        if possible.min() - peak + log_least > _LEAST_SAFE_LOG:
            with np.errstate(divide="ignore"):
                relative = np.log(np.convolve(np.exp(source - peak), on_grid))
            target[:] = relative[start - before : start - before + len(target)] + peak
        else:
            target[:] = _log_space_segment(source, grid, belief)[
                start - before : start - before + len(target)
            ]
    return result


def _log_space_segment(
    source: NDArray[np.float64], grid: EvenGrid, belief: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The same convolution if even a segment would underflow: slower, one value at a time."""
    result = np.full(len(source) + grid.steps, -np.inf)
    for position, probability in zip(grid.positions, belief, strict=True):
        if probability > 0:
            reached = result[position : position + len(source)]
            np.logaddexp(reached, source + np.log(probability), out=reached)
    return result
