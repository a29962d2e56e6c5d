"""Forty people with ties, nulls and text."""

from __future__ import annotations

import random

import pytest

from equivoc.data.microdata import Microdata
from tests.models.released import Record, microdata


@pytest.fixture(scope="session")
def records() -> list[Record]:
    draw = random.Random(5)
    return [
        {
            "age": draw.choice([20, 21, 22, 23, None]),
            "sex": draw.choice(["F", "F", "M", None]),
            "pay": draw.choice([10, 10, 20, 30, 40, 50]),
        }
        for _ in range(40)
    ]


@pytest.fixture(scope="session")
def people(records: list[Record]) -> Microdata:
    return microdata(records)
