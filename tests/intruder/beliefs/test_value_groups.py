"""Groups of values against plain Bayes, value by value."""

import numpy as np
import pytest

from equivoc.learning.chain import telling
from equivoc.learning.learned import MOST_GROUPS, ValueGroups, learn


@pytest.mark.parametrize("values", [65, 200, 1000])
def test_refined_posteriors_are_bayes_with_the_prior_inside_the_groups(values):
    rng = np.random.default_rng(values)
    prior = rng.dirichlet(np.full(values, 0.3))
    prior[rng.integers(0, values, values // 5)] = 0.0
    prior /= prior.sum()
    likelihood = rng.uniform(size=(9, values)) * (rng.random((9, values)) < 0.7)
    groups = ValueGroups.of(likelihood, prior)
    assert 20 < len(groups.prior) <= MOST_GROUPS
    np.testing.assert_allclose(np.bincount(groups.group_of, prior), groups.prior, atol=1e-15)
    learnt = rng.dirichlet(np.ones(len(groups.prior)), 9) * (groups.prior > 0)
    coarse = learnt * groups.likelihood
    coarse /= coarse.sum(axis=1, keepdims=True)
    expected = np.zeros((9, values))
    for s in range(9):
        for d in np.flatnonzero(prior):
            g = groups.group_of[d]
            expected[s, d] = likelihood[s, d] * learnt[s, g] * prior[d] / groups.prior[g]
    expected /= expected.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(groups.refined(coarse, np.arange(9)), expected, atol=1e-12)


def test_few_values_are_left_alone_and_a_symbol_that_tells_nothing_still_does():
    table = np.vstack([np.eye(64), np.full(64, 0.3)])
    groups = ValueGroups.of(table, np.full(64, 1 / 64))
    np.testing.assert_array_equal(groups.likelihood, table)
    prior = np.random.default_rng(0).dirichlet(np.ones(500))
    groups = ValueGroups.of(np.vstack([np.eye(500)[:5], np.full(500, 0.3)]), prior)
    assert telling(groups.likelihood).tolist() == [True] * 5 + [False]


def test_learning_with_many_values_helps_and_is_a_distribution():
    rng = np.random.default_rng(5)
    keys = rng.integers(0, [6, 3], (3000, 2))
    true = np.clip(np.rint(rng.normal(50 + 60 * keys[:, 0], 12)), 0, 399).astype(np.int64)
    symbols = np.where(rng.random(3000) < 0.5, true, rng.integers(0, 400, 3000))
    likelihood = np.full((400, 400), 0.5 / 400) + 0.5 * np.eye(400)
    prior = (np.bincount(true, minlength=400) + 0.1) / (3000 + 40)
    found = learn(keys, symbols, likelihood, prior)
    np.testing.assert_allclose(found.posteriors.sum(axis=1), 1.0, rtol=1e-9)
    alone = likelihood[symbols] * prior
    alone /= alone.sum(axis=1, keepdims=True)
    informed = -np.log2(alone[np.arange(3000), true]).mean()
    assert -np.log2(found.posteriors[found.row_of, true]).mean() < informed - 0.5
