"""The expected number of people with each value in classes of known size, given a noisy table."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from equivoc.intruder.beliefs.noisy_counts import expected_counts

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
MOST_EXACT_CELLS = 100_000
"""Classes × cells of each: up to this many, each cell is computed separately (about 10 microseconds per cell)."""
LIKE_PRIORS = 0.2
"""Beyond that, cells of a class with equal noisy counts whose log priors fall into the same step of this width are
computed together, and each corrected to first order. On the shipped people this moves T(0) by less than 0.001 bit."""
CELLS_AT_A_TIME = 2**21


def expected_values(noisy: Ints, weights: Floats, people: Ints, *, epsilon: float) -> Floats:
    """Classes × values: the expected number of people of each class who have each value.

    ``noisy`` is classes × combinations of unknown keys × values: the noisy counts of each class's cells. ``weights``,
    combinations × values, is the prior of each cell, the same for all classes; ``people`` the size of each class. Each
    person of a class is in each of its cells with prior probability ∝ ``weights``, and the noise of each cell
    is two-sided geometric with α = e^−ε (`noisy_counts`).

    >>> noisy, weights = np.array([[[2, 0]]]), np.array([[0.5, 0.5]])
    >>> expected_values(noisy, weights, np.array([2]), epsilon=-np.log(0.1)).round(3)
    array([[1.98, 0.02]])
    """
    if noisy.size <= MOST_EXACT_CELLS:
        return _each_cell(noisy, weights, people, epsilon)
    found = np.empty((len(noisy), noisy.shape[2]))
    step = max(1, CELLS_AT_A_TIME // weights.size)
    for at in range(0, len(noisy), step):
        part = slice(at, at + step)
        found[part] = _like_cells(noisy[part], weights, people[part], epsilon)
    return found


def _each_cell(noisy: Ints, weights: Floats, people: Ints, epsilon: float) -> Floats:
    classes = len(noisy)
    starts = np.arange(classes + 1) * weights.size
    cells = np.tile(weights.ravel(), classes)
    found = expected_counts(noisy.ravel(), cells, starts, people, alpha=np.exp(-epsilon))
    return np.asarray(found.reshape(noisy.shape).sum(axis=1))


def _like_cells(noisy: Ints, weights: Floats, people: Ints, epsilon: float) -> Floats:
    """As `_each_cell`, with cells of equal counts and nearly equal priors together.

    The derivative of a cell's expected count E by the logarithm of its prior is the count's variance: about E·(1 − E)
    for counts that are mostly 0 or 1. It is left out for larger counts, which depend mostly on the noisy count.
    """
    possible = weights > 0
    logs = np.log(weights, out=np.zeros_like(weights), where=possible)
    step = np.floor(logs / LIKE_PRIORS).astype(np.int64)
    step = np.where(possible, step - step.min() + 1, 0)  # 0: cells that nobody can be in
    steps = int(step.max()) + 1
    counts = np.clip(noisy, 0, people[:, None, None])
    span = int(counts.max()) + 1
    kind = (np.arange(len(noisy))[:, None, None] * span + counts) * steps + step
    kinds, of_cell, copies = np.unique(kind, return_inverse=True, return_counts=True)
    of_cell = of_cell.reshape(noisy.shape)
    mean = np.bincount(of_cell.ravel(), np.tile(weights.ravel(), len(noisy))) / copies
    starts = np.searchsorted(kinds, np.arange(len(noisy) + 1) * span * steps)
    found = expected_counts(
        kinds // steps % span, mean, starts, people, alpha=np.exp(-epsilon), copies=copies
    )
    spread = found * np.maximum(1.0 - found, 0.0)
    log_mean = np.log(mean, out=np.zeros_like(mean), where=mean > 0)
    corrected = found[of_cell] + spread[of_cell] * np.where(possible, logs - log_mean[of_cell], 0.0)
    return np.asarray(np.maximum(corrected, 0.0).sum(axis=1))
