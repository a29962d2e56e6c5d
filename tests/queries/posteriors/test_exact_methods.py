"""Every exact method equals the enumeration of all databases."""

from __future__ import annotations

import numpy as np
import pytest

from equivoc.queries.posteriors.atom_posteriors import atom_posteriors
from tests.queries.posteriors.random_systems import enumerated_posteriors, fitting, random_case

CASES = 700


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
