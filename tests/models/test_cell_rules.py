"""Dominance, p % and pq against the Handbook on Statistical Disclosure Control (Hundepool et al., magnitude tables)."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from equivoc import InputError
from equivoc.models import dominance, p_percent, pq_rule

CELLS = st.lists(st.integers(0, 60), min_size=1, max_size=6)


def test_handbook_example_1_one_dominates_nobody_but_the_second_knows_the_first() -> None:
    """Total 100,000, largest 50,000 and 49,000: safe by (1, 90), yet the second is within 2 % of the first."""
    cell = [1_000, 50_000, 49_000]
    assert dominance(cell, n=1, k=90) is False
    assert dominance(cell, n=2, k=90) is True
    assert p_percent(cell, p=2) is False
    assert p_percent(cell, p=2.1) is True


def test_handbook_example_2_dominance_protects_too_much() -> None:
    """Total 110,000, largest 52,000 and 50,000: an overestimate of 15.4 %, safe at p = 10; not by (2, 90.9)."""
    cell = [52_000, 50_000, 8_000]
    assert p_percent(cell, p=10) is False
    assert p_percent(cell, p=15.3) is False
    assert p_percent(cell, p=15.4) is True
    assert dominance(cell, n=2, k=100 * 100 / 110) is True


def test_handbook_examples_1b_and_1d() -> None:
    """Two companies know each other's turnover; one of 51 companies has 99 % of it."""
    assert p_percent([70, 30], p=0.001) is True
    assert dominance([9_900, *[2] * 50], n=1, k=60) is True
    assert dominance([9_900, *[2] * 50], n=1, k=99) is False


def test_a_prior_estimate_makes_a_cell_sensitive() -> None:
    """Handbook: a (p, q) rule is a p* % rule with p* = 100 p/q."""
    cell = [52_000, 50_000, 8_000]
    assert pq_rule(cell, p=10, q=100) is False
    assert pq_rule(cell, p=10, q=66) is False
    assert pq_rule(cell, p=10, q=64) is True


def test_dominance_defaults_to_one_respondent_and_60_percent() -> None:
    assert dominance([61, 39]) is True
    assert dominance([60, 40]) is False


def test_more_respondents_asked_about_than_there_are() -> None:
    assert dominance([5, 5], n=3, k=99) is True
    assert dominance([0, 0], n=1, k=50) is False


@given(CELLS, st.integers(1, 4), st.integers(1, 99), st.integers(1, 300), st.integers(1, 100))
def test_rules_by_exact_fractions(cell: list[int], n: int, k: int, p: int, q: int) -> None:
    ordered = sorted(cell, reverse=True)
    assert dominance(cell, n=n, k=k) is (sum(ordered[:n]) > Fraction(k, 100) * sum(cell))
    rest = sum(cell) - ordered[0] - (ordered[1] if len(cell) > 1 else 0)
    assert p_percent(cell, p=p) is (rest < Fraction(p, 100) * ordered[0])
    assert pq_rule(cell, p=p, q=q) is (Fraction(q, 100) * rest < Fraction(p, 100) * ordered[0])


@given(CELLS.filter(any), st.integers(1, 60))
def test_handbook_proof_a_what_dominance_passes_p_percent_passes(cell: list[int], p: int) -> None:
    ordered = sorted(cell, reverse=True)
    safe_by_dominance = sum(ordered[:2]) <= Fraction(100, 100 + p) * sum(cell)
    assert not (safe_by_dominance and p_percent(cell, p=p))


@given(CELLS, st.randoms(use_true_random=False))
def test_the_order_of_respondents_changes_nothing(cell: list[int], random: object) -> None:
    other = list(cell)
    random.shuffle(other)  # type: ignore[attr-defined]
    assert dominance(cell, n=2, k=70) is dominance(np.array(other), n=2, k=70)
    assert pq_rule(cell, p=15, q=60) is pq_rule(tuple(other), p=15, q=60)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: dominance([], n=1, k=60), r"shape \(0,\)"),
        (lambda: dominance([[1, 2]], n=1, k=60), r"shape \(1, 2\)"),
        (lambda: dominance([1, 2], n=0, k=60), "n is 0"),
        (lambda: dominance([1, 2], n=True, k=60), "n is True"),
        (lambda: dominance([1, 2], n=1.5, k=60), "n is 1.5"),  # type: ignore[arg-type]
        (lambda: dominance([1, 2], n=1, k=100), "k is 100"),
        (lambda: dominance([1, -2], n=1, k=60), r"contribution 1 .* is -2"),
        (lambda: p_percent([1, float("nan")], p=10), r"contribution 1 .* is nan"),
        (lambda: p_percent(["x"], p=10), "numbers"),
        (lambda: p_percent([1, 2], p=0), "p is 0"),
        (lambda: p_percent([1, 2], p="10"), "p is '10'"),  # type: ignore[arg-type]
        (lambda: pq_rule([1, 2], p=10, q=0), "q is 0"),
        (lambda: pq_rule([1, 2], p=10, q=101), "q is 101"),
    ],
)
def test_bad_input(call: object, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        call()  # type: ignore[operator]
