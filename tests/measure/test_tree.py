"""The measure on a tree, against all partitions of its leaves that the tree's distance allows."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.typing import NDArray

import equivoc as eq
from equivoc.measure.tree import tree_curve, tree_curves
from tests.measure.oracles import set_partitions


def random_tree(rng: np.random.Generator, leaves: int, height: int) -> NDArray[np.int64]:
    levels = [rng.permutation(leaves)]
    for _ in range(height - 1):
        groups = np.unique(levels[-1])
        parents = rng.integers(0, max(1, len(groups) - 1), len(groups)) * 3  # numbers need not be consecutive
        levels.append(parents[np.searchsorted(groups, levels[-1])])
    return np.array([*levels, np.zeros(leaves, np.int64)])


def distance(tree: NDArray[np.int64], a: int, b: int) -> int:
    """The height of the lowest common ancestor."""
    return int(np.argmax(tree[:, a] == tree[:, b]))


def entropy(masses: list[float]) -> float:
    return math.fsum(-q * math.log2(q) for q in masses if q > 0)


@pytest.mark.parametrize("leaves", [1, 2, 4, 6, 8])
def test_every_partition(leaves: int) -> None:
    rng = np.random.default_rng(leaves)
    blocks = [[[i for i in range(leaves) if b >> i & 1] for b in part] for part in set_partitions(leaves)]
    for height in (1, 2, 4):
        tree = random_tree(rng, leaves, height)
        p = rng.dirichlet(np.ones(leaves)) * (rng.random(leaves) < 0.8)
        p = p / p.sum() if p.any() else np.full(leaves, 1 / leaves)
        apart = [[distance(tree, a, b) for b in range(leaves)] for a in range(leaves)]
        c = tree_curve(tree, p)
        least = []
        for eps in range(height + 1):
            allowed = [
                q for q in blocks if all(apart[a][b] <= eps for block in q for a in block for b in block)
            ]
            least.append(min(entropy([math.fsum(p[block]) for block in q]) for q in allowed))
            heaviest = max(math.fsum(p[block]) for q in allowed for block in q)
            assert c.hit(eps + 0.5) == pytest.approx(heaviest, abs=1e-12)
        assert c.entropies == pytest.approx(least, abs=1e-12)
        assert c(np.arange(height + 1) + 0.9) == pytest.approx(least, abs=1e-12)
        assert c.area == pytest.approx(sum(least[:-1]), abs=1e-12)
        support = np.flatnonzero(p)
        assert c.eps_max == max(apart[a][b] for a in support for b in support)
        assert c.epsilons.tolist() == list(range(height + 1))
        windows = c.windows(1)
        assert entropy([group.probability for group in windows]) == pytest.approx(least[1], abs=1e-12)
        assert all(group.probability == pytest.approx(p[list(group.leaves)].sum()) for group in windows)


@pytest.mark.parametrize("k", [1, 2, 3, 8, 50])
def test_without_a_hierarchy_h0_and_area_are_one(k: int) -> None:
    c = tree_curve([np.arange(k), np.zeros(k, int)], np.full(k, 1 / k))
    assert c.h0 == c.area == pytest.approx(math.log2(k))
    assert c.area_bounds == (c.area, c.area)
    assert c.eps_max == (1.0 if k > 1 else 0.0)


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_many_rows_are_as_single_ones(kind) -> None:
    rng = np.random.default_rng(7)
    tree = random_tree(rng, 30, 4)
    counts = rng.integers(0, 4, (40, 30)) * (rng.random((40, 30)) < 0.3)
    counts[:, 3] += 1
    counts[5] = 0
    counts[5, 2] = 6
    many = tree_curves(tree, kind(counts), counts=True)
    singles = [tree_curve(tree, row / row.sum()) for row in counts]
    assert len(many) == 40
    assert many.h0 == pytest.approx([c.h0 for c in singles], abs=1e-12)
    assert many.area == pytest.approx([c.area for c in singles], abs=1e-12)
    assert pytest.approx(np.array([many.area] * 2)) == many.area_bounds.T
    assert many.eps_max.tolist() == [c.eps_max for c in singles]
    assert (many.h0[5], many.area[5], many.eps_max[5]) == (0, 0, 0)
    assert not many.estimated.any()
    for eps in (0, 1.5, 2, 9):
        assert many.at(eps) == pytest.approx([c(eps) for c in singles], abs=1e-12)
        assert many.hit(eps) == pytest.approx([c.hit(eps) for c in singles], abs=1e-12)
        mass, group = many.best_groups(eps)
        members = tree[min(int(eps), 4)] == group[:, None]
        assert mass == pytest.approx((counts * members).sum(axis=1) / counts.sum(axis=1))


def test_rounding_leaves_nothing_at_the_top() -> None:
    many = tree_curves([[0, 1, 2], [0, 0, 0]], [[1 / 6, 2 / 3, 1 / 6]])
    assert many.entropies[0, 1] == 0.0
    assert many.hit(1)[0] <= 1.0


@pytest.mark.parametrize(
    ("tree", "message"),
    [
        ([0, 0], "heights × leaves"),
        ([[0.0, 1.0], [0.0, 0.0]], "whole group numbers"),
        ([[0, 1], [0]], "ragged"),
        ([[0, 0], [0, 0]], "height 0"),
        ([[0, 1], [0, 1]], "several groups at the top"),
        ([[0, -1], [0, 0]], "group number -1"),
        ([[0, 1, 2], [4, 4, 5], [1, 2, 2], [0, 0, 0]], "splits group 4 of height 1 at height 2"),
    ],
)
def test_levels_that_do_not_form_a_tree(tree, message: str) -> None:
    with pytest.raises(eq.InputError, match=message):
        tree_curve(tree, [0.5, 0.5])


def test_probabilities_are_checked_too() -> None:
    with pytest.raises(eq.InputError, match=r"sums to 0\.9"):
        tree_curve([[0, 1], [0, 0]], [0.5, 0.4])
    with pytest.raises(eq.InputError, match="one column per value"):
        tree_curve([[0, 1], [0, 0]], [0.5, 0.4, 0.1])
