"""From answered questions to the system of constraints that they put on people's values."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from equivoc.errors import InputError
from equivoc.number_format import counted, exact
from equivoc.queries.answers.atoms import Atoms, atoms
from equivoc.queries.answers.contradicting import ContradictionError
from equivoc.queries.answers.question import Question
from equivoc.queries.answers.recorded import Reading, chosen_number, impossible_answer, read_answer
from equivoc.queries.answers.system import AnswerSystem, KnownExtreme, KnownMoment
from equivoc.queries.decimals import decimal_places
from equivoc.queries.even_grids import EvenGrid, even_grid

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
                raise ContradictionError([questions[first], question], smallest=True)
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
