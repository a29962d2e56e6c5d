"""Noisy counts of a table: margins, the noise, and posteriors against enumeration of all counts."""

from itertools import product

import numpy as np
import pytest
from scipy import stats

from equivoc.errors import InputError
from equivoc.measure.curve import curve
from equivoc.tables.noisy_counts import NoisyCells
from equivoc.tables.person_posterior import person_posteriors
from equivoc.tables.rounding.cell_rounding import CellRounding
from tests.tables.rounding.made import table_of


def test_margins_are_sums_of_noisy_cells() -> None:
    table = table_of(np.random.default_rng(0).poisson(3, (4, 5, 3)))
    release = NoisyCells(0.5).release(table, 1)
    assert np.abs(table.relations @ release.values).max() == 0
    assert (release.values != table.values).any()
    assert "No differential privacy is promised" in release.notes[0]
    assert NoisyCells(0.5, levels="public").release(table, 1).notes == ()


def test_noise_has_the_distribution_of_its_epsilon() -> None:
    cells, epsilon = 40_000, 0.7
    table = table_of(np.full(cells, 6))
    noise = NoisyCells(epsilon).release(table, 2).values[1:] - 6

    def p_value(assumed: float) -> float:
        alpha = np.exp(-assumed)
        shares = (1 - alpha) / (1 + alpha) * alpha ** np.abs(np.arange(-8, 9))
        counts = np.array([(noise == k).sum() for k in range(-8, 9)])
        observed, expected = (
            np.append(counts, cells - counts.sum()),
            np.append(shares, 1 - shares.sum()) * cells,
        )
        return float(stats.chisquare(observed, expected).pvalue)

    assert p_value(epsilon) > 1e-6
    assert p_value(epsilon * 1.1) < 1e-6


def test_posteriors_against_all_counts() -> None:
    epsilon, most = 1.5, 40
    table = table_of([3, 0])
    for seed in range(6):
        release = NoisyCells(epsilon).release(table, seed)
        joint: dict[int, np.ndarray] = {cell: np.zeros(2 * most + 1) for cell in range(3)}
        for a, b in product(range(most + 1), repeat=2):
            weight = np.exp(-epsilon * (abs(release.values[1] - a) + abs(release.values[2] - b)))
            for cell, count in enumerate((a + b, a, b)):
                joint[cell][count] += weight
        figures = release.figures(eps=1)
        for cell in range(3):
            values, probabilities = release.posterior(cell)
            expected = joint[cell] / joint[cell].sum()
            # The enumeration ends at 40, where e^(−1.5·30) is left.
            np.testing.assert_allclose(probabilities, expected[values.astype(int)], atol=1e-12)
            assert release.expected[cell] == pytest.approx(np.arange(2 * most + 1) @ expected)
            one = curve(values, probabilities)
            assert figures.h0[cell] == pytest.approx(one.h0)
            assert figures.area[cell] == pytest.approx(one.area)
            assert figures.hit[cell] == pytest.approx(one.hit(1))
        low, high = release.bounds
        assert (low <= [3, 3, 0]).all()
        assert (high >= [3, 3, 0]).all()


def test_other_tables_are_refused() -> None:
    with pytest.raises(InputError, match="sums 'pay'"):
        NoisyCells(1).release(table_of([1, 2], value="pay"))
    with pytest.raises(InputError, match="k0 = 1"):
        NoisyCells(1).release(table_of([1, 2.5]))
    with pytest.raises(InputError, match="epsilon"):
        NoisyCells(0)
    with pytest.raises(InputError, match="levels"):
        NoisyCells(1, levels="yes")
    with pytest.raises(InputError, match="tabulate"):
        NoisyCells(1).release(3)  # type: ignore[arg-type]


def test_a_persons_category_follows_the_expected_counts() -> None:
    inner = np.array([[5, 0, 1], [2, 2, 2], [0, 0, 0]])
    table = table_of(inner)
    found = person_posteriors(table, table.values, "k1")
    np.testing.assert_allclose(found.probabilities[:2], inner[:2] / inner[:2].sum(axis=1, keepdims=True))
    assert np.isnan(found.probabilities[2]).all()
    assert np.isnan(found.h0[2])
    assert found.h0[1] == pytest.approx(np.log2(3))
    assert found.hit[0] == pytest.approx(5 / 6)
    other = person_posteriors(table, table.values, "k0")
    np.testing.assert_allclose(other.probabilities[0], [5 / 7, 2 / 7, 0])
    assert other.others == ((0,), (1,), (2,))
    for release in (NoisyCells(1.0).release(table, 0), CellRounding(3, "random").release(table, 0)):
        posterior = release.people("k1")
        means = [float(np.dot(*release.posterior(cell))) for cell in np.flatnonzero(table.inner).tolist()]
        rows = np.array(means).reshape(3, 3)
        np.testing.assert_allclose(posterior.probabilities, rows / rows.sum(axis=1, keepdims=True))
    with pytest.raises(InputError, match="k2"):
        person_posteriors(table, table.values, "k2")
    with pytest.raises(InputError, match="count people"):
        person_posteriors(table_of(inner, value="pay"), table.values, "k1")
