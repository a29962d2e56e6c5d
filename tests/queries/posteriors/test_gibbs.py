"""The Gibbs chain's marginals agree with exact ones within the stated error, and a broken chain does not."""

from __future__ import annotations

import numpy as np
import pytest

from equivoc.systems.posteriors import gibbs
from equivoc.systems.posteriors import posteriors as atom_posteriors_module
from equivoc.systems.posteriors.components import parts
from equivoc.systems.posteriors.posteriors import atom_posteriors, component_tables
from tests.queries.posteriors.random_systems import (
    Asked,
    answered,
    enumerated_posteriors,
    fitting,
    random_case,
)

EXACT = ("convolution", "enumeration", "dynamic programming")


def mid_size(rng, *, people=40, values=8, questions=10, kinds=("sum",), one_key=True):
    """A system that dynamic programming can count, though enumeration cannot."""
    truth = rng.integers(0, values, people)
    asked = []
    for _ in range(questions):
        if one_key:
            first = int(rng.integers(0, people - 3))
            members = np.arange(first, min(people, first + int(rng.integers(3, 14))))
        else:
            members = np.sort(rng.choice(people, int(rng.integers(3, 9)), replace=False))
        asked.append(Asked(str(rng.choice(kinds)), members))
    return answered(asked, truth, np.arange(values))


def worst(found, exact):
    """The largest difference in units of the stated error, and how many atoms were sampled."""
    sampled = np.array([method == "Gibbs sampling" for method in found.method])
    top = exact.probabilities.argmax(axis=1)
    where = np.arange(len(top))
    off = np.abs(found.probabilities[where, top] - exact.probabilities[where, top])
    return float(np.max(off[sampled] / (found.error[sampled] + 1e-4), initial=0.0)), int(sampled.sum())


@pytest.mark.parametrize("one_key", [True, False])
def test_agrees_with_exact_marginals_on_mid_size_systems(one_key):
    rng = np.random.default_rng(5)
    compared = 0
    for case in range(8):
        kinds = ("sum",) if case % 2 else ("sum", "sum", "sum", "min", "max")
        questions = 10 if one_key else 6
        system = mid_size(rng, kinds=kinds, one_key=one_key, questions=questions)
        prior = np.full(8, 1 / 8) if case % 3 else rng.dirichlet(np.full(8, 3.0))
        exact = atom_posteriors(system, prior=prior, methods=EXACT)
        if "bounds" in exact.method:
            continue
        found = atom_posteriors(
            system, prior=prior, methods=("Gibbs sampling",), target=0.01, work=3e7, seed=case
        )
        ratio, sampled = worst(found, exact)
        compared += sampled
        # The error is estimated from eight parts: its ratio has Student's t with 7 degrees of freedom, not a normal.
        assert ratio < 9, (case, ratio)
        if one_key and case % 2:
            assert found.promised.all()
    assert compared > 50


def test_agrees_with_all_databases_of_small_systems():
    rng = np.random.default_rng(17)
    off = []
    for case in range(60):
        system, asked, values, prior = random_case(rng, most=5)
        found = atom_posteriors(
            system, prior=prior, methods=("Gibbs sampling",), target=0.01, work=3e6, seed=case
        )
        expected = enumerated_posteriors(system, fitting(system, asked, values), prior)
        assert (found.probabilities[expected == 0] == 0).all()
        off.append(np.abs(found.probabilities - expected).max())
    assert max(off) < 0.08
    assert np.mean(off) < 0.01


def _one_component(system, prior):
    split = parts(system, prior)
    component = max(split.components, key=lambda c: len(c.rows))
    tables = component_tables(system, split, [component], prior)
    return component, tuple(tables[int(atom)] for atom in component.atoms)


def _distance(system, prior, change):
    """The sampled component's largest distance to the exact one in units of its error, with ``change`` in the chain."""
    component, tables = _one_component(system, prior)
    exact = atom_posteriors(system, prior=prior, methods=EXACT).probabilities[component.atoms]
    ready = change(gibbs.prepare(component, tables, seed=0))
    found = gibbs.sample(component, tables, seed=0, work=2e7, target=0.0, chain=ready)
    top = exact.argmax(axis=1)
    person = np.array([row[t] for row, t in zip(found.person, top, strict=True)])
    off = np.abs(person - exact[np.arange(len(top)), top])
    return float((off / (found.error + 1e-4)).max()), found.r_hat.max()


def test_a_broken_chain_is_rejected():
    from dataclasses import replace

    system = mid_size(np.random.default_rng(8))
    prior = np.full(8, 1 / 8)

    def wrong_weights(ready):
        return replace(ready, tables=ready.tables._replace(log_weight=0.9 * ready.tables.log_weight))

    def missing_moves(ready):
        kept = ready.tables.move_at[:2]
        return replace(
            ready, tables=ready.tables._replace(move_at=kept, plain=np.ones_like(ready.tables.plain))
        )

    ratio, agreement = _distance(system, prior, lambda ready: ready)
    assert ratio < 9
    assert agreement < gibbs.AGREED
    assert _distance(system, prior, wrong_weights)[0] > 12
    ratio, agreement = _distance(system, prior, missing_moves)
    assert agreement > 1.1


def test_same_seed_same_bytes_and_another_seed_others():
    system = mid_size(np.random.default_rng(3))
    prior = np.full(8, 1 / 8)
    one, same, other = (
        atom_posteriors(system, prior=prior, methods=("Gibbs sampling",), work=1e6, seed=seed).probabilities
        for seed in (1, 1, 2)
    )
    assert one.tobytes() == same.tobytes()
    assert one.tobytes() != other.tobytes()


def test_chains_that_do_not_agree_are_named_and_show_the_least_uncertainty(monkeypatch):
    rng = np.random.default_rng(3)
    system = mid_size(rng, one_key=False, questions=6)
    prior = np.full(8, 1 / 8)
    asked = {"prior": prior, "methods": ("Gibbs sampling",), "work": 1e6, "target": 0.05}
    agreed = atom_posteriors(system, **asked)
    sampled = np.array([method == "Gibbs sampling" for method in agreed.method])
    assert sampled.any()
    assert not agreed.notes
    for module in (gibbs, atom_posteriors_module):
        monkeypatch.setattr(module, "AGREED", 0.1)
    rough = atom_posteriors(system, **asked)
    assert all(method == "Gibbs sampling, rough" for method in np.array(rough.method)[sampled])
    assert np.isnan(rough.error[sampled]).all()
    assert not rough.promised[sampled].any()
    assert "are rough" in rough.notes[0]
    assert "R-hat" in rough.notes[0]

    def h0(rows):
        return -np.sum(np.where(rows > 0, rows * np.log2(np.maximum(rows, 1e-300)), 0.0), axis=1)

    exact = h0(atom_posteriors(system, prior=prior, methods=EXACT).probabilities[sampled])
    shown = h0(rough.probabilities[sampled])
    assert np.all(shown <= exact + 0.01)
    assert np.any(shown < exact - 1e-4)
