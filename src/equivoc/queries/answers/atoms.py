"""Atoms: people who are in exactly the same query sets. No answer can tell them apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray


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
