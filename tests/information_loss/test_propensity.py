"""The pMSE ratio against closed forms, an independent regression, and redraws."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import equivoc as eq
from equivoc.information_loss.model_losses import pmse_ratio, redraw_pmse
from equivoc.information_loss.shown_table import original_table, released_table


def ratio(original: pd.DataFrame, released: pd.DataFrame, keys: list[str]) -> float | None:
    people = eq.Microdata(original, confidential=eq.Categories("pay"), keys=keys)
    release = eq.ReleasedFile(released).release(people)
    return pmse_ratio(original_table(people), released_table(release), confidential="pay", seed=0)


@pytest.mark.parametrize(("records", "of_a"), [(100, 80), (100, 55), (30, 20), (400, 100)])
def test_one_column_of_two_categories_by_hand(records: int, of_a: int) -> None:
    """The model is saturated: it predicts the share of released records in each category."""
    original = pd.DataFrame({"pay": ["a"] * 50 + ["b"] * 50})
    released = pd.DataFrame({"pay": ["a"] * of_a + ["b"] * (records - of_a)})
    c, total = records / (100 + records), 100 + records
    pmse = 0.0
    for own, there in ((50, of_a), (50, records - of_a)):
        pmse += (own + there) / total * (there / (own + there) - c) ** 2
    expected = pmse / (c * (1 - c) ** 2 / total)
    assert ratio(original, released, []) == pytest.approx(expected, rel=1e-3)


def test_two_columns_against_an_independent_regression() -> None:
    """Newton's method, written out, on main effects and all pairs of a category with the confidential one."""
    rng = np.random.default_rng(8)
    key, pay = rng.choice(list("xyz"), 500), rng.choice(list("ab"), 500)
    original = pd.DataFrame({"key": key, "pay": pay})
    released = original.sample(300, random_state=1)
    released = released.assign(pay=np.where(rng.random(300) < 0.3, "a", released["pay"]))
    stacked = pd.concat([original, released])
    x = np.column_stack([np.ones(800)] + [stacked["key"] == k for k in "yz"] + [stacked["pay"] == "b"])
    x = np.column_stack([x, x[:, 1] * x[:, 3], x[:, 2] * x[:, 3]]).astype(float)
    y = np.repeat([0.0, 1.0], [500, 300])
    beta = np.zeros(6)
    for _ in range(50):
        p = 1 / (1 + np.exp(-x @ beta))
        beta += np.linalg.solve(x.T @ (x * (p * (1 - p))[:, None]), x.T @ (y - p))
    expected = np.mean((p - 300 / 800) ** 2) / (5 * (3 / 8) * (5 / 8) ** 2 / 800)
    assert ratio(original, released, ["key"]) == pytest.approx(expected, rel=1e-3)


@pytest.mark.parametrize("released", [1000, 250])
def test_a_redraw_has_about_1(released: int) -> None:
    """The mean over 60 bootstrap samples: within four standard errors of 1, and far from it with other denominators."""
    rng = np.random.default_rng(3)
    n = 1000
    original = pd.DataFrame(
        {
            "key": rng.choice(list("wxyz"), n),
            "sex": rng.choice(list("FM"), n),
            "pay": rng.choice(list("abc"), n),
        }
    )
    found = np.array(
        [ratio(original, original.iloc[rng.integers(0, n, released)], ["key", "sex"]) for _ in range(60)]
    )
    standard_error = found.std(ddof=1) / np.sqrt(len(found))
    assert standard_error < 0.08
    assert abs(found.mean() - 1) < 4 * standard_error
    # Without the factor for a fixed original, or with twice the parameters, a redraw would not have 1.
    c = released / (n + released)
    right = redraw_pmse(14, c, n + released)
    for wrong in (14 * c * (1 - c) / (n + released), redraw_pmse(28, c, n + released)):
        if abs(right / wrong - 1) > 0.3:
            assert abs(found.mean() * right / wrong - 1) > 4 * standard_error
    assert right < 0.9 * 14 * c * (1 - c) / (n + released)


def test_a_class_that_one_table_lacks_is_told_apart() -> None:
    """Separable tables: p̂ is 0 or 1, so pMSE = c(1 − c) and the ratio N / (1 − c) over the parameters."""
    original = pd.DataFrame({"pay": ["a"] * 50 + ["b"] * 50})
    released = pd.DataFrame({"pay": ["new"] * 99 + ["a"]})
    found = ratio(original, released, [])
    assert 90 < found < 200


def test_nothing_to_tell_if_all_records_are_equal() -> None:
    same = pd.DataFrame({"pay": ["a"] * 10})
    assert ratio(same, same, []) is None


def test_swapping_is_seen_through_pairs() -> None:
    """Values are exchanged between people: every column alone is unchanged."""
    rng = np.random.default_rng(0)
    key = np.repeat([0, 1], 500)
    original = pd.DataFrame({"key": key, "pay": np.where(key == 1, "a", "b")})
    swapped = original.assign(pay=rng.permutation(original["pay"]))
    assert ratio(original, swapped, ["key"]) > 100
