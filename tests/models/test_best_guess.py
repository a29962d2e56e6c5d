"""The chance of one guess and its logarithms, against plain loops over people and the papers' own examples."""

from __future__ import annotations

from math import log2
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import equivoc as eq
from equivoc.data.microdata import Microdata
from equivoc.intruder import posteriors as mixing
from equivoc.models import bayes_vulnerability, conditional_min_entropy, min_entropy, min_entropy_leakage
from tests.models.released import KEYS
from tests.models.tables import Rows, grouped, microdata, tables

RELEASES = [
    eq.Unprotected(),
    eq.Sampling(fraction=0.4),
    eq.NoiseAddition(percent=60),
    eq.QueryRestriction(size=2),
    eq.NoisyTable(epsilon=1),
]


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("technique", RELEASES, ids=lambda t: t.name)
def test_person_by_person(
    people: Microdata, technique: Any, sparse: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if sparse:
        monkeypatch.setattr(mixing, "DENSE_UP_TO", 0)
    post = technique.release(people, 2).posteriors(KEYS)
    matrix = post.probabilities.toarray() if sparse else post.probabilities
    largest = [max(row) for row in matrix.tolist()]
    assert min_entropy(post) == pytest.approx([-log2(p) for p in largest], abs=1e-12)
    chance = sum(largest[c] for c in post.classes.of_record) / len(people)
    assert bayes_vulnerability(post) == pytest.approx(chance)
    assert conditional_min_entropy(post) == pytest.approx(-log2(chance))
    assert (min_entropy(post) <= post.shannon() + 1e-12).all()


@given(tables())
def test_of_a_file_the_vulnerability_is_the_share_of_right_guesses(rows: Rows) -> None:
    """An intruder who names each class's most frequent value is right as often as she expects."""
    right = sum(max(values.count(v) for v in values) for values in grouped(rows).values())
    everyone = [row[-1] for row in rows]
    before = max(everyone.count(v) for v in everyone)
    post = eq.Unprotected().release(microdata(rows)).posteriors()
    assert bayes_vulnerability(post) == pytest.approx(right / len(rows))
    assert min_entropy_leakage(post) == pytest.approx(log2(right / before), abs=1e-12)
    assert min_entropy_leakage(post) >= -1e-12


def program(outputs: list[int], bits: int) -> Any:
    """A program that gives an output for each of 2^bits equally likely secrets: who sees the output knows a key."""
    frame = pd.DataFrame({"output": outputs, "secret": range(2**bits)})
    people = Microdata(frame, confidential="secret", keys=["output"])
    return eq.Unprotected().release(people).posteriors()


def test_smiths_two_programs() -> None:
    """Smith (2009), section 3: two programs with the same Shannon leakage, k = 1 (secrets of 8 bits).

    ``if H mod 8 = 0 then O = H else O = 1`` has 2^(8k−3) + 1 outputs, and leaks log2 of that at one try (theorem 1);
    ``O = H & 0…01…1`` with k + 1 ones leaks k + 1 bits.
    """
    one = program([h if h % 8 == 0 else 1 for h in range(256)], 8)
    assert bayes_vulnerability(one) == pytest.approx(33 / 256)
    assert min_entropy_leakage(one) == pytest.approx(log2(33))
    two = program([h & 0b11 for h in range(256)], 8)
    assert min_entropy_leakage(two) == pytest.approx(2)
    assert conditional_min_entropy(two) == pytest.approx(6)


def test_the_mean_of_the_logarithms_is_no_less_than_the_logarithm_of_the_mean(people: Microdata) -> None:
    post = eq.Unprotected().release(people).posteriors(KEYS)
    mean = float(np.average(min_entropy(post), weights=post.sizes))
    assert mean > conditional_min_entropy(post) + 0.05


def test_priors() -> None:
    frame = pd.DataFrame({"sex": list("FFMM"), "pay": [50, 107, 77, 77]})
    people = Microdata(frame, confidential="pay", keys=["sex"])
    post = eq.Unprotected().release(people).posteriors()
    assert min_entropy_leakage(post, prior="uniform") == pytest.approx(log2(0.75 * 3))
    assert min_entropy_leakage(post, prior=[0.75, 0.25, 0]) == pytest.approx(0)
    assert min_entropy_leakage(post, prior=[0.9, 0.1, 0]) < 0


@pytest.mark.parametrize(
    ("prior", "sentence"),
    [
        ("flat", "prior is 'flat'; it must be 'marginal', 'uniform' or one probability"),
        ([0.5, 0.5], r"prior has shape \(2,\); give one probability for each of the 3 values"),
        ([0.5, 0.5, 0.5], "prior sums to 1.5; give probabilities"),
        ([1.5, -0.5, 0], "prior sums to 1; give probabilities, at least 0"),
        (["a", "b", "c"], "prior must be 'marginal'"),
    ],
)
def test_bad_priors(prior: Any, sentence: str) -> None:
    frame = pd.DataFrame({"sex": list("FFMM"), "pay": [50, 107, 77, 77]})
    post = eq.Unprotected().release(Microdata(frame, confidential="pay", keys=["sex"])).posteriors()
    with pytest.raises(eq.InputError, match=sentence):
        min_entropy_leakage(post, prior=prior)


@pytest.mark.parametrize("measure", [min_entropy, bayes_vulnerability, conditional_min_entropy])
def test_people_are_no_posteriors(people: Microdata, measure: Any) -> None:
    with pytest.raises(eq.InputError, match=r"posteriors is a Microdata; get them from a release"):
        measure(people)


@given(st.lists(st.sampled_from("ab"), min_size=1, max_size=20))
def test_categories(values: list[str]) -> None:
    people = Microdata(pd.DataFrame({"key": [1] * len(values), "v": values}), confidential="v", keys=["key"])
    most = max(values.count("a"), values.count("b")) / len(values)
    found = eq.measures(people).set_index("measure")["value"]
    assert found["Bayes vulnerability"] == pytest.approx(most)
    assert found["min-entropy leakage"] == pytest.approx(0, abs=1e-12)
