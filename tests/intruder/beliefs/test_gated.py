"""Trust per person finds the half of the people that a release discloses, and nobody if nothing is disclosed."""

import numpy as np
import pytest

from equivoc.errors import InputError
from equivoc.intruder.truth import gated_truth, hold_against_truth


def file_of_people(shuffled, *, people=3000, seed=0):
    """Ages 0 … 59 and two more keys; the pay of the people ``shuffled(age)`` is exchanged among them before release.

    Returns belief, prior, counts, entropy and features of each person, and her age.
    """
    rng = np.random.default_rng(seed)
    age, job, town = (
        rng.integers(60, size=people),
        rng.integers(10, size=people),
        rng.integers(8, size=people),
    )
    pay = rng.integers(10, size=people)
    released = pay.copy()
    group = np.flatnonzero(shuffled(age))
    released[group] = rng.permutation(released[group])
    cell = (age * 10 + job) * 8 + town
    table = np.zeros((4800, 10))
    np.add.at(table, (cell, released), 1.0)
    sizes = table.sum(axis=1)[cell]
    beliefs = table[cell] / sizes[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        entropy = -np.nansum(beliefs * np.log2(beliefs), axis=1)
    prior = (np.bincount(pay, minlength=10) / people)[pay]
    features = np.column_stack([age, job, town, entropy, beliefs.max(axis=1), sizes])
    return beliefs[np.arange(people), pay], prior, np.ones(people), entropy, features, age


def test_the_disclosed_half_is_found():
    *cells, features, age = file_of_people(lambda age: age < 30)
    belief = cells[0]
    disclosed = ((age >= 30) & (belief > 2**-0.5)).mean()
    assert 0.2 < disclosed < 0.4
    one = hold_against_truth(*cells)
    assert one.below_half_bit == 0.0  # with one trust for all, nobody is found
    found = gated_truth(*cells, features)
    assert abs(found.below_half_bit - disclosed) < 0.06
    assert found.surprise < one.surprise - 0.2
    assert np.average(found.surprises[age < 30]) > 3  # she learns nothing about the shuffled people


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_no_alarm_where_everybody_is_shuffled(seed):
    *cells, features, _ = file_of_people(lambda age: age >= 0, seed=seed)
    found = gated_truth(*cells, features)
    assert found.below_half_bit == 0.0
    assert found.gain < 0.02


def test_no_alarm_where_a_random_half_is_shuffled():
    coin = np.random.default_rng(9).random(3000) < 0.5
    *cells, features, _ = file_of_people(lambda age: coin)
    found, one = gated_truth(*cells, features), hold_against_truth(*cells)
    assert found.below_half_bit <= one.below_half_bit + 0.01
    assert found.surprise == pytest.approx(one.surprise, abs=0.06)


def test_a_persons_trust_does_not_depend_on_her_own_value():
    *cells, features, age = file_of_people(lambda age: age < 30, people=1500)
    belief, prior = cells[0], cells[1]
    who = int(np.flatnonzero((age >= 30) & (belief == 1))[0])
    trusts = []
    for told in (1.0, 0.0):
        belief[who] = told
        left = 2 ** -gated_truth(*cells, features).surprises[who]
        trusts.append((left - prior[who]) / (told - prior[who]))
    assert trusts[0] == pytest.approx(trusts[1], abs=1e-9)


def test_counts_are_people_and_seeds_repeat():
    *cells, features, _ = file_of_people(lambda age: age < 30)
    cells[2] = np.full(len(cells[0]), 2.0)
    first, second = (gated_truth(*cells, features, seed=4) for _ in range(2))
    assert first.surprise == second.surprise
    assert first.certain_right == 2 * gated_truth(*cells[:2], np.ones(3000), cells[3], features).certain_right
    assert len(first.surprises) == 3000


def test_without_features_there_is_one_trust():
    *cells, features, _ = file_of_people(lambda age: age < 30, people=400)
    assert gated_truth(*cells, np.empty((400, 0))).trust == hold_against_truth(*cells).trust
    with pytest.raises(InputError, match="row for each"):
        gated_truth(*cells, features[:3])
