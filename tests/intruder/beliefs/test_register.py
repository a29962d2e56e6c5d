"""The register intruder against plain dense scaling, permanents where they can be computed, and a simulation."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from equivoc.channels.rank_noise import draw, transition
from equivoc.errors import InputError
from equivoc.linkage import register
from equivoc.linkage.coded_file import CodedFile, Unchanged
from equivoc.linkage.register import register_linkage


def likelihoods(true, released):
    """Records × people, every one on its own."""
    found = np.ones((len(released.keys), len(true)))
    for key, evidence in enumerate(released.evidence):
        table = np.eye(evidence.levels) if isinstance(evidence, Unchanged) else evidence
        found *= table[true[:, key]][:, released.keys[:, key]].T
    return found


def dense(true, released):
    """Records (with blanks) × people (with strangers), scaled by brute force."""
    square = likelihoods(true, released)
    m, n = square.shape
    strangers = np.repeat(square.mean(axis=1, keepdims=True), max(0, m - n), axis=1)
    square = np.concatenate([square, strangers], axis=1)
    square = np.concatenate([square, np.ones((max(0, n - m), square.shape[1]))])
    for _ in range(3000):
        square /= square.sum(axis=1, keepdims=True)
        square /= square.sum(axis=0, keepdims=True)
    return square


def by_value(matrix, released, people):
    found = np.zeros((people, released.confidential_size))
    for r, symbol in enumerate(released.confidential):
        found[:, symbol] += matrix[r, :people]
    return found


@st.composite
def files(draw_from, lacking=(0,)):
    rng = np.random.default_rng(draw_from(st.integers(0, 2**32)))
    noises = draw_from(
        st.lists(st.tuples(st.integers(2, 6), st.sampled_from([0, 2, 4])), min_size=1, max_size=3)
    )
    people = draw_from(st.integers(2, 12))
    lost = draw_from(st.sampled_from(lacking))
    true = np.stack([rng.integers(size, size=people) for size, _ in noises], axis=1)
    keys = np.stack(
        [draw(true[:, k], size, most, edge="clip", rng=rng) for k, (size, most) in enumerate(noises)], axis=1
    )
    evidence = [transition(size, most, edge="clip") if most else Unchanged(size) for size, most in noises]
    released = CodedFile(keys, evidence, rng.integers(3, size=people), 3)
    if lost > 0:
        kept = slice(0, max(1, people - lost))
        released = CodedFile(keys[kept], evidence, released.confidential[kept], 3)
    # More records than people: the last people are not in the register, unless nobody else fits their records.
    if lost < 0 and people + lost > 0 and likelihoods(true[:lost], released).any(axis=1).all():
        true = true[:lost]
    return true, released


def linkage_of(true, released, **options):
    classes, which, sizes = np.unique(true, axis=0, return_inverse=True, return_counts=True)
    found = register_linkage(classes, sizes, released, known=range(true.shape[1]), **options)
    return found, found.linkage[which.ravel()], found.unreleased[which.ravel()]


@settings(max_examples=60)
@given(files(lacking=(0, 3, -2)))
def test_equals_dense_scaling(file):
    true, released = file
    found, linkage, unreleased = linkage_of(true, released, tolerance=1e-9, steps=5000)
    if not found.settled:  # a pair that no assignment uses fades slowly: compare what both have reached
        return
    matrix = dense(true, released)
    np.testing.assert_allclose(linkage, by_value(matrix, released, len(true)), atol=2e-3)
    np.testing.assert_allclose(linkage.sum(axis=1) + unreleased, 1.0, atol=1e-6)
    blanks = matrix[len(released.keys) :, : len(true)].sum(axis=0)
    np.testing.assert_allclose(unreleased, blanks, atol=2e-3)


@settings(max_examples=60)
@given(files(lacking=(0, 2, -2)))
def test_the_error_never_grows(file):
    true, released = file
    found, _, _ = linkage_of(true, released, tolerance=1e-6)
    errors = np.array(found.errors)
    assert (errors[1:] <= errors[:-1] * (1 + 1e-6) + 1e-7).all()


def test_it_is_near_the_exact_answer_and_less_sure():
    rng = np.random.default_rng(3)
    table = np.full((4, 4), 0.1) + 0.6 * np.eye(4)
    off, surer = [], []
    for _ in range(20):
        true = rng.integers(4, size=(6, 1))
        keys = np.array([[rng.choice(4, p=table[t])] for (t,) in true])
        released = CodedFile(keys, [table], np.arange(6), 6)
        likelihood = table[true[:, 0]][:, keys[:, 0]]
        exact, total = np.zeros((6, 6)), 0.0
        for records in permutations(range(6)):
            weight = np.prod(likelihood[range(6), records])
            exact[range(6), records] += weight
            total += weight
        exact /= total
        _, linkage, _ = linkage_of(true, released, tolerance=1e-8, steps=2000)
        off.append(np.abs(linkage - exact).max())
        surer.append(linkage.max(axis=1).mean() - exact.max(axis=1).mean())
    assert max(off) < 0.3
    assert max(surer) <= 1e-6


def test_a_record_that_is_surely_another_persons_is_not_the_targets():
    table = np.array([[0.5, 0.5, 0.0], [0.0, 0.5, 0.5], [0.0, 0.0, 1.0]])
    released = CodedFile([[1], [1], [2]], [table], confidential=[0, 0, 1], confidential_size=2)
    found = register_linkage([[0], [1], [2]], [1, 1, 1], released, known=[0], tolerance=1e-3)
    np.testing.assert_allclose(found.linkage[2], [0, 1], atol=1e-2)  # only record 2 can be hers
    np.testing.assert_allclose(
        found.linkage[1], [1, 0], atol=1e-2
    )  # so the second person's is one of the others
    assert register_linkage([[0]], [1], CodedFile([[0]], [table], [0], 1), known=[0]).linkage.tolist() == [
        [1.0]
    ]


def test_a_sample_leaves_the_rest_unreleased():
    released = CodedFile([[0], [0], [1]], [Unchanged(2)], confidential=[0, 1, 1], confidential_size=2)
    found = register_linkage([[0], [1]], [6, 4], released, known=[0], tolerance=1e-8)
    np.testing.assert_allclose(found.linkage, [[1 / 6, 1 / 6], [0, 1 / 4]], atol=1e-6)
    np.testing.assert_allclose(found.unreleased, [4 / 6, 3 / 4], atol=1e-6)


def test_no_keys_and_keys_left_out():
    table = np.array([[0.8, 0.2], [0.3, 0.7]])
    released = CodedFile(
        [[0, 0], [1, 2], [1, 1]], [table, Unchanged(3)], confidential=[0, 1, 1], confidential_size=2
    )
    nothing = register_linkage(np.empty((1, 0)), [3], released, known=[])
    np.testing.assert_allclose(nothing.linkage, [[1 / 3, 2 / 3]])
    second = register_linkage([[2], [0], [1]], [1, 1, 1], released, known=[1])
    np.testing.assert_allclose(second.linkage, [[0, 1], [1, 0], [0, 1]], atol=1e-12)


def test_impossible_input_is_rejected(monkeypatch):
    released = CodedFile([[0], [0]], [Unchanged(2)], confidential=[0, 1], confidential_size=2)
    with pytest.raises(InputError, match="cannot have been made"):
        register_linkage([[1]], [2], released, known=[0])
    with pytest.raises(InputError, match="No released record"):
        register_linkage([[0], [1]], [1, 1], released, known=[0])
    monkeypatch.setattr(register, "MOST_PAIRS", 3)
    with pytest.raises(InputError, match="pairs, more than 3"):
        register_linkage([[0], [1]], [1, 1], released, known=[0])
