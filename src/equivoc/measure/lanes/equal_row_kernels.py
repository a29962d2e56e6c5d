"""Hashes of rows, and bitwise comparison of rows. Compiled."""

# mypy: allow-untyped-defs, allow-untyped-decorators, allow-untyped-calls
from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def row_hashes(weights, positions, bounds, out):
    """A 64-bit hash of every row; equal rows have equal hashes."""
    bits = weights.view(np.uint64)
    dense = len(positions) == 0
    for r in range(len(bounds) - 1):
        h = np.uint64(0x9E3779B97F4A7C15)
        begin = bounds[r]
        for t in range(begin, bounds[r + 1]):
            if weights[t] > 0:
                h ^= bits[t] + np.uint64(t - begin if dense else positions[t]) * np.uint64(0xC2B2AE3D27D4EB4F)
                h ^= h >> np.uint64(29)
                h *= np.uint64(0xBF58476D1CE4E5B9)
                h ^= h >> np.uint64(32)
        out[r] = h


@njit(cache=True, nogil=True)
def same_rows(weights, positions, bounds, representative, out):
    """True if every row is bitwise equal to the row that represents it."""
    dense = len(positions) == 0
    for r in range(len(bounds) - 1):
        q = representative[r]
        same = bounds[r + 1] - bounds[r] == bounds[q + 1] - bounds[q]
        if same and q != r:
            shift = bounds[q] - bounds[r]
            for t in range(bounds[r], bounds[r + 1]):
                if weights[t] != weights[t + shift] or (not dense and positions[t] != positions[t + shift]):
                    same = False
                    break
        out[r] = same
