"""Noisy counts of a table: margins, the noise, and posteriors against enumeration of all counts."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import equivoc as eq
from equivoc.errors import InputError
from equivoc.measure.curve import curve
from equivoc.tables.cell_posteriors import person_posteriors
from equivoc.tables.cell_rounding import CellRounding
from equivoc.tables.cell_table import CellTable
from equivoc.tables.noisy_counts import NoisyCells
from tests.tables.rounding.made import table_of


def test_margins_are_sums_of_noisy_cells() -> None:
    table = table_of(np.random.default_rng(0).poisson(3, (4, 5, 3)))
    release = NoisyCells(0.5).release(table, 1)
    assert np.abs(table.relations @ release.values).max() == 0
    assert (release.values != table.values).any()
    assert "No differential privacy is promised" in release.notes[0]
    assert not any("categories" in note for note in NoisyCells(0.5, "public").release(table, 1).notes)


def test_noise_has_the_distribution_of_its_epsilon() -> None:
    cells, epsilon = 40_000, 0.7
    table = table_of(np.full(cells, 6))
    noise = NoisyCells(epsilon).release(table, 2).values[1:] - 6

    assert noise_fits(noise, epsilon) > 1e-6
    assert noise_fits(noise, epsilon * 1.1) < 1e-6


def noise_fits(noise: np.ndarray, rate: float) -> float:
    """The p value of a chi-square test: is this two-sided geometric noise of scale 1 / rate?"""
    alpha, cells = np.exp(-rate), len(noise)
    shares = (1 - alpha) / (1 + alpha) * alpha ** np.abs(np.arange(-8, 9))
    counts = np.array([(noise == k).sum() for k in range(-8, 9)])
    observed, expected = (
        np.append(counts, cells - counts.sum()),
        np.append(shares, 1 - shares.sum()) * cells,
    )
    return float(stats.chisquare(observed, expected).pvalue)


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


def people_of(rng: np.random.Generator, rows: int = 14) -> pd.DataFrame:
    """Records of holdings, with whole weights; every category occurs in records that are never removed."""
    return pd.DataFrame(
        {
            "a": [*"xxyy", *rng.choice(list("xy"), rows)],
            "b": [*"uvuv", *rng.choice(list("uv"), rows)],
            "h": [*"1234", *rng.choice(list("5678"), rows)],
            "w": [1, 1, 1, 1, *rng.integers(1, 11, rows)],
            "pay": range(rows + 4),
        }
    )


def counts_of(frame: pd.DataFrame, *, weighted: bool, grouped: bool) -> CellTable:
    people = eq.Microdata(
        frame.drop(columns=[] if weighted else ["w"]),
        confidential="pay",
        keys=["a", "b", "h"],
        weights="w" if weighted else None,
    )
    return eq.tabulate(people, ["a", "b"], contributors="h" if grouped else None)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("grouped", [False, True])
def test_the_sensitivity_is_what_removing_anybody_changes(weighted: bool, grouped: bool) -> None:
    """Every unit is removed, and the inner cells are compared: the stated bound, and no smaller one, is accepted."""
    for seed in range(5):
        frame = people_of(np.random.default_rng(seed))
        table = counts_of(frame, weighted=weighted, grouped=grouped)
        unit = frame["h"] if grouped else frame.index.to_series()
        changes = []
        for one in unit[4:].unique():
            left = counts_of(frame[unit != one], weighted=weighted, grouped=grouped)
            changes.append(np.abs(table.values - left.values)[table.inner].sum())
        least = int(max(changes))
        assert (least > 1) == (weighted or grouped)
        release = NoisyCells(1, "public", least).release(table, seed)
        assert release.most == least
        assert f"scale {'1' if least == 1 else least}/ε" in release.mechanism
        if least == 1:
            assert NoisyCells(1, "public").release(table, seed).notes == ()
            continue
        with pytest.raises(InputError, match=r"most_per_contributor=… .* known without the data"):
            NoisyCells(1).release(table, seed)
        with pytest.raises(InputError, match="adds more than that to the counts"):
            NoisyCells(1, "public", least - 1).release(table, seed)
        who = "one contributor (all records with the same h)" if grouped else "one person"
        assert who in release.notes[0]
        assert f"if {who} is added or removed" in release.mechanism
        # The stated number decides, not the largest of the file.
        assert NoisyCells(1, "public", 50).release(table, seed).most == 50


def test_the_noise_is_scaled_to_what_a_contributor_changes() -> None:
    cells, epsilon, most = 40_000, 1.5, 4
    holdings = np.repeat(np.arange(cells // most), most)
    frame = pd.DataFrame({"k": range(cells), "h": holdings, "pay": 1})
    table = eq.tabulate(eq.Microdata(frame, confidential="pay", keys=["k", "h"]), ["k"], contributors="h")
    noise = NoisyCells(epsilon, "public", most).release(table, 3).values[1:] - 1
    assert noise_fits(noise, epsilon / most) > 1e-6
    for wrong in (1.1, 0.9, most):
        assert noise_fits(noise, epsilon / most * wrong) < 1e-6


def test_the_posterior_knows_the_scale() -> None:
    table = counts_of(people_of(np.random.default_rng(1)), weighted=True, grouped=False)
    release = NoisyCells(3, "public", 10).release(table, 5)
    values, probabilities = release.posterior(4)
    weights = np.exp(-0.3 * np.abs(values - max(release.values[4], 0)))
    np.testing.assert_allclose(probabilities, weights / weights.sum())


def test_what_cannot_be_protected_or_checked() -> None:
    frame = people_of(np.random.default_rng(0)).assign(w=0.5)
    with pytest.raises(InputError, match=r"weights are not whole numbers: tabulate with weighted=False"):
        NoisyCells(1, "public", 1).release(counts_of(frame, weighted=True, grouped=False))
    with pytest.raises(InputError, match="most_per_contributor is 0"):
        NoisyCells(1, "public", 0)
    written = pd.DataFrame({"k": ["a", "b", None], "value": [10, 9, 19], "people": [10, 9, 19]})
    elsewhere = eq.CellTable.read(written, by=["k"], counts=True)
    assert "this was not checked" in NoisyCells(1, "public").release(elsewhere, 1).notes[0]
    fewer = eq.CellTable.read(written.assign(people=[1, 9, 9]), by=["k"], counts=True)
    with pytest.raises(InputError, match="fewer contributors than it counts"):
        NoisyCells(1, "public").release(fewer, 1)
    assert NoisyCells(1, "public", 10).release(fewer, 1).most == 10


def test_the_noisy_table_of_people_counts_records_whatever_their_weights() -> None:
    """Its scale of 1/ε is right: removing anybody changes one count by 1."""
    frame = people_of(np.random.default_rng(2))
    domain = list(range(len(frame)))

    def counted(part: pd.DataFrame) -> pd.Series:
        people = eq.Microdata(part, confidential="pay", keys=["a", "b"], weights="w", domain=domain)
        # The noise of so large a budget is 0.
        found = eq.NoisyTable(epsilon=1e6, levels="public").release(people, 0).table
        return found.set_index(["a", "b", "pay"])["count"]

    whole = counted(frame)
    for one in frame.index[4:]:
        assert (whole - counted(frame.drop(index=one))).abs().sum() == 1
