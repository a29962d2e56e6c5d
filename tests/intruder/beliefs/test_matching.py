"""Matching weights: a plain EM step over all pairs, known rates of change found again, and the better link."""

import numpy as np
import pytest

from equivoc.errors import InputError
from equivoc.linkage.coded_file import CodedFile
from equivoc.linkage.distance_weights import BINS, distance_bins, match_tables
from equivoc.linkage.register import register_linkage

LEVELS = (60, 25, 16, 18, 5)


def file_from_elsewhere(people, *, changed, seed=0):
    """True codes, and released ones: each key moved by one or two levels (the last: to any other) with this chance."""
    rng = np.random.default_rng(seed)
    true = np.stack([rng.integers(size, size=people) for size in LEVELS], axis=1)
    shown = true.copy()
    for key, size in enumerate(LEVELS):
        moved = rng.random(people) < changed
        step = rng.choice([-2, -1, 1, 2], people) if key < 4 else rng.integers(1, size, people)
        shown[:, key] = np.where(moved, (true[:, key] + step) % size, true[:, key])
    bins = [distance_bins(np.eye(size), ordered=key < 4) for key, size in enumerate(LEVELS)]
    return true, shown, bins


def plain_step(true, shown, bins, m):
    """One EM step, pair by pair."""
    people = len(true)
    sums = np.zeros((len(bins), BINS))
    for record in shown:
        weights, at = [], []
        for person in true:
            weight, place = 1.0, []
            for key, table in enumerate(bins):
                bin_ = table[record[key], person[key]]
                share = np.mean(table[record[key], true[:, key]] == bin_)
                weight *= m[key, bin_] / share
                place.append(bin_)
            weights.append(weight / max(people, len(shown)))
            at.append(place)
        nobody = max(0.0, 1 - people / len(shown))
        weights = np.array(weights) / (sum(weights) + nobody)
        for weight, place in zip(weights, at, strict=True):
            for key, bin_ in enumerate(place):
                sums[key, bin_] += weight
    m = sums / sums.sum(axis=1, keepdims=True)
    usual = np.array(
        [
            [np.mean(table[shown[:, key]][:, true[:, key]] == b) for b in range(BINS)]
            for key, table in enumerate(bins)
        ]
    )
    usual = np.maximum(usual, 1e-3 / people)
    return np.array([falling(*each) for each in zip(m, usual, strict=True)])


def falling(m, u):
    """The nearest ratios m/u that never rise, by the max–min formula of isotonic regression, times u."""
    mean = [
        [m[j : k + 1].sum() / u[j : k + 1].sum() if k >= j else 0.0 for k in range(len(m))]
        for j in range(len(m))
    ]
    ratios = [max(min(mean[j][k] for j in range(i + 1)) for k in range(i, len(m))) for i in range(len(m))]
    return np.array(ratios) * u


@pytest.mark.parametrize("records", [40, 60])
def test_what_is_found_stays_under_a_plain_step(records, monkeypatch):
    monkeypatch.setattr("equivoc.linkage.distance_weights.SETTLED", -1.0)  # all the steps
    true, shown, bins = file_from_elsewhere(60, changed=0.2)
    true, shown = true[:40], shown[:records]
    for found in match_tables(true, np.ones(40), shown, bins):
        np.testing.assert_allclose(plain_step(true, shown, bins, found.m), found.m, atol=2e-3)


@pytest.mark.parametrize("changed", [0.02, 0.3])
def test_known_rates_of_change_are_found_again(changed):
    true, shown, bins = file_from_elsewhere(1000, changed=changed)
    best = match_tables(true, np.ones(len(true)), shown, bins)[0]
    np.testing.assert_allclose(best.m[:, 0], 1 - changed, atol=0.05)
    np.testing.assert_allclose(best.m[4, 1], changed, atol=0.05)


def test_people_alike_are_counted_once():
    true, shown, bins = file_from_elsewhere(300, changed=0.2)
    classes, sizes = np.unique(true, axis=0, return_counts=True)
    alone, together = match_tables(true, np.ones(300), shown, bins), match_tables(classes, sizes, shown, bins)
    for one, other in zip(alone, together, strict=True):
        np.testing.assert_allclose(one.m, other.m, atol=1e-9)
        assert one.log_likelihood == pytest.approx(other.log_likelihood)


def test_weights_link_better_than_agreement_and_a_register_better_still():
    true, shown, bins = file_from_elsewhere(800, changed=0.15, seed=3)
    best = match_tables(true, np.ones(800), shown, bins)[0]
    pair = np.ones((800, 800))  # people × records
    for key, weights in enumerate(best.weights):
        pair *= weights[true[:, key]][:, shown[:, key]]
    linked = np.diag(pair / pair.sum(axis=1, keepdims=True)).mean()
    same = (true[:, None] == shown[None]).all(axis=2).astype(float)
    exact = np.diag(same / np.maximum(same.sum(axis=1, keepdims=True), 1)).mean()
    released = CodedFile(shown, best.weights, np.arange(800), 800)
    classes, which, sizes = np.unique(true, axis=0, return_inverse=True, return_counts=True)
    register = register_linkage(classes, sizes, released, known=range(5))
    scaled = register.linkage[which.ravel(), np.arange(800)].mean()
    assert linked > exact + 0.2
    assert scaled > linked


def test_the_rarer_value_and_the_narrower_set_weigh_more():
    people = np.repeat([[0], [1], [2]], [80, 15, 5], axis=0)
    members = [[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 1, 1]]
    bins = [distance_bins(members, ordered=True)]
    records = np.repeat([[0], [1], [2], [3]], [70, 12, 4, 14], axis=0)
    weights = match_tables(people, np.ones(100), records, bins)[0].weights[0]
    assert weights[2, 2] > weights[2, 3] > weights[1, 1] * 0.5
    assert weights[2, 2] > weights[1, 1] > weights[0, 0]


def test_distances():
    assert distance_bins([[1, 0, 0]], ordered=False).tolist() == [[0, 1, 1]]
    far = distance_bins(np.eye(1, 40), ordered=True)[0]
    assert far[[0, 1, 2, 3, 4, 5, 8, 9, 16, 17, 39]].tolist() == [0, 1, 2, 3, 3, 4, 4, 5, 5, 6, 6]
    assert distance_bins(np.zeros((1, 3)), ordered=True).tolist() == [[BINS - 1] * 3]


def test_large_files_are_sampled(monkeypatch):
    monkeypatch.setattr("equivoc.linkage.distance_weights.PAIRS", 2**16)
    true, shown, bins = file_from_elsewhere(3000, changed=0.1)
    first, second = (match_tables(true, np.ones(3000), shown, bins, seed=1)[0] for _ in range(2))
    np.testing.assert_array_equal(first.m, second.m)


def test_what_does_not_fit_is_refused():
    with pytest.raises(InputError, match="Matching needs"):
        match_tables([[0]], [1], [[0, 1]], [np.zeros((1, 1))])
