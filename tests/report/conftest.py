"""Few people, for computations by hand, and people whose names and values contain hostile markup."""

from __future__ import annotations

import pandas as pd
import pytest

import equivoc as eq

HOSTILE = '</script><script>alert(1)</script><img src=x onerror="alert(2)">'
FORMULA = "=cmd()|' /C calc'!A0"


@pytest.fixture(scope="session")
def frame() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "age": [30, 30, 30, 30, 41, 41, 41, 41, 41, 30, 52, 52, 30, 41],
            "sex": list("FFFFMMMFFMMFFM"),
            "pay": [10, 10, 20, 50, 20, 20, 20, 30, 50, 40, 50, 10, 10, 20],
        }
    )


@pytest.fixture(scope="session")
def result(frame: pd.DataFrame) -> eq.Assessment:
    people = eq.Microdata(frame, confidential="pay", keys=["age", "sex"], domain=range(10, 60, 10))
    technique = eq.Sampling(fraction=0.5)
    return eq.assess(people, technique, known=["age", "sex"], seed=3, eps=[0, 10], intruder="informed")


@pytest.fixture(scope="session")
def hostile() -> eq.Assessment:
    frame = pd.DataFrame(
        {
            HOSTILE: [HOSTILE, FORMULA] * 6,
            FORMULA: [HOSTILE, HOSTILE, FORMULA, FORMULA] * 3,
            "<b>pay</b>\u2028": [10, 20, 30] * 4,
        }
    )
    people = eq.Microdata(frame, confidential="<b>pay</b>\u2028", keys=[HOSTILE, FORMULA])
    return eq.assess(people, eq.Sampling(fraction=0.5), known=[HOSTILE, FORMULA])
