"""The rank rule against a search of all small sets with rational arithmetic."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from equivoc.gateway.rank_rule import KnownSums, is_prime, secret_prime

WORK = 10**9
PRIME = secret_prime(3)


def rational_rank(rows: list[list[int]]) -> int:
    """The rank over the rationals, by elimination with fractions."""
    left = [[Fraction(value) for value in row] for row in rows]
    rank = 0
    for column in range(len(rows[0]) if rows else 0):
        pivot = next((i for i in range(rank, len(left)) if left[i][column]), None)
        if pivot is None:
            continue
        left[rank], left[pivot] = left[pivot], left[rank]
        for i in range(rank + 1, len(left)):
            factor = left[i][column] / left[rank][column]
            left[i] = [a - factor * b for a, b in zip(left[i], left[rank], strict=True)]
        rank += 1
    return rank


def small_known_set(rows: list[list[int]], people: int, least_people: int) -> bool:
    """True if the sum of some set of fewer than ``least_people`` people follows: every set is tried."""
    rank = rational_rank(rows)
    return any(
        rational_rank([*rows, [int(p in chosen) for p in range(people)]]) == rank
        for size in range(1, least_people)
        for chosen in combinations(range(people), size)
    )


@st.composite
def histories(draw: st.DrawFn) -> tuple[int, int, list[list[list[int]]]]:
    """How many people, k, and statements: each some query sets that are judged together."""
    people = draw(st.integers(2, 9))
    one = st.lists(st.integers(0, people - 1), min_size=1, max_size=people, unique=True).map(sorted)
    statements = draw(st.lists(st.lists(one, min_size=1, max_size=3), min_size=1, max_size=8))
    return people, draw(st.integers(1, 6)), statements


@given(histories())
@settings(max_examples=150)
@example((4, 2, [[[0, 1]], [[0, 2]], [[1, 2]]]))  # half the sum of all three, minus one pair, is one person
@example((6, 3, [[[0, 1, 2, 3]], [[2, 3, 4, 5]], [[0, 1, 4, 5]]]))  # three atoms of two: half of it again
@example((8, 4, [[[0, 1, 2, 3, 4]], [[3, 4, 5, 6, 7]], [[0, 1, 2, 5, 6, 7]]]))
def test_answers_only_what_keeps_every_small_sum_unknown(
    case: tuple[int, int, list[list[list[int]]]],
) -> None:
    people, least_people, statements = case
    known = KnownSums(people=people, least_people=least_people, prime=PRIME)
    rows: list[list[int]] = []
    for number, sets in enumerate(statements):
        asked = [[int(p in members) for p in range(people)] for members in sets]
        trial = known.trial([np.array(members) for members in sets], seed=number, work=WORK)
        assert (trial.verdict == "known") == small_known_set(rows + asked, people, least_people)
        assert trial.new == (rational_rank(rows + asked) > rational_rank(rows))
        if trial.verdict == "safe":
            known.answer(trial)
            rows += asked
            assert known.rank == rational_rank(rows)
            assert all(known.follows(np.array(members)) for members in sets)


def test_a_large_random_history_stays_consistent_with_ranks_modulo_another_prime() -> None:
    """Rank and 'follows' on 60 people: an independent elimination modulo another prime."""
    rng = np.random.default_rng(5)
    known = KnownSums(people=60, least_people=3, prime=PRIME)
    rows: list[list[int]] = []
    answered = 0
    for number in range(40):
        members = np.flatnonzero(rng.random(60) < rng.uniform(0.2, 0.8))
        trial = known.trial([members], seed=number, work=WORK)
        if trial.verdict == "safe":
            known.answer(trial)
            rows.append([int(p in set(members.tolist())) for p in range(60)])
            answered += 1
    assert answered > 20
    assert known.rank == np.linalg.matrix_rank(np.array(rows, dtype=float))
    one_off = np.setdiff1d(np.flatnonzero(rows[0]), [np.flatnonzero(rows[0])[0]])
    assert known.trial([one_off], seed=99, work=WORK).verdict == "known"


def test_too_little_work_is_said_and_never_passed() -> None:
    known = KnownSums(people=50, least_people=5, prime=PRIME)
    for number in range(12):
        members = np.flatnonzero(np.random.default_rng(number).random(50) < 0.5)
        trial = known.trial([members], seed=0, work=WORK)
        assert trial.verdict == "safe"
        known.answer(trial)
    members = np.flatnonzero(np.random.default_rng(77).random(50) < 0.5)
    for work in (0, 10, 100, 1000, 2000):
        assert known.trial([members], seed=0, work=work).verdict == "work"
    assert known.trial([members], seed=0, work=WORK).verdict == "safe"


@pytest.mark.parametrize("least_people", [1, 2, 3, 4, 5, 6, 7])
def test_a_known_sum_of_one_fewer_than_k_is_found(least_people: int) -> None:
    """Two sets that differ in k − 1 people of different atoms: their difference is a known sum of k − 1 people."""
    known = KnownSums(people=40, least_people=least_people, prime=PRIME)
    apart = list(range(least_people - 1))
    for number, person in enumerate(apart):  # puts each of them into an atom of her own
        rest = np.array([person, *range(20 + number, 34 + number)])
        trial = known.trial([rest], seed=number, work=WORK)
        assert trial.verdict == "safe"
        known.answer(trial)
    known.answer(known.trial([np.arange(10, 20)], seed=50, work=WORK))
    expected = "safe" if least_people == 1 else "known"
    together = np.array(sorted([*apart, *range(10, 20)]))
    assert known.trial([together], seed=51, work=WORK).verdict == expected


def test_primes_are_primes() -> None:
    small = [n for n in range(2, 2000) if all(n % d for d in range(2, n))]
    assert [n for n in range(2000) if is_prime(n)] == small
    assert not is_prime(3215031751)  # passes the test for the bases 2, 3, 5 and 7
    assert len({secret_prime(seed) for seed in range(20)}) == 20
