"""Small people for studies, and a plan of them on disk."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import equivoc as eq

KEYS = ["age", "sex", "job"]


def frame_of(records: int, seed: int = 5) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    age = rng.integers(0, 7, records)
    return pd.DataFrame(
        {
            "age": 20 + 5 * age,
            "sex": rng.choice(["F", "M"], records),
            "job": rng.integers(1, 5, records),
            "salary": 10 * (1 + np.clip(rng.binomial(9, 0.4, records) + age // 3, 0, 9)),
        }
    )


@pytest.fixture(scope="session")
def people_of() -> Callable[[pd.DataFrame], eq.Microdata]:
    """People from a frame with the columns of `frame`."""
    return lambda frame: eq.Microdata(frame, confidential="salary", keys=KEYS, domain=range(10, 110, 10))


@pytest.fixture(scope="session")
def frame() -> pd.DataFrame:
    return frame_of(200)


@pytest.fixture(scope="session")
def people(frame: pd.DataFrame, people_of: Callable[[pd.DataFrame], eq.Microdata]) -> eq.Microdata:
    return people_of(frame)


PLAN = """[data]
path = "people.csv"
confidential = "salary"
keys = ["age", "sex", "job"]
domain = { low = 10, high = 100, step = 10 }

[[technique]]
name = "sampling"
fraction = [0.2, 0.5]

[[technique]]
name = "query-restriction"
size = [2, 4]

[study]
known_sizes = [0, 1, 2, 3]
replicates = 3
seed = 11
"""


@pytest.fixture
def plan(tmp_path: Path, frame: pd.DataFrame) -> Path:
    """The file of a small plan, with its data beside it."""
    frame.to_csv(tmp_path / "people.csv", index=False)
    path = tmp_path / "plan.toml"
    path.write_text(PLAN, encoding="utf-8")
    return path


@pytest.fixture
def environment() -> dict[str, str]:
    """That of a command run on the package under test."""
    source = str(Path(eq.__file__).resolve().parents[1])
    return {**os.environ, "PYTHONPATH": os.pathsep.join([source, os.environ.get("PYTHONPATH", "")])}
