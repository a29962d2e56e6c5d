"""Maximal leakage: tables written out value by value, all priors, and the papers' closed forms."""

from __future__ import annotations

from itertools import product
from math import exp, log2
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import equivoc as eq
from equivoc.channels.likelihood import Cells, Swapped
from equivoc.channels.rank_noise import BinomialSteps, rank_noise, released_size, transition
from equivoc.data.microdata import Microdata
from equivoc.models import maximal_leakage

VALUES = 6


@pytest.fixture(scope="module")
def six() -> Microdata:
    frame = pd.DataFrame({"key": [1, 2] * 12, "pay": [10, 20, 30, 40, 50, 60, 10, 20] * 3})
    return Microdata(frame, confidential="pay", keys=["key"])


def one_try(table: np.ndarray, prior: np.ndarray) -> float:
    """How much more often the first guess is right with the released value than without, in bits."""
    return log2((table * prior[:, None]).max(axis=0).sum() / prior.max())


@given(st.integers(1, 5), st.integers(1, 5), st.randoms(use_true_random=False))
def test_no_prior_leaks_more_and_the_uniform_one_as_much(rows: int, columns: int, random: Any) -> None:
    """Braun, Chatzikokolakis and Palamidessi (2009)."""
    table = np.array([[random.random() ** 3 + 1e-6 for _ in range(columns)] for _ in range(rows)])
    table /= table.sum(axis=1, keepdims=True)
    found = maximal_leakage(table)
    assert found == pytest.approx(one_try(table, np.full(rows, 1 / rows)), abs=1e-9)
    for _ in range(20):
        prior = np.array([random.random() ** 3 + 1e-6 for _ in range(rows)])
        assert one_try(table, prior / prior.sum()) <= found + 1e-9


def test_no_function_of_the_value_is_learnt_better() -> None:
    """Issa, Wagner and Kamath (2020): the same bound for guessing any (random) function of the value.

    All functions U of three values with up to three results, the value uniform or skewed.
    """
    table = np.array([[0.7, 0.2, 0.1], [0.1, 0.8, 0.1], [0.3, 0.3, 0.4]])
    most = maximal_leakage(table)
    assert most == pytest.approx(log2(0.7 + 0.8 + 0.4))
    for prior in (np.full(3, 1 / 3), np.array([0.6, 0.3, 0.1])):
        for u in product(range(3), repeat=3):
            of = np.array([[prior[x] * (u[x] == k) for x in range(3)] for k in range(3)])
            gain = (of @ table).max(axis=0).sum() / of.sum(axis=1).max()
            assert log2(gain) <= most + 1e-12


@pytest.mark.parametrize(("p", "leaks"), [(0.5, 0.0), (0.1, log2(1.8)), (0.0, 1.0)])
def test_binary_symmetric_channel(p: float, leaks: float) -> None:
    assert maximal_leakage([[1 - p, p], [p, 1 - p]]) == pytest.approx(leaks)


def geometric(size: int, epsilon: float) -> np.ndarray:
    """Two-sided geometric noise on ranks, what passes an end resting on it, by adding up far moves."""
    alpha = exp(-epsilon / (size - 1))
    table = np.zeros((size, size))
    for rank in range(size):
        for move in range(-4000, 4001):
            chance = (1 - alpha) / (1 + alpha) * alpha ** abs(move)
            table[rank, min(max(rank + move, 0), size - 1)] += chance
    return table


def swapped(counts: list[int], share: float) -> np.ndarray:
    n = sum(counts)
    return np.array(
        [
            [(1 - share) * (s == v) + share * (counts[s] - (s == v)) / (n - 1) for s in range(len(counts))]
            for v in range(len(counts))
        ]
    )


def sampled(fraction: float) -> np.ndarray:
    return np.column_stack([fraction * np.eye(VALUES), np.full(VALUES, 1 - fraction)])


KEEP = 0.4 * np.eye(VALUES) + 0.6 / VALUES
TECHNIQUES = [
    (eq.Unprotected(), np.eye(VALUES)),
    (eq.Sampling(fraction=0.25), sampled(0.25)),
    (eq.NoiseAddition(percent=80), transition(VALUES, 4, edge="clip")),
    (eq.NoiseAddition(percent=80, edge="wrap"), transition(VALUES, 4, edge="wrap")),
    (eq.NoiseAddition(percent=80, edge="extend"), transition(VALUES, 4, edge="extend")),
    (eq.GeometricNoise(epsilon=2), geometric(VALUES, 2)),
    (eq.PRAM(matrix=KEEP.tolist(), on="confidential"), KEEP),
    (eq.Swapping(rate=0.5), swapped([6, 6, 3, 3, 3, 3], 0.5)),
    (eq.Rounding(base=20), np.repeat(np.eye(3), [2, 2, 2], axis=0)),
    (eq.TopBottomCoding(high=40), np.repeat(np.eye(4), [1, 1, 1, 3], axis=0)),
    (eq.Suppression(k=20), np.eye(VALUES)),
]


@pytest.mark.parametrize(("technique", "table"), TECHNIQUES, ids=lambda t: getattr(t, "notation", "")[:30])
def test_every_mechanism_against_its_table(six: Microdata, technique: Any, table: np.ndarray) -> None:
    assert table.sum(axis=1) == pytest.approx(np.ones(VALUES))
    release = technique.release(six, 1)
    assert maximal_leakage(release) == pytest.approx(maximal_leakage(table))
    found = eq.measures(six, release).set_index("measure")["value"]
    assert found["maximal leakage"] == pytest.approx(maximal_leakage(table))


@pytest.mark.parametrize("epsilon", [0.1, 1, 4])
def test_differential_privacy_bounds_the_leakage(six: Microdata, epsilon: float) -> None:
    """P(y | x) ≤ e^ε · P(y | x') for all x, x', so that Σ_y max_x P(y | x) ≤ e^ε."""
    assert 0 < maximal_leakage(eq.GeometricNoise(epsilon).release(six, 1)) <= epsilon * log2(exp(1))


@pytest.mark.parametrize("edge", ["clip", "wrap", "extend"])
@pytest.mark.parametrize("amplitude", [0, 2, 30, 900])
def test_noise_over_many_values(edge: Any, amplitude: int) -> None:
    noise = rank_noise(1100, amplitude, edge=edge)
    assert isinstance(noise, BinomialSteps)
    peaks = noise.peaks()
    assert peaks.size == released_size(1100, amplitude, edge=edge)
    assert peaks == pytest.approx(transition(1100, amplitude, edge=edge).max(axis=0), abs=1e-14)


def test_swapping_everyone_can_make_the_own_value_less_likely() -> None:
    counts = np.array([1, 3])
    assert Swapped(counts, 1.0).peaks() == pytest.approx(swapped([1, 3], 1.0).max(axis=0))


def test_overlapping_cells_have_no_known_probabilities() -> None:
    assert Cells(np.array([0, 1]), np.array([2, 3]), 3).peaks() is None
    assert Cells(np.array([0, 2]), np.array([2, 3]), 3).peaks().tolist() == [1, 1]


@pytest.mark.parametrize(
    "technique",
    [
        eq.QueryRestriction(size=4),
        eq.NoiseAddition(percent=80, belief="interval"),
        eq.NoisyTable(epsilon=1),
        eq.ReleasedFile(pd.DataFrame({"key": [1, 2], "pay": [10, 20]})),
    ],
    ids=lambda t: t.name,
)
def test_unknown_probabilities_are_said_and_have_no_row(six: Microdata, technique: Any) -> None:
    release = technique.release(six, 1)
    with pytest.raises(
        eq.InputError, match=r"the probabilities P\(released \| true\) of this release are not known"
    ):
        maximal_leakage(release)
    assert "maximal leakage" not in eq.measures(six, release)["measure"].tolist()


@pytest.mark.parametrize(
    ("table", "sentence"),
    [
        ([[0.5, 0.5], [0.5, 0.4]], r"row 1 \(counting from 0\) of channel sums to 0.9"),
        ([[1.5, -0.5]], "row 0"),
        ([[float("nan"), 1]], "row 0"),
        ([0.5, 0.5], r"channel has shape \(2,\)"),
        ([], "channel has shape"),
        ("noise", "channel must be a release, or a table"),
    ],
)
def test_bad_tables(table: Any, sentence: str) -> None:
    with pytest.raises(eq.InputError, match=sentence):
        maximal_leakage(table)
