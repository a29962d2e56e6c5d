"""A noisy table before someone who knows each class's size, against all tables, and on the shipped people."""

from __future__ import annotations

from itertools import combinations_with_replacement
from math import exp, factorial, prod

import numpy as np
import pyarrow as pa
import pytest

from equivoc.data.microdata import Microdata
from equivoc.datasets import people as shipped
from equivoc.intruder.truth import hold_against_truth
from equivoc.techniques import noisy_table as known_class_sizes
from equivoc.techniques.noisy_table import NoisyTable

PRIOR = np.array([0.5, 0.2, 0.3])
KNOWN = [[], ["sex"], ["job"], ["job", "sex"]]


def small(n, seed):
    rng = np.random.default_rng(seed)
    table = {"sex": rng.integers(2, size=n), "job": rng.integers(2, size=n), "pay": rng.integers(3, size=n)}
    return Microdata(pa.table(table), confidential="pay", keys=["sex", "job"], domain=[0, 1, 2])


def by_enumeration(release, known, codes, size, epsilon):
    """All tables of so many people, each person in a cell by the keys' shares and the prior; of those with ``size``
    people of the class, the expected share of each value among them."""
    people = release.people
    shares = [np.bincount(people.key_codes(key), minlength=2) / len(people) for key in people.keys]
    chance = shares[0][:, None, None] * shares[1][:, None] * PRIOR
    own = [people.keys.index(key) for key in known]
    cells = list(np.ndindex(chance.shape))
    total, found = 0.0, np.zeros(3)
    for table in combinations_with_replacement(range(len(cells)), len(people)):
        true = np.bincount(table, minlength=len(cells)).reshape(chance.shape)
        of_class = [
            cell for cell in cells if all(cell[axis] == code for axis, code in zip(own, codes, strict=True))
        ]
        if sum(true[cell] for cell in of_class) != size:
            continue
        weight = prod(chance[c] ** true[c] / factorial(true[c]) for c in cells)
        weight *= exp(-epsilon * np.abs(release.counts - true).sum())
        total += weight
        for cell in of_class:
            found[cell[-1]] += weight * true[cell] / size
    return found / total


@pytest.mark.parametrize(("n", "seed", "epsilon"), [(3, 1, 1.0), (4, 2, 0.3), (5, 3, 2.0)])
@pytest.mark.parametrize("known", KNOWN, ids=str)
def test_equals_enumeration_of_all_tables(n, seed, epsilon, known):
    people = small(n, seed)
    release = NoisyTable(epsilon).release(people, seed)
    found = release.informed_of_classes(people.classes(known), PRIOR)
    for row, codes, size in zip(
        found.probabilities, found.classes.key_codes, found.classes.sizes, strict=True
    ):
        np.testing.assert_allclose(row, by_enumeration(release, found.known, codes, size, epsilon), atol=1e-9)


def test_a_wrong_budget_is_found_out():
    people = small(5, 3)
    release = NoisyTable(2.0).release(people, 3)
    found = release.informed_of_classes(people.classes([]), PRIOR).probabilities[0]
    assert np.abs(found - by_enumeration(release, [], [], 5, 1.5)).max() > 0.005


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 3.0])
@pytest.mark.parametrize("known", [[], ["age"], ["age", "sex"]], ids=str)
def test_like_cells_together_are_nearly_each_alone(monkeypatch, epsilon, known):
    rng = np.random.default_rng(4)
    n = 400
    columns = {"age": rng.binomial(20, 0.2, n), "sex": rng.integers(2, size=n), "job": rng.geometric(0.3, n)}
    columns["pay"] = np.minimum(rng.poisson(2 + columns["sex"]), 9)
    people = Microdata(pa.table(columns), confidential="pay", keys=["age", "sex", "job"], domain=range(10))
    release = NoisyTable(epsilon).release(people, 4)
    prior = np.bincount(people.codes, minlength=10) / n
    prior[8] = 0.0  # and a value that cannot be
    exact = release.informed_of_classes(people.classes(known), prior).probabilities
    monkeypatch.setattr(known_class_sizes, "MOST_EXACT_CELLS", 0)
    nearly = release.informed_of_classes(people.classes(known), prior).probabilities
    assert 0 < np.abs(nearly - exact).max() < 5e-3
    assert not nearly[:, 8].any()
    monkeypatch.setattr(known_class_sizes, "CELLS_AT_A_TIME", 1)
    alone = release.informed_of_classes(people.classes(known), prior).probabilities
    np.testing.assert_allclose(alone, nearly, rtol=1e-9, atol=1e-12)


def test_the_size_of_each_class_tells_much_on_the_shipped_people():
    """At ε = 3 she is right about 67 in 100 people, not 55, and her surprise is half as large."""
    everyone = shipped("cps_hourly_workers")
    keys = ["age", "education", "major_industry", "major_occupation"]
    people = Microdata(
        everyone.frame, confidential=everyone.confidential, keys=keys, domain=everyone.values.tolist()
    )
    release = NoisyTable(epsilon=3).release(people, 0)
    classes, n = people.classes(keys), len(people)
    prior = np.bincount(people.codes, minlength=len(people.values)) / n
    hits, bits = [], []
    for post in (release.of_classes(classes), release.informed_of_classes(classes, prior)):
        of_record = post.probabilities[classes.of_record]
        hits.append((of_record.argmax(axis=1) == people.codes).mean())
        one, right = np.ones(n), of_record[np.arange(n), people.codes]
        bits.append(hold_against_truth(right, prior[people.codes], one, one).surprise)
    assert hits == pytest.approx([0.547, 0.669], abs=0.01)
    assert bits == pytest.approx([2.57, 1.26], abs=0.05)


def test_a_note_says_where_cells_are_worked_out_together(monkeypatch):
    from equivoc.techniques import noisy_table

    people = small(6, 1)
    release = NoisyTable(1.0, levels="public").release(people, 0)
    assert release.notes() == release.notes([]) == []
    monkeypatch.setattr(noisy_table, "MOST_EXACT_CELLS", 11)
    (note,) = release.notes([])
    assert "there are 12 cells to compute" in note
    assert "priors differ by less than 20%" in note
