"""Binomial noise: against coin tosses, against its own draws, and its channel."""

from collections import Counter
from fractions import Fraction
from itertools import product
from math import comb

import numpy as np
import pytest
from scipy import stats

from equivoc.channels.channel import channel
from equivoc.channels.rank_noise import amplitude, draw, interval_channel, released_size, transition
from equivoc.errors import InputError

EDGES = ("clip", "wrap", "extend")


def land(rank, size, most, edge):
    """The released code of a rank after a move, by the definition."""
    if edge == "extend":
        return rank + most // 2
    if edge == "clip":
        return max(0, min(size - 1, rank))
    while rank < 0:
        rank += size
    while rank >= size:
        rank -= size
    return rank


def enumerated(size, most, edge, move_probabilities):
    table = [[Fraction(0)] * (size + most if edge == "extend" else size) for _ in range(size)]
    for rank in range(size):
        for move, probability in move_probabilities.items():
            table[rank][land(rank + move, size, most, edge)] += probability
    return np.array([[float(p) for p in row] for row in table])


@pytest.mark.parametrize("edge", EDGES)
@pytest.mark.parametrize(("size", "most"), [(1, 0), (1, 4), (2, 0), (2, 2), (3, 8), (5, 4), (7, 10), (12, 6)])
def test_transition_is_what_fair_coins_do(size, most, edge):
    tosses = Counter(sum(coins) - most // 2 for coins in product((0, 1), repeat=most))
    moves = {move: Fraction(ways, 2**most) for move, ways in tosses.items()}
    np.testing.assert_allclose(
        transition(size, most, edge=edge), enumerated(size, most, edge, moves), rtol=1e-12
    )


@pytest.mark.parametrize("edge", EDGES)
@pytest.mark.parametrize(("size", "most"), [(177, 176), (9, 400), (60, 700)])
def test_transition_of_wide_noise_is_exact_to_the_last_tail(size, most, edge):
    moves = {j - most // 2: Fraction(comb(most, j), 2**most) for j in range(most + 1)}
    found = transition(size, most, edge=edge)
    np.testing.assert_allclose(found, enumerated(size, most, edge, moves), rtol=1e-12)
    np.testing.assert_allclose(found.sum(axis=1), 1, rtol=1e-12)
    assert found.shape == (size, released_size(size, most, edge=edge))


def test_amplitude_is_the_nearest_even_number_and_halves_go_up():
    assert [amplitude(20, size) for size in (69, 2, 16, 18, 25, 177)] == [14, 0, 4, 4, 4, 36]
    assert [amplitude(100, size) for size in (69, 2, 16, 18, 25, 177)] == [68, 2, 16, 18, 24, 176]
    assert amplitude(0, 1000) == 0
    assert amplitude(80, 1) == 0
    # Halves of them 5.25, 17.5, 3.5 and 14.5: floating-point dust must not decide.
    assert [amplitude(35, 31), amplitude(35, 101), amplitude(7, 101), amplitude(29, 101)] == [10, 36, 8, 30]


@pytest.mark.parametrize("percent", [-1, float("nan"), float("inf")])
def test_amplitude_refuses_what_is_no_percentage(percent):
    with pytest.raises(InputError, match="percentage"):
        amplitude(percent, 10)


def p_value(codes, expected):
    """Chi-square of observed codes against probabilities, neighbours pooled until each cell expects 10."""
    observed = np.bincount(codes, minlength=len(expected))
    cells, seen, mass = [], 0, 0.0
    for count, probability in zip(observed, expected * len(codes), strict=True):
        seen, mass = seen + count, mass + probability
        if mass >= 10:
            cells.append((seen, mass))
            seen, mass = 0, 0.0
    cells[-1] = (cells[-1][0] + seen, cells[-1][1] + mass)
    seen_cells, expected_cells = np.array(cells).T
    statistic = ((seen_cells - expected_cells) ** 2 / expected_cells).sum()
    return stats.chi2.sf(statistic, len(cells) - 1)


@pytest.mark.parametrize("edge", EDGES)
@pytest.mark.parametrize("rank", [0, 3, 12])
def test_draws_follow_the_transition_and_no_other(edge, rank):
    size, most, rng = 13, 14, np.random.default_rng(7)
    codes = draw(np.full(60_000, rank), size, most, edge=edge, rng=rng)
    assert p_value(codes, transition(size, most, edge=edge)[rank]) > 1e-3
    for wrong in (most - 2, most + 2):
        expected = transition(size, wrong, edge=edge)[rank]
        if edge == "extend":  # The same released ranks, counted from another lower end.
            expected = np.pad(expected, 1) if wrong < most else expected[1:-1]
        assert p_value(codes, expected) < 1e-6
    assert p_value(codes, np.roll(transition(size, most, edge=edge)[rank], 1) + 1e-9) < 1e-6


def test_draw_moves_each_record_on_its_own_and_obeys_its_generator():
    codes = np.full(1000, 50)
    first = draw(codes, 101, 20, edge="clip", rng=np.random.default_rng(1))
    assert len(set(first.tolist())) > 5
    assert (first == draw(codes, 101, 20, edge="clip", rng=np.random.default_rng(1))).all()
    assert (first != draw(codes, 101, 20, edge="clip", rng=np.random.default_rng(2))).any()
    assert abs(first - 50).max() <= 10
    assert (draw([3, 0, 2], 4, 0, edge="wrap", rng=np.random.default_rng(0)) == [3, 0, 2]).all()


@pytest.mark.parametrize("edge", EDGES)
def test_channel_is_bayes_rule(edge):
    noise, prior = transition(6, 4, edge=edge), [0.5, 0.0, 0.1, 0.1, 0.2, 0.1]
    found = channel(noise, prior=prior)
    for released in range(noise.shape[1]):
        joint = [noise[true, released] * prior[true] for true in range(6)]
        np.testing.assert_allclose(found[released], np.array(joint) / sum(joint), rtol=1e-12)
    np.testing.assert_allclose(channel(noise, prior=np.multiply(prior, 7)), found, rtol=1e-12)
    np.testing.assert_allclose(channel(noise), channel(noise, prior=np.full(6, 1 / 6)), rtol=1e-12)


def test_channel_of_a_released_rank_the_prior_forbids_is_zero_without_a_warning():
    found = channel(transition(9, 2, edge="clip"), prior=[1, 0, 0, 0, 0, 0, 0, 0, 0])
    np.testing.assert_array_equal(found.sum(axis=1), [1, 1, 0, 0, 0, 0, 0, 0, 0])


def test_channel_of_the_farthest_tail_of_a_wide_noise():
    found = channel(transition(700, 698, edge="extend"))
    np.testing.assert_allclose(found.sum(axis=1), 1, rtol=1e-12)
    assert found[0, 0] == 1


@pytest.mark.parametrize("prior", [[1, 1], [0, 0, 0], [1, -1, 1], [1, np.nan, 1]])
def test_channel_refuses_what_is_no_prior(prior):
    with pytest.raises(InputError, match="prior"):
        channel(transition(3, 2, edge="clip"), prior=prior)


@pytest.mark.parametrize("edge", EDGES)
@pytest.mark.parametrize(("size", "most"), [(1, 0), (1, 4), (4, 0), (6, 2), (6, 4), (5, 8), (5, 20), (7, 6)])
def test_interval_holds_just_the_ranks_that_noise_can_come_from(size, most, edge):
    found = interval_channel(size, most, edge=edge)
    assert found.shape == (released_size(size, most, edge=edge), size)
    for released in range(len(found)):
        rank = released - most // 2 if edge == "extend" else released
        turns = range(-30, 31) if edge == "wrap" else (0,)
        near = [any(abs(rank - (true + size * turn)) <= most // 2 for turn in turns) for true in range(size)]
        np.testing.assert_allclose(found[released], np.array(near) / sum(near), rtol=1e-12)
    np.testing.assert_array_equal(found > 0, transition(size, most, edge=edge).T > 0)


@pytest.mark.parametrize(
    ("size", "most", "edge", "says"),
    [(0, 2, "clip", "domain"), (3, 3, "clip", "even"), (3, -2, "clip", "even"), (3, 2, "bounce", "edge")],
)
def test_bad_noise_is_refused(size, most, edge, says):
    for build in (transition, interval_channel, released_size):
        with pytest.raises(InputError, match=says):
            build(size, most, edge=edge)


@pytest.mark.parametrize("codes", [[0, 3], [-1, 2]])
def test_draw_refuses_ranks_outside_the_domain(codes):
    with pytest.raises(InputError, match="0 to 2"):
        draw(codes, 3, 2, edge="clip", rng=np.random.default_rng(0))
