"""Weights of an atom's sum: how much prior weight the values of its people have, for every sum and every flag.

MIN and MAX cap an atom's values between a floor and a cap and add two flags: "cap reached", "floor reached". The
weight of a sum is kept apart for each state of the flags that some answer asks about.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from equivoc.queries.even_grids import EvenGrid
from equivoc.queries.posteriors.large_sums import large_log_sums
from equivoc.queries.sum_distributions import log_convolve

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
