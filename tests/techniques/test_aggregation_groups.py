"""Groups for microaggregation: against all partitions, against the published steps, and properties of any grouping."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from equivoc.techniques.inside.group_kernels import mdav
from equivoc.techniques.microaggregation import fast_groups, mdav_groups, optimal_groups


def loss(positions, group) -> Fraction:
    """The sum of squares within groups, exactly."""
    total = Fraction(0)
    for column in np.reshape(positions, (len(group), -1)).T.tolist():
        for number in set(group):
            members = [Fraction(v) for v, g in zip(column, group, strict=True) if g == number]
            mean = sum(members) / len(members)
            total += sum((v - mean) ** 2 for v in members)
    return total


def partitions(records: list[int], size: int):
    """All ways to put records into groups of at least ``size``."""
    if not records:
        yield []
        return
    first, rest = records[0], records[1:]
    for count in range(size - 1, len(rest) + 1):
        for others in combinations(rest, count):
            for more in partitions([r for r in rest if r not in others], size):
                yield [[first, *others], *more]


def numbered(groups, count) -> list[int]:
    number = [0] * count
    for g, members in enumerate(groups):
        for r in members:
            number[r] = g
    return number


def sets(group) -> set[frozenset[int]]:
    return {frozenset(np.flatnonzero(group == g).tolist()) for g in np.unique(group)}


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 30), min_size=1, max_size=8), st.integers(1, 4))
def test_optimal_groups_lose_least_of_all_partitions(values, size):
    size = min(size, len(values))
    least = min(loss(values, numbered(p, len(values))) for p in partitions(list(range(len(values))), size))
    group = optimal_groups(np.array(values), size)
    assert np.bincount(group).min() >= size
    assert loss(values, group.tolist()) == least


def test_optimal_groups_of_large_numbers_do_not_cancel():
    """Sums of squares near 10^18, differences of 1: plain prefix sums in float64 would not see them."""
    values = 10**9 + np.array([0, 1, 2, 10, 11, 12, 13, 20, 21, 22])
    assert optimal_groups(values, 3).tolist() == [0, 0, 0, 1, 1, 1, 1, 2, 2, 2]


def published_mdav(points: list[list[float]], size: int) -> list[list[int]]:
    """MDAV-generic, step by step as Domingo-Ferrer and Torra (2005) print it; the earlier of equals is taken."""

    def apart(one, other):
        return sum((a - b) ** 2 for a, b in zip(one, other, strict=True))

    left, groups = list(range(len(points))), []

    def centroid():
        return [sum(points[r][c] for r in left) / len(left) for c in range(len(points[0]))]

    def farthest(point):
        return max(left, key=lambda r: (apart(points[r], point), -r))

    def build(around):
        nearest = sorted(left, key=lambda r: (apart(points[r], points[around]), r))[:size]
        groups.append(nearest)
        for r in nearest:
            left.remove(r)

    while len(left) >= 3 * size:
        first = farthest(centroid())
        build(first)
        build(farthest(points[first]))
    if len(left) >= 2 * size:
        build(farthest(centroid()))
    groups.append(left)
    return groups


def published_from_outside(points: list[list[float]], size: int) -> list[list[int]]:
    """The farthest from the centroid of all with its nearest, again and again."""
    middle = np.mean(points, axis=0)
    left = sorted(range(len(points)), key=lambda r: -float(((points[r] - middle) ** 2).sum()))
    groups = []
    while len(left) >= 2 * size:
        around = np.array(points[left[0]])
        groups.append(sorted(left, key=lambda r: float(((points[r] - around) ** 2).sum()))[:size])
        left = [r for r in left if r not in groups[-1]]
    return [*groups, left]


@pytest.mark.parametrize("dimensions", [1, 2, 5])
@pytest.mark.parametrize(("records", "size"), [(2, 2), (5, 3), (40, 2), (61, 3), (1300, 10), (700, 400)])
def test_several_attributes_against_the_published_steps(records, size, dimensions):
    """Numbers so spread that no two distances are equal; more than one block and one leaf of them."""
    positions = np.random.default_rng(records).lognormal(20, 1, (records, dimensions)).astype(np.int64)
    points = positions / positions.std(axis=0)
    expected = {frozenset(g) for g in published_mdav(points.tolist(), size)}
    assert sets(mdav_groups(positions, size)) == expected
    expected = {frozenset(g) for g in published_from_outside(points, size)}
    assert sets(fast_groups(positions, size)) == expected


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=2, max_size=40), st.integers(2, 5))
def test_of_equally_far_records_the_earlier_one_is_taken(points, size):
    """Unscaled whole numbers: both sides find the same distances to the last bit, most of them tied."""
    size = min(size, len(points))
    columns = np.array(points, dtype=np.float64).T.copy()
    expected = {frozenset(g) for g in published_mdav(points, size)}
    assert sets(mdav(columns, np.ones(2), size)) == expected


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 9), st.integers(-2, 2)), min_size=2, max_size=80), st.integers(2, 7))
@pytest.mark.parametrize("method", [mdav_groups, fast_groups], ids=lambda m: m.__name__)
def test_groups_have_size_to_twice_size_less_one(method, points, size):
    size = min(size, len(points))
    counts = np.bincount(method(np.array(points), size))
    assert counts.sum() == len(points)
    assert size <= counts.min() <= counts.max() < 2 * size


@pytest.mark.parametrize("size", [3, 10])
@pytest.mark.parametrize("shape", ["even", "bell", "skewed"])
def test_the_fast_groups_lose_at_most_five_percent_more(shape, size):
    rng = np.random.default_rng(4)
    draw = {"even": rng.random, "bell": rng.standard_normal, "skewed": lambda s: rng.lognormal(size=s)}[shape]
    positions = np.rint(1000 * draw((3000, 3))).astype(np.int64)
    points = positions / positions.std(axis=0)

    def within(group):
        counts = np.bincount(group)
        return sum(((c - (np.bincount(group, c) / counts)[group]) ** 2).sum() for c in points.T)

    assert within(fast_groups(positions, size)) <= 1.05 * within(mdav_groups(positions, size))
