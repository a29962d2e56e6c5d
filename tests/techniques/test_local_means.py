"""A value averaged together with keys, expected near its group's mean: against all files with the same release."""

from __future__ import annotations

from collections import defaultdict
from itertools import combinations_with_replacement
from math import factorial, prod

import numpy as np
import pandas as pd
import pytest

import equivoc as eq
from equivoc.datasets import people as shipped
from equivoc.intruder.prior import marginal
from equivoc.intruder.strengths import against_truth
from equivoc.techniques.inside.local_intruder import SumsNearMeans, group_distances, of_kinds
from equivoc.techniques.inside.near_sums import GroupMeans, Levels
from equivoc.techniques.microaggregation import mdav_groups

LEVELS = np.arange(3)
KINDS = [(key, value) for key in LEVELS for value in LEVELS]


def told_of(records, group):
    return [GroupMeans.of(Levels.of(LEVELS.astype(float)), records[:, a], group) for a in (0, 1)]


def test_close_to_the_exact_posterior_and_better_than_members_anywhere():
    """All multisets of six people, weighted by a skewed prior in which key and value go together: those with the same
    sums of pairs are what she cannot tell apart. Mean log score of a member's value, over every seventh release."""
    weight = {kind: np.exp(-0.5 * (kind[0] - kind[1]) ** 2 - 0.3 * sum(kind)) for kind in KINDS}
    whole = sum(weight.values())
    prior = np.array([sum(w for (_, v), w in weight.items() if v == value) for value in LEVELS]) / whole
    alike = defaultdict(list)
    for multiset in combinations_with_replacement(KINDS, 6):
        records = np.array(multiset)
        group = mdav_groups(records, 2)
        sums = [tuple(records[group == g].sum(axis=0).tolist()) for g in range(3)]
        up = sorted(range(3), key=lambda g: sums[g])
        orders = factorial(6) // prod(factorial(multiset.count(kind)) for kind in set(multiset))
        chance = orders * prod(weight[kind] / whole for kind in multiset)
        alike[tuple(sums[g] for g in up)].append((chance, records, np.argsort(up)[group]))
    assert sum(chance for originals in alike.values() for chance, *_ in originals) == pytest.approx(1)
    scores, mass = np.zeros(4), 0.0
    for originals in list(alike.values())[::7]:
        _, records, group = originals[0]
        columns = told_of(records, group)
        own = columns[1]
        near = SumsNearMeans(own, of_kinds(own, group_distances(columns, 3)), 2, prior=prior).dense()
        anywhere = SumsNearMeans(own, prior=prior).dense()
        exact = np.zeros((3, 3))
        for w, each, groups in originals:
            np.add.at(exact, (groups, each[:, 1]), w / 2)
        chance = exact.sum(axis=1, keepdims=True)
        beliefs = (exact / chance, near[own.kind], anywhere[own.kind], np.tile(prior, (3, 1)))
        for at, belief in enumerate(beliefs):
            scores[at] -= (exact * np.log2(0.98 * belief + 0.02 * prior)).sum() / 3
        mass += chance.sum() / 3
    exact, near, anywhere, nothing = scores / mass
    assert exact < near < exact + 0.15
    assert near < anywhere - 0.05
    assert anywhere < nothing - 0.5


@pytest.fixture(scope="module")
def coded():
    """The shipped people with every key as the number of its value."""
    people = shipped("cps_hourly_workers")
    columns = {key: people.key_codes(key).astype(int) for key in people.keys}
    columns["wage_per_hour"] = people.values[people.codes]
    return eq.Microdata(pd.DataFrame(columns), confidential="wage_per_hour", keys=list(people.keys))


def surprise(release, people, known):
    prior = marginal(people)
    return against_truth(release.believed(people.classes(known), prior, "informed"), prior).surprise


@pytest.mark.parametrize(
    ("on", "most"), [("all", 3.6), (("age", "wage_per_hour"), 0.75)], ids=["all", "age and wage"]
)
def test_the_shipped_people_are_far_better_known_than_by_sums_alone(coded, on, most):
    """3.79 and 3.42 bits for someone who expects members anywhere, of 4.10 without the release."""
    release = eq.Microaggregation(size=5, on=on).release(coded)
    known = list(coded.keys)
    informed = surprise(release, coded, known)
    assert informed < most
    plain = eq.ReleasedFile(release.table).release(coded)
    prior = marginal(coded)
    as_file = plain.choice(coded.classes(known), prior).used.truth.surprise
    assert informed < as_file + 0.05


def test_the_width_comes_from_the_prior_and_the_means_not_from_the_truth():
    """People with other values in the same groups, with the same sums: nothing that she believes changes."""
    rng = np.random.default_rng(6)
    levels, prior = Levels.of(np.arange(50.0)), rng.dirichlet(np.ones(50))
    group = np.repeat(np.arange(60), 4)
    tight = np.repeat(rng.integers(10, 40, 60), 4)
    wide = tight + np.tile([-9, -1, 1, 9], 60)
    distances = rng.uniform(0.1, 1, 60)
    found = []
    for codes in (tight, wide):
        told = GroupMeans.of(levels, codes, group)
        found.append(SumsNearMeans(told, of_kinds(told, distances), 2, prior=prior).dense())
    np.testing.assert_array_equal(*found)
