"""Bounds for any set of sums, against one scipy program for each bound."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import linprog

from equivoc.errors import InputError
from equivoc.systems import sum_systems as simplex
from equivoc.systems.linear_bounds import linear_bounds


def by_scipy(matrix: np.ndarray, sums: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    found = np.empty((matrix.shape[1], 2))
    for record in range(matrix.shape[1]):
        for side, sign in enumerate((1.0, -1.0)):
            cost = np.zeros(matrix.shape[1])
            cost[record] = sign
            solved = linprog(cost, A_eq=matrix, b_eq=sums, bounds=np.column_stack([low, high]))
            assert solved.status == 0
            found[record, side] = sign * solved.fun
    return found


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), density=st.sampled_from([0.2, 0.5, 0.8]), ends=st.booleans())
def test_equals_scipy_on_random_queries(seed: int, density: float, ends: bool) -> None:
    rng = np.random.default_rng(seed)
    queries, records = rng.integers(1, 9), rng.integers(1, 13)
    matrix = (rng.random((queries, records)) < density).astype(float)
    low = rng.integers(-3, 1, records).astype(float)
    high = low + rng.integers(0, 11, records)
    true = rng.choice([low, high], axis=0) if ends else low + (high - low) * rng.random(records)
    found = linear_bounds(matrix, matrix @ true, low=low, high=high)
    np.testing.assert_allclose(found, by_scipy(matrix, matrix @ true, low, high), atol=1e-6)
    assert np.all((found[:, 0] <= true) & (true <= found[:, 1]))


# Three pairs in a ring: no single sum gives a bound, so bound propagation is not enough.
RING = np.array([[1, 1, 0], [0, 1, 1], [1, 0, 1]])


def test_a_ring_of_pairs_is_solved_exactly() -> None:
    np.testing.assert_array_equal(linear_bounds(RING, [9, 11, 10], low=0, high=10), [[4, 4], [5, 5], [6, 6]])


def test_bounds_between_the_decimals_are_moved_outwards() -> None:
    found = linear_bounds(RING, [9, 10, 10], low=0, high=10)
    np.testing.assert_allclose(found, [[4.5, 4.5], [4.5, 4.5], [5.5, 5.5]], atol=1e-6)
    assert np.all(found[:, 0] < [4.5, 4.5, 5.5])
    assert np.all(found[:, 1] > [4.5, 4.5, 5.5])


def test_sparse_dense_and_boolean_agree() -> None:
    rng = np.random.default_rng(3)
    matrix = rng.random((6, 10)) < 0.4
    sums = matrix @ rng.integers(0, 10, 10)
    dense = linear_bounds(matrix.astype(int), sums, low=0, high=9)
    for same in (matrix, sparse.csr_array(matrix), sparse.coo_matrix(matrix.astype(float)), matrix.tolist()):
        np.testing.assert_array_equal(linear_bounds(same, sums, low=0, high=9), dense)


def test_records_in_no_query_keep_the_box() -> None:
    found = linear_bounds([[1, 0, 1]], [20], low=[0, -5, 0], high=[10, 7, 10])
    np.testing.assert_array_equal(found, [[10, 10], [-5, 7], [10, 10]])
    np.testing.assert_array_equal(linear_bounds(np.zeros((0, 2)), [], low=1, high=3), [[1, 3], [1, 3]])


def test_records_in_the_same_queries_with_different_boxes() -> None:
    # x + y = 12, x ≤ 3, y ≤ 10.
    np.testing.assert_array_equal(linear_bounds([[1, 1]], [12], low=0, high=[3, 10]), [[2, 3], [9, 10]])


def test_values_far_from_zero_and_close_together() -> None:
    rng = np.random.default_rng(8)
    matrix = (rng.random((60, 30)) < 0.3).astype(float)
    true = 1e9 + rng.random(30)
    found = linear_bounds(matrix, matrix @ true, low=1e9, high=1e9 + 1)
    assert np.all((found[:, 0] <= true) & (true <= found[:, 1]))
    assert (found[:, 1] - found[:, 0]).min() < 0.9


@pytest.fixture
def programs(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Counts the programs that are solved."""
    solved: list[int] = []
    plain = simplex._solve

    def counting(solver: object) -> np.ndarray:
        solved.append(1)
        return plain(solver)

    monkeypatch.setattr(simplex, "_solve", counting)
    return solved


def test_a_tree_of_sums_needs_no_program(programs: list[int]) -> None:
    chain = sparse.csr_array(np.kron(np.eye(40, 41) + np.eye(40, 41, 1), np.ones((1, 3))))
    # The sum of the first two blocks fixes both; this must be propagated along the whole chain.
    true = np.repeat([27, 27] + [12] * 39, 3) / 3
    found = linear_bounds(chain, chain @ true, low=0, high=9)
    np.testing.assert_array_equal(found[-3:], np.tile([0, 9], (3, 1)))
    np.testing.assert_array_equal(found[:6], np.full((6, 2), 9))
    assert not programs
    linear_bounds(RING, [9, 11, 10], low=0, high=10)
    assert programs


def test_few_programs_remain(programs: list[int]) -> None:
    rng = np.random.default_rng(4)
    matrix = (rng.random((20, 60)) < 0.2).astype(float)
    linear_bounds(matrix, matrix @ rng.integers(1, 26, 60), low=1, high=25)
    assert 0 < len(programs) < 60


@pytest.mark.parametrize(
    ("matrix", "sums"),
    [
        ([[1, 1]], [21]),
        ([[1, 1]], [-1]),
        ([[1, 1], [1, 1]], [5, 6]),
        ([[0, 0]], [1]),
        (RING, [1, 1, 9]),
        # Every sum and pair of sums can hold; all of them cannot: only the solver sees it.
        (np.vstack([np.kron(np.eye(2), RING), [1, 1, 1, 1, 1, 1]]), [10, 10, 10, 10, 10, 10, 31]),
    ],
)
def test_impossible_sums_are_refused(matrix: np.ndarray, sums: list[float]) -> None:
    with pytest.raises(InputError, match="no values between low and high have these sums"):
        linear_bounds(matrix, sums, low=0, high=10)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"matrix": [[1, 2], [0, 1]]}, r"matrix\[0, 1\] is 2"),
        ({"matrix": [[1, 0], [np.nan, 1]]}, r"matrix\[1, 0\] is nan"),
        ({"matrix": sparse.csr_array([[0, 1], [0, -1]])}, r"matrix\[1, 1\] is -1"),
        ({"matrix": [1, 0]}, "1 dimensions"),
        ({"matrix": [[1, 0], [1]]}, "rectangle"),
        ({"matrix": [["a", "b"]]}, "rectangle"),
        ({"sums": [1]}, r"sums has shape \(1,\)"),
        ({"sums": [1, np.nan]}, r"sums\[1\] is nan"),
        ({"low": [0, 0, 0]}, r"low has shape \(3,\)"),
        ({"high": np.inf}, "high is inf"),
        ({"low": [0, 11]}, r"low\[1\] is 11, above high\[1\], 10"),
    ],
)
def test_bad_input_is_named(arguments: dict[str, object], said: str) -> None:
    call = {"matrix": [[1, 1], [0, 1]], "sums": [3, 2], "low": 0, "high": 10, **arguments}
    with pytest.raises(InputError, match=said):
        linear_bounds(call.pop("matrix"), call.pop("sums"), **call)
