"""The whole numbers of steps that a recorded answer, which may be rounded, can stand for."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from equivoc.errors import InputError
from equivoc.number_format import counted, exact
from equivoc.queries.answers.question import Question
from equivoc.queries.even_grids import EvenGrid

Kind = Literal["sum", "min", "max", "median", "variance"]
KIND: dict[str, Kind] = {
    "sum": "sum",
    "avg": "sum",
    "min": "min",
    "max": "max",
    "median": "median",
    "var_pop": "variance",
    "var_samp": "variance",
    "stddev_pop": "variance",
    "stddev_samp": "variance",
}
_NAME = {
    "sum": "a sum",
    "avg": "an average",
    "min": "a minimum",
    "max": "a maximum",
    "median": "a median",
    "var_pop": "a population variance",
    "var_samp": "a sample variance",
    "stddev_pop": "a population standard deviation",
    "stddev_samp": "a sample standard deviation",
}
# A coarsely rounded answer can stand for very many whole numbers; so many of them are tried, the nearest first.
_MOST_TRIED = 100_000


@dataclass(frozen=True)
class Reading:
    """The whole numbers ``least`` … ``greatest`` that lie within the recorded digits of one answer."""

    kind: Kind
    people: int
    least: int
    greatest: int
    nearest: float
    """The answer itself in the same unit, not rounded."""

    def within(self, other: Reading) -> Reading:
        """What both readings of the same query set allow; empty (``least > greatest``) if they contradict."""
        narrower = min(self, other, key=lambda reading: reading.greatest - reading.least)
        least, greatest = max(self.least, other.least), min(self.greatest, other.greatest)
        return Reading(self.kind, self.people, least, greatest, narrower.nearest)


def read_answer(question: Question, grid: EvenGrid, *, deviation: float) -> Reading:
    """The whole numbers that the answer of ``question`` can stand for.

    The unit is that of ``AnswerSystem``: steps above the least value of each person for sums, steps for MIN and MAX,
    half steps for medians, m² times steps² for variances. An answer written with 2 decimals stands for everything
    within half a unit of its second decimal. ``deviation`` is how far a value of the domain is off the grid.

    >>> grid = EvenGrid(10.0, 1.0, np.arange(241))
    >>> rounded = Question("avg", np.arange(3), 57.33, statement=0, text="AVG(salary)")
    >>> read_answer(rounded, grid, deviation=0.0)  # doctest: +ELLIPSIS
    Reading(kind='sum', people=3, least=142, greatest=142, nearest=141.9...)
    """
    assert question.answer is not None
    m, answer = question.people, float(question.answer)
    largest = max(abs(grid.origin), abs(grid.origin + grid.steps * grid.step))
    eps = float(np.finfo(np.float64).eps)
    half = _half_a_unit(answer)
    name = question.aggregate
    if name == "sum":
        half += eps * (m + 8) * m * largest + m * deviation
        unit, shift = 1.0, m * grid.origin
    elif name == "avg":
        half += eps * (m + 8) * largest + deviation
        unit, shift = float(m), grid.origin
    elif name in ("min", "max"):
        half += 8 * eps * largest + deviation
        unit, shift = 1.0, grid.origin
    elif name == "median":
        half += 8 * eps * largest + deviation
        unit, shift = 2.0, grid.origin
    else:
        return _read_spread(question, grid, half=half, deviation=deviation)
    middle = unit * (answer - shift) / grid.step
    width = unit * half / grid.step
    tiny = 4 * eps * (abs(middle) + unit * abs(shift) / grid.step)
    least, greatest = math.ceil(middle - width - tiny), math.floor(middle + width + tiny)
    most = {"sum": m * grid.steps, "median": 2 * grid.steps}.get(KIND[name], grid.steps)
    return Reading(KIND[name], m, max(least, 0), min(greatest, most), middle)


def _read_spread(question: Question, grid: EvenGrid, *, half: float, deviation: float) -> Reading:
    """Variances and standard deviations: ``m · Σ x² − (Σ x)²`` in steps²."""
    assert question.answer is not None
    m, answer = question.people, float(question.answer)
    span = grid.steps * grid.step
    largest = max(abs(grid.origin), abs(grid.origin + span))
    # What one-pass and two-pass computations of a variance in double precision may be off.
    slack = 4 * float(np.finfo(np.float64).eps) * (m + 8) * largest**2 + 2 * deviation * span
    unit = (m * m if question.aggregate.endswith("_pop") else m * (m - 1)) / grid.step**2
    low, high = answer - half, answer + half
    if question.aggregate.startswith("stddev"):
        if high < 0:
            return Reading("variance", m, 1, 0, -1.0)
        low, high, answer = max(low, 0.0) ** 2, high**2, answer**2
    least, greatest = math.ceil(unit * (low - slack)), math.floor(unit * (high + slack))
    most = (m // 2) * ((m + 1) // 2) * grid.steps**2
    return Reading("variance", m, max(least, 0), min(greatest, most), unit * answer)


def chosen_number(reading: Reading, grid: EvenGrid, *, true: int | None) -> int | None:
    """The number to assume: the true one if the reading allows it, else the nearest possible one, or None.

    The owner knows the true answer. To assume that the intruder knows it too shows more risk, never less.
    """
    if true is not None and reading.least <= true <= reading.greatest:
        return true
    positions = grid.positions
    if reading.kind in ("min", "max") or (reading.people == 1 and reading.kind == "sum"):
        fits = positions[(positions >= reading.least) & (positions <= reading.greatest)]
        return int(fits[np.argmin(np.abs(fits - reading.nearest))]) if len(fits) else None
    known = frozenset(positions.tolist()) if reading.kind == "median" else frozenset()
    for tried, number in enumerate(_nearest_first(reading)):
        if tried == _MOST_TRIED:
            break
        if reading.kind == "sum":
            return number
        if reading.kind == "median" and _is_median(number, reading.people, positions, known):
            return number
        if reading.kind == "variance" and _can_be_variance(number, reading.people):
            return number
    return None


def impossible_answer(question: Question, grid: EvenGrid) -> InputError:
    """The error for an answer that no values of the domain give."""
    low, high = exact(grid.origin), exact(grid.origin + grid.steps * grid.step)
    if len(grid.positions) == grid.steps + 1:
        domain = f"{low} … {high} in steps of {exact(grid.step)}"
    else:
        domain = f"the domain ({counted(len(grid.positions), 'value')} from {low} to {high})"
    assert question.answer is not None
    of = "a value" if question.people == 1 else f"{question.people:,} values"
    return InputError(
        f"statement {question.statement + 1}, {question.text}: the answer {exact(question.answer)} cannot be "
        f"{_NAME[question.aggregate]} of {of} of {domain}; correct the answer, or the domain."
    )


def _half_a_unit(answer: float) -> float:
    """Half a unit of the last decimal place that the number is written with; whole numbers: one half."""
    exponent = Decimal(repr(answer)).normalize().as_tuple().exponent
    assert isinstance(exponent, int)
    return 0.5 * 10.0 ** min(exponent, 0)


def _nearest_first(reading: Reading) -> Iterator[int]:
    """The numbers of the reading by distance from the nearest."""
    start = min(max(round(reading.nearest), reading.least), reading.greatest)
    for away in range(reading.greatest - reading.least + 1):
        for number in {start - away, start + away}:
            if reading.least <= number <= reading.greatest:
                yield number


def _is_median(number: int, people: int, positions: NDArray[np.int64], known: frozenset[int]) -> bool:
    """Whether half of ``number`` is a position, or (an even number of people) the mean of two."""
    if people % 2:
        return number % 2 == 0 and number // 2 in known
    return any(number - int(position) in known for position in positions)


def _can_be_variance(number: int, people: int) -> bool:
    """Whether ``number = m · Q − T²`` for whole T, Q of equal parity, as every Σ x and Σ x² are."""
    total = np.arange(2 * people, dtype=np.int64)  # T and T + 2m give the same remainders
    rest = number % (2 * people)
    # Q = (number + T²) / m is whole, and Q − T is even: number + T² − m·T is a multiple of 2m.
    return bool(np.any((rest + total * total - people * total) % (2 * people) == 0))
