"""Moves that keep all answered sums, over boxes of several keys."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from equivoc.data.microdata import Microdata
from equivoc.gateway.answered import KeyOrders
from equivoc.systems.posteriors import moves as null_moves
from equivoc.systems.posteriors.moves import SumMoves, sum_moves


def boxes(people: int, count: int, seed: int) -> tuple[Microdata, list[np.ndarray]]:
    """People with three random keys, and random boxes of at least three people."""
    rng = np.random.default_rng(seed)
    keys = rng.integers(0, 20, (people, 3))
    frame = pd.DataFrame(keys, columns=["a", "b", "c"]).assign(pay=rng.integers(0, 20, people))
    sets: list[np.ndarray] = []
    while len(sets) < count:
        ends = np.sort(rng.integers(0, 21, (3, 2)), axis=1)
        members = np.flatnonzero(((keys >= ends[:, 0]) & (keys < ends[:, 1])).all(axis=1))
        if 3 <= len(members) <= people - 3:
            sets.append(members)
    return Microdata(frame, confidential="pay", keys=["a", "b", "c"], domain=range(20)), sets


def moves_of(data: Microdata, sets: list[np.ndarray]) -> SumMoves:
    orders = KeyOrders(data)
    membership = np.zeros((len(sets), len(data)), dtype=np.int64)
    for row, members in zip(membership, sets, strict=True):
        row[members] = 1
    label = np.unique(membership, axis=1, return_inverse=True)[1].reshape(-1)
    return sum_moves(sets, [orders.ranges(members) for members in sets], orders, label=label)


@pytest.mark.parametrize(("people", "count"), [(60, 8), (400, 60)])
def test_every_move_keeps_every_sum(people: int, count: int) -> None:
    data, sets = boxes(people, count, seed=1)
    found = moves_of(data, sets)
    assert found.moves
    inside = np.array(
        [[np.isin(atom, found.atom[members]) for atom in range(len(found.free))] for members in sets]
    )
    for atoms, steps in found.moves:
        assert not (inside[:, atoms] @ steps).any()


def test_atoms_without_neighbouring_pairs_get_moves(monkeypatch: pytest.MonkeyPatch) -> None:
    """With too many atoms for one lattice, pairs leave people still; lattices of neighbourhoods do not."""
    data, sets = boxes(600, 80, seed=1)
    assert len(moves_of(data, sets).still()) == 0
    monkeypatch.setattr(null_moves, "_NEIGHBOURHOODS", ())
    assert len(moves_of(data, sets).still()) > 0


def test_who_is_still() -> None:
    alone, pair, outside = 0, 1, 2
    atom = np.array([alone, pair, pair, outside])
    free = np.array([False, False, True])
    assert SumMoves(atom, free, ()).still().tolist() == [0]
    assert SumMoves(atom, free, ((np.array([0, 1]), np.array([1, -1])),)).still().tolist() == []
