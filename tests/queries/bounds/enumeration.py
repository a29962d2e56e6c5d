"""All databases of a few people, and random questions about them: the oracle for bounds and contradictions."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from equivoc.systems.system import Aggregate, Question

AGGREGATES: tuple[Aggregate, ...] = ("sum", "avg", "min", "max", "count")


@dataclass(frozen=True, eq=False)
class Case:
    """A domain, the people's true values and questions answered from them."""

    values: NDArray[np.float64]
    truth: NDArray[np.float64]
    questions: tuple[Question, ...]


def answer(aggregate: Aggregate, values: NDArray[np.float64]) -> NDArray[np.float64] | float:
    """The aggregate along the last axis, written out anew."""
    if aggregate == "count":
        return float(values.shape[-1])
    return {
        "sum": np.sum,
        "avg": np.mean,
        "min": np.min,
        "max": np.max,
        "median": np.median,
        "var_pop": np.var,
        "stddev_pop": np.std,
        "var_samp": lambda v, axis: np.var(v, axis=axis, ddof=1),
        "stddev_samp": lambda v, axis: np.std(v, axis=axis, ddof=1),
    }[aggregate](values, axis=-1)


def databases(values: NDArray[np.float64], people: int) -> NDArray[np.float64]:
    return np.array(list(product(values, repeat=people)))


def fitting(questions: tuple[Question, ...], every: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Which of the databases give every question its answer."""
    fits = np.ones(len(every), dtype=bool)
    for question in questions:
        if question.answer is not None and question.people:
            fits &= np.abs(answer(question.aggregate, every[:, question.members]) - question.answer) < 1e-6
    return fits


def random_case(
    rng: np.random.Generator, *, ranges: bool, gaps: bool, aggregates: tuple[Aggregate, ...] = AGGREGATES
) -> Case:
    people, size = int(rng.integers(1, 7)), int(rng.integers(1, 6))
    if gaps:
        values = np.sort(rng.choice(9, size, replace=False)) * 2.5 - 3.0
    else:
        values = rng.integers(-3, 4) + np.arange(size) * 1.0
    truth = rng.choice(values, people)
    questions = []
    for statement in range(rng.integers(1, 6)):
        if ranges:
            first, last = np.sort(rng.integers(0, people, 2))
            members = np.arange(first, last + 1)
        else:
            members = np.flatnonzero(rng.random(people) < rng.choice([0.3, 0.6, 0.9]))
        name = aggregates[rng.integers(len(aggregates))]
        if name.endswith("_samp") and len(members) < 2:
            continue
        known = float(answer(name, truth[members])) if len(members) else (0.0 if name == "count" else None)
        text = f"{name.upper()}(x) WHERE person IN {members.tolist()}"
        questions.append(Question(name, members, known, statement=statement, text=text))
    return Case(values, truth, tuple(questions))


def true_ranges(case: Case) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The least and greatest value of each person over all databases that fit."""
    every = databases(case.values, len(case.truth))
    kept = every[fitting(case.questions, every)]
    return kept.min(axis=0), kept.max(axis=0)
