"""The compiled loops of `class_chain`: the evidence of cells, expected counts of classes, and their shrinkage."""

import numpy as np
import numpy.typing as npt
from numba import njit

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def evidence(likelihood: Floats, symbols: Ints, starts: Ints, prior: Floats, found: Floats) -> None:
    """Σ_d L(d)·π(d) of each cell; class c has the cells ``starts[c]`` … ``starts[c + 1] − 1``."""
    values = prior.shape[1]
    for c in range(len(prior)):
        for cell in range(starts[c], starts[c + 1]):
            symbol = symbols[cell]
            total = 0.0
            for d in range(values):
                total += likelihood[symbol, d] * prior[c, d]
            found[cell] = total


@njit(cache=True, nogil=True)
def expected_counts(
    likelihood: Floats, symbols: Ints, starts: Ints, shares: Floats, prior: Floats, counts: Floats
) -> None:
    """Each class's π(d) · Σ share · L(d) over its cells, written to ``counts``."""
    values = prior.shape[1]
    for c in range(len(prior)):
        for d in range(values):
            counts[c, d] = 0.0
        for cell in range(starts[c], starts[c + 1]):
            share = shares[cell]
            symbol = symbols[cell]
            if share > 0.0:
                for d in range(values):
                    counts[c, d] += share * likelihood[symbol, d]
        for d in range(values):
            counts[c, d] *= prior[c, d]


@njit(cache=True, nogil=True)
def sums(counts: Floats, parents: Ints) -> Floats:
    """The counts of the classes above; `np.add.reduceat` took ten times as long."""
    found = np.zeros((parents[-1] + 1, counts.shape[1]))
    for c in range(len(counts)):
        for d in range(counts.shape[1]):
            found[parents[c], d] += counts[c, d]
    return found


@njit(cache=True, nogil=True)
def shrink(counts: Floats, strength: float, above: Floats, parents: Ints) -> None:
    """Counts of classes to priors, in place: ``strength`` times the prior of the class above is added."""
    values = counts.shape[1]
    for c in range(len(counts)):
        total = 0.0
        for d in range(values):
            counts[c, d] += strength * above[parents[c], d]
            total += counts[c, d]
        for d in range(values):
            counts[c, d] /= total
