"""Each likelihood operator against a table written out entry by entry, and Bayes' rule against its definition."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from equivoc.channels.channel import Bayes, Stated
from equivoc.channels.likelihood import (
    Cells,
    GeometricSteps,
    Likelihood,
    PublishedOrNothing,
    Swapped,
    Table,
)

RNG = np.random.default_rng(20)
RANDOM = RNG.dirichlet(np.ones(5), size=4)  # 4 values, 5 symbols
COUNTS = np.array([2, 0, 5, 3])


def written_out(kind: str) -> tuple[Likelihood, list[list[float]]]:
    """An operator, and K(s | v) by its definition: symbols × values."""
    if kind == "published or nothing":
        return PublishedOrNothing(4), [[float(s in (v, 4)) for v in range(4)] for s in range(5)]
    if kind == "dense table":
        return Table(RANDOM), [[RANDOM[v, s] for v in range(4)] for s in range(5)]
    if kind == "sparse table":
        return Table(csr_array(RANDOM)), [[RANDOM[v, s] for v in range(4)] for s in range(5)]
    if kind == "cells":
        first, past = [0, 1, 1, 3], [1, 3, 4, 4]
        told = [[float(first[s] <= v < past[s]) for v in range(4)] for s in range(4)]
        return Cells(np.array(first), np.array(past), 4), told
    if kind == "geometric":
        return GeometricSteps(4, 0.7), [[0.7 ** abs(s - v) for v in range(4)] for s in range(4)]
    n = COUNTS.sum()
    told = [[0.4 * (s == v) + 0.6 * (COUNTS[s] - (s == v)) / (n - 1) for v in range(4)] for s in range(4)]
    return Swapped(COUNTS, 0.6), told


KINDS = ["published or nothing", "dense table", "sparse table", "cells", "geometric", "swapped"]


@pytest.mark.parametrize("kind", KINDS)
def test_operators_are_their_tables(kind: str) -> None:
    likelihood, told = written_out(kind)
    table = np.array(told)
    assert likelihood.shape == table.shape
    np.testing.assert_allclose(likelihood.dense(), table, atol=1e-15)
    weights, prior = RNG.random((3, len(table))), RNG.random(4)
    np.testing.assert_allclose(likelihood.backward(weights), weights @ table, rtol=1e-12)
    np.testing.assert_allclose(likelihood.forward(prior), table @ prior, rtol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_bayes_is_bayes_rule(kind: str) -> None:
    likelihood, told = written_out(kind)
    prior = np.array([0.1, 0.2, 0.3, 0.4])
    joint = np.array(told) * prior
    posterior = joint / joint.sum(axis=1, keepdims=True)
    channel = Bayes(likelihood, prior)
    np.testing.assert_allclose(channel.dense(), posterior, rtol=1e-12, atol=1e-15)
    link = RNG.dirichlet(np.ones(len(told)), size=6)
    mixed = np.concatenate([block for _, block in channel.blocks(csr_array(link))])
    np.testing.assert_allclose(mixed, link @ posterior, rtol=1e-12)


def test_a_symbol_that_the_prior_rules_out_is_read_without_it() -> None:
    channel = Bayes(PublishedOrNothing(3), np.array([0.5, 0.5, 0.0]))
    np.testing.assert_allclose(channel.mix(np.array([[0.25, 0.0, 0.75, 0.0]])), [[0.25, 0.0, 0.75]])


def test_a_symbol_that_no_value_is_shown_as_has_no_posterior() -> None:
    channel = Bayes(Table(np.array([[1.0, 0.0, 0.0], [0.5, 0.5, 0.0]])), np.array([1.0, 0.0]))
    np.testing.assert_allclose(channel.dense(), [[1, 0], [0, 1], [0, 0]])


def test_cells_leave_exact_zeros() -> None:
    likelihood = Cells(np.array([0, 2, 4]), np.array([2, 4, 6]), 6)
    found = likelihood.backward(np.array([[0.1, 0.0, 0.7]]))
    assert found[0, 2] == found[0, 3] == 0.0


def test_stated_mixes_dense_and_sparse_alike() -> None:
    table, link = RNG.dirichlet(np.ones(4), size=3), RNG.dirichlet(np.ones(3), size=5)
    for stated in (Stated(table), Stated(csr_array(table))):
        np.testing.assert_allclose(stated.mix(link), link @ table, rtol=1e-12)
