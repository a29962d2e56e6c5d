"""1/H0 and a decreasing function of the intruder's uncertainty, against plain sums over the posteriors."""

from __future__ import annotations

from math import inf, log2
from typing import Any

import numpy as np
import pandas as pd
import pytest

import equivoc as eq
from equivoc.data.microdata import Microdata
from equivoc.intruder import posteriors as mixing
from equivoc.models import oganian_domingo_ferrer, trottini_fienberg
from tests.models.released import KEYS

RELEASES = [
    eq.Unprotected(),
    eq.Sampling(fraction=0.4),
    eq.NoiseAddition(percent=60),
    eq.QueryRestriction(size=2),
]


def entropy(row: list[float]) -> float:
    return -sum(p * log2(p) for p in row if p > 0)


def variance(row: list[float], values: list[float]) -> float:
    mean = sum(p * v for p, v in zip(row, values, strict=True))
    return sum(p * (v - mean) ** 2 for p, v in zip(row, values, strict=True))


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("technique", RELEASES, ids=lambda t: t.name)
def test_class_by_class(
    people: Microdata, technique: Any, sparse: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if sparse:
        monkeypatch.setattr(mixing, "DENSE_UP_TO", 0)
    post = technique.release(people, 2).posteriors(KEYS, intruder="paper")
    matrix = post.probabilities.toarray() if sparse else post.probabilities
    rows, values = matrix.tolist(), post.values.tolist()
    uniform = [1 / len(values)] * len(values)
    h0 = [entropy(row) for row in rows]
    assert oganian_domingo_ferrer(post) == pytest.approx([1 / h if h > 1e-9 else inf for h in h0])
    expected = [1 / (1 + h / log2(len(values))) for h in h0]
    assert trottini_fienberg(post, uncertainty="entropy") == pytest.approx(expected)
    spread = variance(uniform, values)
    expected = [1 / (1 + variance(row, values) / spread) for row in rows]
    assert trottini_fienberg(post) == pytest.approx(expected)


def test_the_papers_two_pairs_of_salaries() -> None:
    """One bit for both pairs (Oganian and Domingo-Ferrer: 1); only the variance tells 77K–80K from 50K–107K."""
    frame = pd.DataFrame({"sex": list("FFMM"), "pay": [50, 107, 77, 80]})
    people = Microdata(frame, confidential="pay", keys=["sex"])
    post = eq.Unprotected().release(people).posteriors(["sex"], intruder="paper")
    assert oganian_domingo_ferrer(post).tolist() == [1.0, 1.0]
    women, men = trottini_fienberg(post)
    assert men > 0.99
    assert women < 0.5


def test_certainty_and_ignorance() -> None:
    frame = pd.DataFrame({"sex": list("FMMM"), "pay": [1e6, 1e6 + 1, 1e6 + 2, 1e6]})
    people = Microdata(frame, confidential="pay", keys=["sex"])
    post = eq.Unprotected().release(people).posteriors(["sex"], intruder="paper")
    for uncertainty in ("variance", "entropy"):
        certain, ignorant = trottini_fienberg(post, uncertainty=uncertainty)
        assert certain == 1.0
        assert ignorant == pytest.approx(0.5)
    assert oganian_domingo_ferrer(post)[0] == inf
    one = Microdata(pd.DataFrame({"pay": [7, 7]}), confidential="pay")
    alone = eq.Unprotected().release(one).posteriors([], intruder="paper")
    assert (
        trottini_fienberg(alone).tolist() == trottini_fienberg(alone, uncertainty="entropy").tolist() == [1.0]
    )


def test_units_change_nothing(people: Microdata) -> None:
    frame = people.frame.to_pandas()
    cents = Microdata(frame.assign(pay=frame["pay"] * 100), confidential="pay", keys=list(KEYS))
    one, other = (
        trottini_fienberg(eq.Unprotected().release(p).posteriors(["sex"], intruder="paper"))
        for p in (people, cents)
    )
    np.testing.assert_allclose(one, other)


def test_an_unknown_uncertainty(people: Microdata) -> None:
    with pytest.raises(eq.InputError, match="uncertainty is 'range'"):
        trottini_fienberg(
            eq.Unprotected().release(people).posteriors([], intruder="paper"), uncertainty="range"
        )
