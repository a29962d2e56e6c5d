"""P(released symbol | level) of changed keys: against what techniques do to a file, many times over."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from scipy import stats
from scipy.stats import norm

from equivoc.data.microdata import Microdata
from equivoc.techniques.generalisation import Generalisation
from equivoc.techniques.microaggregation import Microaggregation
from equivoc.techniques.noise_addition import NoiseAddition
from equivoc.techniques.pram import PRAM
from equivoc.techniques.rounding import Rounding
from equivoc.techniques.suppression import Suppression
from equivoc.techniques.swapping import Swapping
from equivoc.techniques.top_bottom_coding import TopBottomCoding
from tests.techniques.consistent_originals import stands_for


def file_of(ages):
    rng = np.random.default_rng(8)
    table = {"age": ages, "sex": rng.integers(2, size=len(ages)), "pay": rng.integers(4, size=len(ages))}
    return Microdata(pa.table(table), confidential="pay", keys=["age", "sex"])


@pytest.fixture(scope="module")
def uneven():
    """Ages from 20 to 28, the higher the rarer."""
    return file_of(np.repeat(np.arange(20, 29), [14, 12, 9, 8, 6, 4, 3, 2, 2]))


def pairs(technique, people, releases):
    """Symbols × levels: how often a record of this level showed this symbol."""
    true = people.key_codes("age")
    column = technique.release(people, 0).keys["age"]
    found = np.zeros((len(column.labels), len(people.levels("age"))))
    for seed in range(releases):
        np.add.at(found, (technique.release(people, seed).keys["age"].codes, true), 1)
    return found


def levels_behind(likelihood, people):
    """P(level | symbol) of someone who knows how often each level occurs."""
    joint = likelihood * np.bincount(people.key_codes("age"))
    return joint / np.maximum(joint.sum(axis=1, keepdims=True), 1e-300)


def p_value(technique, believed, people, releases=300):
    """How likely such pairs are by chance if the believed technique made them."""
    seen = pairs(technique, people, releases)
    expected = levels_behind(believed.release(people, 0).keys["age"].likelihood, people) * seen.sum(
        axis=1, keepdims=True
    )
    assert not seen[expected == 0].any()
    enough = expected > 5
    apart = ((seen - expected)[enough] ** 2 / expected[enough]).sum()
    return float(stats.chi2.sf(apart, enough.sum() - (enough.sum(axis=1) > 0).sum()))


MATRIX = np.full((9, 9), 0.05) + np.diag(np.full(9, 0.55))
RANDOM = [
    (NoiseAddition(percent=50), NoiseAddition(percent=75)),
    (NoiseAddition(percent=50, edge="wrap"), NoiseAddition(percent=75, edge="wrap")),
    (NoiseAddition(percent=50, edge="extend"), NoiseAddition(percent=75, edge="extend")),
    (PRAM(keep=0.6, on="age"), PRAM(keep=0.55, on="age")),
    (PRAM({"age": MATRIX}), PRAM(keep=0.65, on="age")),
    (Rounding(base=5, method="random", on="age"), None),
    (Swapping(rate=0.5, on="age"), Swapping(rate=0.4, on="age")),
    (Swapping(rate=1, on="age"), Swapping(rate=0.9, on="age")),
    (Swapping(rate=0.6, window=20, on="age"), Swapping(rate=0.6, window=30, on="age")),
]


@pytest.mark.parametrize(("technique", "other"), RANDOM, ids=lambda t: getattr(t, "notation", ""))
def test_levels_are_behind_symbols_as_often_as_stated(uneven, technique, other):
    assert p_value(technique, technique, uneven) > 0.001
    if other is not None and "extend" not in technique.notation:  # a longer grid has other symbols
        assert p_value(technique, other, uneven) < 1e-6


def test_random_rounding_with_a_wrong_share_is_found_out(uneven):
    release = Rounding(base=5, method="random", on="age").release(uneven, 0)
    wrong = np.where(release.keys["age"].likelihood > 0, 0.5, 0.0)
    seen = pairs(Rounding(base=5, method="random", on="age"), uneven, 300)
    expected = levels_behind(wrong, uneven) * seen.sum(axis=1, keepdims=True)
    assert stats.chi2.sf(((seen - expected)[expected > 5] ** 2 / expected[expected > 5]).sum(), 10) < 1e-6


EXACT = [NoiseAddition(percent=50), PRAM(keep=0.6, on="age"), Swapping(rate=0.5, on="age")]


@pytest.mark.parametrize("technique", EXACT, ids=lambda t: t.notation)
def test_a_level_shows_some_symbol(uneven, technique):
    """Where no factor is left out, the likelihoods of a level sum to 1."""
    np.testing.assert_allclose(technique.release(uneven, 0).keys["age"].likelihood.sum(axis=0), 1, rtol=1e-12)


COARSE = [
    Rounding(base=5, on="age"),
    TopBottomCoding(low=22, high=25, on="age"),
    Generalisation(levels="age:1", hierarchies={"age": 5}),
    Generalisation(k=12, hierarchies={"age": 5}, suppress=0.2),
]


@pytest.mark.parametrize("technique", COARSE, ids=lambda t: t.notation)
def test_coarse_keys_leave_their_own_distribution_inside(uneven, technique):
    """Each level always shows the same symbol, or a star as often as others of its group do."""
    release = technique.release(uneven, 0)
    column, true = release.keys["age"], uneven.key_codes("age")
    found = levels_behind(column.likelihood, uneven)
    seen = np.zeros_like(found)
    np.add.at(seen, (column.codes, true), 1)
    shown = seen.sum(axis=1) > 0
    if column.labels.to_pylist()[-1] == "*":
        groups = np.arange(20, 29) // 5
        starred = seen[-1].copy()
        of_group = np.bincount(groups, np.bincount(true))[groups]
        seen[-1] = np.bincount(groups, starred)[groups] * np.bincount(true) / of_group
        assert starred.any()
    np.testing.assert_allclose(found[shown], (seen / np.maximum(seen.sum(axis=1, keepdims=True), 1))[shown])


def test_a_star_stands_for_the_levels_that_the_release_lacks(uneven):
    """Whoever knows how many people have each age counts who is missing among those not starred."""
    release = Suppression(k=5).release(uneven)
    column, true = release.keys["age"], uneven.key_codes("age")
    star = len(column.labels) - 1
    missing = np.bincount(true[column.codes == star], minlength=9)
    assert 0 < np.count_nonzero(missing) < 9
    found = levels_behind(column.likelihood, uneven)
    np.testing.assert_allclose(found[star], missing / missing.sum())
    np.testing.assert_array_equal(found[:star], np.eye(9))
    assert np.abs(found[star] - column.channel[star]).max() > 0.1  # the paper's: all levels alike


def test_ranges_of_mondrian_hold_their_levels(uneven):
    column = Generalisation(k=5).release(uneven).keys["age"]
    levels = uneven.levels("age")
    for row, label in zip(column.likelihood, column.labels.to_pylist(), strict=True):
        held = stands_for(label, levels)
        assert [level in held for level in levels] == (row > 0).tolist()
        assert len(set(row[row > 0])) == 1


def averaged(size=4):
    rng = np.random.default_rng(3)
    ages = np.rint(rng.normal(50, 12, size=900)).astype(int)
    people = file_of(ages)
    return people, Microaggregation(size=size, on=("age", "sex")).release(people)


def test_averaged_keys_lie_around_their_means():
    people, release = averaged()
    column, ages = release.keys["age"], np.array(people.levels("age"), dtype=float)
    own, shown = ages[people.key_codes("age")], column.column.to_numpy()
    variance = own.var() - shown.var()
    for symbol in (0, 5, 20):
        mean = column.labels[symbol].as_py()
        formula = sum(norm.pdf(ages, mean, np.sqrt(variance) / narrower) for narrower in (1, 2, 4))
        formula = np.maximum(formula / formula.max(), 1e-5)
        row = column.likelihood.dense()[symbol]
        np.testing.assert_allclose(row, formula, rtol=1e-9)


def test_the_spread_around_means_is_what_averaging_took_away():
    """The squared distance that she expects is the real one; of a quarter or four times the spread it is not."""
    people, release = averaged()
    column, ages = release.keys["age"], np.array(people.levels("age"), dtype=float)
    shown = column.column.to_numpy()
    real = ((ages[people.key_codes("age")] - shown) ** 2).mean()

    def expected(likelihood):
        behind = levels_behind(likelihood, people)[column.codes]
        return (behind * (ages - shown[:, None]) ** 2).sum(axis=1).mean()

    assert expected(column.likelihood.dense()) == pytest.approx(real, rel=0.35)  # outliers are allowed for
    for power in (0.25, 4.0):
        assert expected(column.likelihood.dense() ** power) != pytest.approx(real, rel=0.35)


def test_groups_of_one_value_leave_no_doubt():
    people = file_of(np.repeat([20, 30, 45], 6))
    release = Microaggregation(size=3, on="age").release(people)
    np.testing.assert_array_equal(release.keys["age"].likelihood.dense()[:, [0, 1, 2]], np.eye(3))


def test_unchanged_keys_have_none(uneven):
    release = PRAM(keep=0.6, on="age").release(uneven, 0)
    assert release.keys["sex"].likelihood is None
    assert release.keys["age"].likelihood is not None
