"""Drawn databases give all answers, have the right distribution, and depend on the answers and the seed alone."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import chi2

from equivoc.errors import InputError
from equivoc.queries.posteriors.draws import draw_databases
from tests.queries.posteriors.random_systems import Asked, answered, fitting, random_case
from tests.queries.posteriors.test_gibbs import mid_size


def meets(system, databases):
    """Whether each database gives every answer; people of an atom need not be told apart."""
    ok = np.isin(databases, system.grid.positions).all(axis=1)
    of_person = system.atoms.of_person
    sums = np.stack(
        [databases[:, of_person == atom].sum(axis=1) for atom in range(len(system.atoms))], axis=1
    )
    ok &= (sums @ system.matrix.toarray().T == system.totals).all(axis=1)
    for extreme in system.extremes:
        inside = databases[:, np.isin(of_person, extreme.atoms)]
        reached = inside.max(axis=1) if extreme.kind == "max" else inside.min(axis=1)
        ok &= reached == extreme.position
    return ok


def p_value(system, databases, every, weight):
    """Of the χ² test that the draws have these weights on all databases that fit; classes below 5 are joined."""
    place = {tuple(row): i for i, row in enumerate(every.tolist())}
    seen = np.bincount([place[tuple(row)] for row in databases.tolist()], minlength=len(every))
    expected = weight / weight.sum() * len(databases)
    order = np.argsort(expected)
    group = np.minimum(np.cumsum(expected[order]) // 8, 10**6).astype(int)
    _, group = np.unique(group, return_inverse=True)
    seen, expected = np.bincount(group, seen[order]), np.bincount(group, expected[order])
    if len(seen) < 2:
        return 1.0
    return float(chi2.sf(((seen - expected) ** 2 / expected).sum(), len(seen) - 1))


@pytest.mark.parametrize("exact_work", [2e6, 0.0])
def test_every_draw_meets_every_answer_and_the_distribution_is_right(exact_work):
    rng = np.random.default_rng(23)
    low = []
    for case in range(24):
        system, asked, values, prior = random_case(rng, most=5)
        drawn = draw_databases(
            system, draws=400, rng=np.random.default_rng(case), prior=prior, exact_work=exact_work, between=12
        )
        assert meets(system, drawn).all()
        every = fitting(system, asked, values)
        weight = np.prod(prior[np.searchsorted(system.grid.positions, every)], axis=1)
        low.append(p_value(system, drawn, every, weight))
    # The chain's draws are slightly dependent, so a few small p-values are allowed there.
    assert min(low) > (1e-4 if exact_work else 1e-7)
    assert np.mean(np.array(low) < 0.01) < (0.08 if exact_work else 0.2)


def test_a_wrong_prior_is_rejected():
    system = answered(
        [Asked("sum", np.arange(4)), Asked("max", np.arange(3))], np.array([0, 1, 2, 1]), np.arange(3)
    )
    every = fitting(system, [Asked("sum", np.arange(4)), Asked("max", np.arange(3))], np.array([0, 1, 2, 1]))
    used, tested = np.array([0.5, 0.3, 0.2]), np.array([0.3, 0.4, 0.3])
    for exact_work in (2e6, 0.0):
        drawn = draw_databases(
            system, draws=3000, rng=np.random.default_rng(0), prior=used, exact_work=exact_work, between=8
        )
        right, wrong = (p_value(system, drawn, every, np.prod(p[every], axis=1)) for p in (used, tested))
        assert right > 1e-4
        assert wrong < 1e-8


@pytest.mark.parametrize("exact_work", [2e6, 0.0])
def test_the_same_seed_gives_the_same_bytes_on_larger_systems(exact_work):
    system = mid_size(np.random.default_rng(4), people=60, kinds=("sum", "sum", "min", "max"))
    prior = np.full(8, 1 / 8)
    one, same, other = (
        draw_databases(system, draws=20, rng=np.random.default_rng(seed), prior=prior, exact_work=exact_work)
        for seed in (1, 1, 2)
    )
    assert one.dtype == np.int32
    assert meets(system, one).all()
    assert one.tobytes() == same.tobytes()
    assert one.tobytes() != other.tobytes()


def test_medians_are_refused():
    system = answered([Asked("median", np.arange(3))], np.array([0, 1, 2]), np.arange(3))
    with pytest.raises(InputError, match="question 0 is a median or variance"):
        draw_databases(system, draws=1, rng=np.random.default_rng(0), prior=np.full(3, 1 / 3))
