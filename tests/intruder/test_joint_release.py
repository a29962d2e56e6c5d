"""Several attributes together, before another prior of their combinations."""

import numpy as np
import pandas as pd
import pytest

import equivoc as eq
from equivoc.releases.joint_release import joint_release


def both(technique):
    rng = np.random.default_rng(2)
    frame = pd.DataFrame({"pay": rng.choice([10, 20, 30], 30), "age": rng.choice([1, 2, 3, 4], 30)})
    people = eq.Microdata(frame, confidential=["pay", "age"], keys=[])
    alone = {name: technique.release(people.of(name), 4) for name in ("pay", "age")}
    return people, alone, joint_release(people.together, people, alone)


@pytest.mark.parametrize("technique", [eq.PRAM(keep=0.6, on="confidential"), eq.Swapping(rate=0.5)], ids=str)
def test_combinations_by_the_mechanism_of_each_attribute(technique):
    """P(combination | symbols) ∝ prior · Π P(symbol | value): by the releases' own tables, symbol by symbol."""
    people, alone, joint = both(technique)
    shown = {name: release.confidential for name, release in alone.items()}
    pairs = sorted(set(zip(people.of("pay").codes, people.of("age").codes, strict=True)))
    prior = np.random.default_rng(7).dirichlet(np.ones(len(pairs)))
    order = [
        np.flatnonzero((people.of("pay").codes == pay) & (people.of("age").codes == age))[0]
        for pay, age in pairs
    ]
    codes = people.together.codes[order]
    given = np.zeros(len(people.together.values))
    given[codes] = prior
    channel = joint.with_prior(given).confidential.channel.dense()
    likelihood = {name: column.channel.likelihood.dense() for name, column in shown.items()}
    for r in range(len(people)):
        expected = np.array(
            [
                p
                * likelihood["pay"][shown["pay"].codes[r], pay]
                * likelihood["age"][shown["age"].codes[r], age]
                for p, (pay, age) in zip(prior, pairs, strict=True)
            ]
        )
        found = channel[joint.confidential.codes[r]][codes]
        np.testing.assert_allclose(found, expected / expected.sum(), rtol=1e-9)


def test_its_own_prior_is_that_of_the_attributes():
    """As before: the product of what each symbol tells, over the combinations that occur."""
    people, alone, joint = both(eq.PRAM(keep=0.6, on="confidential"))
    shown = [alone[name].confidential for name in ("pay", "age")]
    told = joint.confidential.channel.dense()[joint.confidential.codes]
    for r in range(len(people)):
        rows = [column.channel.dense()[column.codes[r]] for column in shown]
        expected = np.zeros(told.shape[1])
        for pay, age, pair in zip(
            people.of("pay").codes, people.of("age").codes, people.together.codes, strict=True
        ):
            expected[pair] = rows[0][pay] * rows[1][age]
        np.testing.assert_allclose(told[r], expected / expected.sum(), rtol=1e-9)
    assert joint.mechanism == alone["pay"].mechanism
