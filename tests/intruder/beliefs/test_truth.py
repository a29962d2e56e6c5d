"""Surprise, trust and gain against a plain search, closed forms and a count person by person."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from equivoc.errors import InputError
from equivoc.intruder.truth import best_trust, hold_against_truth, weighted_quantile

CELLS = st.lists(
    st.tuples(st.one_of(st.just(0.0), st.floats(0, 1)), st.floats(0.001, 1), st.integers(0, 5)),
    min_size=1,
    max_size=8,
).filter(lambda cells: any(count for *_, count in cells))


def mean_surprise(p, prior, people, trust):
    with np.errstate(divide="ignore"):
        each = -np.log2(trust * p + (1 - trust) * prior)
    return float(people[people > 0] @ each[people > 0] / people.sum())


@given(CELLS)
def test_no_trust_of_a_fine_grid_leaves_less_surprise(cells):
    p, prior, people = (np.array(each, dtype=float) for each in zip(*cells, strict=True))
    found = hold_against_truth(p, prior, people, np.ones(len(p)))
    grid = min(mean_surprise(p, prior, people, trust) for trust in np.linspace(0, 1, 401))
    assert found.surprise <= grid + 1e-9
    assert found.surprise == pytest.approx(mean_surprise(p, prior, people, found.trust), abs=1e-9)
    assert found.gain >= -1e-12
    assert found.prior_surprise == pytest.approx(float(people @ -np.log2(prior) / people.sum()))


def test_a_value_that_the_prior_all_but_rules_out():
    """One of two people has such a value and is believed to; the other's is ruled out: t/2 trust of each."""
    found = hold_against_truth([1.0, 0.0], [1e-12, 0.5], [1, 1], np.ones(2))
    assert found.trust == pytest.approx(0.5, abs=1e-9)
    rare = hold_against_truth([1.0, 0.0], [1e-12, 0.5], [1, 9_999], np.ones(2))
    assert rare.trust == pytest.approx(1e-4, rel=1e-6)


def test_the_ends():
    one = np.ones(3)
    assert best_trust(np.full(3, 0.9), np.full(3, 0.1), one) == 1.0
    assert best_trust(np.zeros(3), np.full(3, 0.1), one) == 0.0
    assert best_trust(np.full(3, 0.1), np.full(3, 0.1), one) == 1.0


def test_certain_of_k_in_n_and_nothing_of_the_others():
    """k of n right with certainty, the others wrong: d/dt gives t = (k − n·π) / (n·(1 − π))."""
    n, k, prior = 200, 120, 0.25
    found = hold_against_truth([1.0, 0.0], [prior, prior], [k, n - k], [0.0, 0.0])
    trust = (k - n * prior) / (n * (1 - prior))
    assert found.trust == pytest.approx(trust, abs=1e-6)
    assert (found.certain_right, found.certain_wrong) == (k, n - k)
    assert found.surprises == pytest.approx(
        [-np.log2(prior + trust * (1 - prior)), -np.log2(prior * (1 - trust))]
    )


def test_counts_are_people():
    rng = np.random.default_rng(0)
    p, prior = rng.uniform(size=40), rng.uniform(0.05, 0.3, size=40)
    people, h0 = rng.integers(0, 6, 40), rng.choice([0.0, 1.0], 40)
    cells = hold_against_truth(p, prior, people, h0)
    alone = hold_against_truth(
        *(np.repeat(each, people) for each in (p, prior)), np.ones(people.sum()), np.repeat(h0, people)
    )
    for name in (
        "surprise",
        "prior_surprise",
        "certain_right",
        "certain_wrong",
        "below_half_bit",
        "surprise_p05",
    ):
        assert getattr(cells, name) == pytest.approx(getattr(alone, name), abs=1e-6), name
    each = alone.surprises
    assert alone.below_half_bit == pytest.approx((each < 0.5).mean())
    assert alone.surprise_p05 == pytest.approx(np.sort(each)[int(np.ceil(0.05 * len(each))) - 1])


def test_the_quantile_of_a_single_number():
    assert weighted_quantile(np.array([2.0]), np.array([3.0]), 0.05) == 2.0


@pytest.mark.parametrize(
    "cells",
    [
        ([0.5], [0.0], [1], [1]),
        ([1.5], [0.5], [1], [1]),
        ([0.5], [0.5], [0], [1]),
        ([0.5], [0.5, 0.5], [1], [1]),
    ],
)
def test_invalid_arguments_are_rejected(cells):
    with pytest.raises(InputError):
        hold_against_truth(*cells)
