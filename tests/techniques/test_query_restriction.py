"""Query restriction: bounds against linear programs, beliefs against counting and enumeration."""

from __future__ import annotations

import random
from itertools import product

import numpy as np
import pyarrow as pa
import pytest
from scipy.optimize import linprog

from equivoc.data.microdata import Microdata
from equivoc.techniques.query_restriction import QueryRestriction

SUBSETS = [[], ["team"], ["team", "desk"]]


def small_file(n, domain, seed):
    draw = random.Random(seed)
    return [
        {"team": draw.choice(["a", "b", None]), "desk": draw.choice([1, 2]), "pay": draw.choice(domain)}
        for _ in range(n)
    ]


def read(records, domain):
    table = pa.Table.from_pylist(records)
    return Microdata(table, confidential="pay", keys=["team", "desk"], domain=domain)


def queries(n, size):
    """Which places of the order each query sums."""
    half = size // 2
    return [range(i * half, (i + 2) * half) for i in range(2 * n // size - 1)]


def mean_rows(classes, row_of):
    return {
        key: [sum(column) / len(members) for column in zip(*(row_of[r] for r in members), strict=True)]
        for key, members in classes.items()
    }


@pytest.mark.parametrize("domain", [[10, 20, 30, 40, 50], [0.1, 0.2, 0.7], [-5, 0, 3]], ids=str)
@pytest.mark.parametrize(("n", "size"), [(9, 2), (11, 4), (13, 6), (8, 8), (11, 8)])
def test_bounds_are_those_of_the_linear_programs(n, size, domain):
    records = small_file(n, domain, seed=n * size)
    release = QueryRestriction(size=size).release(read(records, domain), 7)
    assert sorted(release.order.tolist()) == list(range(n))
    assert release.order.tolist() != list(range(n))
    assert release.bounds.shape == (n, 2)
    matrix = np.zeros((len(queries(n, size)), n))
    for query, places in enumerate(queries(n, size)):
        matrix[query, [release.order[place] for place in places]] = 1
    answers = matrix @ [record["pay"] for record in records]
    np.testing.assert_allclose(release.answers, answers, rtol=1e-12)
    for r, record in enumerate(records):
        for side, sign in enumerate((1, -1)):
            objective = np.zeros(n)
            objective[r] = sign
            solved = linprog(objective, A_eq=matrix, b_eq=answers, bounds=[(min(domain), max(domain))] * n)
            assert solved.status == 0
            assert release.bounds[r, side] == pytest.approx(sign * solved.fun, abs=1e-7)
        assert release.bounds[r, 0] <= record["pay"] <= release.bounds[r, 1]


@pytest.mark.parametrize("known", SUBSETS, ids=str)
@pytest.mark.parametrize("size", [2, 4, 6])
def test_values_between_the_bounds_are_equally_likely(beliefs, classes_of, assert_same, known, size):
    """Few earn much, so that even wide queries rule something out."""
    domain = [10, 20, 30, 40, 50]
    records = small_file(15, [10] * 6 + domain, seed=size)
    release = QueryRestriction(size=size).release(read(records, domain), 1)
    rows = []
    for low, high in release.bounds.tolist():
        inside = [low <= value <= high for value in domain]
        rows.append([value / sum(inside) for value in inside])
    assert len({tuple(row) for row in rows}) > 1
    assert_same(
        beliefs(release.posteriors(known, intruder="paper")), mean_rows(classes_of(records, known), rows)
    )


@pytest.mark.parametrize("domain", [[10, 20, 30, 40], [0.1, 0.2, 0.4]], ids=str)
@pytest.mark.parametrize(("n", "size"), [(6, 2), (5, 2), (6, 4), (5, 4), (6, 6)])
def test_exact_posterior_is_that_of_all_databases(beliefs, classes_of, assert_same, n, size, domain):
    """Every database that gives the same answers is as likely as any other."""
    records = small_file(n, domain, seed=10 * n + size)
    release = QueryRestriction(size=size, belief="bayes").release(read(records, domain), 5)
    place_of = np.argsort(release.order)
    tallies = [[0] * len(domain) for _ in range(n)]
    for database in product(range(len(domain)), repeat=n):  # in the queries' order
        sums = [sum(domain[database[place]] for place in places) for places in queries(n, size)]
        if sums == pytest.approx(release.answers.tolist(), abs=1e-9):
            for r in range(n):
                tallies[r][database[place_of[r]]] += 1
    rows = [[tally / sum(tallies[0]) for tally in of_record] for of_record in tallies]
    for known in SUBSETS:
        assert_same(
            beliefs(release.posteriors(known, intruder="paper")),
            mean_rows(classes_of(records, known), rows),
            rel=1e-9,
        )


def databases(release, domain, n, size, prior):
    """Every record's distribution: all databases with the same answers, weighted by their records' priors."""
    place_of = np.argsort(release.order)
    tallies = np.zeros((n, len(domain)))
    for database in product(range(len(domain)), repeat=n):  # in the queries' order
        sums = [sum(domain[database[place]] for place in places) for places in queries(n, size)]
        if sums == pytest.approx(release.answers.tolist(), abs=1e-9):
            weight = np.prod([prior[code] for code in database])
            for r in range(n):
                tallies[r, database[place_of[r]]] += weight
    return tallies / tallies.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("prior", [[0.4, 0.1, 0.2, 0.3], [0.6, 0.2, 0.2, 0.0]], ids=str)
@pytest.mark.parametrize(("n", "size"), [(6, 2), (5, 2), (6, 4), (5, 4), (6, 6)])
def test_the_informed_channel_is_the_exact_posterior_with_the_prior(n, size, prior):
    domain = [10, 20, 30, 40]
    records = small_file(n, domain[: np.count_nonzero(prior)], seed=7 * n + size)
    release = QueryRestriction(size=size).release(read(records, domain), 5)
    found = release.informed.with_prior(np.array(prior)).dense()[release.informed_group]
    expected = databases(release, domain, n, size, prior)
    np.testing.assert_allclose(found, expected, atol=1e-9)
    flat = release.informed.dense()[release.informed_group]
    assert np.abs(flat - expected).max() > 0.01 or (expected.max(axis=1) > 1 - 1e-9).all()


def test_answers_that_the_prior_rules_out_are_read_without_it():
    domain, prior = [10, 20, 30], np.array([0.5, 0.5, 0.0])
    records = small_file(6, [30], seed=1)
    release = QueryRestriction(size=4).release(read(records, domain), 0)
    np.testing.assert_allclose(
        release.informed.with_prior(prior).dense()[release.informed_group], [[0, 0, 1]] * 6
    )


def test_a_given_intruder_has_no_other_beside_it(people):
    release = QueryRestriction(size=4, belief="bayes").release(people, 0)
    assert (release.informed, release.informed_group, release.notes()) == (None, None, [])
    other = QueryRestriction(size=4).release(people, 0)
    np.testing.assert_array_equal(release.group, other.informed_group)
    np.testing.assert_array_equal(release.channel.dense(), other.informed.dense())


@pytest.mark.parametrize("values", [[0.0, 1.0, 2**0.5, 5.0], [0, 1, 2, 99_999_999]], ids=str)
def test_values_on_no_grid_or_too_fine_a_one_have_bounds_only(values):
    people = Microdata(pa.table({"pay": values * 3}), confidential="pay")
    release = QueryRestriction(size=4).release(people, 0)
    assert release.informed is None
    (note,) = release.notes()
    assert "The real risk is higher; round the values (round_to)" in note
    prior = np.array([0.7, 0.1, 0.1, 0.1])
    found = release.with_prior(prior).channel.dense()[release.group]
    inside = np.array([[low - 1e-6 <= v <= high + 1e-6 for v in values] for low, high in release.bounds])
    np.testing.assert_allclose(found, inside * prior / (inside * prior).sum(axis=1, keepdims=True))


@pytest.mark.parametrize("intruder", ["uniform", "bayes"])
def test_a_record_in_no_query_keeps_the_prior(intruder):
    """Seven records, blocks of two: the last of the order is in no query, and is in a class of its own."""
    records = [{"name": i, "pay": value} for i, value in enumerate([10, 20, 30, 40, 10, 20, 40])]
    domain = [10, 20, 30, 40]
    people = Microdata(pa.Table.from_pylist(records), confidential="pay", keys=["name"], domain=domain)
    for seed in range(5):
        release = QueryRestriction(size=4, belief=intruder).release(people, seed)
        last = release.order[-1]
        assert release.bounds[last].tolist() == [10, 40]
        assert release.posteriors(["name"], intruder="paper").probabilities[last].tolist() == [0.25] * 4


def test_pairs_at_the_ends_of_the_domain_disclose_everyone(beliefs):
    """10 + 10 can only be twice the least value; from there every neighbour follows."""
    records = [{"name": i, "pay": 10} for i in range(6)] + [{"name": 6, "pay": 50}]
    people = Microdata(pa.Table.from_pylist(records), confidential="pay", keys=["name"], domain=[10, 30, 50])
    for intruder in ("uniform", "bayes"):
        found = beliefs(
            QueryRestriction(size=2, belief=intruder)
            .release(people, 0)
            .posteriors(["name"], intruder="paper")
        )
        assert found == {(i,): [1.0, 0.0, 0.0] for i in range(6)} | {(6,): [0.0, 0.0, 1.0]}


def test_no_file_is_released(people):
    assert QueryRestriction(size=2).release(people, 0).table is None


def test_one_query_over_everyone_depends_on_no_order(people, beliefs, assert_same):
    """With as many records in a query as there are, the one answer is the total, whatever the order."""
    for intruder in ("uniform", "bayes"):
        technique = QueryRestriction(size=40, belief=intruder)
        first, second = technique.release(people, 1), technique.release(people, 2)
        assert first.order.tolist() != second.order.tolist()
        assert first.bounds.tolist() == second.bounds.tolist()
        assert_same(
            beliefs(first.posteriors(["sex"], intruder="paper")),
            beliefs(second.posteriors(["sex"], intruder="paper")),
        )
