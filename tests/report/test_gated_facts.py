"""A release that is right about some people and wrong about others: the report counts those it is right about."""

import numpy as np
import pandas as pd

import equivoc as eq
from equivoc.render.truth import truth_facts, verdict


def half_shuffled(share):
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"age": rng.permutation(np.arange(600)) // 2, "pay": rng.integers(1, 21, 600) * 10})
    released = frame.copy()
    young = np.flatnonzero(frame["age"] < share * 300)
    released.loc[young, "pay"] = rng.permutation(frame["pay"].to_numpy()[young])
    people = eq.Microdata(frame, confidential="pay", keys=["age"])
    return eq.assess(people, eq.ReleasedFile(released))


def test_the_older_half_is_disclosed():
    result = half_shuffled(0.5)
    facts = truth_facts(result)
    assert facts["gated"]["below_half_bit"] > facts["below_half_bit"]
    assert "trusted group by group" in facts["sentence"]
    told = verdict(facts, len(result.people))
    assert told["calm"] is None  # no requirement, no verdict
    assert f"{facts['gated']['below_half_bit']:.1%} of the people" in told["headline"]


def test_nobody_is():
    result = half_shuffled(1.0)
    facts = truth_facts(result)
    assert "trusted group by group" not in facts["sentence"]
    assert "half a bit" not in verdict(facts, len(result.people))["headline"]
