"""Single steps of the compiled chain, against their formulas."""

from __future__ import annotations

import numpy as np
import pytest

from equivoc.gateway.chain_kernels import _towards_sum, someone_disclosed

DRAWS = 20_000


@pytest.mark.parametrize(
    ("begin", "end", "rate", "away"),
    [
        (-6, 5, 1, 2),
        (-6, 5, -1, 2),
        (-4, 4, 3, -5),
        (0, 7, 2, 9),
        (-7, 0, 1, -30),
        (2, 2, 1, 0),
        (-3, 3, -2, 1),
    ],
)
def test_steps_towards_a_sum_have_their_weights(begin: int, end: int, rate: int, away: int) -> None:
    state = np.array([17], dtype=np.uint64)
    drawn = np.array([_towards_sum(begin, end, rate, away, state) for _ in range(DRAWS)])
    steps = np.arange(begin, end + 1)
    weight = np.exp(-np.abs(away + steps * rate).astype(float))
    weight /= weight.sum()
    counts = np.bincount(drawn - begin, minlength=len(steps))
    assert len(counts) == len(steps)

    def fits(expected: np.ndarray) -> bool:
        return bool(np.all(np.abs(counts - DRAWS * expected) <= 5 * np.sqrt(DRAWS * expected) + 5))

    assert fits(weight)
    if begin < end:
        wrong = np.exp(-0.9 * np.abs(away + steps * rate))
        assert not fits(wrong / wrong.sum())


def test_far_from_the_sum_the_step_goes_as_far_as_it_can() -> None:
    state = np.array([3], dtype=np.uint64)
    assert min(_towards_sum(-250, 250, 1, -(10**9), state) for _ in range(50)) > 220
    assert max(_towards_sum(-250, 250, -1, -(10**9), state) for _ in range(50)) < -220


@pytest.mark.parametrize(
    ("shares", "least_h0", "disclosed"),
    [
        ([[2.0, 2.0, 0.0]], 1.0, False),
        ([[2.0, 2.0, 0.0]], 1.001, True),
        ([[3.0, 1.0, 0.0]], 0.81, False),
        ([[3.0, 1.0, 0.0]], 0.82, True),
        ([[0.0, 5.0, 0.0]], 0.0, True),
        ([[1.0, 1.0, 1.0], [0.0, 0.0, 0.0]], 0.0, True),
    ],
)
def test_who_counts_as_disclosed(shares: list[list[float]], least_h0: float, disclosed: bool) -> None:
    """log2 2 = 1 bit; shares of 3/4 and 1/4 have 0.811 bits."""
    table = np.array(shares)
    law = np.diff(table, axis=1, prepend=0.0, append=0.0)
    assert someone_disclosed(law, np.arange(len(law)), least_h0) is disclosed
    assert someone_disclosed(law[::-1].copy(), np.arange(len(law))[:0], least_h0) is False
