"""Small people for comparisons."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import equivoc as eq

KEYS = ["age", "sex", "job"]


@pytest.fixture(scope="session")
def frame() -> pd.DataFrame:
    rng = np.random.default_rng(11)
    age = rng.integers(0, 6, 150)
    return pd.DataFrame(
        {
            "age": 20 + 5 * age,
            "sex": rng.choice(["F", "M"], 150),
            "job": rng.integers(1, 4, 150),
            "salary": 10 * (1 + np.clip(rng.binomial(9, 0.4, 150) + age // 3, 0, 9)),
        }
    )


@pytest.fixture(scope="session")
def people(frame: pd.DataFrame) -> eq.Microdata:
    return eq.Microdata(frame, confidential="salary", keys=KEYS, domain=range(10, 110, 10))
