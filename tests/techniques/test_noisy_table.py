"""A noisy table: its cells, its noise, and the posterior against all tables that could show the same counts."""

from __future__ import annotations

from dataclasses import replace
from math import log

import numpy as np
import pyarrow as pa
import pytest
from scipy import stats

from equivoc.data.microdata import Microdata
from equivoc.errors import InputError
from equivoc.techniques.noisy_table import NoisyTable, expected_counts_up_to


def few() -> Microdata:
    return Microdata(
        pa.table({"sex": ["F", "M", None], "count": [1, 1, 2], "pay": [10, 20, 10]}),
        confidential="pay",
        keys=["sex", "count"],
        domain=[10, 20, 30],
    )


def test_every_cell_is_there_the_empty_ones_too():
    table = NoisyTable(epsilon=60).release(few(), 0).table.to_pydict()
    assert list(table) == ["sex", "count", "pay", "count_"]
    cells = list(zip(*table.values(), strict=True))
    assert len(cells) == 3 * 2 * 3
    assert {cell for cell in cells if cell[-1]} == {("F", 1, 10, 1), ("M", 1, 20, 1), (None, 2, 10, 1)}


def test_empty_cells_get_noise_like_any_other():
    people = Microdata(
        pa.table({"k": np.arange(2000), "pay": np.zeros(2000)}),
        confidential="pay",
        keys=["k"],
        domain=range(10),
    )
    release = NoisyTable(epsilon=0.5).release(people, 3)
    noise = release.counts.copy()
    noise[:, 0] -= 1
    law = stats.dlaplace(0.5)
    for part in (noise[:, 0], noise[:, 1:].ravel()):
        reach = np.arange(-4, 5)
        observed = [*(np.count_nonzero(part == k) for k in reach), np.count_nonzero(np.abs(part) > 4)]
        expected = [*law.pmf(reach), 1 - law.pmf(reach).sum()]
        assert stats.chisquare(observed, np.array(expected) * part.size).pvalue > 0.01


@pytest.mark.parametrize("epsilon", [0.05, 0.5, log(2), 2.0, 9.0])
def test_expected_counts_are_the_sums_they_stand_for(epsilon):
    for most in (1, 7, 400):
        noisy = np.arange(-5, most + 6)
        true = np.arange(most + 1)
        weights = np.exp(-epsilon * np.abs(noisy[:, None] - true))
        expected = (weights * true).sum(axis=1) / weights.sum(axis=1)
        found = expected_counts_up_to(epsilon, most)[np.clip(noisy, 0, most)]
        np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize("epsilon", [0.3, log(2), 2.0])
def test_far_from_the_largest_count_there_is_a_closed_form(epsilon):
    """The geometric series summed to infinity by hand."""
    a, y = np.exp(-epsilon), np.arange(60)
    b = a ** (y + 1)
    expected = y + b * ((y + 1) * (1 - a) + a) / ((1 - a) * (1 + a - b))
    np.testing.assert_allclose(expected_counts_up_to(epsilon, 500)[:60], expected, rtol=1e-12)


@pytest.mark.parametrize("known", [[], ["sex"]], ids="+".join)
def test_all_people_of_all_tables_that_could_show_these_counts(known):
    """Four cells of up to 5 people each: 6^4 tables, each weighed by how likely it would show what is shown."""
    people = Microdata(
        pa.table({"sex": list("FFFMM"), "pay": [10, 10, 20, 20, 20]}), confidential="pay", keys=["sex"]
    )
    epsilon = 0.9
    release = NoisyTable(epsilon=epsilon).release(people, 5)
    tables = np.indices((6,) * 4).reshape(2, 2, -1)  # sex × pay × tables
    weights = np.exp(-epsilon * np.abs(tables - release.counts[..., None]).sum(axis=(0, 1)))
    people_with = (tables * weights).sum(axis=-1)
    rows = people_with.sum(axis=0, keepdims=True) if not known else people_with
    post = release.posteriors(known, intruder="paper")
    np.testing.assert_allclose(post.probabilities, rows / rows.sum(axis=1, keepdims=True), rtol=1e-12)


def calibration(epsilon: float, believed: float) -> float:
    """Counts drawn evenly from 0 to 40; of classes whose noisy counts lie well inside, bands of what is stated."""
    rng = np.random.default_rng(2)
    counts = rng.integers(0, 41, size=(6000, 2))
    people = Microdata(
        pa.table(
            {
                "k": np.repeat(np.arange(6000), counts.sum(axis=1)),
                "pay": np.repeat(np.tile([10, 20], 6000), counts.ravel()),
            }
        ),
        confidential="pay",
        keys=["k"],
    )
    release = NoisyTable(epsilon=epsilon).release(people, rng)
    post = replace(release, epsilon=believed).posteriors(["k"], intruder="paper")
    inside = (release.counts < 20).all(axis=1)
    true = post.classes.counts.toarray()[inside]
    stated = post.probabilities[inside]
    apart = true[:, 0] - stated[:, 0] * true.sum(axis=1)
    z = []
    for low in np.arange(0, 1, 0.1):
        band = apart[(stated[:, 0] >= low) & (stated[:, 0] < low + 0.1)]
        if len(band) >= 30:
            z.append(band.sum() / np.sqrt((band**2).sum()))
    assert len(z) >= 5
    return float(stats.chi2.sf(np.square(z).sum(), len(z)))


def test_beliefs_are_calibrated_and_only_with_the_right_budget():
    assert calibration(0.5, 0.5) > 0.01
    assert calibration(0.5, 0.25) < 1e-6
    assert calibration(0.5, 1.0) < 1e-6


def test_clamping_negative_counts_would_take_nothing_from_her():
    release = NoisyTable(epsilon=0.3).release(few(), 0)
    assert (release.counts < 0).any()
    clamped = replace(release, counts=np.maximum(release.counts, 0))
    for known in ([], ["sex"]):
        assert (
            release.posteriors(known, intruder="paper").probabilities
            == clamped.posteriors(known, intruder="paper").probabilities
        ).all()


def test_a_table_too_large():
    n = 6000
    people = Microdata(
        pa.table({"a": np.arange(n), "b": np.arange(n), "pay": np.arange(n) % 2}),
        confidential="pay",
        keys=["a", "b"],
    )
    with pytest.raises(
        InputError,
        match="6000 × 6000 × 2 levels make 72,000,000 cells, more than 20,000,000; give fewer keys",
    ):
        NoisyTable(epsilon=1).release(people, 0)
