"""The specification's reference figures on the shipped people: bits of surprise, with the key sets it names."""

import numpy as np
import pytest

from equivoc.channels.channel import channel
from equivoc.channels.rank_noise import amplitude, transition
from equivoc.datasets import people as shipped
from equivoc.intruder.truth import hold_against_truth
from equivoc.learning.learned import learn
from equivoc.linkage.coded_file import CodedFile
from equivoc.linkage.informed_linkage import informed_linkage
from equivoc.linkage.register import register_linkage
from equivoc.techniques.noise_addition import NoiseAddition
from equivoc.techniques.pram import PRAM
from equivoc.techniques.sampling import Sampling
from equivoc.techniques.swapping import Swapping

PEOPLE = shipped("cps_hourly_workers")
NAMES = list(PEOPLE.keys)
KEYS = np.stack([PEOPLE.key_codes(name) for name in NAMES], axis=1).astype(np.int64)
TRUE = PEOPLE.codes
PRIOR = np.bincount(TRUE, minlength=len(PEOPLE.values)) / len(TRUE)
THREE = [NAMES.index(name) for name in ("age", "sex", "education")]
ALL = list(range(len(NAMES)))


def classes_of(known):
    classes, which, sizes = np.unique(KEYS[:, known], axis=0, return_inverse=True, return_counts=True)
    return classes, which.ravel(), sizes


def surprise(posteriors, which):
    one = np.ones(len(TRUE))
    return hold_against_truth(posteriors[which, TRUE], PRIOR[TRUE], one, one).surprise


@pytest.fixture(scope="module")
def noisy():
    """The file with noise of 20 %: released keys and values, P(released | true) of both."""
    release = NoiseAddition(percent=20).release(PEOPLE, 0)
    tables = [release.keys[name].channel.T for name in NAMES]
    own = transition(len(PRIOR), amplitude(20, len(PRIOR)), edge="clip")
    codes = np.stack([release.keys[name].codes for name in NAMES], axis=1)
    return CodedFile(codes, tables, release.confidential.codes, own.shape[1]), channel(own, prior=PRIOR)


@pytest.mark.parametrize(("known", "expected"), [(THREE, 1.966), (ALL, 0.103)])
def test_unprotected(known, expected):
    _, which, sizes = classes_of(known)
    table = np.zeros((len(sizes), len(PRIOR)))
    np.add.at(table, (which, TRUE), 1.0)
    assert surprise(table / sizes[:, None], which) == pytest.approx(expected, abs=5e-4)


@pytest.mark.parametrize(("known", "expected"), [(THREE, 3.755), (ALL, 3.028)])
def test_noise_with_the_size_of_the_class_known(noisy, known, expected):
    file, values = noisy
    classes, which, sizes = classes_of(known)
    marginals = [np.bincount(KEYS[:, key]) / len(TRUE) for key in ALL]
    believed = [channel(table, prior=m).T for table, m in zip(file.evidence, marginals, strict=True)]
    informed = CodedFile(file.keys, believed, file.confidential, file.confidential_size)
    link = informed_linkage(classes, sizes, informed, known=known)
    assert link.exact
    assert surprise(link.linkage @ values, which) == pytest.approx(expected, abs=5e-4)


@pytest.mark.parametrize(("known", "expected"), [(THREE, 3.755), (ALL, 2.942)])
def test_noise_with_a_register(noisy, known, expected):
    file, values = noisy
    classes, which, sizes = classes_of(known)
    found = register_linkage(classes, sizes, file, known=known)
    assert found.settled
    assert surprise(found.linkage @ values, which) == pytest.approx(expected, abs=4e-3)


@pytest.mark.parametrize(("known", "informed", "at_most"), [(THREE, 3.444, 3.44), (ALL, 2.689, 2.65)])
def test_pram_of_the_value_informed_and_learned_by_a_chain(known, informed, at_most):
    release = PRAM(keep=0.5, on="confidential").release(PEOPLE, 0)
    symbols = np.asarray(release.confidential.codes, dtype=np.int64)
    likelihood = np.full((46, 46), 0.5 / 45) + np.eye(46) * (0.5 - 0.5 / 45)
    _, which, sizes = classes_of(known)
    member = np.zeros((len(sizes), len(TRUE)))
    member[which, np.arange(len(TRUE))] = 1.0
    alone = channel(likelihood, prior=PRIOR)[symbols]
    assert surprise(member @ alone / sizes[:, None], which) == pytest.approx(informed, abs=5e-4)
    found = learn(KEYS[:, known], symbols, likelihood, PRIOR, models=("chain",))
    assert surprise(found.averaged(member), which) < at_most


@pytest.mark.parametrize(
    ("technique", "three", "all_keys"),
    [
        (Sampling(fraction=0.5), 3.111, 2.031),
        (PRAM(keep=0.5, on="confidential"), 3.367, 2.591),
        (Swapping(rate=0.3), 2.927, 1.910),
    ],
)
def test_what_a_forest_learns(technique, three, all_keys):
    """Records with all keys, averaged over the classes; other draws differ by 0.02 to 0.04 bit."""
    release = technique.release(PEOPLE, 0)
    if isinstance(technique, Sampling):
        likelihood = np.vstack([np.eye(46), np.ones(46)])
        symbols = np.full(len(TRUE), 46)
        symbols[release.origins] = TRUE[release.origins]
    else:
        likelihood = release.confidential.channel.with_prior(PRIOR).dense() / PRIOR
        symbols = np.asarray(release.confidential.codes, dtype=np.int64)
    found = learn(KEYS, symbols, likelihood, PRIOR)
    assert found.settings.model == "forest"
    for known, expected in ((THREE, three), (ALL, all_keys)):
        _, which, sizes = classes_of(known)
        member = np.zeros((len(sizes), len(TRUE)))
        member[which, np.arange(len(TRUE))] = 1.0
        assert surprise(found.averaged(member), which) == pytest.approx(expected, abs=0.05)
