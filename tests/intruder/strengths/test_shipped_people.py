"""The intruders on real people: the specification's figures, and that the strongest one is."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

import equivoc as eq
from equivoc.datasets import people as shipped
from equivoc.intruder.prior import marginal
from equivoc.intruder.strengths import STRENGTHS, against_truth

ROOT = Path(__file__).resolve().parents[3]
THREE = ["age", "sex", "education"]
TIE = 0.015
WITHIN = 0.05
"""Bits: other draws differ by 0.02 to 0.04."""


@pytest.fixture(scope="module")
def people():
    return shipped("cps_hourly_workers")


def surprise(release, known, intruder):
    post = release.posteriors(known, intruder=intruder)
    return against_truth(post, marginal(release.people)).surprise


INFORMED = [
    (eq.Unprotected(), 1.966, 0.103),
    (eq.Sampling(fraction=0.1), 3.930, 3.720),
    (eq.Sampling(fraction=0.5), 3.149, 2.137),
    (eq.PRAM(keep=0.5, on="confidential"), 3.444, 2.689),
    (eq.Swapping(rate=0.3), 3.005, 2.016),
    (eq.Generalisation(k=5), 3.602, 2.215),
    (eq.Suppression(k=5), 3.866, 2.553),
    (eq.NoiseAddition(percent=20), 3.755, 3.028),
]


@pytest.mark.parametrize(("technique", "three", "every"), INFORMED, ids=lambda t: getattr(t, "notation", ""))
def test_figures_of_the_informed_intruder(people, technique, three, every):
    """Of the specification: bits with age, sex and education known, and with all six keys."""
    release = technique.release(people, 0)
    assert surprise(release, THREE, "informed") == pytest.approx(three, abs=WITHIN)
    assert surprise(release, None, "informed") == pytest.approx(every, abs=WITHIN)


OTHERS = [
    (eq.Sampling(fraction=0.5), "learned", 3.111, 2.031),
    (eq.PRAM(keep=0.5, on="confidential"), "learned", 3.367, 2.591),
    (eq.Swapping(rate=0.3), "learned", 2.927, 1.910),
    (eq.NoiseAddition(percent=20), "register", 3.755, 2.942),
]


@pytest.mark.parametrize(
    ("technique", "intruder", "three", "every"), OTHERS, ids=lambda t: getattr(t, "notation", "")
)
def test_figures_of_stronger_intruders(people, technique, intruder, three, every):
    release = technique.release(people, 0)
    assert surprise(release, THREE, intruder) == pytest.approx(three, abs=WITHIN)
    assert surprise(release, None, intruder) == pytest.approx(every, abs=WITHIN)


def test_the_prior(people):
    release = eq.Sampling(fraction=0.1).release(people, 0)
    found = against_truth(release.posteriors(THREE, intruder="informed"), marginal(people))
    assert found.prior_surprise == pytest.approx(4.104, abs=5e-4)


TECHNIQUES = [
    eq.Sampling(fraction=0.2),
    eq.QueryRestriction(size=4),
    eq.PRAM(keep=0.8),
    eq.Swapping(rate=0.3),
    eq.Generalisation(k=5),
    eq.Suppression(k=5),
    eq.Microaggregation(size=4),
]


def scored(post, people):
    """T(0) in other words: the least mean surprise over all shares of the prior that can be mixed in."""
    belief, prior = post.of_values(post.classes.of_record, people.codes), marginal(people)[people.codes]

    def mean(share):
        return -np.log2((1 - share) * belief + share * prior).mean()

    return min(mean(1.0), minimize_scalar(mean, bounds=(1e-9, 1), method="bounded").fun)


def assert_strongest(people, technique, known):
    release = technique.release(people, 0)
    classes = people.classes(known)
    choice = release.choice(classes, marginal(people))
    names = [each.intruder for each in choice.tried]
    assert set(names) | set(release.left_out(classes)) == set(STRENGTHS)
    found = [scored(each.posteriors, people) for each in choice.tried]
    for each, bits in zip(choice.tried, found, strict=True):
        assert each.truth.surprise == pytest.approx(bits, abs=1e-4)
    assert found[names.index(choice.used.intruder)] <= min(found) + TIE
    assert choice.used.truth.gain >= 0


@pytest.mark.parametrize("technique", TECHNIQUES, ids=lambda t: t.notation)
def test_the_strongest_has_the_least_surprise(people, technique):
    assert_strongest(people, technique, THREE)


@pytest.mark.parametrize("technique", TECHNIQUES, ids=lambda t: t.notation)
def test_the_strongest_of_census_files(technique):
    path = ROOT.parent / "shared" / "data" / "acs2011_us_sample_workers.csv"
    if not path.is_file():
        pytest.skip("acs2011_us_sample_workers.csv is not here")
    people = eq.Microdata(
        eq.datasets.read_pums(path), confidential="Salary", keys=["Age", "Sex", "Education", "Occupation"]
    )
    assert_strongest(people, technique, ["Age", "Sex", "Education"])
