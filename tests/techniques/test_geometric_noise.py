"""Geometric noise: its distribution from both sources, the guarantee of differential privacy, and the posterior."""

from __future__ import annotations

import sys
from fractions import Fraction
from math import exp, inf, log, nan

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from equivoc.data.microdata import Microdata
from equivoc.errors import InputError
from equivoc.techniques.geometric_noise import GeometricNoise, with_noise
from equivoc.techniques.noisy_table import NoisyTable
from tests.techniques.calibration import p_value
from tests.techniques.enumeration import assert_posteriors_by_enumeration

SOURCES = {"simulated": 3, "OpenDP": None}


def p_of(noise: np.ndarray, scale: float) -> float:
    """Chi-square against SciPy's discrete Laplace, P(k) = tanh(a/2) · exp(−a·|k|) with a = 1/scale, tails pooled."""
    reach = int(3 * scale)
    ks = np.arange(-reach, reach + 1)
    law = stats.dlaplace(1 / scale)
    expected = np.concatenate([[law.cdf(-reach - 1)], law.pmf(ks), [law.sf(reach)]]) * len(noise)
    place = np.clip(noise, -reach - 1, reach + 1) + reach + 1
    return float(stats.chisquare(np.bincount(place, minlength=2 * reach + 3), expected).pvalue)


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("scale", [0.8, 4.0])
def test_the_noise_follows_its_law_and_no_other(source, scale):
    if source == "OpenDP":
        pytest.importorskip("opendp")
    noise = with_noise(np.full(30_000, 17), scale=scale, rng=SOURCES[source]) - 17
    # OpenDP cannot be seeded: a threshold that a right one misses once in a million runs.
    assert p_of(noise, scale) > (1e-6 if source == "OpenDP" else 0.01)
    assert p_of(noise, 1.15 * scale) < 1e-6
    assert p_of(noise, scale / 1.15) < 1e-6


def test_without_opendp_nothing_is_drawn_that_might_be_published(monkeypatch, people):
    monkeypatch.setitem(sys.modules, "opendp.prelude", None)
    for technique in (GeometricNoise(epsilon=1), NoisyTable(epsilon=1)):
        with pytest.raises(InputError, match=r"pip install equivoc\[dp\]"):
            technique.release(people)
        technique.release(people, 0)


def test_a_budget_is_promised_for_a_stated_domain_only():
    frame = pa.table({"sex": list("FFM"), "pay": [10, 20, 40]})
    bare = Microdata(frame, confidential="pay", keys=["sex"])
    stated = Microdata(frame, confidential="pay", keys=["sex"], domain=range(0, 60, 10))
    keyless = Microdata(frame, confidential="pay", domain=range(0, 60, 10))
    public = NoisyTable(1, levels="public")
    promised = [(GeometricNoise(1), stated, 1), (public, stated, 2), (NoisyTable(1), keyless, 2)]
    for technique, people, of_a_value in promised:
        release = technique.release(people, 0)
        assert (release.privacy_budget, release.value_budget, release.notes([])) == (1, of_a_value, [])
    for technique, people in [(GeometricNoise(1), bare), (public, bare), (NoisyTable(1), stated)]:
        release = technique.release(people, 0)
        assert (release.privacy_budget, release.value_budget) == (None, None)
        assert "No differential privacy is promised" in release.notes([])[0]
    with pytest.raises(InputError, match="levels is 'mine'; it must be one of data, public"):
        NoisyTable(1, levels="mine")


def test_releases_that_may_be_published_are_never_the_same(people):
    pytest.importorskip("opendp")
    technique = GeometricNoise(epsilon=1)
    tables = [technique.release(people).table["pay"].to_pylist() for _ in range(2)]
    assert tables[0] != tables[1]
    assert set(tables[0]) <= set(people.values)


def told(size: int, epsilon: float) -> np.ndarray:
    """P(true rank | released rank), released ranks in rows, as a release has it."""
    people = Microdata(pa.table({"pay": np.arange(size)}), confidential="pay")
    return GeometricNoise(epsilon).release(people, 0).confidential.channel.dense()


def test_posteriors_by_hand():
    """α = ½ and 4 values: noise k has probability ⅓·2^−|k|, and values beyond an end are set to that end."""
    third = Fraction(1, 3)
    first = [2 * third, third / 2, third / 4, third / 4]
    second = [third, third, third / 2, third / 2]
    expected = np.array([first, second, second[::-1], first[::-1]], dtype=float)
    np.testing.assert_allclose(told(4, 3 * log(2)), (expected / expected.sum(axis=0)).T, rtol=1e-12)


@given(size=st.integers(2, 40), epsilon=st.floats(1e-6, 50))
def test_no_two_values_are_further_apart_than_the_definition_allows(size, epsilon):
    believed = told(size, epsilon)
    np.testing.assert_allclose(believed.sum(axis=1), 1, rtol=1e-12)
    odds = believed.max(axis=1) / believed.min(axis=1)
    assert (odds <= exp(epsilon) * (1 + 1e-9)).all()
    # The two ends of the domain use the budget up.
    assert odds[0] == pytest.approx(exp(epsilon), rel=1e-9)


@pytest.mark.parametrize("known", [[], ["sex"]], ids="+".join)
def test_every_original_that_gives_the_release(known):
    people = Microdata(
        pa.table({"sex": ["F", "M", "M"], "pay": [10, 20, 40]}),
        confidential="pay",
        keys=["sex"],
        domain=[10, 20, 40, 90],
    )
    law = stats.dlaplace(2 / 3)
    places = [10, 20, 40, 90]

    def likelihood(column, true, shown):
        if column == "sex":
            return float(true == shown)
        away = places.index(shown) - places.index(true)
        if shown == 10:
            return law.cdf(away)
        return law.sf(away - 1) if shown == 90 else law.pmf(away)

    assert_posteriors_by_enumeration(GeometricNoise(epsilon=2).release(people, 1), likelihood, known)


def test_beliefs_are_calibrated_and_only_with_the_right_budget():
    right = GeometricNoise(epsilon=8)
    assert p_value(right, files=150) > 0.01
    assert p_value(right, believed=GeometricNoise(epsilon=10), files=150) < 1e-6
    assert p_value(right, believed=GeometricNoise(epsilon=6), files=150) < 1e-6


@pytest.mark.parametrize("kind", [GeometricNoise, NoisyTable])
@pytest.mark.parametrize("epsilon", [0, -1, nan, inf, True])
def test_invalid_budgets(kind, epsilon):
    with pytest.raises(
        InputError, match=f"{kind.name}: epsilon is {epsilon}; it must be a finite number above 0"
    ):
        kind(epsilon=epsilon)


def test_a_domain_of_one_value():
    people = Microdata(pa.table({"pay": [7, 7]}), confidential="pay")
    assert GeometricNoise(epsilon=1).release(people, 0).posteriors(
        [], intruder="paper"
    ).probabilities.tolist() == [[1.0]]
