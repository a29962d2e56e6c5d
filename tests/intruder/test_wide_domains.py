"""A domain of thousands of values that nobody has is measured like any other."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import equivoc as eq


@pytest.mark.parametrize("intruder", ["informed", "strongest"])
def test_values_that_nobody_has_do_not_add_up_to_a_refusal(intruder: str) -> None:
    pay = np.repeat([10.0, 20.0, 30.0, 60_000.0], 5)
    frame = pd.DataFrame({"sex": np.tile(["F", "M"], 10), "pay": pay})
    wide = eq.Microdata(frame, confidential="pay", keys=["sex"], domain=range(0, 60_010, 10))
    own = eq.Microdata(frame, confidential="pay", keys=["sex"])
    found, same = (eq.assess(people, eq.Sampling(0.5), seed=1, intruder=intruder) for people in (wide, own))
    assert found.truth.overall.surprise == pytest.approx(same.truth.overall.surprise, abs=1e-6)
    assert found.summary["truth"]["prior_surprise"][0.0] == pytest.approx(2, abs=1e-6)
