"""Microaggregation before an intruder with a prior, against all originals weighted by it."""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from equivoc.data.microdata import Microdata
from equivoc.techniques.microaggregation import Microaggregation

DOMAIN = [0, 1, 3, 4]
PRIORS = [
    [0.1, 0.4, 0.3, 0.2],
    [0.7, 0.1, 0.1, 0.1],
    [0.25, 0.25, 0.25, 0.25],
    [0.5, 1e-9, 1e-30, 0.5 - 1e-9],
]


def by_enumeration(groups, pays, prior, *, ordered):
    """Every record's distribution: all columns with the same sums of groups, weighted by their members' priors."""
    every = np.array(list(product(range(len(DOMAIN)), repeat=len(pays))))
    values, pays = np.array(DOMAIN)[every], np.array(pays)
    members = [groups == group for group in range(groups.max() + 1)]
    fits = np.all([values[:, own].sum(axis=1) == pays[own].sum() for own in members], axis=0)
    for one, other in product(members, repeat=2):
        if ordered and one is not other and pays[one].mean() <= pays[other].mean():
            fits &= values[:, one].max(axis=1) <= values[:, other].min(axis=1)
    weights = np.array(prior)[every].prod(axis=1) * fits
    return np.array([np.bincount(column, weights, len(DOMAIN)) for column in every.T]) / weights.sum()


def averaged(pays, size, **parameters):
    people = Microdata(pd.DataFrame({"pay": pays}), confidential="pay", domain=DOMAIN)
    return Microaggregation(size=min(size, len(pays)), **parameters).release(people)


@settings(max_examples=80, deadline=None)
@given(
    st.lists(st.sampled_from(DOMAIN), min_size=2, max_size=6),
    st.integers(2, 4),
    st.sampled_from(PRIORS),
    st.sampled_from([None, "mdav"]),
)
def test_who_knows_the_sums(pays, size, prior, method):
    release = averaged(pays, size, method=method)
    found = release.confidential.channel.with_prior(np.array(prior)).dense()[release.confidential.codes]
    expected = by_enumeration(release.group, pays, prior, ordered=False)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-14)


@settings(max_examples=80, deadline=None)
@given(st.lists(st.sampled_from(DOMAIN), min_size=2, max_size=6), st.integers(2, 4), st.sampled_from(PRIORS))
def test_who_also_knows_the_order(pays, size, prior):
    release = averaged(pays, size)
    found = release.confidential.informed.with_prior(np.array(prior)).dense()[release.confidential.codes]
    expected = by_enumeration(release.group, pays, prior, ordered=True)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-14)


def test_the_prior_matters_and_the_order_too():
    """Another prior, and the channel without the order, are both found out."""
    pays, prior = [1, 1, 1, 3, 3, 3], PRIORS[0]
    release = averaged(pays, 2)
    codes = release.confidential.codes
    expected = by_enumeration(release.group, pays, prior, ordered=True)
    for wrong in (prior[::-1], np.square(prior) / np.square(prior).sum(), PRIORS[2]):
        found = release.confidential.informed.with_prior(np.array(wrong)).dense()[codes]
        assert np.abs(found - expected).max() > 0.01
    of_sums = release.confidential.channel.with_prior(np.array(prior)).dense()[codes]
    assert np.abs(of_sums - expected).max() > 0.01


def test_a_given_order_is_the_informed_channel_with_a_uniform_prior():
    pays = [0, 1, 3, 4, 4, 1, 0]
    order, total = averaged(pays, 2, belief="order"), averaged(pays, 2)
    assert order.confidential.informed is None
    np.testing.assert_array_equal(order.confidential.channel.dense(), total.confidential.informed.dense())


@pytest.mark.parametrize("field", ["channel", "informed"])
def test_a_value_that_the_prior_rules_out(field):
    """The fourth value cannot be; where that contradicts a sum, all values are equally likely again."""
    prior = np.array([0.2, 0.5, 0.3, 0.0])
    pays = [0, 0, 1, 3]
    release = averaged(pays, 2)
    found = getattr(release.confidential, field)
    expected = by_enumeration(release.group, pays, prior, ordered=field == "informed")
    np.testing.assert_allclose(found.with_prior(prior).dense()[release.confidential.codes], expected)
    ruled_out = getattr(averaged([0, 0, 4, 4], 2).confidential, field)
    np.testing.assert_allclose(ruled_out.with_prior(prior).dense()[1], ruled_out.dense()[1])


@pytest.mark.parametrize(
    "technique",
    [Microaggregation(size=2, on="age"), Microaggregation(size=2, belief="order")],
    ids=lambda t: t.notation,
)
def test_no_stronger_channel_where_nothing_more_is_known(technique):
    table = pa.table({"age": [20, 21, 22, 20, 24], "pay": [0, 1, 3, 4, 4]})
    people = Microdata(table, confidential="pay", keys=["age"], domain=DOMAIN)
    assert technique.release(people).confidential.informed is None


def test_a_prior_goes_through_posteriors():
    pays = [0, 1, 3, 4, 4, 1]
    release = averaged(pays, 3)
    prior = np.array(PRIORS[1])
    found = release.with_prior(prior).posteriors([]).probabilities[0]
    expected = by_enumeration(release.group, pays, prior, ordered=False).mean(axis=0)
    np.testing.assert_allclose(found, expected, rtol=1e-9)
