"""The compiled part of `forests`: grows a regression tree for many targets at once, adds up its predictions."""

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit

# The compiled loops of `chain.py`: the evidence of cells, expected counts of classes, and their shrinkage.

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


Codes = npt.NDArray[np.int32]


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def dot(one: Floats, rows: Floats, r: int) -> Any:
    """Σ one · row r. The table is passed whole: a slice costs as much as the work on such a short row."""
    total = 0.0
    for d in range(len(one)):
        total += one[d] * rows[r, d]
    return total


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def dot_and_add(sums: Floats, rows: Floats, r: int, times: float) -> Any:
    """Σ sums · row r, after which ``times`` the row is added to the sums."""
    total = 0.0
    for d in range(len(sums)):
        total += sums[d] * rows[r, d]
        sums[d] += times * rows[r, d]
    return total


@njit(cache=True, nogil=True)
def sort_by(codes: Codes, f: int, members: Ints, first: int, past: int, count: Ints, ordered: Ints) -> Any:
    """Sorts ``members[first:past]`` by code into ``ordered``, by counting; False if all codes are equal."""
    low = high = codes[f, members[first]]
    for i in range(first + 1, past):
        low, high = min(low, codes[f, members[i]]), max(high, codes[f, members[i]])
    if low == high:
        return False
    for c in range(high - low + 2):
        count[c] = 0
    for i in range(first, past):
        count[codes[f, members[i]] - low + 1] += 1
    for c in range(high - low):
        count[c + 1] += count[c]
    for i in range(first, past):
        at = codes[f, members[i]] - low
        ordered[first + count[at]] = members[i]
        count[at] += 1
    return True


@njit(cache=True, nogil=True)
def grow(
    codes: Codes,
    levels: int,
    targets: Floats,
    squares: Floats,
    weights: Floats,
    order: Ints,
    leaf: int,
    tried: int,
    feature: Ints,
    cut: Ints,
    child: Ints,
    value: Floats,
) -> int:
    """Grows a tree on the records with a positive weight; the number of nodes.

    ``codes``: features × records, below ``levels``; ``targets``: records × numbers; ``squares``: the sum of squares of
    each row. Node v considers the features in the order ``order[v]`` until ``tried`` of them are not constant, and
    takes the cut with the least sum of squared errors that leaves ``leaf`` records on both sides.
    Results: a node's feature (−1: a leaf), the largest code that goes to ``child[v]`` (others go to the node after it),
    its mean target.
    """
    records, width = targets.shape
    members = np.empty(records, np.int64)
    ordered = np.empty(records, np.int64)
    count = np.empty(levels + 1, np.int64)
    projected = np.empty(records)
    sums = np.empty(width)
    total = np.empty(width)
    begin, end = np.empty(len(feature), np.int64), np.empty(len(feature), np.int64)
    begin[0] = end[0] = 0
    for r in range(records):
        if weights[r] > 0.0:
            members[end[0]] = r
            end[0] += 1
    nodes = 1
    for v in range(len(feature)):
        if v == nodes:
            break
        first, past = begin[v], end[v]
        for d in range(width):
            total[d] = 0.0
        size = 0.0
        for i in range(first, past):
            dot_and_add(total, targets, members[i], weights[members[i]])
            size += weights[members[i]]
        for d in range(width):
            value[v, d] = total[d] / size
        feature[v] = -1
        if past - first < 2 * leaf:
            continue
        whole = 0.0
        for d in range(width):
            whole += total[d] * total[d]
        for i in range(first, past):
            projected[members[i]] = dot(total, targets, members[i])
        best = whole / size * (1 + 1e-12)
        left = 0
        seen = 0
        for j in range(len(codes)):
            f = order[v, j]
            if seen == tried:
                break
            if not sort_by(codes, f, members, first, past, count, ordered):
                continue
            seen += 1
            for d in range(width):
                sums[d] = 0.0
            size_left = square_left = shared = 0.0
            for i in range(first, past - leaf):
                r = ordered[i]
                w = weights[r]
                square_left += w * (2 * dot_and_add(sums, targets, r, w) + w * squares[r])
                shared += w * projected[r]
                size_left += w
                here, there = codes[f, r], codes[f, ordered[i + 1]]
                if here == there or i + 1 - first < leaf:
                    continue
                gain = square_left / size_left + (whole - 2 * shared + square_left) / (size - size_left)
                if gain > best:
                    best, left = gain, i + 1 - first
                    feature[v], cut[v] = f, (here + there) // 2
        if feature[v] < 0:
            continue
        at, other = first, first + left
        for i in range(first, past):
            if codes[feature[v], members[i]] <= cut[v]:
                ordered[at] = members[i]
                at += 1
            else:
                ordered[other] = members[i]
                other += 1
        for i in range(first, past):
            members[i] = ordered[i]
        child[v] = nodes
        begin[nodes], end[nodes] = first, first + left
        begin[nodes + 1], end[nodes + 1] = first + left, past
        nodes += 2
    return nodes


@njit(cache=True, nogil=True)
def predict(codes: Codes, feature: Ints, cut: Ints, child: Ints, value: Floats, found: Floats) -> None:
    """Adds the tree's prediction for each record to ``found``, records × numbers."""
    for r in range(len(found)):
        v = 0
        while feature[v] >= 0:
            v = child[v] + (codes[feature[v], r] > cut[v])
        for d in range(found.shape[1]):
            found[r, d] += value[v, d]
