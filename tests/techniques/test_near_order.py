"""Groups in order on short grids of their own: against the exact channel, and against all originals of odd numbers."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import equivoc as eq
from equivoc.systems.grids import even_grid
from equivoc.techniques.inside.group_intruders import NearGroupsInOrder, order_channel, sum_channel
from equivoc.techniques.inside.local_intruder import SumsNearMeans
from equivoc.techniques.inside.near_sums import GroupMeans, Levels
from equivoc.techniques.microaggregation import optimal_groups


def told_of(values, size):
    """The values that occur, each record's number of its value, and what the release of optimal groups tells."""
    domain, codes = np.unique(values, return_inverse=True)
    group = optimal_groups(values, size)
    return (
        domain,
        codes.reshape(-1),
        GroupMeans.of(Levels.of(domain.astype(float)), codes.reshape(-1), group),
        group,
    )


def surprise(channel, told, codes, group, prior):
    found = channel.toarray() if hasattr(channel, "toarray") else channel
    return -np.log2(0.999 * found[told.kind[group], codes] + 0.001 * prior[codes]).mean()


def incomes(people, seed=0):
    return np.exp(np.random.default_rng(seed).normal(10.3, 0.8, people))


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(0, 12), min_size=4, max_size=24), st.integers(2, 5), st.integers(0, 2**32))
def test_on_an_even_grid_it_is_the_exact_channel(values, size, seed):
    values = np.array(values)
    domain, _, told, _ = told_of(values, min(size, len(values)))
    prior = np.random.default_rng(seed).dirichlet(np.ones(len(domain)))
    exact = order_channel(even_grid(domain), told.sizes, told.steps, told.groups, prior=prior)
    np.testing.assert_allclose(NearGroupsInOrder(told, prior=prior).table(prior).toarray(), exact, atol=1e-9)


class Coarse(NearGroupsInOrder):
    steps = 0


@pytest.mark.parametrize("size", [2, 3, 5, 10])
@pytest.mark.parametrize("step", [100, 10])
def test_fewer_steps_cost_less_than_a_twentieth_of_a_bit(size, step):
    """Where the exact channel can be computed. Groups of 2 and 3 have at least 128 steps in files of any size."""
    values = np.round(incomes(2_000) / step) * step
    domain, codes, told, group = told_of(values, size)
    prior = np.bincount(codes) / len(codes)
    exact = order_channel(even_grid(domain), told.sizes, told.steps, told.groups, prior=prior)
    for Coarse.steps in (128 if size < 5 else 24, 256):
        near = Coarse(told, prior=prior).table(prior)
        assert (
            abs(surprise(near, told, codes, group, prior) - surprise(exact, told, codes, group, prior)) < 0.05
        )


@pytest.mark.parametrize("seed", range(6))
def test_values_on_no_grid_against_all_originals(seed):
    """Eight people with values on no even grid: every column over these values with the same sums and no overlap."""
    rng = np.random.default_rng(seed)
    domain = np.sort(rng.normal(size=5)).round(12)
    values = rng.choice(domain, 7)
    people = eq.Microdata(pd.DataFrame({"pay": values}), confidential="pay", domain=domain)
    release = eq.Microaggregation(size=3, method="mdav").release(people)
    every = np.array(list(product(range(5), repeat=7)))
    members = [release.group == g for g in range(release.group.max() + 1)]
    columns, ordered = domain[every], sorted(members, key=lambda own: values[own].mean())
    fits = np.all([abs(columns[:, own].sum(1) - values[own].sum()) < 1e-9 for own in members], axis=0)
    for lower, upper in pairwise(ordered):
        if values[lower].mean() < values[upper].mean() - 1e-9:
            fits &= columns[:, lower].max(axis=1) <= columns[:, upper].min(axis=1)
    prior = rng.dirichlet(np.ones(5))
    weights = prior[every].prod(axis=1) * fits
    expected = np.array([np.bincount(column, weights, 5) for column in every.T]) / weights.sum()
    found = release.confidential.informed.with_prior(prior).dense()[release.confidential.codes]
    assert isinstance(release.confidential.informed, NearGroupsInOrder)
    np.testing.assert_allclose(found, expected, atol=0.02)


@pytest.mark.parametrize("size", [3, 8, 40])
def test_sums_by_transform_are_the_exact_ones(size):
    """Members anywhere: on a grid of few steps nothing is rounded, with a prior of very different probabilities too."""
    values = np.random.default_rng(size).integers(0, 60, 400)
    domain, _, told, _ = told_of(values, size)
    prior = np.exp(-np.arange(len(domain)) / 6.0)
    prior /= prior.sum()
    exact = sum_channel(even_grid(domain), told.sizes, told.steps, prior=prior)
    near = SumsNearMeans(told, prior=prior).table(prior).toarray()
    np.testing.assert_allclose(near, exact, atol=1e-6)


@pytest.mark.parametrize("size", [3, 5, 10])
def test_sums_on_a_grid_of_bounded_size(size):
    values = np.round(incomes(1_500) / 50) * 50
    domain, codes, told, group = told_of(values, size)
    prior = np.bincount(codes) / len(codes)
    exact = sum_channel(even_grid(domain), told.sizes, told.steps, prior=prior)
    near = SumsNearMeans(told, prior=prior)
    assert near.rounds
    apart = surprise(near.table(prior), told, codes, group, prior) - surprise(
        exact, told, codes, group, prior
    )
    assert abs(apart) < 0.05


@pytest.mark.parametrize("size", [5, 10, 20])
def test_large_groups_are_as_well_known_as_by_their_exact_order(size):
    """Where groups are too large to go through all orders, she is told no less than by the order."""
    values = np.round(incomes(1_000) / 100) * 100
    domain, codes, told, group = told_of(values, size)
    prior = np.bincount(codes) / len(codes)
    exact = order_channel(even_grid(domain), told.sizes, told.steps, told.groups, prior=prior)
    near = SumsNearMeans(told, in_order=True, prior=prior).table(prior)
    assert surprise(near, told, codes, group, prior) < surprise(exact, told, codes, group, prior) + 0.05
