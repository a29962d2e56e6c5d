"""Weights of an atom's sum: how much prior weight the values of its people have, for every sum and every flag.

MIN and MAX cap an atom's values between a floor and a cap and add two flags: "cap reached", "floor reached". The
weight of a sum is kept apart for each state of the flags that some answer asks about.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from equivoc.systems.grids import EvenGrid, log_convolve

# The distribution of the sum of very many people: tilted Fourier transforms, one for each stretch of sums.
#
# For weights w(d) and any θ, ``N_m(s) = exp(m·κ(θ) − θ·s) · Q_θ(s)`` with ``κ(θ) = log Σ w(d)·exp(θ·d)`` and
# ``Q_θ`` the m-fold convolution of the tilted weights. θ is chosen so that the mean of ``Q_θ`` lies in the
# stretch: there ``Q_θ(s)`` is not small, and a Fourier transform gives it with a relative error of about
# 1e-11. The cost grows with m·log m instead of m².

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


CAP, FLOOR = 1, 2
# Multiplications beyond which Fourier transforms are used if they are accurate; and beyond which nothing else is.
_FEW_MULTIPLICATIONS = 1.5e9
_MOST_MULTIPLICATIONS = 2e10
_ENTRIES_AT_A_TIME = 2**22


@dataclass(frozen=True)
class AtomDomain:
    """The values that a person of an atom may have, and the flags that matter there."""

    positions: tuple[int, ...]
    """Steps above the floor; the first is 0."""
    floor: int
    columns: tuple[int, ...]
    """The same values as numbers of the domain's values."""
    flags: int
    """CAP, FLOOR, both added, or 0: which ends some MIN or MAX says are reached by someone."""

    @property
    def steps(self) -> int:
        """Steps from the floor to the cap."""
        return self.positions[-1]

    def bits(self) -> NDArray[np.int64]:
        """The flags that a person at each of the positions raises."""
        found = np.zeros(len(self.positions), dtype=np.int64)
        if self.flags & CAP:
            found[-1] |= CAP
        if self.flags & FLOOR:
            found[0] |= FLOOR
        return found


@dataclass(frozen=True, eq=False)
class SumTable:
    """For an atom of ``people`` people: log weights of its sum, in steps above people · floor, per state of flags."""

    domain: AtomDomain
    people: int
    log_prior: NDArray[np.float64] = field(repr=False)
    """Of each of the domain's positions."""
    log_weight: NDArray[np.float64] = field(repr=False)
    """4 × sums (1 × sums without flags); the row is the state of the flags. −inf: impossible."""
    log_others: NDArray[np.float64] = field(repr=False)
    """The same for one person fewer."""

    def person(self, sums: NDArray[np.float64], *, first: int = 0) -> NDArray[np.float64]:
        """Average P(person = d | sum, flags) over probabilities of (atoms, state, sum), the sums from ``first`` on.

        Atoms × positions.
        """
        atoms, states, _ = sums.shape
        result = np.zeros((atoms, len(self.log_prior)))
        bits = self.domain.bits()
        at_a_time = max(1, _ENTRIES_AT_A_TIME // len(self.log_prior))
        for state in range(states):
            used = np.flatnonzero(sums[:, state].any(axis=0))
            for part in range(0, len(used), at_a_time):
                chosen = used[part : part + at_a_time]
                result += sums[:, state, chosen] @ self._given(first + chosen, state, bits)
        total = result.sum(axis=1, keepdims=True)
        return np.asarray(result / np.where(total > 0, total, 1.0), dtype=np.float64)

    def _given(self, sums: NDArray[np.int64], state: int, bits: NDArray[np.int64]) -> NDArray[np.float64]:
        """P(person = position | sum, state of the flags): sums × positions; 0 where the sum is impossible."""
        rest = sums[:, None] - np.asarray(self.domain.positions)[None, :]
        inside = (rest >= 0) & (rest < self.log_others.shape[1])
        rest = np.where(inside, rest, 0)
        whole = self.log_weight[state, sums]
        log = np.full(rest.shape, -np.inf)
        for before in range(len(self.log_others)):
            fits = (before | bits) == state
            if fits.any():
                log = np.logaddexp(log, np.where(fits[None, :], self.log_others[before][rest], -np.inf))
        log = np.where(inside, log, -np.inf) + self.log_prior - np.where(whole > -np.inf, whole, 0.0)[:, None]
        return np.asarray(np.where(whole[:, None] > -np.inf, np.exp(log), 0.0), dtype=np.float64)


def sum_tables(
    wanted: Iterable[tuple[AtomDomain, int]], log_prior: NDArray[np.float64]
) -> dict[tuple[AtomDomain, int], SumTable]:
    """The tables of atoms with these domains and numbers of people; each domain is convolved once.

    Those that would take too long are left out.

    >>> domain = AtomDomain((0, 1), floor=0, columns=(0, 1), flags=0)
    >>> table = sum_tables([(domain, 2)], np.log([0.5, 0.5]))[domain, 2]
    >>> np.exp(table.log_weight).tolist()
    [[0.25, 0.5, 0.25]]
    """
    sizes: dict[AtomDomain, set[int]] = {}
    for domain, people in wanted:
        sizes.setdefault(domain, set()).add(people)
    found = {}
    for domain, numbers in sizes.items():
        prior = log_prior[list(domain.columns)]
        logs = log_weights(domain, numbers | {people - 1 for people in numbers}, prior)
        if logs is None:
            continue
        for people in numbers:
            found[domain, people] = SumTable(domain, people, prior, logs[people], logs[people - 1])
    return found


def table_work(domain: AtomDomain, people: int) -> float:
    """Multiplications to convolve every number of people up to this one."""
    states = 3.0 ** bin(domain.flags).count("1")
    return states * people * (people * domain.steps / 2 + 1.0) * (domain.steps + 1.0)


def log_weights(
    domain: AtomDomain, numbers: set[int], log_prior: NDArray[np.float64]
) -> dict[int, NDArray[np.float64]] | None:
    """States × sums for each of these numbers of people; None if it would take too long to compute them exactly."""
    most = max(numbers)
    no_gaps = len(domain.positions) == domain.steps + 1
    transform = no_gaps and not domain.flags and table_work(domain, most) > _FEW_MULTIPLICATIONS
    if not transform:
        if table_work(domain, most) > _MOST_MULTIPLICATIONS:
            return None
        found = {}
        logs = _nobody(domain)
        for people in range(most + 1):
            if people in numbers:
                found[people] = logs
            if people < most:
                logs = _one_more(logs, domain, log_prior)
        return found
    found = {}
    for people in numbers:
        sums = large_log_sums(np.array(domain.positions), np.exp(log_prior), people)
        if sums is None:
            return None
        found[people] = sums[None, :]
    return found


def _nobody(domain: AtomDomain) -> NDArray[np.float64]:
    logs = np.full((4 if domain.flags else 1, 1), -np.inf)
    logs[0, 0] = 0.0
    return logs


def _one_more(
    logs: NDArray[np.float64], domain: AtomDomain, log_prior: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Add one person. Only positive terms are added, so that small weights keep their relative accuracy."""
    positions, bits = np.asarray(domain.positions), domain.bits()
    result = np.full((len(logs), logs.shape[1] + domain.steps), -np.inf)
    for before in range(len(logs)):
        if not (logs[before] > -np.inf).any():
            continue
        for after in range(len(logs)):
            fits = (before | bits) == after
            if fits.any():
                grid = EvenGrid(0.0, 1.0, positions[fits])
                added = log_convolve(logs[before], grid, np.exp(log_prior[fits]))
                result[after, : len(added)] = np.logaddexp(result[after, : len(added)], added)
    return result
