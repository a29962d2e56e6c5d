"""The noise intruder's linkage against double loops in plain Python, and at the limits of double precision."""

import subprocess
import sys
from itertools import combinations
from math import comb, exp, inf, log, prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from equivoc.channels.channel import channel
from equivoc.channels.rank_noise import draw, released_size, transition
from equivoc.data import lattice as row_codes
from equivoc.errors import InputError
from equivoc.linkage import key_linkage
from equivoc.linkage import key_linkage as linkage_walk
from equivoc.linkage.coded_file import CodedFile, Unchanged
from equivoc.linkage.key_linkage import linkage, sweep

EDGES = ("clip", "wrap", "extend")


def make_noisy(original, confidential, noises, rng, ranks=4):
    """A release of the original; `noises` holds the domain size, amplitude and edge of each key."""
    columns = [
        draw(original[:, key], size, most, edge=edge, rng=rng)
        for key, (size, most, edge) in enumerate(noises)
    ]
    keys = np.array(columns, dtype=np.int64).reshape(len(noises), len(original)).T
    return CodedFile(
        keys, [transition(size, most, edge=edge) for size, most, edge in noises], confidential, ranks
    )


def slow_weights(known_codes, noisy, known):
    """One class, by the definition."""
    weights = [0.0] * noisy.confidential_size
    for record in range(len(noisy.confidential)):
        weights[noisy.confidential[record]] += prod(
            noisy.evidence[key][code, noisy.keys[record, key]]
            for key, code in zip(known, known_codes, strict=True)
        )
    return [weight / sum(weights) for weight in weights]


@st.composite
def files(draw_from):
    noises = draw_from(
        st.lists(
            st.tuples(st.integers(1, 6), st.sampled_from([0, 2, 4, 8]), st.sampled_from(EDGES)), max_size=4
        )
    )
    people = draw_from(st.integers(1, 14))
    rng = np.random.default_rng(draw_from(st.integers(0, 2**32)))
    original = np.array([rng.integers(size, size=people) for size, _, _ in noises], dtype=np.int64)
    original = original.reshape(len(noises), people).T
    return original, make_noisy(original, rng.integers(4, size=people), noises, rng)


@given(files())
@settings(max_examples=150, deadline=None)
def test_every_class_of_every_subset_is_what_the_double_loop_says(file):
    original, noisy = file
    keys = range(original.shape[1])
    subsets = [known for size in range(len(keys) + 1) for known in combinations(keys, size)]
    found = list(sweep(original, noisy))
    assert [each.known for each in found] == subsets
    for each in found:
        occurring = sorted({tuple(row) for row in original[:, each.known].tolist()})
        assert [tuple(row) for row in each.classes.tolist()] == occurring
        slow = [slow_weights(codes, noisy, each.known) for codes in occurring]
        np.testing.assert_allclose(each.weights, slow, rtol=1e-12, atol=1e-300)
        np.testing.assert_allclose(each.weights.sum(axis=1), 1, rtol=1e-12)
        one = linkage(original[:, each.known], noisy, known=each.known)
        np.testing.assert_allclose(
            one, [slow_weights(row, noisy, each.known) for row in original[:, each.known]]
        )


@given(files(), st.randoms(use_true_random=False))
@settings(max_examples=50, deadline=None)
def test_the_order_of_records_and_of_known_keys_changes_nothing(file, random):
    original, noisy = file
    rows, known = list(range(len(original))), list(range(original.shape[1]))
    random.shuffle(rows)
    random.shuffle(known)
    shuffled = CodedFile(noisy.keys[rows], noisy.evidence, noisy.confidential[rows], noisy.confidential_size)
    for before, after in zip(sweep(original, noisy), sweep(original[rows], shuffled), strict=True):
        np.testing.assert_allclose(before.weights, after.weights, rtol=1e-12)
    np.testing.assert_allclose(
        linkage(original[:, known], shuffled, known=known),
        linkage(original, noisy, known=range(original.shape[1])),
        rtol=1e-12,
    )


def realistic(percent_like, edge, people=400):
    rng = np.random.default_rng(percent_like)
    sizes = (40, 2, 12, 90)
    original = np.stack([rng.binomial(size - 1, 0.4, size=people) for size in sizes], axis=1)
    noises = [(size, 2 * round(percent_like * (size - 1) / 200), edge) for size in sizes]
    return original, make_noisy(original, rng.integers(7, size=people), noises, rng, ranks=7)


@pytest.mark.parametrize("edge", EDGES)
@pytest.mark.parametrize("percent", [5, 20, 100])
def test_pruning_loses_nothing(percent, edge):
    original, noisy = realistic(percent, edge)
    one_hot = np.eye(7)[noisy.confidential]
    for found in sweep(original, noisy):
        product = np.ones((len(found.classes), len(original)))
        for column, key in enumerate(found.known):
            product *= noisy.evidence[key][found.classes[:, column]][:, noisy.keys[:, key]]
        full = product @ one_hot
        full /= full.sum(axis=1, keepdims=True)
        np.testing.assert_allclose(found.weights, full, rtol=1e-11, atol=1e-200)
        np.testing.assert_array_equal(found.weights > 0, full > 0)


def test_without_noise_it_is_exact_matching():
    original, noisy = realistic(0, "clip")
    for found in sweep(original, noisy):
        for codes, weights in zip(found.classes, found.weights, strict=True):
            same = (original[:, found.known] == codes).all(axis=1)
            share = np.bincount(noisy.confidential[same], minlength=7) / same.sum()
            np.testing.assert_allclose(weights, share, rtol=1e-12)


@pytest.mark.parametrize("which", [(0,), (3,), (0, 2), (0, 1, 2, 3)])
def test_an_unchanged_key_is_evidence_of_ones_and_zeros(which):
    """With many levels or few, first in the walk or later, and for values that no released record has."""
    original, noisy = realistic(20, "clip")
    released = noisy.keys.copy()
    evidence = list(noisy.evidence)
    for key in which:
        released[:, key] = original[:, key]
        evidence[key] = np.eye(len(evidence[key]))
    spelled_out = CodedFile(released, evidence, noisy.confidential, 7)
    marked = [Unchanged(len(e)) if key in which else e for key, e in enumerate(evidence)]
    short = CodedFile(released, marked, noisy.confidential, 7)
    assert short.domain_sizes == spelled_out.domain_sizes
    subsets = [s for size in range(3) for s in combinations(range(4), size)]
    for one, other in zip(
        sweep(original, short, subsets=subsets), sweep(original, spelled_out, subsets=subsets), strict=True
    ):
        np.testing.assert_allclose(one.weights, other.weights, rtol=1e-12)
    absent = CodedFile([[0], [2]], [Unchanged(4)], [0, 1], 2)
    assert linkage([[2], [0]], absent, known=[0]).tolist() == [[0, 1], [1, 0]]
    for code in (1, 3):
        with pytest.raises(InputError, match="row 0 of the classes"):
            linkage([[code]], absent, known=[0])


def test_large_tables_stay_sparse_and_the_same(monkeypatch):
    original, noisy = realistic(20, "clip")
    dense = linkage(original[:, [0, 2]], noisy, known=[0, 2])
    monkeypatch.setattr(linkage_walk, "DENSE_CELLS", 0)
    sparse = linkage(original[:, [0, 2]], noisy, known=[0, 2])
    assert sparse.format == "csr"
    np.testing.assert_array_equal(sparse.toarray(), dense)


def test_given_subsets_come_in_the_given_order_and_as_when_all_are_asked_for():
    original, noisy = realistic(20, "wrap")
    every = {found.known: found for found in sweep(original, noisy)}
    wanted = [(3,), (0, 1, 2), (), (1, 3)]
    some = list(sweep(original, noisy, subsets=wanted))
    assert [found.known for found in some] == wanted
    for found in some:
        np.testing.assert_array_equal(found.classes, every[found.known].classes)
        np.testing.assert_allclose(found.weights, every[found.known].weights, rtol=1e-12)


def test_a_memory_for_few_subsets_at_a_time_changes_nothing(monkeypatch):
    original, noisy = realistic(20, "clip")
    at_once = list(sweep(original, noisy))
    for cells in (1, 3000):
        monkeypatch.setattr(key_linkage, "CELLS_AT_A_TIME", cells)
        for before, after in zip(at_once, sweep(original, noisy), strict=True):
            assert before.known == after.known
            np.testing.assert_allclose(before.weights, after.weights, rtol=1e-12)


def test_twelve_keys_whose_combinations_pass_64_bits():
    rng = np.random.default_rng(5)
    original = rng.integers(0, 100, size=(60, 12))
    original[30:, :11] = original[:30, :11]
    noisy = make_noisy(original, rng.integers(4, size=60), [(100, 10, "clip")] * 12, rng)
    everything = tuple(range(12))
    (found,) = sweep(original, noisy, subsets=[everything])
    np.testing.assert_array_equal(found.classes, np.unique(original, axis=0))
    slow = [slow_weights(codes, noisy, everything) for codes in found.classes]
    np.testing.assert_allclose(found.weights, slow, rtol=1e-12)


@given(files())
@settings(max_examples=30, deadline=None)
def test_renumbering_long_codes_keeps_classes_and_their_order(file):
    original, noisy = file
    known = tuple(range(original.shape[1]))
    short = linkage_walk.group(original, known, noisy.domain_sizes)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(row_codes, "LARGEST_CODE", 7)
        long = linkage_walk.group(original, known, noisy.domain_sizes)
    np.testing.assert_array_equal(short.first, long.first)
    np.testing.assert_array_equal(short.class_of, long.class_of)


def logarithmic_weights(codes, noisy, known):
    """One class in logarithms, in plain Python."""
    logs = []
    for record in range(len(noisy.confidential)):
        factors = [
            noisy.evidence[key][code, noisy.keys[record, key]] for key, code in zip(known, codes, strict=True)
        ]
        logs.append(sum(map(log, factors)) if all(factors) else -inf)
    weights = [0.0] * noisy.confidential_size
    for rank, value in zip(noisy.confidential, logs, strict=True):
        weights[rank] += exp(value - max(logs))
    return [weight / sum(weights) for weight in weights]


def test_products_far_below_the_smallest_double():
    noise = transition(401, 400, edge="extend")
    # Rank 200 is released as 400 when it does not move; here all keys of all records have moved by some 195.
    keys = np.full((3, 12), 400 + 195)
    keys[1, 0] += 1
    keys[2, :2] += [1, -1]
    noisy = CodedFile(keys, [noise] * 12, [0, 1, 2], 3)
    codes, known = [200] * 12, tuple(range(12))
    assert prod(noise[200, 594] for _ in known) == 0.0
    expected = logarithmic_weights(codes, noisy, known)
    assert min(expected) > 1e-3
    np.testing.assert_allclose(linkage([codes], noisy, known=known), [expected], rtol=1e-10)
    (found,) = sweep([codes], noisy, subsets=[known])
    np.testing.assert_allclose(found.weights, [expected], rtol=1e-10)


def test_a_likely_record_that_the_last_key_excludes_does_not_hide_an_unlikely_one():
    wide, exact = transition(401, 400, edge="extend"), transition(2, 0, edge="clip")
    keys = [[400, 400, 400, 400, 0], [595, 595, 595, 595, 1], [595, 595, 595, 594, 1]]
    noisy = CodedFile(keys, [wide] * 4 + [exact], [0, 1, 2], 3)
    known = (0, 1, 2, 3, 4)
    found = linkage([[200, 200, 200, 200, 1]], noisy, known=known)
    np.testing.assert_allclose(found, [logarithmic_weights([200] * 4 + [1], noisy, known)], rtol=1e-10)
    assert found[0, 0] == 0
    assert found[0, 1] > 0.001


def test_wide_noise_where_some_classes_need_logarithms_and_others_do_not():
    noise = transition(401, 400, edge="extend")
    noisy = CodedFile([[395] * 5, [394] * 5, [201] * 5], [noise] * 5, [0, 1, 1], 2)
    classes = [[200] * 5, [1] * 5, [390] * 5]
    expected = [logarithmic_weights(codes, noisy, range(5)) for codes in classes]
    np.testing.assert_allclose(linkage(classes, noisy, known=range(5)), expected, rtol=1e-9, atol=1e-200)


def test_totals_near_the_smallest_double_keep_all_their_records():
    # Products 4e-290, 2e-290 and 1e-291: plain doubles hold them, but only just.
    noise = np.array([[1 - 3.1e-145, 2e-145, 1e-145, 1e-146], [1, 0, 0, 0]])
    noisy = CodedFile([[1, 1], [1, 2], [2, 3]], [noise] * 2, [0, 1, 2], 3)
    np.testing.assert_allclose(
        linkage([[0, 0]], noisy, known=[0, 1]), [np.array([40, 20, 1]) / 61], rtol=1e-9
    )


def test_what_is_possible_stays_possible_however_unlikely():
    noisy = CodedFile([[400], [598]], [transition(401, 400, edge="extend")], [0, 1], 2)
    found = linkage([[200]], noisy, known=[0])
    np.testing.assert_allclose(found[0, 1], comb(400, 398) / comb(400, 200), rtol=1e-12)
    assert 0 < found[0, 1] < 1e-100


def test_a_class_that_no_record_fits_is_named():
    noisy = CodedFile([[0, 0], [5, 5]], [transition(9, 2, edge="clip")] * 2, [0, 1], 2)
    with pytest.raises(InputError, match=r"row 1 of the classes \(codes \[8\]\)"):
        linkage([[0], [8], [1]], noisy, known=[0])
    # Each key of (0, 5) fits a record, the two together fit none.
    with pytest.raises(InputError, match=r"class 2 of the known keys \[0, 1\] \(codes \[0, 5\]\).*: 1\."):
        list(sweep([[0, 0], [5, 5], [0, 5], [0, 1]], noisy))


def test_a_wrapped_value_links_across_the_ends():
    noisy = CodedFile([[0], [5], [9]], [transition(10, 2, edge="wrap")], [0, 1, 2], 3)
    np.testing.assert_allclose(linkage([[9], [5]], noisy, known=[0]), [[1 / 3, 0, 2 / 3], [0, 1, 0]])


@pytest.mark.parametrize("edge", EDGES)
def test_posterior_rows_sum_to_one(edge):
    original, noisy = realistic(60, edge)
    rng = np.random.default_rng(0)
    size, most = 5, 2
    ranks = draw(rng.integers(size, size=len(original)), size, most, edge=edge, rng=rng)
    noisy = CodedFile(noisy.keys, noisy.evidence, ranks, released_size(size, most, edge=edge))
    truth = channel(transition(size, most, edge=edge), prior=rng.random(size))
    for found in sweep(original, noisy):
        np.testing.assert_allclose((found.weights @ truth).sum(axis=1), 1, rtol=1e-12)


def test_without_classes_there_are_no_rows():
    _, noisy = realistic(5, "clip")
    assert linkage(np.empty((0, 2), dtype=int), noisy, known=[0, 3]).shape == (0, 7)


EXACT = transition(3, 0, edge="clip")


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"keys": [[0], [3]]}, "key 0 must lie from 0 to 2; found 0 to 3"),
        ({"keys": [[0], [-1]]}, "found -1 to 0"),
        ({"keys": [[0.5], [1]]}, "whole-number"),
        ({"keys": [0, 1]}, "shapes"),
        ({"confidential": [0]}, "shapes"),
        ({"confidential": [0, 2]}, "confidential ranks must lie from 0 to 1"),
        ({"keys": np.empty((0, 1), dtype=int), "confidential": []}, "no records"),
        ({"evidence": []}, "one evidence table each"),
        ({"evidence": [EXACT * -0.9]}, "weights of 0 or more"),
        ({"evidence": [EXACT * np.nan]}, "finite"),
        ({"evidence": [Unchanged(1)]}, "key 0 must lie from 0 to 0"),
    ],
)
def test_a_coded_file_is_checked_when_it_is_created(change, says):
    good = {"keys": [[0], [1]], "evidence": [EXACT], "confidential": [0, 1], "confidential_size": 2}
    CodedFile(**good)
    with pytest.raises(InputError, match=says):
        CodedFile(**(good | change))


@pytest.mark.parametrize(
    ("ask", "says"),
    [
        (lambda noisy: linkage([[0]], noisy, known=[1]), "column numbers from 0 to 0"),
        (lambda noisy: linkage([[0, 0]], noisy, known=[0, 0]), "different"),
        (lambda noisy: linkage([[0, 0]], noisy, known=[0]), "1 columns"),
        (lambda noisy: linkage([[3]], noisy, known=[0]), "true codes of key 0"),
        (lambda noisy: sweep([[-1]], noisy), "true codes of key 0"),
        (lambda noisy: sweep([[0, 0]], noisy), "1 columns"),
        (lambda noisy: sweep(np.empty((0, 1), dtype=int), noisy), "at least one row"),
        (lambda noisy: sweep([[0]], noisy, subsets=[[0], [0]]), "twice"),
    ],
)
def test_bad_questions_are_refused_at_the_call(ask, says):
    with pytest.raises(InputError, match=says):
        ask(CodedFile([[0], [1]], [EXACT], [0, 1], 2))


def test_importing_loads_neither_compiler_nor_scipy():
    code = (
        "import sys, equivoc, equivoc.channels.rank_noise, equivoc.linkage.key_linkage;"
        "print(sorted({'numba', 'scipy'} & set(sys.modules)))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
