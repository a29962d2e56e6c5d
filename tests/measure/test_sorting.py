"""Sorting pairs by words, in buckets, on one thread or several, gives what a plain stable sort gives, bit for bit."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import accumulate

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.random import Generator
from numpy.typing import NDArray

from equivoc.errors import InputError
from equivoc.measure import parallel, sorting, sums
from equivoc.measure.distribution import Distribution
from equivoc.measure.sorting import sorted_pairs
from equivoc.measure.sums import running_sums, sum_and_least

Floats = NDArray[np.float64]
N = 3000


def some(rng: Generator, share: float, these: Floats, others: Floats) -> Floats:
    return np.where(rng.random(N) < share, these, others)


def ulps_above(start: float, steps: NDArray[np.int64]) -> Floats:
    return (np.full(N, start).view(np.int64) + steps).view(np.float64)


VALUES: dict[str, Callable[[Generator], Floats]] = {
    "random": lambda rng: rng.random(N),
    "negative": lambda rng: -rng.random(N),
    "normal": lambda rng: rng.standard_normal(N),
    "lognormal": lambda rng: rng.lognormal(0, 10, N),
    "Cauchy": lambda rng: rng.standard_cauchy(N),
    "integers": lambda rng: rng.integers(-(10**6), 10**6, N).astype(float),
    "few distinct": lambda rng: rng.integers(0, 7, N).astype(float),
    "all equal": lambda rng: np.full(N, 3.25),
    "zeros of both signs": lambda rng: some(rng, 0.5, np.full(N, -0.0), np.zeros(N)),
    "zeros of both signs among others": lambda rng: some(
        rng, 0.3, -rng.integers(0, 2, N) * 0.0, rng.random(N)
    ),
    "nearly sorted": lambda rng: np.sort(rng.random(N)) + some(rng, 0.01, rng.random(N), np.zeros(N)),
    "descending": lambda rng: np.sort(rng.random(N))[::-1].copy(),
    "tiny and huge": lambda rng: some(rng, 0.5, np.full(N, 1e-300), np.full(N, 1e300)) * (1 + rng.random(N)),
    "tiny and huge, close together": lambda rng: (
        some(rng, 0.5, np.full(N, 1e-300), np.full(N, 1e300)) * (1 + 1e-9 * rng.random(N))
    ),
    "smallest doubles": lambda rng: rng.integers(-50, 50, N) * 5e-324,
    "ascending with ties": lambda rng: np.sort(rng.integers(0, 500, N)).astype(float),
    "ascending but for the last": lambda rng: np.append(np.sort(rng.random(N - 1)), 0.5),
    "nearly all equal, the others at the other end": lambda rng: np.append(
        np.full(N - 2, -1e300), [1e300, -1e300]
    ),
    "one outlier": lambda rng: np.append(1e9 + rng.random(N - 1), 0.0),
    "outliers on both sides": lambda rng: np.concatenate(([1e300, -1e300], 1e9 + rng.random(N - 2))),
    "neighbours in every binade": lambda rng: np.ldexp(
        1 + rng.integers(0, 2**10, N) * 2.0**-52, rng.integers(-500, 500, N)
    ),
    "neighbours between outliers": lambda rng: np.concatenate(
        ([1e300, -1e300], ulps_above(1.0, rng.integers(0, 4096, N))[2:])
    ),
    "some neighbours between outliers": lambda rng: np.concatenate(
        ([1e300, -1e300], ulps_above(1.0, 600 * rng.integers(0, N, N))[2:])
    ),
}


@contextmanager
def kernels(*, bucket: int, cores: int) -> Iterator[None]:
    """Sorting by the kernels whatever the number of pairs, in buckets of that size, by so many threads."""
    with pytest.MonkeyPatch.context() as patch:
        for module in (sorting, sums):
            patch.setattr(module, "KERNELS_FROM", 0)
        patch.setattr(sorting, "BUCKET", bucket)
        for module in (sorting, parallel):
            patch.setattr(module, "cores", lambda: cores)
        yield


def assert_sorted_as_by_a_stable_sort(x: Floats, p: Floats) -> None:
    before = x.tobytes(), p.tobytes()
    pairs = sorted_pairs(x, p)
    order = np.argsort(x, kind="stable")
    assert pairs.values.tobytes() == x[order].tobytes()  # −0.0 is not 0.0 here
    assert pairs.probabilities.tobytes() == p[order].tobytes()
    assert (x.tobytes(), p.tobytes()) == before
    assert not pairs.distinct or len(set(x.tolist())) == len(x)
    assert pairs.least == p.min()
    assert pairs.total == pytest.approx(math.fsum(p.tolist()), rel=1e-13)


@pytest.mark.parametrize("cores", [1, 2, 3])
@pytest.mark.parametrize("bucket", [20, 700, 10**6])
@pytest.mark.parametrize("kind", VALUES)
def test_named_inputs(kind: str, bucket: int, cores: int) -> None:
    rng = np.random.default_rng(3)
    with kernels(bucket=bucket, cores=cores):
        assert_sorted_as_by_a_stable_sort(VALUES[kind](rng), rng.random(N))


@settings(max_examples=150)
@given(
    st.lists(
        st.floats(allow_nan=False, allow_infinity=False) | st.sampled_from([0.0, -0.0, 1.0]), min_size=1
    ),
    st.sampled_from([1, 4, 10**6]),
    st.sampled_from([1, 2]),
)
def test_any_doubles(values: list[float], bucket: int, cores: int) -> None:
    with kernels(bucket=bucket, cores=cores):
        assert_sorted_as_by_a_stable_sort(np.array(values), np.arange(len(values), dtype=float))


@pytest.mark.parametrize("kind", ["random", "few distinct", "Cauchy"])
def test_without_any_setting_changed(kind: str) -> None:
    rng = np.random.default_rng(4)
    x = np.concatenate([VALUES[kind](rng) for _ in range(60)])
    assert len(x) >= sorting.KERNELS_FROM
    assert_sorted_as_by_a_stable_sort(x, rng.random(len(x)))


@settings(max_examples=50)
@given(st.data(), st.sampled_from([1, 4]), st.sampled_from([1, 2]))
def test_equal_values_are_merged(data: st.DataObject, bucket: int, cores: int) -> None:
    values = data.draw(st.lists(st.sampled_from([-1.5, -0.0, 0.0, 2.0, 7.0, 1e9]), min_size=1, max_size=50))
    weights = np.array(
        data.draw(st.lists(st.integers(0, 9), min_size=len(values), max_size=len(values))), float
    )
    weights[0] += 1
    p = weights / weights.sum()
    expected = defaultdict(list)
    for value, probability in zip(values, p.tolist(), strict=True):
        if probability > 0:
            expected[value].append(probability)
    with kernels(bucket=bucket, cores=cores):
        merged = Distribution.of(values, p)
    assert merged.values.tolist() == sorted(expected)
    sums = [math.fsum(expected[value]) for value in sorted(expected)]
    assert merged.probabilities.tolist() == pytest.approx(sums, rel=1e-15)


@pytest.mark.parametrize("bad", [math.nan, math.copysign(math.nan, -1.0), math.inf, -math.inf])
@pytest.mark.parametrize("kind", ["random", "few distinct", "neighbours between outliers", "descending"])
@pytest.mark.parametrize("place", [0, 1700, N - 1])
def test_a_value_that_is_not_finite_is_found_after_sorting(place: int, kind: str, bad: float) -> None:
    x = VALUES[kind](np.random.default_rng(5))
    x[place] = bad
    with kernels(bucket=700, cores=2), pytest.raises(InputError, match=rf"values\[{place}\] is -?(nan|inf)"):
        Distribution.of(x, np.full(N, 1 / N))


@given(st.lists(st.floats(0, 1)))
def test_running_sums_are_added_from_the_left(p: list[float]) -> None:
    expected = list(accumulate(p, initial=0.0))
    assert running_sums(np.array(p)).tolist() == expected
    with kernels(bucket=1, cores=1):
        assert running_sums(np.array(p)).tolist() == expected
        assert running_sums(np.array(p[::-1])[::-1]).tolist() == expected


@pytest.mark.parametrize("cores", [1, 2])
@given(p=st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_the_sum_and_the_least_in_pieces(cores: int, p: list[float]) -> None:
    with kernels(bucket=1, cores=cores), pytest.MonkeyPatch.context() as patch:
        patch.setattr(sums, "PIECE", 7)
        total, least = sum_and_least(np.array(p))
    assert least == min(p)
    assert total == pytest.approx(math.fsum(p), rel=1e-14)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("place", [0, 6, 7, 19])
def test_a_sum_of_numbers_that_are_not_finite_is_not_finite(place: int, bad: float) -> None:
    p = np.full(20, 0.05)
    p[place] = bad
    with kernels(bucket=1, cores=2), pytest.MonkeyPatch.context() as patch:
        patch.setattr(sums, "PIECE", 7)
        assert not math.isfinite(sum_and_least(p)[0])
