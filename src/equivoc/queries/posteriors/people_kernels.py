"""Compiled draws of people's values given the sum and the flags of their atom."""

from __future__ import annotations

# mypy: allow-untyped-defs, allow-untyped-decorators, allow-untyped-calls
import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def split_sums(log_left, log_right, sums, states, rng):
    """Split each sum (and its flags) between two groups, with weights left · right; return the left group's.

    ``log_left`` and ``log_right`` are states × sums.
    """
    kinds = len(log_left)
    left_sum, left_state = np.empty_like(sums), np.empty_like(states)
    right_state = np.empty_like(states)
    wide_left, wide_right = log_left.shape[1], log_right.shape[1]
    weight = np.empty(min(wide_left, wide_right) * kinds * kinds)
    for i in range(len(sums)):
        begin, end = max(0, sums[i] - wide_right + 1), min(sums[i], wide_left - 1)
        span = end - begin + 1
        used = 0
        peak = -np.inf
        for one in range(kinds):
            for other in range(kinds):
                if one | other == states[i]:
                    for place in range(span):
                        log = log_left[one, begin + place] + log_right[other, sums[i] - begin - place]
                        weight[used * span + place] = log
                        peak = max(peak, log)
                    used += 1
        total = 0.0
        for k in range(used * span):
            weight[k] = np.exp(weight[k] - peak)
            total += weight[k]
        rest = rng.random() * total
        chosen = 0
        for k in range(used * span):
            if weight[k] > 0:
                chosen = k
                rest -= weight[k]
                if rest < 0:
                    break
        left_sum[i] = begin + chosen % span
        used = chosen // span
        for one in range(kinds):
            for other in range(kinds):
                if one | other == states[i]:
                    if used == 0:
                        left_state[i], right_state[i] = one, other
                    used -= 1
    return left_sum, left_state, right_state
