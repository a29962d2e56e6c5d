"""A small file of people with a null key, a column without a role, and everything needed to protect it."""

from __future__ import annotations

import csv
import random
from pathlib import Path
from typing import Any

import pytest

import equivoc as eq


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """Sixty people. Their town has no role; phone is different for everybody."""
    draw = random.Random(20)
    path = tmp_path / "people.csv"
    with path.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["age", "sex", "town", "pay", "phone", "hours"])
        for number in range(60):
            age, sex = draw.choice([20, 21, 22, 23]), draw.choice(["F", "F", "M", ""])
            pay, hours = draw.choice([10, 10, 20, 30, 40, 60]), draw.choice([10, 20, 30, 40])
            rows.writerow([age, sex, draw.choice("abc"), pay, f"0{1000 + number}", hours])
    return path


@pytest.fixture
def people(source: Path) -> eq.Microdata:
    return eq.read(source, confidential="pay", keys=["age", "sex"], domain=range(10, 80, 10))


def cells(path: Path) -> list[dict[str, Any]]:
    """The rows of a CSV file, read without equivoc."""
    with path.open(newline="") as file:
        return list(csv.DictReader(file))
