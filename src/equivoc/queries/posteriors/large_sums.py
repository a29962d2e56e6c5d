"""The distribution of the sum of very many people: tilted Fourier transforms, one for each stretch of sums.

For weights w(d) and any θ, ``N_m(s) = exp(m·κ(θ) − θ·s) · Q_θ(s)`` with ``κ(θ) = log Σ w(d)·exp(θ·d)`` and ``Q_θ`` the
m-fold convolution of the tilted weights. θ is chosen so that the mean of ``Q_θ`` lies in the stretch: there ``Q_θ(s)``
is not small, and a Fourier transform gives it with a relative error of about 1e-11. The cost grows with m·log m
instead of m².
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

# A stretch ends this many standard deviations from the mean of its tilted distribution.
_WIDTH = 2.5
# exp(-_TAIL) bounds the tilted probability outside the window of the transform.
_TAIL = 42.0
# Relative to the largest probability of a stretch, smaller ones have lost too many digits.
_LEAST_SHARE = 1e-5


def large_log_sums(
    positions: NDArray[np.int64], weights: NDArray[np.float64], people: int
) -> NDArray[np.float64] | None:
    """Logarithm of ``N_m(s)`` for s = 0, 1, …, m · (greatest position); None if a weight has lost too many digits.

    That happens if positions between 0 and the greatest are missing or very unlikely: not every sum is possible then.

    >>> np.exp(large_log_sums(np.array([0, 1]), np.array([0.5, 0.5]), 4)).round(6).tolist()
    [0.0625, 0.25, 0.375, 0.25, 0.0625]
    """
    if people == 0:
        return np.zeros(1)
    if (weights <= 0).any() or len(positions) != int(positions[-1]) + 1:
        return None
    log_weights = np.log(weights)
    greatest = int(positions[-1])
    result = np.full(people * greatest + 1, -np.inf)
    result[0] = people * log_weights[0]
    result[-1] = people * log_weights[-1]
    start = 1
    while start < people * greatest:
        tilt, spread = _tilt(positions, log_weights, start / people)
        for _ in range(4):
            centre = min(start + _WIDTH * spread * people**0.5, people * greatest - 0.5)
            tilt, spread = _tilt(positions, log_weights, centre / people)
        stop = min(int(centre + _WIDTH * spread * people**0.5) + 1, people * greatest)
        stop = max(stop, start + 1)
        stretch = _tilted(positions, log_weights, people, tilt, start, stop)
        if stretch is None:
            return None
        result[start:stop] = stretch
        start = stop
    return result


def _cumulant(positions: NDArray[np.int64], log_weights: NDArray[np.float64], tilt: float) -> float:
    return float(np.logaddexp.reduce(log_weights + tilt * positions))


def _tilt(positions: NDArray[np.int64], log_weights: NDArray[np.float64], mean: float) -> tuple[float, float]:
    """The θ whose tilted mean per person is ``mean``, by bisection, and the standard deviation there."""
    low, high = -1.0, 1.0
    while _moments(positions, log_weights, low)[0] > mean:
        low *= 2
    while _moments(positions, log_weights, high)[0] < mean:
        high *= 2
    for _ in range(60):
        middle = (low + high) / 2
        if _moments(positions, log_weights, middle)[0] < mean:
            low = middle
        else:
            high = middle
    return middle, _moments(positions, log_weights, middle)[1]


def _moments(
    positions: NDArray[np.int64], log_weights: NDArray[np.float64], tilt: float
) -> tuple[float, float]:
    log = log_weights + tilt * positions
    share = np.exp(log - log.max())
    share /= share.sum()
    mean = float(share @ positions)
    return mean, float(share @ (positions - mean) ** 2) ** 0.5


def _tilted(
    positions: NDArray[np.int64],
    log_weights: NDArray[np.float64],
    people: int,
    tilt: float,
    start: int,
    stop: int,
) -> NDArray[np.float64] | None:
    """log N_m(s) for start ≤ s < stop, near the mean of the tilted distribution."""
    from scipy.fft import irfft, next_fast_len, rfft

    cumulant = _cumulant(positions, log_weights, tilt)
    _, spread = _moments(positions, log_weights, tilt)
    # Chernoff: P(S ≥ x) ≤ exp(m·(κ(θ+h) − κ(θ)) − h·x) for every h > 0, and likewise below.
    shifts = np.geomspace(0.1, 30, 12) / max(spread * people**0.5, 1e-9)
    upper = min(
        (people * (_cumulant(positions, log_weights, tilt + h) - cumulant) + _TAIL) / h for h in shifts
    )
    lower = max(
        (people * (cumulant - _cumulant(positions, log_weights, tilt - h)) - _TAIL) / h for h in shifts
    )
    upper = max(min(upper, people * float(positions[-1])), float(stop))
    lower = min(max(lower, 0.0), float(start))
    length = next_fast_len(int(upper - lower) + 2, real=True)
    wrapped = np.bincount(
        positions % length, weights=np.exp(log_weights + tilt * positions - cumulant), minlength=length
    )
    share = irfft(rfft(wrapped) ** people, length)
    sums = np.arange(start, stop)
    inside = share[sums % length]
    if inside.min() < _LEAST_SHARE * share.max():
        return None
    return np.asarray(np.log(inside) + people * cumulant - tilt * sums, dtype=np.float64)
