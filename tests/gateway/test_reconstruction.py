"""A linear-reconstruction attack: random subset sums, solved for everyone's value."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from equivoc.gateway.gateway import Gateway
from tests.gateway.conftest import ids, made_people


def reconstructed(rows: list[np.ndarray], answers: list[float], people: int, middle: float) -> np.ndarray:
    """Least squares around the domain's middle, rounded to the domain."""
    matrix = np.array(rows, dtype=float).reshape(len(rows), people)
    left = np.array(answers) - matrix.sum(axis=1) * middle
    found = np.linalg.lstsq(matrix, left, rcond=None)[0] + middle if rows else np.full(people, middle)
    return np.clip(np.rint(found), 0, 9)


def test_random_subset_sums_find_everyone_without_the_gateway_and_hardly_anyone_with_it(
    tmp_path: Path,
) -> None:
    rng = np.random.default_rng(6)
    pay = rng.integers(0, 10, 24)
    subsets = [rng.random(24) < 0.5 for _ in range(40)]
    everything = reconstructed(subsets, [float(pay[subset].sum()) for subset in subsets], 24, 4.5)
    assert (everything == pay).all()
    rows, answers = [], []
    with Gateway(made_people(pay), store=tmp_path / "store", policy={"least_h0": 1.0}) as gate:
        for subset in subsets:
            reply = gate.ask(f"SELECT SUM(pay) FROM people WHERE {ids(np.flatnonzero(subset))}", analyst="a")
            if reply.answered:
                rows.append(subset)
                answers.append(reply.value)
    assert 3 <= len(rows) < 24
    with_gateway = reconstructed(rows, answers, 24, 4.5)
    assert (with_gateway == pay).mean() < 0.5
    # No single person, and no pair, is a combination of the answered sums.
    rank = np.linalg.matrix_rank(np.array(rows, dtype=float))
    for one in range(24):
        for other in range(one, 24):
            row = np.zeros(24)
            row[[one, other]] = 1
            assert np.linalg.matrix_rank(np.array([*rows, row], dtype=float)) == rank + 1
