"""ε in bits and hit rates against direct sums, and the worst case against brute force."""

from __future__ import annotations

import json
from itertools import product
from math import exp, inf, log2, nan

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import equivoc as eq
from equivoc.assessment.budget import least_entropy, most_hit

EPSILONS = [0.2, 2.0, 20.0]


def some(n: int = 60) -> eq.Microdata:
    rng = np.random.default_rng(1)
    table = pa.table({"sex": rng.choice(["F", "M"], n), "pay": 10 * rng.integers(1, 6, n) ** 2})
    return eq.Microdata(table, confidential="pay", keys=["sex"])


def test_figures_are_averages_over_people():
    people = some()
    found = eq.budget(people, known=["sex"], budgets=EPSILONS, eps=0, seed=4).frame
    assert found["epsilon"].tolist() == EPSILONS
    table = people.frame
    for row in found.itertuples():
        alpha = exp(-row.epsilon / 4)
        ranks = np.arange(5)
        chance = np.array([[_landing(j - i, j, alpha) for j in ranks] for i in ranks])
        shown = eq.GeometricNoise(row.epsilon).release(people, 4).table["pay"].to_numpy()
        h0 = hit = true = 0.0
        for sex in ("F", "M"):
            members = np.array(table["sex"]) == sex
            behind = chance[:, np.searchsorted(people.values, shown[members])]
            belief = (behind / behind.sum(axis=0)).mean(axis=1)
            h0 += members.mean() * stats.entropy(belief, base=2)
            hit += members.mean() * belief.max()
            best = people.values[belief.argmax()]
            true += np.mean(members & (np.array(table["pay"]) == best))
        assert (row.h0, row.hit, row.true_hit) == pytest.approx((h0, hit, true), abs=1e-12)


def _landing(move: int, at: int, alpha: float) -> float:
    """Two-sided geometric noise, the mass beyond an end at the end: summed term by term."""
    beyond = range(-400, 1) if at == 0 else range(401) if at == 4 else (0,)
    return sum((1 - alpha) / (1 + alpha) * alpha ** abs(move + k) for k in beyond)


def test_from_the_prior_to_the_file_as_it_is():
    people = some()
    found = eq.budget(people, known=["sex"], budgets=[1e-9, 1e5])
    least, most = found.frame.iloc[0], found.frame.iloc[1]
    for name in ("h0", "area", "hit"):
        assert least[name] == pytest.approx(found.prior[name], rel=1e-6)
        assert most[name] == pytest.approx(found.unprotected[name], rel=1e-9)
    assert found.prior["h0"] == pytest.approx(log2(5))
    bare = eq.assess(people, eq.Unprotected(), known=["sex"], eps=[found.eps]).summary["per_record"]
    assert found.unprotected["hit"] == bare["hit"][found.eps]["mean"]


def test_defaults_reach_from_one_baseline_to_the_other():
    found = eq.budget(some(), known=["sex"])
    assert found.eps == 20  # the round number below a tenth of 10 … 250
    span = found.prior["h0"] - found.unprotected["h0"]
    assert found.prior["h0"] - found.frame["h0"].iloc[0] < 0.02 * span
    assert found.frame["h0"].iloc[-1] - found.unprotected["h0"] < 0.02 * span
    assert found.frame["epsilon"].is_monotonic_increasing


@settings(max_examples=30, deadline=None)
@given(
    pays=st.lists(st.integers(1, 30), min_size=2, max_size=12).filter(lambda p: len(set(p)) > 1),
    epsilon=st.floats(0.01, 30),
    eps=st.integers(0, 30),
    seed=st.integers(0, 5),
)
def test_no_release_is_worse_than_the_worst_case(pays, epsilon, eps, seed):
    people = eq.Microdata(pa.table({"pay": pays}), confidential="pay")
    row = eq.budget(people, budgets=[epsilon], eps=eps, seed=seed).frame.iloc[0]
    assert row["h0"] >= row["h0_least"] - 1e-9
    assert row["hit"] <= row["hit_most"] + 1e-9


@pytest.mark.parametrize("epsilon", [0.0, 0.3, 1.0, 3.0, 8.0])
def test_the_worst_case_by_brute_force(epsilon):
    """Every corner: each of five values either likely or e^ε times less so; and points between, which are no worse."""
    corners = np.array(list(product([1.0, exp(-epsilon)], repeat=5)))
    beliefs = corners / corners.sum(axis=1, keepdims=True)
    assert least_entropy(5, epsilon) == pytest.approx(stats.entropy(beliefs, axis=1, base=2).min(), rel=1e-12)
    for inside in (1, 2, 3):
        assert most_hit(5, epsilon, inside=inside) == pytest.approx(
            np.sort(beliefs, axis=1)[:, -inside:].sum(axis=1).max()
        )
    between = np.random.default_rng(0).uniform(exp(-epsilon), 1, size=(2000, 5))
    between /= between.sum(axis=1, keepdims=True)
    assert stats.entropy(between, axis=1, base=2).min() >= least_entropy(5, epsilon) - 1e-12
    assert between.max() <= most_hit(5, epsilon) + 1e-12


def test_a_single_peak_is_not_always_the_worst_for_entropy():
    peak = np.array([exp(0.5), *np.ones(24)])
    assert least_entropy(25, 0.5) < stats.entropy(peak / peak.sum(), base=2) - 0.01
    peak = np.array([exp(30), *np.ones(24)])
    assert least_entropy(25, 30) == pytest.approx(stats.entropy(peak / peak.sum(), base=2), rel=1e-6)


def test_the_picture_holds_every_figure_and_both_baselines():
    found = eq.budget(some(), known=["sex"], budgets=EPSILONS, eps=0)
    drawn = json.dumps(found.plot().to_dict())
    for row in found.frame.to_dict("records"):
        assert all(repr(float(figure)) in drawn for name, figure in row.items() if name != "area")
    for baseline in (found.prior, found.unprotected):
        assert repr(baseline["h0"]) in drawn
        assert repr(baseline["hit"]) in drawn
    assert '"type": "log"' in drawn
    assert "exact" in drawn


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"budgets": [1, 0]}, "epsilon is 0.0; it must be a finite number above 0"),
        ({"budgets": [inf]}, "epsilon is inf"),
        ({"budgets": nan}, "epsilon is nan"),
        ({"budgets": []}, "at least one number above 0"),
        ({"budgets": ["much"]}, "give a list of numbers above 0"),
        ({"eps": -1}, "eps"),
        ({"known": ["sexx"]}, "'sexx' is not a key"),
    ],
)
def test_bad_input(parameters, message):
    with pytest.raises(eq.InputError, match=message):
        eq.budget(some(), **parameters)


def test_one_value_needs_no_protection():
    with pytest.raises(eq.InputError, match="'pay' has one value only"):
        eq.budget(eq.Microdata(pa.table({"pay": [3, 3]}), confidential="pay"))
