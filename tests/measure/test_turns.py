"""The positions at which windows of an optimal partition can begin and end, against their definitions."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from equivoc.measure.turn_kernels import DOUBLES, INTEGERS, turns


@given(st.lists(st.integers(0, 60), min_size=2, max_size=40, unique=True), st.integers(0, 59))
def test_starts_and_ends(values: list[int], limit: int) -> None:
    x = np.sort(np.array(values, float))
    n = len(x)
    covered = [(j, i) for j in range(n) for i in range(j + 1, n + 1) if x[i - 1] - x[j] <= limit]
    lowest = {i: min(j for j, k in covered if k == i) for i in range(1, n + 1)}
    furthest = {j: max(i for k, i in covered if k == j) for j in range(n)}
    cum = np.arange(n + 1) / n

    doubles, integers = np.empty((DOUBLES, n + 2)), np.empty((INTEGERS, n + 2), np.int32)
    starts, ends, start_mass, end_mass, before, after = turns(x, x, cum, float(limit), doubles, integers)

    assert starts.tolist() == sorted({*lowest.values(), n})
    assert ends.tolist() == sorted({*furthest.values(), 0})
    assert start_mass[: len(starts)].tolist() == cum[starts].tolist()
    assert end_mass[: len(ends)].tolist() == cum[ends].tolist()
    assert [starts[b] for b in before[1:]] == [lowest[i] for i in starts[1:].tolist()]
    assert [ends[a] for a in after[:-1]] == [furthest[j] for j in ends[:-1].tolist()]
    assert all(ends[b] < starts[a] for a, b in enumerate(before.tolist()) if a > 0)
    assert after[-1] == len(starts)
