"""The constraints that answers put on the values of people, in whole steps of the domain's grid.

A value is counted in steps above the least one: ``d = origin + position · step``. A person of any atom has one of
``grid.positions``. Everything that computes bounds or posteriors starts from this one record.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from equivoc.errors import InputError
from equivoc.systems.grids import EvenGrid
from equivoc.text import exact

# One aggregate over some of the people: what was asked, of whom, and the answer.

Aggregate = Literal[
    "count", "sum", "avg", "min", "max", "median", "var_pop", "var_samp", "stddev_pop", "stddev_samp"
]
AGGREGATES: tuple[Aggregate, ...] = get_args(Aggregate)


@dataclass(frozen=True, eq=False)
class Question:
    """An aggregate of the confidential attribute over a query set. One statement with GROUP BY asks several.

    >>> Question("sum", np.array([0, 2]), 157.0, statement=0, text="SUM(salary) WHERE sex = 'F'").people
    2
    """

    aggregate: Aggregate
    members: NDArray[np.int64] = field(repr=False)
    """The record numbers of the query set, ascending, from 0."""
    answer: float | None
    """The answer in the attribute's unit; None: SQL's NULL (nobody is in the query set), or not answered yet."""
    statement: int
    """The position of its statement in the log, from 0."""
    text: str
    """The question as SQL, rewritten from what was parsed; for GROUP BY with the group's values as conditions."""

    @property
    def people(self) -> int:
        """How many people are in the query set."""
        return len(self.members)


# Atoms: people who are in exactly the same query sets. No answer can tell them apart.


@dataclass(frozen=True, eq=False)
class Atoms:
    """The partition of the people into atoms, numbered by their first person."""

    of_person: NDArray[np.int64] = field(repr=False)
    """The atom of each person."""
    sizes: NDArray[np.int64]
    """How many people each atom has."""
    in_set: tuple[NDArray[np.int64], ...] = field(repr=False)
    """The atoms of each query set, ascending."""

    def __len__(self) -> int:
        return len(self.sizes)


def atoms(sets: Sequence[NDArray[np.int64]], people: int) -> Atoms:
    """Split the people 0 … ``people`` − 1 by their membership in the sets (each: ascending record numbers).

    Costs O(people + total size of the sets).

    >>> found = atoms([np.array([0, 1, 2]), np.array([2, 3])], 5)
    >>> found.of_person.tolist(), found.sizes.tolist(), [a.tolist() for a in found.in_set]
    ([0, 0, 1, 2, 3], [2, 1, 1, 1], [[0, 1], [1, 2]])
    """
    label = np.zeros(people, dtype=np.int64)
    used = 1
    for members in sets:
        # Members of a set leave their class for a new one: one new label per class that the set cuts.
        cut, place = np.unique(label[members], return_inverse=True)
        label[members] = used + place.reshape(-1)
        used += len(cut)
    _, first, place = np.unique(label, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    of_person = rank[place.reshape(-1)]
    sizes = np.bincount(of_person, minlength=len(first)).astype(np.int64)
    return Atoms(of_person, sizes, tuple(np.unique(of_person[members]) for members in sets))


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


# The error for answers or sums that contradict each other; it names the recorded answers where that is known.


class ContradictionError(InputError):
    """No values of the people, or of the cells of a table, give all of the answers or sums."""

    questions: tuple[Question, ...] = ()
    """The contradicting questions, where a search named them. Without any one of them the others could be true."""
    smallest: bool = False
    """Whether it is proven that no smaller set of answers contradicts itself."""

    def __init__(
        self, sentence: str = "answers contradict each other: no database gives all of them."
    ) -> None:
        super().__init__(sentence)

    @classmethod
    def between(cls, questions: Sequence[Question], *, smallest: bool) -> ContradictionError:
        """The error that names these questions."""
        asked = tuple(sorted(questions, key=lambda question: question.statement))
        error = cls(_sentence(asked, smallest=smallest))
        error.questions, error.smallest = asked, smallest
        return error


def _sentence(questions: Sequence[Question], *, smallest: bool) -> str:
    listed = "; ".join(
        f"statement {question.statement + 1}, {question.text}, answer "
        f"{'none' if question.answer is None else exact(question.answer)}"
        for question in questions
    )
    if len(questions) == 1:
        return f"no values of the domain give this answer: {listed}; correct it, or the domain."
    which = (
        "a smallest contradicting set"
        if smallest
        else "none of these can be left out, but there may be a smaller set"
    )
    return f"these answers contradict each other ({which}): {listed}. Correct one of them, or the domain."
