"""The caller's mistakes: one InputError that names the argument, the position and the offending value; no warning."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import equivoc as eq

NAN, INF = math.nan, math.inf
X = [1.0, 2.0, 4.0]
P = [0.5, 0.25, 0.25]

DOORS: dict[str, Callable[[Any, Any], object]] = {
    "curve": lambda x, p: eq.curve(x, p),
    "certified curve": lambda x, p: eq.curve(x, p, tolerance=1e-2),
    "entropy_at": lambda x, p: eq.entropy_at(x, p, 1.0),
}


def refused(call: Callable[[], object]) -> str:
    """The message of the InputError that ``call`` raises."""
    with pytest.raises(eq.InputError) as caught:
        call()
    message = str(caught.value)
    assert message.endswith(".")
    assert "\n" not in message
    return message


def assert_names(message: str, *parts: str) -> None:
    for part in parts:
        assert part in message, message


BAD_VALUES = [
    ([1.0, NAN, 4.0], ("values[1]", "nan")),
    ([1.0, 2.0, INF], ("values[2]", "inf")),
    ([-INF, 2.0, INF], ("values[0]", "-inf")),
    ([1.0, "two", 4.0], ("values[1]", "'two'")),
    (["1", "2", "4"], ("values[0]", "'1'")),
    ([1.0, None, 4.0], ("values[1]", "None")),
    ([1.0, object, 4.0], ("values[1]", "object")),
    ([True, False, True], ("values[0]", "True")),
    ([1.0, 10**400, 4.0], ("values[1]", "1000")),
    ([1 + 1j, 2, 4], ("values[0]", "1+1j")),
    (np.array(["2020-01-01", "2021-01-01", "2022-01-01"], "datetime64[ns]"), ("values[0]", "2020-01-01")),
    ([[1.0, 2.0, 4.0]], ("values", "2 dimensions", "(1, 3)")),
    (np.ones((3, 1, 1)), ("values", "3 dimensions", "(3, 1, 1)")),
    ([[1.0], [2.0, 4.0], [3.0]], ("values", "ragged")),
    (None, ("values", "0 dimensions")),
    (5.0, ("values", "0 dimensions")),
    ("abc", ("values", "0 dimensions")),
    ([-1.7e308, 0.0, 1.7e308], ("values", "-1.7e+308", "1.7e+308")),
]

BAD_PROBABILITIES = [
    ([0.5, NAN, 0.5], ("probabilities[1]", "nan")),
    ([0.5, 0.5, INF], ("probabilities[2]", "inf")),
    ([INF, 0.5, -INF], ("probabilities[0]", "inf")),
    ([0.75, 0.5, -0.25], ("probabilities[2]", "-0.25")),
    ([0.5, 0.25, 0.2], ("probabilities", "sum to 0.95", "1")),
    ([0.5, 0.25, 0.25 + 2e-9], ("probabilities", "1.000000002")),
    ([1, 2, 3], ("probabilities", "sum to 6")),
    ([0.0, 0.0, 0.0], ("probabilities", "sum to 0")),
    ([1e308, 1e308, 1e308], ("probabilities", "sum to inf")),
    ([0.5, "a half", 0.0], ("probabilities[1]", "'a half'")),
    ([True, False, False], ("probabilities[0]", "True")),
    ([0.5, 0.5, None], ("probabilities[2]", "None")),
    ([0.5, 0.5], ("probabilities", "2", "values", "3")),
    ([[0.5, 0.25, 0.25]], ("probabilities", "2 dimensions")),
    ([[0.5], [0.25, 0.25]], ("probabilities", "ragged")),
    (None, ("probabilities", "0 dimensions")),
]


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize(("values", "names"), BAD_VALUES, ids=str)
def test_values(door: str, values: Any, names: tuple[str, ...]) -> None:
    assert_names(refused(lambda: DOORS[door](values, P)), *names)


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize(("probabilities", "names"), BAD_PROBABILITIES, ids=str)
def test_probabilities(door: str, probabilities: Any, names: tuple[str, ...]) -> None:
    assert_names(refused(lambda: DOORS[door](X, probabilities)), *names)


@pytest.mark.parametrize("door", DOORS)
def test_empty(door: str) -> None:
    assert_names(refused(lambda: DOORS[door]([], [])), "values", "empty")


def test_sums_within_a_billionth_pass() -> None:
    assert eq.curve(X, [0.5, 0.25, 0.25 + 9e-10]).h0 == pytest.approx(1.5, abs=1e-8)
    assert eq.curve([3], [1 + 9e-10]).h0 == 0.0
    assert eq.entropy_at([3, 4], [1 + 9e-10, 1e-300], 0) >= 0.0


def test_numbers_of_other_kinds_pass() -> None:
    expected = eq.curve([0.5, 2, 4], P).area
    for values in (
        [Fraction(1, 2), 2, 4],
        [Decimal("0.5"), Decimal(2), Decimal(4)],
        np.array([0.5, 2, 4], np.float32),
        np.array([0.5, 2, 4], np.longdouble),
        (0.5, 2, 4),
    ):
        assert eq.curve(values, P).area == expected
    assert eq.curve(np.array([1, 2, 4], np.uint8), P).area == eq.curve([1, 2, 4], P).area
    assert eq.curve([2**70, 2**70 + 2**60, 0], P).eps_max == 2**70 + 2**60
    assert eq.curve([1.7e308, 1.7e308, 1.7e308], P).area == 0.0


BAD_EPS = [
    (-1, ("eps[0]", "-1")),
    (-1e-300, ("eps[0]", "-1e-300")),
    (NAN, ("eps[0]", "nan")),
    (INF, ("eps[0]", "inf")),
    ("wide", ("eps[0]", "'wide'")),
    (None, ("eps[0]", "None")),
    (True, ("eps[0]", "True")),
    ([[1.0], [2.0]], ("eps", "2 dimensions")),
    ([[1.0], [2.0, 3.0]], ("eps", "ragged")),
]

ASKED_ONE: dict[str, Callable[[Any], object]] = {
    "entropy_at": lambda eps: eq.entropy_at(X, P, eps),
    "windows": lambda eps: eq.curve(X, P).windows(eps),
    "curves.at": lambda eps: eq.curves(X, [P]).at(eps),
    "curves.hit": lambda eps: eq.curves(X, [P]).hit(eps),
    "curves.best_windows": lambda eps: eq.curves(X, [P]).best_windows(eps),
}
ASKED_SEVERAL: dict[str, Callable[[Any], object]] = {
    "curve()": lambda eps: eq.curve(X, P)(eps),
    "certified curve()": lambda eps: eq.curve(X, P, tolerance=0.1)(eps),
    "hit": lambda eps: eq.curve(X, P).hit(eps),
}


@pytest.mark.parametrize("door", [*ASKED_ONE, *ASKED_SEVERAL])
@pytest.mark.parametrize(("eps", "names"), BAD_EPS, ids=str)
def test_eps(door: str, eps: Any, names: tuple[str, ...]) -> None:
    call = (ASKED_ONE | ASKED_SEVERAL)[door]
    assert_names(refused(lambda: call(eps)), *names)


@pytest.mark.parametrize("door", ASKED_ONE)
@pytest.mark.parametrize("eps", [[1.0, 2.0], []])
def test_several_eps_where_one_is_asked(door: str, eps: list[float]) -> None:
    assert_names(refused(lambda: ASKED_ONE[door](eps)), "eps", str(len(eps)))


@pytest.mark.parametrize("door", ASKED_SEVERAL)
def test_position_among_several_eps(door: str) -> None:
    assert_names(refused(lambda: ASKED_SEVERAL[door]([1.0, 2.0, -3.0])), "eps[2]", "-3")
    assert_names(refused(lambda: ASKED_SEVERAL[door]([1.0, NAN])), "eps[1]", "nan")


@pytest.mark.parametrize("tolerance", [-1e-3, 1.0, 2, NAN, INF, "small", None, [0.1, 0.2]])
def test_tolerance(tolerance: Any) -> None:
    shown = "small" if tolerance == "small" else str(tolerance)
    assert_names(refused(lambda: eq.curve(X, P, tolerance=tolerance)), "tolerance", shown)
    if tolerance is not None:  # that asks for estimates
        assert_names(refused(lambda: eq.curves(X, [P], tolerance=tolerance)), "tolerance", shown)


def test_many_rows_cannot_be_asked_for_exactness() -> None:
    assert_names(refused(lambda: eq.curves(X, [P], tolerance=0.0)), "tolerance", "0")


GOOD = [0.5, 0.25, 0.25]
BAD_MATRICES = [
    ([GOOD, [0.5, NAN, 0.5]], ("matrix row 1, column 1", "nan")),
    ([GOOD, GOOD, [0.5, 0.5, INF]], ("matrix row 2, column 2", "inf")),
    ([[INF, 0.5, -INF]], ("matrix row 0, column 0", "inf")),
    ([GOOD, [1.5, -0.5, 0.0]], ("matrix row 1, column 1", "-0.5")),
    ([GOOD, [0.5, 0.25, 0.2]], ("matrix row 1", "0.95")),
    ([GOOD, [1e308, 1e308, 0.0]], ("matrix row 1", "inf")),
    ([GOOD, [0.0, 0.0, 0.0]], ("matrix row 1", "sums to 0,")),
    ([GOOD, [0.5, 0.5]], ("matrix", "ragged")),
    ([[0.5, 0.5]], ("matrix", "(1, 2)", "values", "3")),
    (GOOD, ("matrix", "(3,)")),
    ([], ("matrix", "(0,)")),
    (np.empty((0, 3)), ("matrix", "no rows")),
    ([GOOD, [0.5, "half", 0.0]], ("matrix[1][1]", "'half'")),
    ([GOOD, [0.5, None, 0.5]], ("matrix[1][1]", "None")),
    ([[True, False, False]], ("matrix row 0, column 0", "True")),
    (None, ("matrix", "()")),
    ("abc", ("matrix", "()")),
    (np.ones((1, 3, 1)) / 3, ("matrix", "(1, 3, 1)")),
]


@pytest.mark.parametrize(("matrix", "names"), BAD_MATRICES, ids=str)
def test_matrix(matrix: Any, names: tuple[str, ...]) -> None:
    assert_names(refused(lambda: eq.curves(X, matrix)), *names)


@pytest.mark.parametrize(("matrix", "names"), BAD_MATRICES[:7], ids=str)
@pytest.mark.parametrize("kind", [sp.csr_array, sp.csc_array, sp.coo_array])
def test_sparse_matrix(kind: Callable[[Any], Any], matrix: Any, names: tuple[str, ...]) -> None:
    assert_names(refused(lambda: eq.curves(X, kind(np.array(matrix)))), *names)


def test_sparse_matrix_without_any_entry_or_of_no_numbers() -> None:
    assert_names(refused(lambda: eq.curves(X, sp.csr_array((2, 3)))), "matrix row 0", "zero")
    assert_names(refused(lambda: eq.curves(X, sp.csr_array(np.eye(3) > 0))), "matrix", "bool")
    assert_names(refused(lambda: eq.curves(X, sp.csr_array(np.eye(4)))), "matrix", "(4, 4)", "values", "3")


@pytest.mark.parametrize("kind", [np.array, sp.csr_array])
def test_the_column_is_the_callers_even_where_the_grid_is_not_sorted(kind: Callable[[Any], Any]) -> None:
    matrix = kind([[0.5, 0.5, 0.0, 0.0], [1.25, 0.0, 0.0, -0.25]])
    assert_names(refused(lambda: eq.curves([9, 7, 7, 1], matrix)), "matrix row 1, column 3", "-0.25")


@pytest.mark.parametrize(
    ("row", "names"),
    [
        ([1.0, 2.5, 0.0], ("matrix row 1, column 1", "2.5", "whole")),
        ([1, -2, 3], ("matrix row 1, column 1", "-2")),
        ([1.0, NAN, 0.0], ("matrix row 1, column 1", "nan")),
        ([1.0, 0.0, INF], ("matrix row 1, column 2", "inf")),
        ([1.0, 0.0, 1e30], ("matrix row 1, column 2", "1e+30")),
        ([0, 0, 0], ("matrix row 1", "zero counts")),
    ],
    ids=str,
)
@pytest.mark.parametrize("kind", [np.array, sp.csr_array])
def test_counts(kind: Callable[[Any], Any], row: list[float], names: tuple[str, ...]) -> None:
    assert_names(refused(lambda: eq.curves(X, kind([[1, 2, 3], row]), counts=True)), *names)


@pytest.mark.parametrize(("values", "names"), BAD_VALUES, ids=str)
def test_values_of_many(values: Any, names: tuple[str, ...]) -> None:
    assert_names(refused(lambda: eq.curves(values, [P])), *names)


def test_empty_values_of_many() -> None:
    assert_names(refused(lambda: eq.curves([], [[]])), "values", "empty")


def test_input_error_is_a_value_error() -> None:
    assert issubclass(eq.InputError, ValueError)
