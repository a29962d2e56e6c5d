"""The table of intruders, surprises record by record, and T(ε) beside H(ε)."""

from __future__ import annotations

from math import log2

import numpy as np
import pandas as pd
import pytest

import equivoc as eq
from equivoc.assessment import subsets as mean_curve

RNG = np.random.default_rng(9)
FRAME = pd.DataFrame({"age": RNG.integers(0, 5, 120)}).assign(
    pay=lambda f: (f.age + RNG.integers(0, 5, 120)) * 10
)


def people() -> eq.Microdata:
    return eq.Microdata(FRAME, confidential="pay", keys=["age"])


@pytest.mark.parametrize("eps", [[0, 20], [20], [0]])
def test_each_row_is_the_assessment_with_that_intruder(eps: list[float]) -> None:
    technique = eq.PRAM(keep=0.6, on="confidential")
    result = eq.assess(people(), technique, eps=eps)
    table = result.intruders.set_index("intruder")
    assert {"informed", "paper"} <= set(table.index)
    assert table.index[table.used].tolist() == [result.intruder]
    at = float(eps[-1])
    for name, row in table.iterrows():
        own = eq.assess(people(), technique, eps=eps, intruder=name)
        assert own.intruder == name
        truth = own.truth.overall
        assert row.h0 == pytest.approx(own.means["h0"])
        assert row.area == pytest.approx(own.means["area"])
        assert (row.surprise, row.gain, row.trust) == pytest.approx((truth.surprise, truth.gain, truth.trust))
        assert (row.hit, row.true_hit) == pytest.approx((own.means["hit"][at], own.means["true_hit"][at]))
    asked = eq.assess(people(), technique, eps=eps, intruder="paper").intruders.set_index("intruder")
    assert asked.index[asked.used].tolist() == ["paper"]
    assert set(asked.index) == set(table.index)


def test_records_have_the_surprise_at_the_exact_value_whatever_the_tolerances() -> None:
    result = eq.assess(people(), eq.Sampling(fraction=0.5), eps=[20], intruder="informed")
    records, trust = result.records, result.truth.overall.trust
    assert {"surprise_0", "surprise_20", "true_hit_20"} <= set(records.columns)
    prior = result.prior_probabilities
    for place, row in records.iterrows():
        code = int(np.searchsorted(result.people.values, FRAME.pay[place]))
        p = np.asarray(result.posteriors.probabilities)[int(row["class"]), code]
        assert row.surprise_0 == pytest.approx(-log2(trust * p + (1 - trust) * prior[code]))


def test_the_curve_of_the_surprise_is_that_of_the_tolerances(monkeypatch: pytest.MonkeyPatch) -> None:
    eps = np.array([0.0, 10.0, 20.0, 40.0])
    misleading = FRAME.iloc[:60].assign(age=4 - FRAME.age)
    released = eq.ReleasedFile(pd.concat([FRAME.iloc[60:], misleading]))
    result = eq.assess(people(), released, eps=eps.tolist(), intruder="paper")
    assert result.truth.overall.trust < 1  # so the prior is mixed in
    found = result.surprise_curve(eps)
    assert found.drawn is None
    assert found.surprise.tolist() == pytest.approx(list(result.truth.surprise.values()))
    monkeypatch.setattr(mean_curve, "MOST_ENTRIES", 1)
    monkeypatch.setattr(mean_curve, "DRAWN", 20_000)
    drawn = result.surprise_curve(eps)
    assert drawn.drawn == 20_000
    assert drawn.surprise.tolist() == pytest.approx(found.surprise.tolist(), abs=0.03)
