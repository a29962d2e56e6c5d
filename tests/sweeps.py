"""Sweeps over many cases: `make test` runs some of them, `make fuzz` all."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from itertools import product
from typing import Any

import pytest

TIMES_AS_MANY = int(os.environ.get("EQUIVOC_FUZZ", "0"))
"""0: `make test`, the same examples in every run. Otherwise `make fuzz`: new ones, this many times as many."""


def sweep(cases: Iterable[Any], *, quick: Sequence[Any]) -> list[Any]:
    """All cases; `make test` runs the ``quick`` ones only."""
    listed = list(cases)
    assert all(case in listed for case in quick), quick
    return [case if case in quick else pytest.param(case, marks=pytest.mark.sweep) for case in listed]


def spread(*sides: Iterable[Any], each: int = 1) -> list[Any]:
    """All combinations; `make test` runs ``each`` per value of the first side, the values of the others in turn."""
    first, *others = map(list, sides)
    rest = list(product(*others))
    return [
        pytest.param(value, *more, marks=() if (at - place * each) % len(rest) < each else pytest.mark.sweep)
        for place, value in enumerate(first)
        for at, more in enumerate(rest)
    ]


def times(quick: int, full: int) -> int:
    """How many random cases a test goes through: ``full`` in `make fuzz`, where it is marked with `goes_on`."""
    return full if TIMES_AS_MANY else quick


goes_on = pytest.mark.goes_on
"""Marks a test that goes through more cases in `make fuzz`."""
