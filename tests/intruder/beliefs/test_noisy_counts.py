"""Expected true counts against enumeration, prefix and suffix convolution, and a simulation of the whole mechanism."""

from itertools import product
from math import exp, factorial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import gammaln

from equivoc.channels.noisy_counts import chunks, expected_counts
from equivoc.errors import InputError


def by_enumeration(y, prior, number, alpha):
    """All true counts that sum to the number, each with its weight."""
    found, total = np.zeros(len(y)), 0.0
    for counts in product(range(number + 1), repeat=len(y)):
        if sum(counts) != number:
            continue
        weight = 1.0
        for t, shown, share in zip(counts, y, prior, strict=True):
            weight *= share**t / factorial(t) * alpha ** abs(shown - t)
        found += weight * np.array(counts)
        total += weight
    return found / total


def by_convolution(y, prior, number, alpha):
    """Prefix and suffix products of the cells' generating functions, scaled by their largest coefficient."""
    t = np.arange(number + 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.where(t > 0, t * np.log(np.array(prior))[:, None], 0.0)
    logs = logs + t * np.log(number) - gammaln(t + 1) + np.log(alpha) * np.abs(np.array(y)[:, None] - t)
    cells = np.exp(logs - logs.max(axis=1, keepdims=True))

    def joined(parts):
        found = [np.eye(1, number + 1)[0]]
        for part in parts:
            both = np.convolve(found[-1], part)[: number + 1]
            found.append(both / both.max())
        return found

    before, after = joined(cells), joined(cells[::-1])[::-1]
    result = []
    for d, cell in enumerate(cells):
        rest = np.convolve(before[d], after[d + 1])[: number + 1][::-1]
        result.append((t * cell * rest).sum() / (cell * rest).sum())
    return np.array(result)


@given(
    st.lists(st.tuples(st.integers(-3, 8), st.floats(0.01, 1)), min_size=1, max_size=4),
    st.integers(0, 6),
    st.sampled_from([0.02, 0.4, 0.9, 0.999]),
)
def test_equals_enumeration(cells, number, alpha):
    y, prior = zip(*cells, strict=True)
    found = expected_counts(y, prior, [0, len(y)], [number], alpha=alpha)
    np.testing.assert_allclose(found, by_enumeration(y, prior, number, alpha), atol=1e-9)


@pytest.mark.parametrize("alpha", [exp(-2), exp(-0.5), exp(-0.05), exp(-0.001)])
@pytest.mark.parametrize("number", [3, 40, 400])
def test_equals_prefix_and_suffix_convolution(number, alpha):
    rng = np.random.default_rng(number)
    prior = rng.dirichlet(np.full(12, 0.6))
    prior[3] = 0.0
    true = rng.multinomial(number, prior / prior.sum())
    noise = np.rint(rng.laplace(0, 1 / -np.log(alpha), 12)).astype(int)
    y = true + np.clip(noise, -2 * number, 2 * number)
    found = expected_counts(y, prior, [0, 12], [number], alpha=alpha)
    np.testing.assert_allclose(found, by_convolution(y, prior, number, alpha), rtol=1e-8, atol=1e-9)
    assert found.sum() == pytest.approx(number, rel=1e-10)


def test_classes_together_are_as_each_alone_and_copies_are_cells():
    rng = np.random.default_rng(5)
    people = np.array([0, 1, 2, 3, 7, 60, 1, 500, 2])
    sizes = np.array([3, 5, 4, 6, 2, 5, 1, 6, 3])
    starts = np.append(0, np.cumsum(sizes))
    y, prior = rng.integers(-3, 9, sizes.sum()), rng.uniform(0.1, 1, sizes.sum())
    copies = rng.integers(1, 4, sizes.sum())
    together = expected_counts(y, prior, starts, people, alpha=0.5, copies=copies)
    for c, (number, size) in enumerate(zip(people, sizes, strict=True)):
        part = slice(starts[c], starts[c + 1])
        spread = [np.repeat(each[part], copies[part]) for each in (y, prior)]
        alone = expected_counts(*spread, [0, copies[part].sum()], [number], alpha=0.5)
        np.testing.assert_allclose(np.repeat(together[part], copies[part]), alone, atol=1e-8)
        assert size == sizes[c]


def test_a_million_people_sum_up_and_lie_near_what_is_shown():
    rng = np.random.default_rng(6)
    prior = rng.dirichlet(np.full(46, 2.0))
    true = rng.multinomial(1_000_000, prior)
    y = true + np.rint(rng.laplace(0, 10, 46)).astype(int)
    found = expected_counts(y, prior, [0, 46], [1_000_000], alpha=exp(-0.1))
    assert found.sum() == pytest.approx(1_000_000, abs=1e-3)
    assert np.abs(found - y).max() < 40


def test_beliefs_are_calibrated():
    """Counts drawn from the prior and published with noise: among equal beliefs, the true counts average to them."""
    rng = np.random.default_rng(7)
    prior, alpha, rounds = np.array([0.6, 0.3, 0.1]), 0.6, 4000
    true = rng.multinomial(4, prior, size=rounds)
    noise = rng.geometric(1 - alpha, true.shape) - rng.geometric(1 - alpha, true.shape)
    found = expected_counts(
        (true + noise).ravel(),
        np.tile(prior, rounds),
        np.arange(rounds + 1) * 3,
        np.full(rounds, 4),
        alpha=alpha,
    ).reshape(rounds, 3)
    for low, high in ((0.0, 0.5), (0.5, 1.5), (1.5, 2.5), (2.5, 4.0)):
        band = (found > low) & (found <= high)
        error = (true[band] - found[band]).std() / np.sqrt(band.sum())
        assert abs(true[band].mean() - found[band].mean()) < 4 * error


def test_invalid_arguments_are_rejected():
    with pytest.raises(InputError, match="alpha"):
        expected_counts([1], [1.0], [0, 1], [1], alpha=1.0)
    with pytest.raises(InputError, match="prior allows none"):
        expected_counts([1], [0.0], [0, 1], [1], alpha=0.5)
    with pytest.raises(InputError, match="starts"):
        expected_counts([1], [1.0], [0, 2], [1], alpha=0.5)
    with pytest.raises(InputError, match="prior weight"):
        expected_counts([1], [np.nan], [0, 1], [1], alpha=0.5)


def test_chunks_cover_every_class_once():
    starts = np.array([0, 3, 3, 10, 11, 30])
    runs = list(chunks(starts, 5))
    assert [c for at, past in runs for c in range(at, past)] == list(range(5))
    assert all(starts[past] - starts[at] <= 5 or past == at + 1 for at, past in runs)
