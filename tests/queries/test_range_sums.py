"""The closed form against linear programs, and what must hold of its bounds."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from equivoc.errors import InputError
from equivoc.systems.grids import candidate_span
from equivoc.systems.linear_bounds import linear_bounds
from equivoc.systems.range_sums import (
    block_layout,
    block_of_record,
    bounds,
    bounds_from_answers,
    range_sum_answers,
)


def query_matrix(records: int, size: int) -> np.ndarray:
    """The paper's queries written out: query i sums records i·l … (i+2)·l − 1."""
    half = size // 2
    queries = max(2 * records // size - 1, 0)
    matrix = np.zeros((queries, records))
    for query in range(queries):
        matrix[query, query * half : query * half + size] = 1
    return matrix


def by_linear_programs(matrix: np.ndarray, sums: np.ndarray, low: float, high: float) -> np.ndarray:
    records = matrix.shape[1]
    found = np.empty((records, 2))
    for record in range(records):
        for side, sign in enumerate((1.0, -1.0)):
            cost = np.zeros(records)
            cost[record] = sign
            solved = linprog(cost, A_eq=matrix, b_eq=sums, bounds=(low, high))
            assert solved.status == 0
            found[record, side] = sign * solved.fun
    return found


# Many values at the ends of the domain: only there do the intervals get narrow.
integer_files = st.lists(st.sampled_from([0, 0, 0, 1, 3, 7, 9, 10, 10, 10]), min_size=2, max_size=13)
sizes = st.sampled_from([2, 4, 6, 8])


@settings(max_examples=60, deadline=None)
@given(integer_files, sizes)
def test_equals_two_linear_programs_per_record(file: list[int], size: int) -> None:
    confidential = np.array(file, dtype=float)
    found = bounds(confidential, size=size, low=0, high=10)
    matrix = query_matrix(len(file), size)
    if len(matrix) == 0:
        np.testing.assert_array_equal(found, np.tile([0.0, 10.0], (len(file), 1)))
        return
    expected = by_linear_programs(matrix, matrix @ confidential, 0, 10)
    np.testing.assert_allclose(found, expected, atol=1e-7)


@settings(max_examples=100, deadline=None)
@given(integer_files, sizes)
def test_equals_bounds_for_the_same_queries_as_a_matrix(file: list[int], size: int) -> None:
    confidential = np.array(file, dtype=float)
    matrix = query_matrix(len(file), size)
    expected = linear_bounds(matrix, matrix @ confidential, low=0, high=10)
    np.testing.assert_array_equal(bounds(confidential, size=size, low=0, high=10), expected)


def test_the_oracle_detects_a_shifted_block() -> None:
    confidential = np.array([10.0, 10, 10, 9, 0, 0, 0, 1, 5, 5])
    right = bounds(confidential, size=4, low=0, high=10)
    matrix = query_matrix(10, 4)
    expected = by_linear_programs(matrix, matrix @ confidential, 0, 10)
    np.testing.assert_allclose(right, expected, atol=1e-7)
    assert np.abs(np.roll(right, 1, axis=0) - expected).max() > 1


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.floats(-1e6, 1e6, allow_subnormal=False), min_size=2, max_size=60),
    sizes,
)
def test_true_value_is_always_within_for_any_floats(file: list[float], size: int) -> None:
    confidential = np.array(file)
    found = bounds(confidential, size=size, low=confidential.min(), high=confidential.max())
    assert np.all(found[:, 0] <= confidential)
    assert np.all(confidential <= found[:, 1])


def test_rounded_sums_do_not_pass_for_decimals() -> None:
    # The rounded answers have nine places by chance; the values have not.
    confidential = np.array([0.0, -524289.0, -524287.1120289359])
    found = bounds(confidential, size=2, low=-524289.0, high=0.0)
    assert np.all((found[:, 0] <= confidential) & (confidential <= found[:, 1]))


@pytest.mark.parametrize("domain", [np.arange(25) * 0.1, np.linspace(0, 1, 7), np.arange(10, 260, 10) * 1.0])
@pytest.mark.parametrize("size", [2, 8])
def test_long_alternating_sums_lose_no_domain_value(domain: np.ndarray, size: int) -> None:
    rng = np.random.default_rng(5)
    rank = rng.integers(0, len(domain), 20_001)
    found = bounds(domain[rank], size=size, low=domain[0], high=domain[-1])
    exact = bounds(rank, size=size, low=0, high=len(domain) - 1)
    np.testing.assert_array_equal(candidate_span(domain, found)[:, 0], exact[:, 0])
    np.testing.assert_array_equal(candidate_span(domain, found)[:, 1], exact[:, 1] + 1)
    assert np.all((found[:, 0] <= domain[rank]) & (domain[rank] <= found[:, 1]))


def test_decimals_come_back_as_written() -> None:
    confidential = [0.3, 0.1, 0.7, 0.2, 0.1]
    np.testing.assert_array_equal(
        bounds(confidential, size=2, low=0.1, high=0.7), np.column_stack([confidential, confidential])
    )


def test_only_the_answers_matter() -> None:
    # Both files have block sums 10, 4, 12; the answers do not depend on the values within a block.
    one, other = [5, 5, 4, 0, 6, 6], [10, 0, 1, 3, 2, 10]
    np.testing.assert_array_equal(bounds(one, size=4, low=0, high=10), bounds(other, size=4, low=0, high=10))


def test_blocks_and_records_in_no_query() -> None:
    np.testing.assert_array_equal(block_of_record(11, size=6), [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3])
    found = bounds([9.0] * 11, size=6, low=1, high=9)
    np.testing.assert_array_equal(found[:9], np.full((9, 2), 9.0))
    np.testing.assert_array_equal(found[9:], [[1.0, 9.0], [1.0, 9.0]])


@pytest.mark.parametrize("records", [0, 1, 3])
def test_no_query_fits_so_nothing_is_learnt(records: int) -> None:
    assert block_layout(records, size=4) == (2, 0)
    assert len(range_sum_answers([5.0] * records, size=4)) == 0
    np.testing.assert_array_equal(
        bounds([5.0] * records, size=4, low=0, high=9), np.tile([0.0, 9.0], (records, 1))
    )


def test_exactly_one_query() -> None:
    np.testing.assert_array_equal(
        bounds([10, 10, 10, 8], size=4, low=0, high=10), np.tile([8.0, 10.0], (4, 1))
    )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"size": 3}, "size is 3"),
        ({"size": 0}, "size is 0"),
        ({"size": 2.5}, "size is 2.5"),
        ({"low": 2}, r"confidential\[0\] is 1"),
        ({"high": 2}, r"confidential\[2\] is 3"),
        ({"confidential": [1, np.nan, 2]}, r"confidential\[1\] is nan"),
        ({"confidential": [[1, 2]]}, "2 dimensions"),
        ({"low": -np.inf}, "must be finite"),
    ],
)
def test_bad_input_is_named(arguments: dict[str, object], said: str) -> None:
    call = {"confidential": [1, 2, 3], "size": 2, "low": 0, "high": 5, **arguments}
    with pytest.raises(InputError, match=said):
        bounds(call.pop("confidential"), **call)


def test_contradicting_answers_are_refused() -> None:
    with pytest.raises(InputError, match="contradict"):
        bounds_from_answers([20, 0], size=2, records=3, low=0, high=10)
    with pytest.raises(InputError, match="holds 1 sums"):
        bounds_from_answers([20], size=2, records=3, low=0, high=10)
