"""Posteriors compared with true values: reference figures on the shipped people, and properties for any people."""

from __future__ import annotations

import itertools
from math import log2

import numpy as np
import pandas as pd
import pytest

import equivoc as eq

THREE = ["age", "sex", "education"]


@pytest.fixture(scope="module")
def shipped() -> eq.Microdata:
    return eq.datasets.people("cps_hourly_workers")


@pytest.mark.parametrize(
    ("technique", "three", "six", "slack"),
    [
        (eq.Unprotected(), 1.966, 0.103, 5e-4),
        (eq.Swapping(rate=0.3), 3.005, 2.016, 0.04),
        (eq.Generalisation(k=5), 3.602, 2.215, 0.02),
    ],
)
def test_reference_figures(
    shipped: eq.Microdata, technique: eq.Unprotected, three: float, six: float, slack: float
) -> None:
    for known, expected in ((THREE, three), (None, six)):
        truth = eq.assess(shipped, technique, known=known, seed=0, intruder="informed").summary["truth"]
        assert truth["surprise"][0.0] == pytest.approx(expected, abs=slack)
        assert truth["prior_surprise"][0.0] == pytest.approx(4.104, abs=5e-4)


@pytest.mark.parametrize(
    ("technique", "three", "six"),
    [
        (eq.Sampling(fraction=0.1), 3.930, 3.720),
        (eq.Sampling(fraction=0.5), 3.149, 2.137),
        (eq.PRAM(keep=0.5, on="confidential"), 3.444, 2.689),
    ],
)
def test_reference_figures_of_an_intruder_who_knows_the_public_distribution(
    shipped: eq.Microdata, technique: eq.Sampling, three: float, six: float
) -> None:
    for known, expected in ((THREE, three), (None, six)):
        result = eq.assess(shipped, technique, known=known, seed=0, intruder="informed")
        assert result.summary["truth"]["surprise"][0.0] == pytest.approx(expected, abs=0.04)
        assert result.summary["prior"]["h0"] == pytest.approx(4.104, abs=5e-4)


@pytest.mark.parametrize(
    "technique",
    [
        eq.NoiseAddition(percent=20),
        eq.GeometricNoise(epsilon=5),
        eq.Rounding(base=500),
        eq.QueryRestriction(size=8),
    ],
)
def test_the_prior_goes_through_the_channel(shipped: eq.Microdata, technique: eq.Rounding) -> None:
    """An intruder whose prior is the public distribution has less surprise than one with a uniform prior."""
    informed, plain = (
        eq.assess(shipped, technique, known=THREE, seed=0, prior=prior).truth
        for prior in ("marginal", "uniform")
    )
    assert informed.overall.surprise < plain.overall.surprise
    assert informed.overall.gain > 0


def test_a_calibrated_posterior_surprises_by_its_entropy_and_a_wrong_parameter_does_not() -> None:
    """PRAM on values drawn from the prior: T(0) = mean H0; read with the wrong keep, T(0) is larger."""
    rng = np.random.default_rng(11)
    chances = np.array([0.4, 0.3, 0.2, 0.1])
    gaps, wrong = [], []
    for seed in range(20):
        frame = pd.DataFrame({"pay": np.append(rng.choice(4, size=3_000, p=chances), np.arange(4))})
        people = eq.Microdata(frame, confidential="pay")
        release = eq.PRAM(keep=0.5, on="confidential").release(people, seed).with_prior(chances)
        codes, channel = release.confidential.codes, release.confidential.channel
        told = channel.dense()[codes, people.codes]
        entropy = -(channel.dense() * np.log2(channel.dense())).sum(axis=1)[codes]
        gaps.append(float(np.mean(-np.log2(told)) - entropy.mean()))
        other = eq.PRAM(keep=0.8, on="confidential").release(people, seed).with_prior(chances)
        misread = other.confidential.channel.dense()[codes, people.codes]
        wrong.append(float(np.mean(-np.log2(misread)) - entropy.mean()))
    error = np.std(gaps, ddof=1) / np.sqrt(len(gaps))
    assert abs(np.mean(gaps)) < 3 * error
    assert np.mean(wrong) > 10 * error


def by_hand(frame: pd.DataFrame, known: list[str], eps: float) -> float:
    """T(ε) of the file published unchanged, from the windows of each class's own curve."""
    total = 0.0
    for _, group in frame.groupby(known):
        shares = group["pay"].value_counts(normalize=True).sort_index()
        windows = eq.curve(shares.index.to_numpy(float), shares.to_numpy()).windows(eps)
        for pay in group["pay"]:
            total -= log2(next(w.probability for w in windows if w.low <= pay <= w.high))
    return total / len(frame)


@pytest.mark.parametrize("seed", range(4))
def test_the_file_itself_surprises_by_its_entropy(seed: int) -> None:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"town": rng.choice(list("abc"), 60), "pay": rng.integers(0, 30, 60)})
    people = eq.Microdata(frame, confidential="pay", keys=["town"])
    result = eq.assess(people, eq.Unprotected(), eps=[0, 3, 10])
    truth = result.summary["truth"]
    for eps in (0.0, 3.0, 10.0):
        mean_h = float(np.average(result.posteriors.curves().at(eps), weights=result.posteriors.sizes))
        assert truth["surprise"][eps] == pytest.approx(mean_h, abs=1e-9)
        assert truth["surprise"][eps] == pytest.approx(by_hand(frame, ["town"], eps), abs=1e-9)
    assert truth["trust"] == 1.0
    assert truth["certain_wrong"] == 0


def test_a_release_without_information_has_no_gain() -> None:
    rng = np.random.default_rng(5)
    frame = pd.DataFrame({"town": rng.choice(list("ab"), 400), "pay": rng.integers(0, 5, 400)})
    people = eq.Microdata(frame, confidential="pay", keys=["town"])
    other = pd.DataFrame({"town": rng.choice(list("ab"), 400), "pay": rng.choice([0, 4], 400)})
    truth = eq.assess(people, eq.ReleasedFile(other)).summary["truth"]
    assert truth["trust"] < 0.1
    assert 0 <= truth["gain"] < 0.01
    bare = eq.assess(people, eq.Unprotected()).summary["truth"]
    assert bare["gain"] > truth["gain"]


def test_more_knowledge_never_lowers_the_gain_of_the_file_itself(shipped: eq.Microdata) -> None:
    gains = [
        eq.assess(shipped, eq.Unprotected(), known=list(shipped.keys[:n])).summary["truth"]["gain"]
        for n in range(len(shipped.keys) + 1)
    ]
    assert gains[0] == pytest.approx(0.0, abs=1e-12)
    assert all(later >= earlier - 1e-12 for earlier, later in itertools.pairwise(gains))


def test_mirrored_and_shuffled_people_have_the_same_figures() -> None:
    rng = np.random.default_rng(6)
    frame = pd.DataFrame({"town": rng.choice(list("abcd"), 80), "pay": rng.integers(0, 9, 80)})
    mirrored = frame.assign(pay=-frame["pay"])
    shuffled = frame.sample(frac=1, random_state=1)
    found = []
    for each in (frame, mirrored, shuffled):
        people = eq.Microdata(each, confidential="pay", keys=["town"])
        truth = eq.assess(people, eq.Unprotected(), eps=[0, 2, 5]).summary["truth"]
        found.append([*truth["surprise"].values(), *truth["true_hit"].values(), truth["gain"]])
    np.testing.assert_allclose(found[1], found[0], atol=1e-9)
    np.testing.assert_allclose(found[2], found[0], atol=1e-9)


def test_certain_and_wrong_is_counted_apart_from_certain_and_right() -> None:
    frame = pd.DataFrame({"town": list("aabb"), "pay": [1, 1, 2, 2]})
    people = eq.Microdata(frame, confidential="pay", keys=["town"])
    released = pd.DataFrame({"town": list("aabb"), "pay": [1, 1, 1, 1]})
    truth = eq.assess(people, eq.ReleasedFile(released)).summary["truth"]
    assert (truth["certain_right"], truth["certain_wrong"]) == (2, 2)
    assert truth["true_hit"][0.0] == 0.5


def test_records_have_their_own_surprise_and_trees_their_levels() -> None:
    frame = pd.DataFrame({"town": list("aaab"), "disease": ["flu", "flu", "ulcer", "asthma"]})
    tree = eq.Tree("disease", {"flu": "lungs", "asthma": "lungs", "ulcer": "stomach"})
    people = eq.Microdata(frame, confidential=tree, keys=["town"])
    records = eq.assess(people, eq.Unprotected()).records
    expected = [-log2(2 / 3), -log2(2 / 3), -log2(1 / 3), 0.0]
    np.testing.assert_allclose(records["surprise_0"], expected, atol=1e-12)
    np.testing.assert_allclose(records["surprise_1"], expected, atol=1e-12)
