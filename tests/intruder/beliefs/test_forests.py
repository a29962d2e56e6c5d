"""Our trees against scikit-learn's; a forest predicts the targets and is reproducible."""

import numpy as np
import pytest

from equivoc.learning import forest as forests
from equivoc.learning import learning_kernels as forest_kernels
from equivoc.learning.forest import out_of_sample


def one_tree(codes, targets, weights, *, leaf):
    """The predictions of a tree that considers every feature, for the records themselves."""
    room = 2 * len(codes) + 1
    feature, cut, child = (np.zeros(room, dtype=np.int64) for _ in range(3))
    value = np.zeros((room, targets.shape[1]))
    columns = np.ascontiguousarray(codes.T, dtype=np.int32)
    order = np.tile(np.arange(codes.shape[1]), (room, 1))
    squares = (targets**2).sum(axis=1)
    forest_kernels.grow(
        columns,
        int(codes.max()) + 1,
        targets,
        squares,
        weights,
        order,
        leaf,
        codes.shape[1],
        feature,
        cut,
        child,
        value,
    )
    found = np.zeros_like(targets)
    forest_kernels.predict(columns, feature, cut, child, value, found)
    return found


@pytest.mark.parametrize("leaf", [1, 5, 20])
@pytest.mark.parametrize("seed", range(5))
def test_a_tree_is_that_of_scikit_learn(leaf, seed):
    trees = pytest.importorskip("sklearn.tree")
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, [3, 8, 40], (200, 3))
    targets = rng.dirichlet(np.ones(7), 200) + (codes[:, 1:2] > 3) * np.arange(7)
    weights = rng.integers(0, 3, 200).astype(float)
    used = weights > 0
    theirs = trees.DecisionTreeRegressor(min_samples_leaf=leaf, random_state=0)
    theirs.fit(codes[used], targets[used], sample_weight=weights[used])
    ours = one_tree(codes, targets, weights, leaf=leaf)
    # With one record per leaf, cuts can be equally good: then both must fit the records equally well.
    errors = [(weights[:, None] * (each - targets) ** 2).sum() for each in (ours, theirs.predict(codes))]
    assert errors[0] == pytest.approx(errors[1], rel=1e-2)
    if leaf > 1:
        np.testing.assert_allclose(ours[used], theirs.predict(codes[used]), atol=1e-9)


def test_a_forest_follows_the_targets_and_repeats_itself():
    rng = np.random.default_rng(0)
    features = rng.uniform(0, 1, (1500, 3))  # more different numbers than groups
    targets = np.column_stack([features[:, 0] > 0.5, features[:, 1]]).astype(float)
    asked = rng.uniform(0, 1, (400, 3))
    first, second = (out_of_sample(features, targets, asked, leaf=5, seed=3, trees=40) for _ in range(2))
    np.testing.assert_array_equal(first, second)
    expected = np.column_stack([asked[:, 0] > 0.5, asked[:, 1]])
    assert np.abs(first - expected).mean() < 0.15
    far = np.abs(asked[:, 0] - 0.5) > 0.1
    assert ((first[:, 0] > 0.5) == expected[:, 0])[far].all()
    single = out_of_sample(features, targets[:, 1], asked, leaf=5, seed=3, trees=40)
    assert single.shape == (400,)
    assert np.abs(single - asked[:, 1]).mean() < 0.1


def test_features_with_many_values_are_grouped_in_their_order():
    column = np.random.default_rng(1).lognormal(size=5000)
    codes = forests._coded(column)
    assert codes.max() == forests.GROUPS - 1
    assert (np.diff(codes[np.argsort(column)]) >= 0).all()
    assert np.bincount(codes).max() <= 21
    assert forests._coded(np.array([7.5, -1.0, 7.5])).tolist() == [1, 0, 1]
