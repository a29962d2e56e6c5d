"""Prefixes and suffixes worked out by two threads and joined in the middle give what one thread gives."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import equivoc as eq
from equivoc.measure import entropy
from tests.measure.posteriors import (
    LARGE_PROBABILITIES,
    LARGE_VALUES,
    Posterior,
    large_posterior,
    small_posteriors,
    tolerances_of,
)


def with_two_threads(posterior: Posterior, eps: float) -> float:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(entropy, "TWO_THREADS_FROM", 2)
        return eq.entropy_at(posterior.values, posterior.probabilities, eps)


@settings(max_examples=100)
@given(st.data(), small_posteriors(12))
def test_small(data: st.DataObject, posterior: Posterior) -> None:
    eps = data.draw(tolerances_of(posterior))
    one = eq.entropy_at(posterior.values, posterior.probabilities, eps)
    assert with_two_threads(posterior, eps) == pytest.approx(one, abs=1e-11)


@pytest.mark.parametrize("values", LARGE_VALUES)
@pytest.mark.parametrize("probabilities", LARGE_PROBABILITIES)
def test_large(values: str, probabilities: str) -> None:
    rng = np.random.default_rng(8)
    for n in (301, 3000):
        x, p = large_posterior(rng, n, values, probabilities)
        posterior = Posterior(x.tolist(), p.tolist())
        for share in (1e-3, 0.02, 0.2, 0.45, 0.7, 0.97):
            eps = share * posterior.spread
            assert with_two_threads(posterior, eps) == pytest.approx(eq.entropy_at(x, p, eps), abs=1e-10)
