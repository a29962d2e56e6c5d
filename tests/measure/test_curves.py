"""curves: many posteriors over one grid, by every path, against curve on each row."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import equivoc as eq
from equivoc.measure import curves as curves_module
from equivoc.measure import lane_kernels as equal_row_kernels
from equivoc.measure import lanes as dense_rows
from tests.measure.oracles import PlainRecurrence

Matrix = NDArray[np.float64]

KINDS = {
    "dense": np.asarray,
    "csr": sp.csr_array,
    "csc": sp.csc_array,
    "coo": sp.coo_array,
    "csr_matrix": sp.csr_matrix,
    "fortran": np.asfortranarray,
}


def random_rows(seed: int, rows: int, n: int, *, filled: float = 1.0) -> Matrix:
    rng = np.random.default_rng(seed)
    weights = rng.random((rows, n)) * (rng.random((rows, n)) < filled)
    weights[np.arange(rows), rng.integers(0, n, rows)] += 0.5
    return weights / weights.sum(axis=1, keepdims=True)


def assert_as_single_curves(
    many: eq.Curves, values: Any, matrix: Matrix, tolerances: tuple[float, ...] = (0, 1, 2.5)
) -> None:
    singles = [eq.curve(values, row) for row in matrix]
    assert len(many) == len(singles)
    assert many.h0 == pytest.approx([c.h0 for c in singles], abs=1e-11)
    assert many.area == pytest.approx([c.area for c in singles], rel=1e-10)
    assert many.eps_max.tolist() == [c.eps_max for c in singles]
    for eps in tolerances:
        assert many.at(eps) == pytest.approx([c(eps) for c in singles], abs=1e-11)
        assert many.hit(eps) == pytest.approx([c.hit(eps) for c in singles], abs=1e-13)
    expected = np.array([c(many.epsilons) for c in singles])
    assert many.entropies == pytest.approx(expected, abs=1e-11)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("filled", [1.0, 0.15])
@pytest.mark.parametrize("values", [np.arange(9), np.arange(9)[::-1] * 1.5, [4, 1, 1, 9, 4, 2, 0, 7, 30]])
def test_every_kind_of_matrix(kind: str, filled: float, values: Any) -> None:
    matrix = random_rows(3, 21, 9, filled=filled)
    assert_as_single_curves(eq.curves(values, KINDS[kind](matrix)), values, matrix)


def test_sparse_with_repeated_and_explicitly_zero_entries() -> None:
    repeated = sp.coo_array(([0.25, 0.25, 0.5, 0.0, 1.0], ([0, 0, 0, 1, 1], [2, 2, 0, 1, 3])), shape=(2, 4))
    raw = sp.csr_array((np.array([0.5, 0.25, 0.25, 1.0, 0.0]), [0, 2, 2, 3, 1], [0, 3, 5]), shape=(2, 4))
    before = raw.data.copy(), raw.indices.copy()
    matrix = np.array([[0.5, 0, 0.5, 0], [0, 0, 0, 1.0]])
    for given_matrix in (repeated, raw):
        assert_as_single_curves(eq.curves([1, 2, 5, 9], given_matrix), [1, 2, 5, 9], matrix)
    assert (raw.data.tolist(), raw.indices.tolist()) == (before[0].tolist(), before[1].tolist())


@pytest.mark.parametrize("rows", [1, 63, 64, 65, 130])
@pytest.mark.parametrize("n", [2, 3, 5, 8, 17])
def test_rows_side_by_side_and_one_by_one_agree(rows: int, n: int) -> None:
    matrix = random_rows(rows * 100 + n, rows, n)
    if n > 2:
        matrix[::3, 1] = 0.0
        matrix /= matrix.sum(axis=1, keepdims=True)
    dense, sparse = eq.curves(np.arange(n), matrix), eq.curves(np.arange(n), sp.csr_array(matrix))
    assert dense._lanes
    assert not sparse._lanes
    assert dense.h0 == pytest.approx(sparse.h0, abs=1e-12)
    assert dense.area == pytest.approx(sparse.area, rel=1e-11)
    assert dense.eps_max.tolist() == sparse.eps_max.tolist()
    assert dense.entropies == pytest.approx(sparse.entropies, abs=1e-12)
    some = [0, rows // 2, rows - 1]
    for r in some:
        oracle = PlainRecurrence(list(range(n)), matrix[r].tolist())
        assert dense.entropies[r] == pytest.approx([oracle.entropy(e) for e in dense.epsilons], abs=1e-12)
        assert dense.area[r] == pytest.approx(oracle.area(), rel=1e-12)


def test_side_by_side_on_an_uneven_grid() -> None:
    values = np.array([0, 1, 4, 9, 11.0])  # ten differences: within four times the grid
    matrix = random_rows(1, 70, 5)
    many = eq.curves(values, matrix)
    assert many._lanes
    assert_as_single_curves(many, values, matrix)


@pytest.mark.parametrize("n", [4, 12, 30])
def test_counts_equal_probabilities(n: int) -> None:
    rng = np.random.default_rng(n)
    counts = rng.integers(0, 40, (77, n))
    counts[:, 0] += 1
    shares = counts / counts.sum(axis=1, keepdims=True)
    values = np.arange(n) * 10
    for kind in (np.asarray, sp.csr_array, lambda m: m.astype(np.float64), lambda m: m.astype(np.uint8)):
        many = eq.curves(values, kind(counts), counts=True)
        assert_as_single_curves(many, values, shares, (0, 10, 35))


def test_one_person_per_class() -> None:
    many = eq.curves([10, 20, 30], np.eye(3, dtype=int), counts=True)
    assert many.h0.tolist() == many.area.tolist() == many.eps_max.tolist() == [0, 0, 0]
    assert many.entropies.tolist() == [[0, 0, 0]] * 3


@settings(max_examples=40)
@given(
    st.lists(st.lists(st.integers(0, 3), min_size=5, max_size=5).filter(any), min_size=1, max_size=12),
    st.lists(st.sampled_from([0.0, 0.1, 0.2, 0.3, 1.5, 8.0]), min_size=5, max_size=5),
    st.booleans(),
)
def test_few_counts_on_repeated_values(rows: list[list[int]], values: list[float], sparse: bool) -> None:
    counts = np.array(rows)
    shares = counts / counts.sum(axis=1, keepdims=True)
    many = eq.curves(values, sp.csr_array(counts) if sparse else counts, counts=True)
    assert_as_single_curves(many, values, shares, (0, 0.1, 0.2, 1.4))


def test_equal_rows_are_computed_once_and_all_answered() -> None:
    three = random_rows(2, 3, 6)
    pick = np.array([0, 1, 0, 2, 2, 1, 0])
    for kind in (np.asarray, sp.csr_array):
        many = eq.curves(np.arange(6), kind(three[pick]))
        assert len(many._distinct) == 3
        assert_as_single_curves(many, np.arange(6), three[pick])


@pytest.mark.parametrize("kind", ["dense", "csr"])
def test_colliding_fingerprints(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def constant(weights: Any, positions: Any, bounds: Any, out: Any) -> None:
        out[:] = 7

    monkeypatch.setattr(equal_row_kernels, "row_hashes", constant)
    matrix = random_rows(4, 10, 6, filled=0.5)[[0, 1, 2, 0, 3, 4, 2, 0]]
    assert_as_single_curves(eq.curves(np.arange(6), KINDS[kind](matrix)), np.arange(6), matrix)


def test_rows_with_the_same_weights_at_other_values_are_not_equal() -> None:
    matrix = np.array([[0.5, 0.5, 0, 0], [0.5, 0, 0, 0.5], [0, 0.5, 0.5, 0], [0, 0, 0.5, 0.5]])
    for kind in (np.asarray, sp.csr_array):
        assert eq.curves([0, 1, 3, 7], kind(matrix)).area.tolist() == [1, 7, 2, 4]


def test_large_support_is_certified() -> None:
    rng = np.random.default_rng(9)
    values = np.sort(rng.random(1200)) * 100
    matrix = np.zeros((3, 1200))
    matrix[0] = rng.dirichlet(np.ones(1200))
    matrix[1, :1100] = rng.dirichlet(np.ones(1100))
    matrix[2, :256] = rng.dirichlet(np.ones(256))
    exact = np.array([eq.curve(values, row).area for row in matrix])
    for kind in (np.asarray, sp.csr_array):
        many = eq.curves(values, kind(matrix))
        low, high = many.area_bounds.T
        assert (low <= exact * (1 + 1e-12)).all()
        assert (exact <= high * (1 + 1e-12)).all()
        assert (high - low <= 1e-3 * low).all()
        assert (high > low).tolist() == [True, True, False]
        assert many.area[2] == pytest.approx(exact[2], rel=1e-11)
        for eps in (0.0, 0.7, 30.0):
            single = [eq.entropy_at(values, row, eps) for row in matrix]
            assert many.at(eps) == pytest.approx(single, abs=1e-11)
    finer = eq.curves(values, matrix, tolerance=1e-4).area_bounds
    assert (finer[:, 1] - finer[:, 0] <= 1e-4 * finer[:, 0]).all()


def test_of_whole_numbers_the_area_is_exact_however_many() -> None:
    """1,500 values in steps of 10: H can change at multiples of 10 only."""
    values = np.arange(1500) * 10.0
    p = np.random.default_rng(4).dirichlet(np.ones(1500))
    expected = 10 * sum(eq.entropy_at(values, p, 10.0 * k) for k in range(1500))
    low, high = eq.curve(values, p, tolerance=1e-3).area_bounds
    assert low == high == pytest.approx(expected, rel=1e-11)
    assert eq.curves(values, [p, p[::-1]]).area_bounds == pytest.approx(expected, rel=1e-11)


def test_grid_of_many_differences_is_tabulated_at_even_steps() -> None:
    rng = np.random.default_rng(3)
    values = np.sort(rng.random(120)) * 7 - 2
    matrix = np.zeros((6, 120))
    for row in matrix:
        row[rng.choice(120, 9, replace=False)] = rng.dirichlet(np.ones(9))
    many = eq.curves(values, sp.csr_array(matrix))
    assert many.epsilons == pytest.approx(np.linspace(0, values[-1] - values[0], 65))
    assert many.entropies.shape == (6, 65)
    assert_as_single_curves(many, values, matrix)
    assert (many.area_bounds[:, 0] == many.area_bounds[:, 1]).all()


@pytest.mark.parametrize(("n", "expected"), [(91, 4096), (92, 65)])
def test_where_the_table_turns_to_even_steps(n: int, expected: int) -> None:
    """91 values have 4,095 differences above 0, and with 0 just fit; 92 have 4,186."""
    values = np.sort(np.random.default_rng(n).random(n))
    assert len(eq.curves(values, np.full((1, n), 1 / n)).epsilons) == expected


def test_long_even_grid_keeps_its_differences() -> None:
    values = np.arange(3000) * 0.1
    row = np.zeros(3000)
    row[[3, 700, 2999]] = [0.5, 0.25, 0.25]
    many = eq.curves(values, sp.csr_array(row[None]))
    assert len(many.epsilons) == 3000
    c = eq.curve(values, row)
    assert many.entropies[0] == pytest.approx(c(many.epsilons), abs=1e-12)


def test_best_windows() -> None:
    many = eq.curves([1, 3, 8, 9], [[0.15, 0.1, 0.7, 0.05], [0.4, 0.4, 0.1, 0.1]])
    mass, low, high = many.best_windows(2)
    assert mass == pytest.approx([0.75, 0.8])
    assert (low.tolist(), high.tolist()) == ([8, 1], [9, 3])


def test_many_pieces_on_several_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(curves_module, "PIECE", 16)
    monkeypatch.setattr(dense_rows, "PIECE", 16)
    matrix = random_rows(11, 200, 7, filled=0.6)
    for kind in (np.asarray, sp.csr_array):
        assert_as_single_curves(eq.curves(np.arange(7), kind(matrix)), np.arange(7), matrix)


def test_one_value_is_certain_although_its_probability_is_just_short_of_one():
    """1/6 + 2/3 + 1/6 is not 1 in doubles; a single remaining value is certain nevertheless."""
    short = 1 / 6 + 2 / 3 + 1 / 6
    assert short < 1
    for rows in ([[1 / 6, 2 / 3, 0, 1 / 6]], sp.csr_array([[1 / 6, 2 / 3, 0, 1 / 6]])):
        many = eq.curves([1, 1, 0, 1], rows)
        assert (many.h0, many.area, many.eps_max) == ([0], [0], [0])
        assert not many.entropies.any()
    many = eq.curves([1, 5], [[short, 0], [0.5, 0.5]])
    assert many.h0.tolist() == [0, 1]
    assert many.area.tolist() == [0, 4]
    assert many.entropies.tolist() == [[0, 0], [1, 0]]


def test_a_wide_grid_does_not_multiply_rounding() -> None:
    """Five sixths at 0, one at 1, and a distant value of probability 0: H is 0 from ε = 1 on."""
    row = [5 * (1 / 6), 1 / 6, 0.0]
    for tiny in (0.0, 2e-16, -2e-16):
        many = eq.curves([0.0, 1.0, 1e9], [[row[0] + tiny, row[1], row[2]]])
        assert many.area[0] == pytest.approx(0.65002242164835, rel=1e-13)
