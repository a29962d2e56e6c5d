"""Individual risk: a printed table, and E[1/F] summed over the negative binomial distribution."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad

from equivoc.errors import InputError
from equivoc.models.of_file.identification import individual_risk
from tests.models.tables import households, microdata


def risk(f: int, population: float) -> float:
    """The risk of a class of f records that stand for ``population`` people."""
    people = microdata([(0, 1)] * f, weights=[population / f] * f)
    return individual_risk(people).highest


def expected_inverse(f: int, p: float) -> float:
    """Σ_(F ≥ f) 1/F · C(F−1, f−1) p^f (1−p)^(F−f), term by term until the rest is below 1e-14 of it."""
    log_choose, total, size = 0.0, 0.0, f
    while True:
        term = math.exp(log_choose + f * math.log(p) + (size - f) * math.log1p(-p)) / size
        total += term
        if size > 2 * f / p and term < 1e-16 * total:
            return total
        log_choose += math.log(size) - math.log(size - f + 1)
        size += 1


def test_the_households_of_the_practice_guide() -> None:
    """Table 4.1 of the guide, and its global risk of 0.01582."""
    found = individual_risk(households())
    printed = [0.0054, 0.0054, 0.0251, 0.0126, 0.0282, 0.0126, 0.0290, 0.0251, 0.0074, 0.0074]
    assert found.risk.round(4).tolist() == printed
    assert round(found.share, 5) == 0.01582
    assert found.expected == pytest.approx(found.risk.sum())
    assert found.highest == found.risk.max()


@pytest.mark.parametrize("p", [0.9, 0.5, 0.3, 0.02])
def test_closed_forms_of_one_two_and_three_records(p: float) -> None:
    q, log = 1 - p, math.log(1 / p)
    assert risk(1, 1 / p) == pytest.approx(p / q * log)
    assert risk(2, 2 / p) == pytest.approx(p / q - (p / q) ** 2 * log)
    assert risk(3, 3 / p) == pytest.approx(p / (2 * q) - (p / q) ** 2 + (p / q) ** 3 * log)


@pytest.mark.parametrize("f", [1, 2, 3, 4, 10, 31, 32, 33, 34, 60, 200])
@pytest.mark.parametrize("p", [0.999, 0.7, 0.501, 0.5, 0.499, 0.2, 0.01])
def test_against_the_sum_over_the_population(f: int, p: float) -> None:
    assert risk(f, f / p) == pytest.approx(expected_inverse(f, p), rel=1e-9)


@given(st.integers(1, 60), st.floats(1e-6, 1.0))
def test_against_the_integral(f: int, p: float) -> None:
    """p · ∫ (1−t)^(f−1) / (1 − q·t) dt, with t = 1 − e^(−s) so that no end of the range is sharp.

    Each of the five pieces may be off by 1.5e-8, and the whole is at least 1/f: 4.5e-6 of it.
    """
    q = 1 - p

    def slope(s: float) -> float:
        return math.exp(-f * s) / (p + q * math.exp(-s))

    whole = sum(quad(slope, a, b, limit=200)[0] for a, b in [(0, 1), (1, 5), (5, 15), (15, 40), (40, 800)])
    assert risk(f, f / p) == pytest.approx(p * whole, rel=1e-5)


@given(st.integers(1, 3), st.floats(1e-15, 1e-3))
def test_a_nearly_complete_class_does_not_cancel(f: int, q: float) -> None:
    """r = (1 − q)/f · (1 + q/(f+1) + …): the closed forms would lose all digits here.

    The next term, 6q³/((f+1)(f+2)(f+3)), is below 3e-10.
    """
    series = (1 - q) / f * (1 + q / (f + 1) + 2 * q**2 / ((f + 1) * (f + 2)))
    assert risk(f, f / (1 - q)) == pytest.approx(series, rel=1e-8)


def test_a_complete_class_is_as_risky_as_its_size_says() -> None:
    assert risk(4, 4) == 0.25
    # The weights of one class sum to less than its records, those of all to more.
    people = microdata([(0, 1), (0, 1), (1, 1)], weights=[0.5, 0.5, 100])
    assert individual_risk(people).risk[:2].tolist() == [0.5, 0.5]


def test_more_people_behind_a_class_are_safer() -> None:
    risks = [risk(5, population) for population in (5, 5.1, 8, 10, 11, 50, 1e3, 1e6, 1e9)]
    assert np.all(np.diff(risks) < 0)


def test_weights_are_needed_and_must_sum_to_a_population() -> None:
    with pytest.raises(InputError, match=r"the people have no survey weights; name their column"):
        individual_risk(microdata([(0, 1)]))
    with pytest.raises(
        InputError, match=r"the survey weights sum to 1, fewer than the 2 records; give weights"
    ):
        individual_risk(microdata([(0, 1), (1, 1)], weights=[0.5, 0.5]))
