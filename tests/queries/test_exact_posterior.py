"""The exact posterior against an enumeration of all possible databases."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from equivoc.errors import InputError
from equivoc.systems.range_sums import answered_blocks, bounds, range_sum_answers


def by_enumeration(confidential: np.ndarray, size: int, values: np.ndarray, prior: np.ndarray) -> np.ndarray:
    """Posterior of every record: all databases that give the same answers, weighted by the prior."""
    half, records = size // 2, len(confidential)
    databases = np.array(list(product(range(len(values)), repeat=records)))
    weights = prior[databases].prod(axis=1)
    for start in range(0, (records // half - 1) * half, half):
        answer = confidential[start : start + size].sum()
        weights = weights * np.isclose(values[databases][:, start : start + size].sum(axis=1), answer)
    posterior = np.array([[weights[column == v].sum() for v in range(len(values))] for column in databases.T])
    return posterior / weights.sum()


def found_for_records(
    confidential: np.ndarray, size: int, values: np.ndarray, prior: np.ndarray | None
) -> np.ndarray:
    answers = range_sum_answers(confidential, size=size)
    return posteriors(answers, size=size, records=len(confidential), values=values, prior=prior)


def posteriors(answers, *, size, records, values, prior=None) -> np.ndarray:
    """One row for each record, in query order."""
    found = answered_blocks(answers, size=size, records=records, values=values)
    return found.probabilities(prior)[found.row]


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_equals_enumeration_of_all_databases(data: st.DataObject) -> None:
    values = np.array(data.draw(st.sampled_from([[0, 1], [1, 2, 3], [10, 20, 50], [-0.2, 0.1, 0.4]])))
    records = data.draw(st.integers(1, 8 if len(values) == 2 else 7))
    size = data.draw(st.sampled_from([2, 4, 6]))
    confidential = values[
        data.draw(st.lists(st.integers(0, len(values) - 1), min_size=records, max_size=records))
    ]
    uniform = np.full(len(values), 1 / len(values))
    given_prior = data.draw(
        st.sampled_from([None, np.arange(1, len(values) + 1) / np.arange(1, len(values) + 1).sum()])
    )
    expected = by_enumeration(confidential, size, values, uniform if given_prior is None else given_prior)
    found = found_for_records(confidential, size, values, given_prior)
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_eight_records_a_hole_in_the_domain_and_a_prior() -> None:
    values, prior = np.array([10.0, 20.0, 40.0]), np.array([0.5, 0.3, 0.2])
    confidential = np.array([10.0, 40, 20, 20, 40, 40, 10, 10])
    found = found_for_records(confidential, 4, values, prior)
    expected = by_enumeration(confidential, 4, values, prior)
    np.testing.assert_allclose(found, expected, atol=1e-12)
    assert np.abs(np.roll(found, 1, axis=0) - expected).max() > 0.01, "must tell a shifted block apart"
    assert np.abs(found_for_records(confidential, 4, values, None) - expected).max() > 0.01, (
        "and another prior"
    )


def test_value_of_prior_zero_is_a_hole() -> None:
    confidential = np.array([0.0, 2, 2, 0, 0, 2])
    with_zero = found_for_records(confidential, 4, np.array([0.0, 1, 2]), np.array([0.5, 0.0, 0.5]))
    without = found_for_records(confidential, 4, np.array([0.0, 2]), None)
    np.testing.assert_allclose(with_zero[:, [0, 2]], without, atol=1e-12)
    np.testing.assert_array_equal(with_zero[:, 1], 0)


@pytest.mark.parametrize("size", [2, 8, 32])
@pytest.mark.parametrize("count", [25, 250])
def test_large_files_give_sound_rows(size: int, count: int) -> None:
    rng = np.random.default_rng(1)
    values = np.arange(1.0, count + 1) * 10
    confidential = rng.choice(values, 2500)
    found = found_for_records(confidential, size, values, None)
    np.testing.assert_allclose(found.sum(axis=1), 1, atol=1e-12)
    assert np.all(found >= 0)
    limits = bounds(confidential, size=size, low=values[0], high=values[-1])
    outside = (values < limits[:, :1]) | (values > limits[:, 1:])
    assert found[outside].max(initial=0) < 1e-12
    assert np.all(found[np.arange(2500), np.searchsorted(values, confidential)] > 0)


def test_posterior_is_calibrated() -> None:
    """Among (record, value) pairs that get about 30 %, about 30 % are right; not so for a neighbour's row."""
    rng = np.random.default_rng(2)
    values = np.arange(4.0)
    claimed, true = [], []
    for _ in range(300):
        confidential = rng.choice(values, 12)
        claimed.append(found_for_records(confidential, 4, values, None))
        true.append(confidential[:, None] == values)
    p, hit = np.array(claimed), np.array(true)

    def miss(probabilities: np.ndarray) -> float:
        near = (probabilities > 0.4) & (probabilities < 0.6)
        return abs(hit[near].mean() - probabilities[near].mean())

    assert miss(p) < 0.04
    assert miss(np.roll(p, 2, axis=1)) > 0.1


def test_rare_sums_of_many_records_do_not_underflow() -> None:
    # 150 records a block, all at one end: their sum has probability 250^-150, which float64 cannot hold.
    values = np.arange(250.0)
    found = posteriors([0.0, 0.0], size=300, records=450, values=values)
    np.testing.assert_array_equal(found[:, 0], 1)
    # And a prior so uneven that one stretch of sums spans more than float64 can hold: two 1s have 10^-400.
    uneven = posteriors([4.0, 2.0], size=4, records=6, values=[0.0, 1.0], prior=[1.0, 1e-200])
    np.testing.assert_array_equal(uneven[::2], [[0, 1], [0, 1], [1, 0]])


def test_records_in_no_query_keep_the_prior() -> None:
    prior = np.array([0.7, 0.3])
    found = found_for_records(np.array([0.0, 1, 1, 1, 0]), 4, np.array([0.0, 1]), prior)
    np.testing.assert_array_equal(found[4], prior)
    assert np.abs(found[:4] - prior).max() > 0.1
    np.testing.assert_array_equal(
        found_for_records(np.array([0.0, 1, 1]), 4, np.array([0.0, 1]), prior), [prior] * 3
    )


def test_one_value_only() -> None:
    np.testing.assert_array_equal(
        found_for_records(np.full(5, 7.0), 2, np.array([7.0]), None), np.ones((5, 1))
    )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"values": [0, 1, np.sqrt(2)]}, "round_to"),
        ({"values": [0, 1, 1]}, r"values\[2\] is 1"),
        ({"values": [0, np.nan]}, r"values\[1\] is nan"),
        ({"values": []}, "at least one"),
        ({"prior": [0.5, 0.4]}, "sums to 0.9"),
        ({"prior": [1.5, -0.5]}, r"prior\[1\] is -0.5"),
        ({"prior": [1.0]}, "one probability for each"),
        ({"answers": [1.5, 1]}, r"answers\[0\] is 1.5"),
        ({"answers": [np.nan, 1]}, r"answers\[0\] is nan"),
        ({"answers": [1]}, "2 independent sums"),
        ({"answers": [9, 1]}, "cannot come from these values"),
        ({"answers": [0, 0], "prior": [0.0, 1.0]}, "cannot come from these values"),
        ({"size": 3}, "size is 3"),
    ],
)
def test_bad_input_is_named(arguments: dict[str, object], said: str) -> None:
    call = {"answers": [1, 1], "size": 2, "records": 3, "values": [0, 1], **arguments}
    with pytest.raises(InputError, match=said):
        posteriors(call.pop("answers"), **call)


def test_too_fine_a_domain_is_rejected_before_it_uses_memory() -> None:
    values = np.append(np.arange(1000), 900_001)
    with pytest.raises(InputError, match="round_to"):
        answered_blocks(np.zeros(4), size=8, records=20, values=values)
