"""Every exact method equals the enumeration of all databases."""

from __future__ import annotations

import numpy as np
import pytest

from equivoc.systems.posteriors.posteriors import atom_posteriors
from tests.queries.posteriors.random_systems import (
    Asked,
    answered,
    enumerated_posteriors,
    fitting,
    random_case,
)

CASES = 400


@pytest.mark.parametrize("methods", [None, ("enumeration",), ("dynamic programming",), ("convolution",)])
def test_equals_the_enumeration_of_all_databases(methods):
    rng = np.random.default_rng(11)
    exact = 0
    for case in range(CASES):
        system, asked, values, prior = random_case(rng, most=5 + (case % 8 == 0) * 2)
        found = atom_posteriors(system, prior=prior, **({} if methods is None else {"methods": methods}))
        expected = enumerated_posteriors(system, fitting(system, asked, values), prior)
        used = np.array([m != "bounds" for m in found.method])
        exact += used.sum()
        assert np.allclose(found.probabilities[used], expected[used], rtol=0, atol=1e-9), case
        # What cannot be is exactly 0.
        assert (found.probabilities[used][expected[used] == 0] == 0).all()
        assert (found.error[used] == 0).all()
        assert found.promised[used].all()
        if methods is None or methods == ("dynamic programming",):
            assert used.all()
        assert (found.probabilities[expected > 0] > 0).all()
    assert exact > CASES


def test_medians_and_variances_are_counted():
    rng = np.random.default_rng(31)
    counted = 0
    for case in range(CASES):
        system, asked, values, prior = random_case(
            rng, kinds=("sum", "sum", "max", "min", "median", "variance"), most=5 + (case % 8 == 0)
        )
        found = atom_posteriors(system, prior=prior)
        expected = enumerated_posteriors(system, fitting(system, asked, values), prior)
        counted += found.method.count("counting")
        assert np.allclose(found.probabilities, expected, rtol=0, atol=1e-9), case
        assert (found.probabilities[expected == 0] == 0).all()
        assert not found.notes
    assert counted > CASES


def test_a_median_over_too_many_people_is_left_out_and_said():
    values = np.random.default_rng(0).integers(0, 50, 200)
    asked = [Asked("variance", np.arange(180)), Asked("sum", np.arange(190, 193))]
    system = answered(asked, values, np.arange(50))
    found = atom_posteriors(system, prior=np.full(50, 1 / 50), work=1e6)
    assert found.notes == (
        "These figures leave out the MEDIAN or variance of question 0: too many databases to count.",
    )
    assert set(found.method) == {"prior", "convolution"}
