"""Under the posteriors: sums of many people, integer solutions, orders of one key, moves that reach everything."""

from __future__ import annotations

from itertools import permutations, product

import numpy as np
import pytest

from equivoc.systems.integer_solutions import integer_solutions
from equivoc.systems.posteriors import sum_tables
from equivoc.systems.posteriors.moves import local_moves
from equivoc.systems.posteriors.posteriors import atom_posteriors
from equivoc.systems.posteriors.sum_tables import AtomDomain, large_log_sums, log_weights
from equivoc.systems.runs import one_key_order, shifts
from equivoc.systems.system import ContradictionError
from tests.queries.posteriors.random_systems import Asked, answered


@pytest.mark.parametrize("size", [2, 4, 40])
def test_sums_of_many_people_equal_repeated_convolution(size):
    log_prior = np.log(np.random.default_rng(0).dirichlet(np.full(size, 3.0)))
    domain = AtomDomain(tuple(range(size)), 0, tuple(range(size)), 0)
    exact = log_weights(domain, {150}, log_prior)[150][0]
    found = large_log_sums(np.arange(size), np.exp(log_prior), 150)
    # Relative error of the weights themselves, also in tails of e^-1000.
    assert np.abs(found - exact).max() < 1e-8


def test_transforms_that_lose_digits_are_refused():
    assert large_log_sums(np.array([0, 3, 10]), np.full(3, 1 / 3), 150) is None
    assert large_log_sums(np.arange(3), np.array([0.5, 1e-14, 0.5]), 150) is None


def test_flag_weights_equal_all_tuples():
    domain = AtomDomain((0, 1, 3), 0, (0, 1, 2), 3)
    prior = np.array([0.2, 0.5, 0.3])
    expected = np.zeros((4, 13))
    for values in product(range(3), repeat=4):
        state = (2 in values) * sum_tables.CAP + (0 in values) * sum_tables.FLOOR
        expected[state, sum((0, 1, 3)[v] for v in values)] += np.prod(prior[list(values)])
    assert np.allclose(np.exp(log_weights(domain, {4}, np.log(prior))[4]), expected, atol=1e-15)


def test_one_sum_over_thousands_of_people_is_exact():
    rng = np.random.default_rng(1)
    values = rng.integers(0, 100, 3000)
    system = answered([Asked("sum", np.arange(3000))], values, np.arange(100))
    found = atom_posteriors(system, prior=np.full(100, 0.01))
    assert found.method == ("convolution",)
    # The mean of a person's posterior is the known mean, whatever the prior.
    assert found.probabilities[0] @ np.arange(100) == pytest.approx(values.mean(), abs=1e-6)


def test_integer_solutions_are_all_of_them():
    rng = np.random.default_rng(2)
    for case in range(400):
        rows, columns = rng.integers(1, 6), rng.integers(1, 8)
        matrix = rng.integers(-2 if case % 2 else 0, 2 + case % 3, (rows, columns))
        point = rng.integers(0, 9, columns)
        solved = integer_solutions(matrix, matrix @ point)
        moves = solved.moves.toarray()
        assert (matrix @ solved.point == matrix @ point).all()
        assert not (moves @ matrix.T).any()
        assert len(moves) == columns - np.linalg.matrix_rank(matrix)
        if len(moves):
            steps = np.linalg.lstsq(moves.T.astype(float), (point - solved.point).astype(float), rcond=None)[
                0
            ]
            # The way to any other integer solution is a whole number of moves.
            assert np.abs(steps - np.rint(steps)).max() < 1e-6
    assert integer_solutions(np.array([[2, 4]]), np.array([3])) is None
    assert integer_solutions(np.array([[1, 1], [1, 1]]), np.array([3, 4])) is None


def test_one_key_orders_are_found_exactly_where_there_is_one():
    rng = np.random.default_rng(3)
    answers = {True: 0, False: 0}
    for case in range(400):
        atoms, count = int(rng.integers(1, 7)), int(rng.integers(1, 7))
        if case % 2:
            order = rng.permutation(atoms)
            ends = np.sort(rng.integers(0, atoms, (count, 2)), axis=1)
            sets = [np.sort(order[a : b + 1]) for a, b in ends]
        else:
            sets = [s for s in (np.flatnonzero(rng.random(atoms) < 0.5) for _ in range(count)) if len(s)]
        exists = any(
            all(np.ptp(place[s]) + 1 == len(s) for s in sets)
            for place in map(np.argsort, permutations(range(atoms)))
        )
        answers[exists] += 1
        assert (one_key_order(sets, atoms) is not None) == exists if sets else True
    assert min(answers.values()) > 20


def test_shifts_of_prefix_sums_reach_every_solution():
    rng = np.random.default_rng(4)
    several = 0
    for _ in range(300):
        atoms = int(rng.integers(2, 7))
        ends = np.sort(rng.integers(0, atoms, (int(rng.integers(1, 5)), 2)), axis=1)
        sets = [np.arange(a, b + 1) for a, b in ends]
        high = rng.integers(1, 4, atoms)
        point = rng.integers(0, high + 1)
        every = {
            x
            for x in product(*(range(h + 1) for h in high))
            if all(sum(x[i] for i in s) == point[s].sum() for s in sets)
        }
        moves = shifts(np.arange(atoms), sets, point, np.zeros(atoms, dtype=np.int64), high)
        reached, waiting = {tuple(point.tolist())}, [point]
        while waiting:
            here = waiting.pop()
            for where, steps in moves:
                for length in range(-4, 5):
                    there = here.copy()
                    there[where] += length * steps
                    key = tuple(there.tolist())
                    if key in every and key not in reached:
                        reached.add(key)
                        waiting.append(there)
        assert reached == every
        several += len(every) > 1
    assert several > 100


def test_contradicting_answers_are_said():
    system = answered(
        [Asked("sum", np.arange(2)), Asked("max", np.arange(2))], np.array([1, 2]), np.arange(3)
    )
    system.totals[0] = 1
    with pytest.raises(ContradictionError):
        atom_posteriors(system, prior=np.full(3, 1 / 3))


def test_local_moves_keep_every_sum_and_move_most_atoms():
    rng = np.random.default_rng(6)
    keys = rng.random((2, 300))
    first = rng.random((40, 2, 1)) * 0.7
    sets = [np.flatnonzero(((keys >= f) & (keys <= f + 0.3)).all(axis=0)) for f in first]
    sets = [s for s in sets if len(s)]
    moves = local_moves(sets, 300)
    for where, steps in moves:
        change = np.zeros(300, dtype=np.int64)
        change[where] = steps
        assert not any(change[s].sum() for s in sets)
    assert len(set(np.concatenate([where for where, _ in moves]).tolist())) > 280
