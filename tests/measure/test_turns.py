"""The positions at which windows of an optimal partition can begin and end, against their definitions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from equivoc.measure.turn_kernels import DOUBLES, INTEGERS, turns


def assert_turns(x: NDArray[np.float64], limit: float) -> None:
    n = len(x)
    covered = np.triu(x[None, :] - x[:, None] <= limit)  # from the value in the row to the one in the column
    lowest = dict(zip(range(1, n + 1), covered.argmax(axis=0).tolist(), strict=True))
    furthest = dict(enumerate((n - covered[:, ::-1].argmax(axis=1)).tolist()))
    cum = np.arange(n + 1) / n

    doubles, integers = np.empty((DOUBLES, n + 2)), np.empty((INTEGERS, n + 2), np.int32)
    starts, ends, start_mass, end_mass, before, after = turns(x, x, cum, limit, doubles, integers)

    assert starts.tolist() == sorted({*lowest.values(), n})
    assert ends.tolist() == sorted({*furthest.values(), 0})
    assert start_mass[: len(starts)].tolist() == cum[starts].tolist()
    assert end_mass[: len(ends)].tolist() == cum[ends].tolist()
    assert [starts[b] for b in before[1:]] == [lowest[i] for i in starts[1:].tolist()]
    assert [ends[a] for a in after[:-1]] == [furthest[j] for j in ends[:-1].tolist()]
    assert all(ends[b] < starts[a] for a, b in enumerate(before.tolist()) if a > 0)
    assert after[-1] == len(starts)


@given(st.lists(st.integers(0, 60), min_size=2, max_size=40, unique=True), st.integers(0, 59))
def test_starts_and_ends(values: list[int], limit: int) -> None:
    assert_turns(np.sort(np.array(values, float)), float(limit))


@pytest.mark.parametrize("limit", [0.001, 0.01, 0.1, 0.3, 0.7])
@pytest.mark.parametrize("n", [2, 3, 4, 30, 31, 32, 200])
def test_many_random_values(n: int, limit: float) -> None:
    rng = np.random.default_rng(n)
    for _ in range(40):
        assert_turns(np.sort(rng.random(n)), limit)
        assert_turns(np.unique(rng.integers(0, 2 * n, n)).astype(float), np.rint(2 * n * limit))
