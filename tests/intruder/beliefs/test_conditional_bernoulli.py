"""Inclusion probabilities against enumeration of all sets, the paper's recursion, and a plain dynamic programme."""

from itertools import combinations, pairwise
from math import prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from equivoc.errors import InputError
from equivoc.linkage.informed_linkage import inclusion


def by_enumeration(p, number):
    """π by enumeration of all sets of this many records."""
    found, total = np.zeros(len(p)), 0.0
    for chosen in combinations(range(len(p)), number):
        weight = prod(p[r] if r in chosen else 1 - p[r] for r in range(len(p)))
        found[list(chosen)] += weight
        total += weight
    return found / total


def by_recursion(p, number):
    """The specification's recursion on the odds, for 0 < p < 1."""
    odds = np.array(p) / (1 - np.array(p))
    found = np.zeros(len(odds))
    for k in range(1, number + 1):
        new = odds * (1 - found)
        found = k * new / new.sum()
    return found


def by_prefix_and_suffix(p, number):
    """P(all but r sum to N − 1) from the distributions of the sums before and after r."""
    p = np.array(p)
    before, after = [np.eye(1, number + 1)[0]], [np.eye(1, number + 1)[0]]
    for forward, backward in zip(p, p[::-1], strict=True):
        before.append(before[-1] * (1 - forward) + np.append(0, before[-1][:-1] * forward))
        after.append(after[-1] * (1 - backward) + np.append(0, after[-1][:-1] * backward))
    after = after[::-1]
    without = [before[r][:number] @ after[r + 1][number - 1 :: -1][:number] for r in range(len(p))]
    return p * without / before[-1][number]


CHANCE = st.one_of(st.floats(0.01, 0.99), st.sampled_from([0.0, 0.5, 1.0]))


@given(st.lists(CHANCE, min_size=1, max_size=9), st.data())
def test_equals_enumeration_wherever_the_numbers_fit(p, data):
    certain, possible = p.count(1.0), sum(q > 0 for q in p)
    number = data.draw(st.integers(certain, possible))
    found = inclusion(p, [0, len(p)], [number])
    np.testing.assert_allclose(found.probabilities, by_enumeration(p, number), atol=1e-11)
    assert found.fits.all()
    assert found.missing.tolist() == [0.0]


@given(st.lists(st.tuples(st.floats(0.01, 0.99), st.integers(1, 4)), min_size=1, max_size=3), st.data())
def test_copies_are_records_of_their_own(entries, data):
    p = [q for q, times in entries for _ in range(times)]
    number = data.draw(st.integers(0, len(p)))
    found = inclusion([q for q, _ in entries], [0, len(entries)], [number], copies=[t for _, t in entries])
    expected = by_enumeration(p, number)
    np.testing.assert_allclose(np.repeat(found.probabilities, [t for _, t in entries]), expected, atol=1e-11)


def test_many_classes_at_once_are_as_each_alone():
    rng = np.random.default_rng(0)
    sizes = rng.integers(0, 40, 300)
    starts = np.append(0, np.cumsum(sizes))
    p = rng.choice([0.0, 1.0, 0.3, 0.9, 1e-5], starts[-1])
    people = rng.integers(0, 12, 300)
    together = inclusion(p, starts, people)
    for c in range(300):
        part = slice(starts[c], starts[c + 1])
        alone = inclusion(p[part], [0, sizes[c]], [people[c]])
        np.testing.assert_allclose(together.probabilities[part], alone.probabilities, atol=1e-12)
        assert together.fits[c] == alone.fits[0]
    totals = np.array([together.probabilities[a:b].sum() for a, b in pairwise(starts)])
    np.testing.assert_allclose(totals + together.missing, people, atol=1e-9)


@pytest.mark.parametrize("spread", ["even", "skewed", "extreme", "near one half"])
@pytest.mark.parametrize("share", [0.002, 0.1, 0.5, 0.99])
def test_a_thousand_records_equal_the_dynamic_programme(spread, share):
    rng = np.random.default_rng(1)
    p = {
        "even": rng.uniform(0.01, 0.99, 1000),
        "skewed": rng.beta(0.1, 3, 1000).clip(1e-6, 1 - 1e-6),
        "extreme": 1 / (1 + np.exp(rng.normal(0, 8, 1000))),
        "near one half": np.full(1000, 0.5) + rng.normal(0, 1e-3, 1000),
    }[spread]
    number = int(1000 * share)
    found = inclusion(p, [0, 1000], [number]).probabilities
    assert abs(found.sum() - number) < 1e-9
    tilted = p * np.exp(0)  # the programme needs a sum that is not too unlikely, so give it tilted odds
    low, high = -60.0, 60.0
    for _ in range(200):
        middle = (low + high) / 2
        tilted = 1 / (1 + (1 - p) / p * np.exp(-middle))
        low, high = (middle, high) if tilted.sum() < number else (low, middle)
    expected = by_prefix_and_suffix(tilted, number)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-13)


def test_equals_the_recursion_of_the_specification():
    p = np.random.default_rng(2).uniform(0.05, 0.6, 30)
    for number in (1, 2, 5, 8):
        np.testing.assert_allclose(
            inclusion(p, [0, 30], [number]).probabilities, by_recursion(p, number), rtol=1e-9
        )


def test_odds_that_differ_by_hundreds_of_orders():
    p = [1e-300] * 5 + [1 - 1e-15] * 3
    np.testing.assert_allclose(inclusion(p, [0, 8], [4]).probabilities, [0.2] * 5 + [1.0] * 3, atol=1e-12)
    np.testing.assert_allclose(inclusion(p, [0, 8], [2]).probabilities, [0.0] * 5 + [2 / 3] * 3, atol=1e-12)


def test_one_hundred_thousand_records_alike_and_one_other():
    found = inclusion([0.3, 0.9], [0, 2], [40_000], copies=[100_000, 1])
    common, odd = found.probabilities
    assert abs(common * 100_000 + odd - 40_000) < 1e-6
    odds_ratio = (0.9 / 0.1) / (0.3 / 0.7) * (0.4 / 0.6)  # of so many, one more or less hardly matters
    assert odd == pytest.approx(odds_ratio / (1 + odds_ratio), rel=1e-4)


def test_more_certain_records_than_people_share_them():
    found = inclusion([1.0, 1.0, 0.5, 0.0], [0, 4], [1])
    assert found.probabilities.tolist() == [0.5, 0.5, 0.0, 0.0]
    assert found.fits.tolist() == [False]


def test_fewer_possible_records_than_people_leave_some_missing():
    found = inclusion([1.0, 0.5, 0.0], [0, 3], [5])
    assert found.probabilities.tolist() == [1.0, 1.0, 0.0]
    assert (found.fits.tolist(), found.missing.tolist()) == ([False], [3.0])


@pytest.mark.parametrize(
    ("arguments", "copies"),
    [
        (([1.5], [0, 1], [1]), None),
        (([np.nan], [0, 1], [1]), None),
        (([0.5], [0, 2], [1]), None),
        (([0.5], [0, 1], [-1]), None),
        (([0.5], [0, 1], [1]), [0]),
    ],
)
def test_invalid_arguments_are_rejected(arguments, copies):
    with pytest.raises(InputError):
        inclusion(*arguments, copies=copies)
