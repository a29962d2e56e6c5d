"""From answered questions to the system of constraints that they put on people's values."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from equivoc.errors import InputError
from equivoc.systems.grids import EvenGrid, decimal_places, even_grid
from equivoc.systems.system import (
    AnswerSystem,
    Atoms,
    ContradictionError,
    KnownExtreme,
    KnownMoment,
    Question,
    atoms,
)
from equivoc.text import counted, exact

# The whole numbers of steps that a recorded answer, which may be rounded, can stand for.

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


# Sums of all people in steps stay below this, so that int64 and the solver's doubles hold them exactly.
_LARGEST_SUM = 2**50


def answer_system(
    questions: Sequence[Question], *, values: ArrayLike, people: int, truth: ArrayLike | None = None
) -> AnswerSystem:
    """The constraints of the answered questions on the values of ``people`` people.

    ``values`` is the domain, ascending; ``truth`` the people's own values, if known. SUM and AVG over the same
    people are one row. A COUNT is checked and adds nothing. A question without an answer splits atoms and adds no
    constraint. A rounded answer stands for the true number of steps if its digits allow it, otherwise for the nearest
    possible one; if none is possible, or two answers about the same people contradict, that is an InputError.

    >>> asked = [
    ...     Question("sum", np.array([0, 1]), 157.0, statement=0, text="SUM(salary) WHERE sex = 'F'"),
    ...     Question("max", np.array([0, 1]), 107.0, statement=1, text="MAX(salary) WHERE sex = 'F'"),
    ... ]
    >>> system = answer_system(asked, values=range(40, 111), people=5)
    >>> system.matrix.toarray().tolist(), system.totals.tolist(), system.extremes[0].position
    ([[1, 0]], [77], 67)
    """
    grid, deviation = answer_grid(values, people=people)
    true = None if truth is None else _positions_of(np.asarray(truth, dtype=np.float64), grid, people=people)
    used = [question.aggregate != "count" and question.people > 0 for question in questions]
    nobody = np.zeros(0, dtype=np.int64)
    split = atoms([q.members if use else nobody for q, use in zip(questions, used, strict=True)], people)
    readings: dict[tuple[str, bytes], tuple[Reading, int]] = {}
    for number, question in enumerate(questions):
        if not _constrains(question):
            continue
        reading = read_answer(question, grid, deviation=deviation)
        known = None if true is None else _true_number(reading.kind, true[question.members])
        if chosen_number(reading, grid, true=known) is None:
            raise impossible_answer(question, grid)
        key = (reading.kind, split.in_set[number].tobytes())
        if key in readings:
            before, first = readings[key]
            both = before.within(reading)
            if chosen_number(both, grid, true=known) is None:
                raise ContradictionError.between([questions[first], question], smallest=True)
            narrower = reading.greatest - reading.least < before.greatest - before.least
            readings[key] = (both, number if narrower else first)
        else:
            readings[key] = (reading, number)
    rows: list[tuple[int, int]] = []
    extremes: list[KnownExtreme] = []
    moments: list[KnownMoment] = []
    for reading, number in readings.values():
        members = questions[number].members
        known = None if true is None else _true_number(reading.kind, true[members])
        value = chosen_number(reading, grid, true=known)
        assert value is not None
        inside = split.in_set[number]
        if reading.kind == "sum":
            rows.append((number, value))
        elif reading.kind == "min" or reading.kind == "max":
            extremes.append(KnownExtreme(reading.kind, inside, value, number))
        else:
            moments.append(KnownMoment(reading.kind, inside, value, number))
    return _assembled(grid, split, rows, tuple(extremes), tuple(moments), tuple(questions))


def answer_grid(values: ArrayLike, *, people: int) -> tuple[EvenGrid, float]:
    """The even grid of a domain for ``people`` people, and how far a value is off it.

    Values without a coarse common step are counted in units of their last decimal place.
    """
    domain = np.asarray(values, dtype=np.float64)
    try:
        grid = even_grid(domain)
    except InputError:
        if domain.ndim != 1 or len(domain) == 0 or not np.all(np.isfinite(domain)):
            raise
        if np.any(np.diff(domain) <= 0):
            raise
        grid = _decimal_grid(domain)
    if grid.steps * people > _LARGEST_SUM:
        raise InputError(
            f"the domain has {grid.steps:,} steps of {exact(grid.step)}, too many to add up exactly over "
            f"{counted(people, 'person')}; round the confidential attribute (round_to)."
        )
    off = domain - (grid.origin + grid.positions * grid.step)
    return grid, float(np.max(np.abs(off), initial=0.0))


def _decimal_grid(domain: NDArray[np.float64]) -> EvenGrid:
    places = decimal_places(domain)
    if places is None:
        raise InputError(
            "the values of the confidential attribute have no common step, which an audit of answers needs; "
            "round them (round_to) or give a domain with an even step."
        )
    units = np.rint(domain * 10.0**places).astype(np.int64)
    positions = units - units[0]
    step = int(np.gcd.reduce(positions))
    return EvenGrid(float(domain[0]), step / 10.0**places, positions // step)


def _positions_of(truth: NDArray[np.float64], grid: EvenGrid, *, people: int) -> NDArray[np.int64]:
    """The true values in steps above the least one."""
    if truth.shape != (people,):
        raise InputError(f"truth has shape {truth.shape}; it needs one value for each of {people:,} people.")
    steps = (truth - grid.origin) / grid.step
    nearest = np.rint(np.where(np.isfinite(steps), steps, -1.0)).astype(np.int64)
    outside = np.flatnonzero(~np.isin(nearest, grid.positions) | ~(np.abs(steps - nearest) <= 1e-3))
    if len(outside):
        raise InputError(f"truth[{outside[0]}] is {truth[outside[0]]:g}, which is no value of the domain.")
    return nearest


def _constrains(question: Question) -> bool:
    """Whether the answer says something about values; raises where it cannot be an answer at all."""
    answer, people = question.answer, question.people
    where = f"statement {question.statement + 1}, {question.text}"
    if answer is None:
        return False
    if not np.isfinite(answer):
        raise InputError(f"{where}: the answer is {answer}; it must be a finite number.")
    if question.aggregate == "count":
        if answer != people:
            raise InputError(
                f"{where}: the answer is {exact(answer)}, but {counted(people, 'person')} of the data "
                f"{'meets' if people == 1 else 'meet'} its condition: the log belongs to other data, or is wrong."
            )
        return False
    if people == 0:
        if question.aggregate == "sum" and answer == 0:
            return False
        raise InputError(
            f"{where}: nobody meets its condition, so the answer must be NULL, not {exact(answer)}."
        )
    if people == 1 and question.aggregate in ("var_samp", "stddev_samp"):
        raise InputError(
            f"{where}: one person has no sample variance, so the answer must be NULL, not {exact(answer)}."
        )
    return True


def _true_number(kind: str, positions: NDArray[np.int64]) -> int:
    """What the true positions of a query set give, in the unit of ``Reading``."""
    if kind == "sum":
        return int(positions.sum())
    if kind == "min":
        return int(positions.min())
    if kind == "max":
        return int(positions.max())
    if kind == "median":
        middle = len(positions) // 2
        ordered = np.sort(positions)
        return int(ordered[middle] + ordered[middle - 1 + len(positions) % 2])
    counts = np.bincount(positions)
    present = np.flatnonzero(counts)
    # Python's whole numbers: the squares of long domains pass int64.
    weighted = [(int(position), int(counts[position])) for position in present]
    squares = sum(count * position**2 for position, count in weighted)
    total = sum(count * position for position, count in weighted)
    return len(positions) * squares - total**2


def _assembled(
    grid: EvenGrid,
    split: Atoms,
    rows: list[tuple[int, int]],
    extremes: tuple[KnownExtreme, ...],
    moments: tuple[KnownMoment, ...],
    questions: tuple[Question, ...],
) -> AnswerSystem:
    from scipy import sparse

    inside = [split.in_set[number] for number, _ in rows]
    starts = np.concatenate([[0], np.cumsum([len(a) for a in inside])]).astype(np.int64)
    columns = np.concatenate([*inside, np.zeros(0, dtype=np.int64)])
    matrix = sparse.csr_array(
        (np.ones(len(columns), dtype=np.int64), columns, starts), shape=(len(rows), len(split))
    )
    totals = np.array([value for _, value in rows], dtype=np.int64)
    row_question = np.array([number for number, _ in rows], dtype=np.int64)
    return AnswerSystem(grid, split, matrix, totals, row_question, extremes, moments, questions)
