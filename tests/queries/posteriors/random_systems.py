"""Random query sets with their answers, and all databases that fit them: the oracle of the posteriors' tests."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from equivoc.systems.grids import EvenGrid
from equivoc.systems.system import AnswerSystem, KnownExtreme, KnownMoment, atoms


@dataclass(frozen=True)
class Asked:
    """A question over some people: sum, min, max, median or variance."""

    kind: str
    members: NDArray[np.int64]


def answered(asked: list[Asked], values: NDArray[np.int64], positions: NDArray[np.int64]) -> AnswerSystem:
    """The system that truthful answers make; values and positions in steps."""
    parted = atoms([a.members for a in asked], len(values))
    rows: dict[tuple[int, ...], tuple[int, int]] = {}
    extremes, moments = [], []
    for number, question in enumerate(asked):
        own, inside = parted.in_set[number], values[question.members]
        if question.kind == "sum":
            rows.setdefault(tuple(own.tolist()), (int(inside.sum()), number))
        elif question.kind in ("min", "max"):
            position = int(inside.min() if question.kind == "min" else inside.max())
            extremes.append(KnownExtreme(question.kind, own, position, number))  # type: ignore[arg-type]
        elif question.kind == "median":
            moments.append(KnownMoment("median", own, round(2 * float(np.median(inside))), number))
        else:
            spread = len(inside) * int((inside**2).sum()) - int(inside.sum()) ** 2
            moments.append(KnownMoment("variance", own, spread, number))
    matrix = np.zeros((len(rows), len(parted)), dtype=np.int64)
    for r, row in enumerate(rows):
        matrix[r, list(row)] = 1
    return AnswerSystem(
        EvenGrid(0.0, 1.0, positions),
        parted,
        csr_array(matrix),
        np.array([total for total, _ in rows.values()], dtype=np.int64),
        np.array([number for _, number in rows.values()], dtype=np.int64),
        tuple(extremes),
        tuple(moments),
    )


def fitting(system: AnswerSystem, asked: list[Asked], values: NDArray[np.int64]) -> NDArray[np.int64]:
    """Every database (rows) that gives the same answers as ``values``."""
    every = np.array(list(product(system.grid.positions.tolist(), repeat=len(values))), dtype=np.int64)
    keep = np.ones(len(every), dtype=bool)
    for question in asked:
        inside, true = every[:, question.members], values[question.members]
        if question.kind == "sum":
            keep &= inside.sum(axis=1) == true.sum()
        elif question.kind == "min":
            keep &= inside.min(axis=1) == true.min()
        elif question.kind == "max":
            keep &= inside.max(axis=1) == true.max()
        elif question.kind == "median":
            keep &= np.median(inside, axis=1) == np.median(true)
        else:
            size = len(true)
            spread = size * (inside**2).sum(axis=1) - inside.sum(axis=1) ** 2
            keep &= spread == size * (true**2).sum() - true.sum() ** 2
    return every[keep]


def enumerated_posteriors(
    system: AnswerSystem, databases: NDArray[np.int64], prior: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Atoms × values, from all databases."""
    column = np.searchsorted(system.grid.positions, databases)
    weight = np.prod(prior[column], axis=1)
    result = np.zeros((len(system.atoms), len(prior)))
    for atom in range(len(system.atoms)):
        person = int(np.flatnonzero(system.atoms.of_person == atom)[0])
        np.add.at(result[atom], column[:, person], weight)
    return result / weight.sum()


def random_case(
    rng: np.random.Generator, kinds: tuple[str, ...] = ("sum", "sum", "sum", "min", "max"), most: int = 7
) -> tuple[AnswerSystem, list[Asked], NDArray[np.int64], NDArray[np.float64]]:
    """A system, its questions, the true values and a prior."""
    people = int(rng.integers(1, most + 1))
    size = int(rng.integers(1, 6)) if people < 7 else int(rng.integers(1, 4))
    positions = np.sort(rng.choice(np.arange(1, size + 3), size - 1, replace=False)) if size > 1 else []
    positions = np.concatenate([[0], positions]).astype(np.int64)
    prior = np.full(size, 1 / size) if rng.random() < 0.5 else rng.dirichlet(np.ones(size))
    values = rng.choice(positions, people)
    shape = rng.random()
    asked = []
    for _ in range(int(rng.integers(1, 6))):
        if shape < 0.4:
            first, last = np.sort(rng.integers(0, people, 2))
            members = np.arange(first, last + 1)
        else:
            members = np.flatnonzero(rng.random(people) < rng.choice([0.3, 0.5, 0.8]))
        if len(members):
            asked.append(Asked(str(rng.choice(kinds)), members))
    return answered(asked, values, positions), asked, values, prior
