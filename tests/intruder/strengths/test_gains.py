"""What every intruder gains: nothing from noise, most from the file itself, the same however the file is written."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

import equivoc as eq
from equivoc.channels.channel import Bayes
from equivoc.channels.likelihood import Table
from equivoc.intruder.prior import marginal
from equivoc.intruder.strengths import INTRUDERS, PLAIN, against_truth
from equivoc.releases.linked_release import LinkedRelease

KEYS = ["age", "sex", "job"]
SUBSETS = [[], ["age"], ["age", "sex"], KEYS]
LEARNED_DIFFERS = 0.1
"""Bits, for so few people: who is in which fold depends on how the values are numbered."""


def columns(people=140):
    """Pay depends on age and job."""
    rng = np.random.default_rng(11)
    age, job = rng.integers(4, size=people), rng.integers(3, size=people)
    pay = np.clip(age + job + rng.integers(-1, 2, size=people), 0, 5)
    return {"age": age, "sex": rng.integers(2, size=people), "job": job, "pay": pay}


def microdata(table):
    return eq.Microdata(pa.table(table), confidential="pay", keys=KEYS, domain=range(6))


@pytest.fixture(scope="module")
def people():
    return microdata(columns())


TECHNIQUES = [
    eq.Sampling(fraction=0.5),
    eq.QueryRestriction(size=4),
    eq.PRAM(keep=0.5, on="confidential"),
    eq.PRAM(keep=0.8),
    eq.PRAM(keep=0.8, on="all"),
    eq.NoiseAddition(percent=50),
    eq.GeometricNoise(epsilon=4),
    eq.Rounding(base=2),
    eq.TopBottomCoding(high=3),
    eq.Swapping(rate=0.5),
    eq.Swapping(rate=0.3, on="all"),
    eq.Generalisation(k=5),
    eq.Suppression(k=5),
    eq.Microaggregation(size=3),
    eq.Microaggregation(size=3, on="keys"),
    eq.NoisyTable(epsilon=2),
]


def truth(release, known, intruder="strongest"):
    """Against the prior that everybody knows: the marginal."""
    return against_truth(release.posteriors(known, intruder=intruder), marginal(release.people))


def surprise_of_file(people, known):
    """The conditional entropy of pay given the keys, by adding up."""
    alike = {}
    for row in range(len(people)):
        alike.setdefault(tuple(people.key_codes(key)[row] for key in known), []).append(people.codes[row])
    bits = 0.0
    for values in alike.values():
        share = np.bincount(values) / len(values)
        bits -= len(values) * (share[share > 0] * np.log2(share[share > 0])).sum()
    return bits / len(people)


def test_the_file_itself_is_the_conditional_entropy_and_knowledge_never_lowers_the_gain(people):
    release, gains = eq.Unprotected().release(people), []
    for known in SUBSETS:
        found = truth(release, known)
        assert found.surprise == pytest.approx(surprise_of_file(people, known), abs=1e-9)
        gains.append(found.gain)
    assert gains == sorted(gains)
    assert gains[0] == pytest.approx(0, abs=1e-9)
    assert gains[-1] > 1


@pytest.mark.parametrize("technique", TECHNIQUES, ids=lambda t: t.notation)
def test_nothing_gains_more_than_the_file_itself(people, technique):
    """And the strongest intruder has the least surprise of all, up to a tie."""
    release = technique.release(people, 3)
    for known in (["age"], KEYS):
        most = truth(eq.Unprotected().release(people), known).gain
        left_out = release.left_out(release.people.classes(known))
        surprises = {name: truth(release, known, name).surprise for name in INTRUDERS if name not in left_out}
        assert surprises["strongest"] <= min(surprises.values()) + 0.015
        for found in surprises.values():
            assert truth(release, known, "informed").prior_surprise - found <= most + 1e-9
        assert surprises["strongest"] >= surprise_of_file(people, known) - 1e-9


@pytest.mark.parametrize("intruder", [name for name in INTRUDERS if name not in PLAIN])
@pytest.mark.parametrize(
    ("technique", "most"),
    [(eq.PRAM(keep=1 / 6, on="confidential"), 1e-9), (eq.GeometricNoise(epsilon=1e-9), 1e-8)],
    ids=["pram", "geometric"],
)
def test_a_release_that_says_nothing_leaves_the_prior(people, technique, most, intruder):
    release = technique.release(people, 1)
    for known in ([], KEYS):
        assert truth(release, known, intruder).gain <= most
        post = release.posteriors(known, intruder=intruder)
        expected = np.full(6, 1 / 6) if intruder == "paper" else marginal(people)
        np.testing.assert_allclose(post.probabilities, np.tile(expected, (len(post), 1)), atol=1e-6)


@pytest.mark.parametrize("intruder", PLAIN)
def test_who_does_not_know_that_a_release_says_nothing_is_not_trusted(people, intruder):
    """She believes the values that she sees, and is wrong: what she gains is what a few people's luck explains."""
    release = eq.PRAM(keep=1 / 6, on="confidential").release(people, 1)
    for known in ([], KEYS):
        found = truth(release, known, intruder)
        assert found.gain <= 0.02
        assert found.trust <= 0.2


@pytest.mark.parametrize("intruder", ["informed", "register", "strongest"])
def test_keys_that_say_nothing_leave_the_prior(people, intruder):
    """All keys pure noise: every record is as likely anybody's, so she is left with the file's own distribution."""
    release = eq.PRAM(
        {"age": np.full((4, 4), 0.25), "sex": np.full((2, 2), 0.5), "job": np.full((3, 3), 1 / 3)}
    ).release(people, 1)
    assert truth(release, KEYS, intruder).gain <= 1e-9


def test_a_sample_of_one_tells_only_of_her_class(people):
    release = eq.Sampling(fraction=1 / len(people)).release(people, 1)
    post = release.posteriors(KEYS, intruder="informed")
    hers = post.classes.of_record[release.drawn[0]]
    others = np.delete(post.probabilities, hers, axis=0)
    np.testing.assert_allclose(others, np.tile(marginal(people), (len(others), 1)), rtol=1e-12)
    assert post.probabilities[hers, people.codes[release.drawn[0]]] > 1 / post.sizes[hers]
    assert 0 < truth(release, KEYS, "informed").gain < 0.05


CHANGED = [
    eq.PRAM(keep=0.6, on="confidential"),
    eq.PRAM(keep=0.7, on="all"),
    eq.Suppression(k=5),
    eq.NoiseAddition(percent=50),
]


def assert_same(one, other, known, *, learned=1e-9):
    """The same surprise for every intruder, of these classes in any order."""
    for intruder in INTRUDERS:
        apart = truth(one, known, intruder).surprise - truth(other, known, intruder).surprise
        assert abs(apart) <= (learned if intruder in ("learned", "strongest") else 1e-9), intruder


def rewritten(release, table, *, rows=None, mirror=False):
    """The same release of the same people, with other rows, or with values from the other end."""
    people = microdata(table)
    rows = np.arange(len(people)) if rows is None else rows
    keys = {name: replace(c, codes=c.codes[rows]) for name, c in release.keys.items()}
    own = replace(release.confidential, codes=release.confidential.codes[rows])
    if mirror:
        own = replace(own, codes=5 - own.codes)
        if own.channel is not None:
            shown = own.channel.likelihood.dense()
            own = replace(
                own, channel=Bayes(Table(np.ascontiguousarray(shown[::-1, ::-1].T)), np.full(6, 1 / 6))
            )
    return LinkedRelease(people, keys, own)


@pytest.mark.parametrize("technique", CHANGED, ids=lambda t: t.notation)
def test_the_order_of_rows_and_the_direction_of_the_axis_change_nothing(people, technique):
    release, table = technique.release(people, 5), columns()
    order = np.random.default_rng(0).permutation(len(people))
    permuted = rewritten(release, {name: c[order] for name, c in table.items()}, rows=order)
    mirrored = rewritten(release, {**table, "pay": 5 - table["pay"]}, mirror=True)
    for known in (["age"], KEYS):
        assert_same(release, permuted, known)
        assert_same(release, mirrored, known, learned=LEARNED_DIFFERS)


@pytest.mark.parametrize(
    "technique",
    [eq.PRAM(keep=0.6, on="confidential"), eq.Swapping(rate=0.5), eq.Suppression(k=5)],
    ids=lambda t: t.notation,
)
def test_names_of_categories_change_nothing(technique):
    table = columns()
    names, others = np.array(list("abcdef")), np.array(["ant", "bee", "cow", "dog", "eel", "fox"])
    one, other = (
        technique.release(
            eq.Microdata(
                pa.table({**table, "pay": written[table["pay"]]}),
                confidential=eq.Categories("pay"),
                keys=KEYS,
            ),
            2,
        )
        for written in (names, others)
    )
    for known in (["age"], KEYS):
        assert_same(one, other, known)
