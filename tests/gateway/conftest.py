"""People and gateways for these tests."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from equivoc.data.microdata import Microdata
from equivoc.gateway.gateway import Gateway

DOMAIN = range(0, 10)


def made_people(pay: Any, *, domain: Any = DOMAIN) -> Microdata:
    """People with an id, an age (tens of ids), a sex and a pay."""
    number = np.arange(len(pay))
    frame = pd.DataFrame(
        {"id": number, "age": 20 + number // 2, "sex": np.where(number % 2, "F", "M"), "pay": pay}
    )
    return Microdata(frame, confidential="pay", keys=["id", "age", "sex"], domain=domain)


@pytest.fixture
def people() -> Microdata:
    return made_people(np.random.default_rng(1).integers(0, 10, 40))


@pytest.fixture
def open_gate(tmp_path: Path) -> Iterator[Callable[..., Gateway]]:
    """Opens gateways on one store unless another is given, and closes them at the end."""
    opened: list[Gateway] = []

    def open_it(people: Microdata, *, store: str = "gateway.sqlite", **settings: Any) -> Gateway:
        opened.append(Gateway(people, store=tmp_path / store, **settings))
        return opened[-1]

    yield open_it
    for gate in opened:
        gate.close()


def ids(numbers: Any) -> str:
    """A condition that selects these ids."""
    return f"id IN ({', '.join(map(str, numbers))})"
