"""Swapping: its channel against all possible draws, calibration of posteriors, and what swapping does not change."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from equivoc.data.microdata import Microdata
from equivoc.errors import InputError
from equivoc.techniques.inside.swapping_kernels import exchange
from equivoc.techniques.swapping import DRAWS, Swapping, rank_moves
from equivoc.techniques.unprotected import Unprotected
from tests.techniques.calibration import p_value


def pairings(drawn):
    """All ways to pair these records."""
    if not drawn:
        yield []
        return
    first, *rest = drawn
    for other in rest:
        for more in pairings([r for r in rest if r != other]):
            yield [(first, other), *more]


@pytest.mark.parametrize(
    ("pays", "taking_part"), [([1, 1, 2, 3, 3], 2), ([1, 2, 2, 2, 5, 5], 4), ([1, 2, 2, 4], 4)]
)
def test_random_swapping_against_all_pairings(pays, taking_part):
    """Undo every pairing that could have made the release: what a released value was, counted over all of them."""
    levels = sorted(set(pays))
    was = np.zeros((len(levels), len(levels)))
    for drawn in combinations(range(len(pays)), taking_part):
        for pairs in pairings(drawn):
            original = list(pays)
            for one, other in pairs:
                original[one], original[other] = pays[other], pays[one]
            for before, after in zip(original, pays, strict=True):
                was[levels.index(after), levels.index(before)] += 1
    people = Microdata(pd.DataFrame({"pay": pays}), confidential="pay")
    release = Swapping(rate=taking_part / len(pays)).release(people, 0)
    np.testing.assert_allclose(
        release.confidential.channel.dense(), was / was.sum(axis=1, keepdims=True), rtol=1e-12
    )


def every_exchange(ranks: tuple[int, ...], window: int):
    """All outcomes of rank swapping among these ranks with their probabilities, decision by decision."""
    if not ranks:
        yield {}, Fraction(1)
        return
    low, *rest = ranks
    near = [r for r in rest if r - low <= window]
    for other in near or [low]:
        for done, chance in every_exchange(tuple(r for r in rest if r != other), window):
            yield {**done, low: other, other: low}, chance / max(len(near), 1)


def exact_moves(records: int, taking_part: int, window: int):
    """P(the value at rank j came from rank i), over all who could take part and all their draws."""
    table = np.zeros((records, records))
    chosen = list(combinations(range(records), taking_part))
    for ranks in chosen:
        for moved, chance in every_exchange(ranks, window):
            for rank in range(records):
                table[rank, moved.get(rank, rank)] += float(chance) / len(chosen)
    return table


TINY = [(2, 2, 1), (5, 4, 1), (6, 6, 2), (7, 6, 2), (7, 4, 3), (6, 6, 5), (7, 6, 7)]
FIVE_ERRORS = 5 * 0.5 / np.sqrt(DRAWS)


@pytest.mark.parametrize(("records", "taking_part", "window"), TINY)
def test_rank_moves_against_all_draws(records, taking_part, window):
    expected = exact_moves(records, taking_part, window)
    found = rank_moves(records, taking_part, window).channel(np.ones(records, dtype=np.int64)).dense()
    np.testing.assert_allclose(found, expected, atol=FIVE_ERRORS)
    np.testing.assert_array_equal(found > 0, expected > 0)
    counts = np.array([2, 0, records - 2])
    values = np.repeat(np.arange(3), counts)
    merged = rank_moves(records, taking_part, window).channel(counts).dense()
    for released in (0, 2)[: 1 + (records > 2)]:
        rows = expected[values == released].mean(axis=0)
        np.testing.assert_allclose(merged[released], np.bincount(values, rows, minlength=3), atol=FIVE_ERRORS)
    assert merged[1].tolist() == [0, 1, 0]


def test_a_wrong_window_or_share_is_beyond_the_errors():
    found = rank_moves(7, 6, 2).channel(np.ones(7, dtype=np.int64)).dense()
    assert np.abs(found - exact_moves(7, 6, 3)).max() > 3 * FIVE_ERRORS
    assert np.abs(found - exact_moves(7, 4, 2)).max() > 3 * FIVE_ERRORS


@pytest.mark.parametrize(("records", "taking_part", "window"), TINY)
def test_rank_swapping_before_another_prior(records, taking_part, window):
    """P(released | true) in files with these values is known; Bayes' rule does the rest."""
    counts = np.array([1, 1, records - 2])[: min(records, 3)]
    counts = counts[counts > 0]
    values = np.repeat(np.arange(len(counts)), counts)
    moves = exact_moves(records, taking_part, window)
    shown = np.array([[moves[values == c][:, values == d].sum() for d in set(values)] for c in set(values)])
    prior = np.array([0.2, 0.7, 0.1])[: len(counts)]
    joint = shown / counts * prior
    expected = joint / joint.sum(axis=1, keepdims=True)
    channel = rank_moves(records, taking_part, window).channel(counts)
    np.testing.assert_allclose(
        channel.with_prior(prior / prior.sum()).dense(), expected, atol=4 * FIVE_ERRORS
    )
    if len(counts) == 3:
        assert np.abs(channel.dense() - expected).max() > 6 * FIVE_ERRORS


@pytest.mark.parametrize(
    ("records", "taking_part", "window"), [(5000, 5000, 3), (4001, 1200, 200), (300, 300, 30)]
)
def test_blocks_and_shared_rows_against_swaps_of_the_whole_file(records, taking_part, window):
    """Lone values among large ones, near both ends and between: every row, against the file swapped many times."""
    rng = np.random.default_rng(1)
    counts = np.array([1, 5, 30, 1, records // 2 - 50, 1, 13, 0, 1, 0, 4, 1])
    counts[7] = records - counts.sum()
    value = np.repeat(np.arange(len(counts)), counts)
    was = np.zeros((len(counts), len(counts)))
    state = np.array([3], dtype=np.uint64)
    for _ in range(1000):
        places = np.sort(rng.permutation(records)[:taking_part])
        source = np.arange(records)
        source[places] = places[exchange(places, window, state)]
        np.add.at(was, (value, value[source]), 1)
    found = rank_moves(records, taking_part, window).channel(counts).dense()
    assert was.sum(axis=1).min(initial=np.inf, where=counts > 0) == 1000
    expected = was / np.maximum(was.sum(axis=1, keepdims=True), 1)
    apart = np.abs(found - expected)[counts > 0]
    errors = np.sqrt(expected * (1 - expected) / np.maximum(was.sum(axis=1, keepdims=True), 1))[counts > 0]
    assert (apart <= 4.5 * errors + 0.02).all()


TECHNIQUES = st.builds(
    Swapping,
    rate=st.sampled_from([0.05, 0.3, 1]),
    on=st.sampled_from(["confidential", "keys", "all"]),
    window=st.sampled_from([None, 30, 100]),
)


@settings(max_examples=60, deadline=None)
@given(TECHNIQUES, st.integers(4, 40), st.integers(0, 2**32))
def test_values_stay_in_the_file_and_within_the_window(technique, records, seed):
    """Every value is still there as often; of distinct values none moves further than the window."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"key": rng.permutation(records).astype(str), "pay": rng.permutation(records)})
    people = Microdata(frame, confidential="pay", keys=["key"])
    release = technique.release(people, seed)
    columns = {
        "key": (people.key_codes("key"), release.keys["key"]),
        "pay": (people.codes, release.confidential),
    }
    swapped = {"confidential": ["pay"], "keys": ["key"], "all": ["key", "pay"]}[technique.on]
    for name, (before, after) in columns.items():
        assert sorted(after.codes) == sorted(before)
        moved = np.abs(after.codes.astype(int) - before)
        if name not in swapped:
            assert not moved.any()
            continue
        assert np.count_nonzero(moved) <= 2 * np.floor(technique.rate * records / 2 + 0.5)
        if technique.window is None:
            assert np.count_nonzero(moved) == min(
                2 * np.floor(technique.rate * records / 2 + 0.5), records - records % 2
            )
        else:
            assert moved.max() <= technique.window * records / 100


@pytest.mark.parametrize("window", [None, 10])
def test_a_rate_that_moves_nobody_is_the_file_itself(people, beliefs, window):
    release = Swapping(rate=0.01, on="all", window=window).release(people, 0)
    assert release.table.to_pylist() == Unprotected().release(people).table.to_pylist()
    for known in ([], ["age"], ["age", "sex", "job"]):
        assert beliefs(release.posteriors(known, intruder="paper")) == beliefs(
            Unprotected().release(people).posteriors(known, intruder="paper")
        )


def test_all_swapped_at_random_leaves_the_marginal():
    """A record cannot keep its own value, which changes the marginal by at most 1/(n − 1)."""
    pay = np.repeat([10, 20, 30], [200, 500, 300])
    people = Microdata(pa.table({"id": np.arange(1000), "pay": pay}), confidential="pay", keys=["id"])
    post = Swapping(rate=1).release(people, 0).posteriors(["id"], intruder="paper")
    np.testing.assert_allclose(post.probabilities, np.tile([0.2, 0.5, 0.3], (1000, 1)), atol=1 / 999)


RANDOM, LOCAL = Swapping(rate=0.5), Swapping(rate=0.7, window=20)


@pytest.mark.parametrize(
    "technique",
    [
        RANDOM,
        LOCAL,
        Swapping(rate=1, window=8),
        Swapping(rate=0.4, on="all"),
        Swapping(rate=0.4, on="all", window=15),
    ],
    ids=lambda t: t.notation,
)
def test_stated_probabilities_come_true(technique):
    assert p_value(technique, files=150) > 0.001


@pytest.mark.parametrize(
    ("technique", "believed"),
    [
        (RANDOM, Swapping(rate=0.4)),
        (LOCAL, Swapping(rate=0.6, window=20)),
        (LOCAL, Swapping(rate=0.7, window=30)),
        (LOCAL, Swapping(rate=0.7)),
        (Swapping(rate=0.4, on="all"), Swapping(rate=0.2, on="all")),
    ],
    ids=lambda t: t.notation,
)
def test_a_wrong_rate_or_window_is_found_out(technique, believed):
    assert p_value(technique, believed, files=150) < 1e-6


@pytest.mark.parametrize("rate", [0, -0.1, 1.01, float("nan")])
def test_a_rate_outside_its_range(rate):
    with pytest.raises(InputError, match=f"rate is {rate}; it must be above 0 and at most 1"):
        Swapping(rate=rate)


@pytest.mark.parametrize("window", [0, -5, 100.5, float("nan")])
def test_a_window_outside_its_range(window):
    with pytest.raises(InputError, match=f"window is {window}; it must be above 0 and at most 100 percent"):
        Swapping(rate=0.5, window=window)


def test_a_window_that_reaches_nobody(people):
    with pytest.raises(
        InputError, match=r"window is 2 % of 40 ranks, less than one rank; make it 2.5 or more"
    ):
        Swapping(rate=0.5, window=2).release(people, 0)
    channel = Swapping(rate=0.5, window=2.5).release(people, 0).confidential.channel.dense()
    assert channel.sum(axis=1) == pytest.approx(1)
    assert (np.diag(channel) < 1).any()  # some values may have been another's


def test_a_key_of_too_many_values():
    people = Microdata(
        pa.table({"number": np.arange(17_000), "pay": np.arange(17_000) % 7}),
        confidential="pay",
        keys=["number"],
    )
    with pytest.raises(
        InputError, match=r"'number' .*17,000 × 17,000 numbers and would take 2\.2 GiB.*coarsen"
    ):
        Swapping(rate=0.5, on="keys").release(people, 0)
