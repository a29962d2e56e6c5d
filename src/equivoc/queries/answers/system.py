"""The constraints that answers put on the values of people, in whole steps of the domain's grid.

A value is counted in steps above the least one: ``d = origin + position · step``. A person of any atom has one of
``grid.positions``. Everything that computes bounds or posteriors starts from this one record.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from equivoc.queries.answers.atoms import Atoms
from equivoc.queries.answers.question import Question
from equivoc.queries.even_grids import EvenGrid


@dataclass(frozen=True, eq=False)
class KnownExtreme:
    """An answer to MIN or MAX: nobody in these atoms is beyond ``position``, and at least one person is at it."""

    kind: Literal["min", "max"]
    atoms: NDArray[np.int64]
    position: int
    """The answer in steps above the least value; always one of the grid's positions."""
    question: int


@dataclass(frozen=True, eq=False)
class KnownMoment:
    """An answer to MEDIAN or a variance, over the people of these atoms."""

    kind: Literal["median", "variance"]
    atoms: NDArray[np.int64]
    value: int
    """Median: twice the answer in steps above the least value (a median can lie between two values). Variance: m²
    times the population variance in steps², that is m · Σ x² − (Σ x)² for m people."""
    question: int


@dataclass(frozen=True, eq=False)
class AnswerSystem:
    """All constraints of the answered questions. Sums and averages are rows of ``matrix``."""

    grid: EvenGrid
    atoms: Atoms
    matrix: Any = field(repr=False)
    """A scipy CSR array of 0 and 1, known sums × atoms, without duplicate rows."""
    totals: NDArray[np.int64]
    """Each row's sum over the people of its atoms, in steps above the least value of each person."""
    row_question: NDArray[np.int64]
    """The number of the question behind each row."""
    extremes: tuple[KnownExtreme, ...] = ()
    moments: tuple[KnownMoment, ...] = ()
    questions: tuple[Question, ...] = field(default=(), repr=False)
    """All questions, for messages; ``question`` and ``row_question`` are positions in it. ``atoms.in_set`` has one
    entry for each, empty where a question says nothing about values (COUNT, an empty query set)."""
