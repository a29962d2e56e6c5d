"""Forms the groups to average: k to 2k − 1 records with a small loss, by one of three methods."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def optimal_groups(values: NDArray[np.int64], size: int) -> NDArray[np.int64]:
    """The group of each record with the least sum of squares for one attribute, in O(n · size).

    Hansen and Mukherjee, "A polynomial algorithm for optimal univariate microaggregation" (2003). Of equal values,
    those of earlier records go into the lower group.

    >>> optimal_groups(np.array([9, 1, 2, 8, 1, 7, 2]), 3)
    array([1, 0, 0, 1, 0, 1, 0])
    """
    from equivoc.techniques.microaggregation.group_kernels import shortest_path

    order = np.argsort(values, kind="stable")
    sizes = shortest_path(values[order].astype(np.float64), size)
    group = np.empty(len(values), dtype=np.int64)
    group[order] = np.repeat(np.arange(len(sizes)), sizes)
    return group


def mdav_groups(positions: NDArray[np.int64], size: int) -> NDArray[np.int64]:
    """The group of each record by MDAV-generic, every attribute scaled to variance 1, in O(n² / size).

    ``positions`` is records × attributes. Domingo-Ferrer and Torra, "Ordinal, continuous and heterogeneous k-anonymity
    through microaggregation" (2005). Of records equally far, the earlier one is taken.

    >>> mdav_groups(np.array([[0, 0], [9, 9], [0, 1], [9, 8]]), 2)
    array([0, 1, 0, 1])
    """
    from equivoc.techniques.microaggregation.group_kernels import mdav

    columns, weights = _standardised(positions)
    return np.asarray(mdav(columns, weights, size))


def fast_groups(positions: NDArray[np.int64], size: int) -> NDArray[np.int64]:
    """Groups nearly as good as MDAV's in about n · log n steps: a fixed centroid, and neighbours from a k-d tree.

    The record farthest from the centroid that is in no group yet, and its size − 1 nearest, form the next group; when
    fewer than 2·size are left, they form the last. The centroid of the records left hardly moves, so the loss is within
    a few percent of MDAV's, above or below. Laszlo and Mukherjee, "Minimum spanning tree partitioning algorithm for
    microaggregation" (2005), call it centroid-based fixed-size.

    >>> fast_groups(np.array([[0, 0], [9, 9], [0, 1], [9, 8]]), 2)
    array([0, 1, 0, 1])
    """
    from equivoc.techniques.microaggregation.neighbour_kernels import groups_from_outside

    columns, weights = _standardised(positions)
    apart = weights @ (columns - columns.mean(axis=1, keepdims=True)) ** 2
    outermost_first = np.argsort(-apart, kind="stable")
    points = np.ascontiguousarray((columns * np.sqrt(weights)[:, None]).T)
    return np.asarray(groups_from_outside(points, outermost_first, size))


def _standardised(positions: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Attributes × records as whole floats, and each attribute's weight: 1 by its variance, 0 for a constant."""
    columns = np.ascontiguousarray(positions.T, dtype=np.float64)
    variance = columns.var(axis=1)
    return columns, np.divide(1.0, variance, out=np.zeros_like(variance), where=variance > 0)
