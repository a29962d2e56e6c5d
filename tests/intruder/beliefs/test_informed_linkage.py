"""The informed intruder's linkage against enumeration of all sets of records, and at the limits of double precision."""

from itertools import combinations
from math import prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from equivoc.errors import InputError
from equivoc.linkage import informed_linkage as module
from equivoc.linkage.coded_file import CodedFile, Unchanged
from equivoc.linkage.informed_linkage import informed_linkage
from equivoc.linkage.key_linkage import linkage


def chances(true, released, known):
    """p of every record for one class, by the definition."""
    found = []
    for record in released.keys:
        p = 1.0
        for value, key in zip(true, known, strict=True):
            evidence = released.evidence[key]
            same = isinstance(evidence, Unchanged)
            p *= float(record[key] == value) if same else evidence[value, record[key]]
        found.append(p)
    return found


def by_enumeration(true, number, released, known):
    """The linkage to symbols by looking at every set of this many records; None if no set is possible."""
    p = chances(true, released, known)
    row, total = np.zeros(released.confidential_size), 0.0
    for chosen in combinations(range(len(p)), number):
        weight = prod(p[r] if r in chosen else 1 - p[r] for r in range(len(p)))
        total += weight
        for r in chosen:
            row[released.confidential[r]] += weight / number
    return row / total if total > 0 else None


@st.composite
def files(draw_from):
    """Up to 8 records with 1 to 4 keys: unchanged, coarsened into sets, certain at times, or noisy."""
    rng = np.random.default_rng(draw_from(st.integers(0, 2**32)))
    records = draw_from(st.integers(1, 8))
    kinds = draw_from(st.lists(st.sampled_from(["same", "noisy", "sets"]), min_size=1, max_size=4))
    keys, evidence = [], []
    for kind in kinds:
        levels = int(rng.integers(1, 4))
        symbols = levels if kind == "same" else int(rng.integers(1, 5))
        keys.append(rng.integers(0, symbols, records))
        table = (
            rng.uniform(0.05, 1, (levels, symbols))
            if kind == "noisy"
            else rng.integers(0, 2, (levels, symbols))
        )
        table = np.where(table.sum(axis=0) == 0, 1.0, table)
        evidence.append(Unchanged(levels) if kind == "same" else table / table.sum(axis=0))
    return CodedFile(np.stack(keys, axis=1), evidence, rng.integers(0, 3, records), 3)


@settings(max_examples=200)
@given(files(), st.data())
def test_equals_enumeration_of_all_sets_of_records(released, data):
    known = data.draw(st.permutations(range(len(released.evidence))))
    known = known[: data.draw(st.integers(0, len(known)))]
    classes, sizes, expected = [], [], []
    for code in np.ndindex(*[released.domain_sizes[key] for key in known]):
        for number in range(1, len(released.keys) + 1):
            row = by_enumeration(code, number, released, known)
            if row is not None:
                classes.append(code)
                sizes.append(number)
                expected.append(row)
    if not classes:
        return
    shuffled = np.random.default_rng(0).permutation(len(classes))
    classes = np.array(classes, dtype=np.int64).reshape(len(sizes), len(known))[shuffled]
    found = informed_linkage(classes, np.array(sizes)[shuffled], released, known=known)
    assert found.exact
    np.testing.assert_allclose(found.linkage, np.array(expected)[shuffled], atol=1e-10)


def some_file(people=300, seed=0):
    rng = np.random.default_rng(seed)
    sizes = [3, 4, 6]
    tables = [np.full((n, n), 0.3 / (n - 1)) + np.eye(n) * (0.7 - 0.3 / (n - 1)) for n in sizes]
    keys = rng.integers(0, sizes, (people, 3))
    return keys, CodedFile(keys, [tables[0], Unchanged(4), tables[2]], rng.integers(0, 5, people), 5)


def test_a_large_table_is_sparse_and_the_same(monkeypatch):
    keys, released = some_file()
    classes, sizes = np.unique(keys, axis=0, return_counts=True)
    dense = informed_linkage(classes, sizes, released, known=[0, 1, 2]).linkage
    monkeypatch.setattr(module, "DENSE_CELLS", 0)
    sparse = informed_linkage(classes, sizes, released, known=[0, 1, 2]).linkage
    assert sparse.has_sorted_indices
    np.testing.assert_array_equal(sparse.toarray(), dense)
    np.testing.assert_allclose(dense.sum(axis=1), 1.0, rtol=1e-12)


def test_too_many_pairs_are_linked_without_the_sizes_and_the_result_says_so(monkeypatch):
    keys, released = some_file()
    classes, sizes = np.unique(keys, axis=0, return_counts=True)
    monkeypatch.setattr(module, "MOST_PAIRS", 100)
    found = informed_linkage(classes, sizes, released, known=[0, 1, 2])
    assert not found.exact
    np.testing.assert_array_equal(found.linkage, linkage(classes, released, known=[0, 1, 2]))


def test_impossible_pairs_do_not_count_towards_the_limit(monkeypatch):
    keys, released = some_file()
    classes, sizes = np.unique(keys, axis=0, return_counts=True)
    pairs = sum(
        np.count_nonzero(chances(c, CodedFile(classes, released.evidence, classes[:, 0], 3), range(3)))
        for c in classes
    )
    assert pairs < len(classes) ** 2 / 2
    for most, exact in ((pairs - 1, False), (pairs, True)):
        monkeypatch.setattr(module, "MOST_PAIRS", most)
        assert informed_linkage(classes, sizes, released, known=[0, 1, 2]).exact is exact


def test_probabilities_below_the_smallest_double():
    tiny = np.array([[1e-80, 4e-80, 0.0, 1.0], [1.0, 1.0, 1.0, 0.0]])
    keys = np.repeat([[0], [1], [2]], 4, axis=1)
    released = CodedFile(keys, [tiny] * 4, [0, 1, 2], 4)
    one, two, three = informed_linkage([[0] * 4] * 3, [1, 2, 3], released, known=range(4)).linkage
    np.testing.assert_allclose(one, [1 / 257, 256 / 257, 0, 0], rtol=1e-12)
    np.testing.assert_allclose(two, [0.5, 0.5, 0, 0])
    np.testing.assert_allclose(three, [0.5, 0.5, 0, 0])  # only two can be hers
    released = CodedFile(np.vstack([keys, [[3] * 4]]), [tiny] * 4, [0, 1, 2, 2], 3)
    np.testing.assert_allclose(
        informed_linkage([[0] * 4], [2], released, known=range(4)).linkage,
        [[1 / 514, 256 / 514, 0.5]],
        rtol=1e-12,
    )


def test_evidence_that_contradicts_the_size_of_a_class():
    star = np.array([[1, 0, 0.5], [0, 1, 0.5]])
    released = CodedFile([[0], [0], [1], [2]], [star], [0, 1, 2, 3], 4)
    found = informed_linkage([[0], [1]], [1, 3], released, known=[0]).linkage
    np.testing.assert_allclose(found, [[0.5, 0.5, 0, 0], [0, 0, 0.5, 0.5]])


def test_a_class_without_a_possible_record_and_other_mistakes_are_refused():
    released = CodedFile([[0], [1]], [np.array([[1.0, 0.5], [0.0, 0.5], [0.0, 0.0]])], [0, 1], 2)
    with pytest.raises(InputError, match=r"row 1 of the classes \(codes \[2\]\)"):
        informed_linkage([[0], [2]], [1, 1], released, known=[0])
    with pytest.raises(InputError, match="from 0 to 2"):
        informed_linkage([[3]], [1], released, known=[0])
    with pytest.raises(InputError, match="1 person or more"):
        informed_linkage([[0]], [0], released, known=[0])
    with pytest.raises(InputError, match="different column numbers"):
        informed_linkage([[0]], [1], released, known=[1])
    with pytest.raises(InputError, match="as many classes"):
        informed_linkage([[0]], [1, 1], released, known=[0])
    wrong = CodedFile([[0], [1]], [np.array([[1.0, 1.0], [1.0, 0.0]])], [0, 1], 2)
    with pytest.raises(InputError, match="columns that sum to 1"):
        informed_linkage([[0]], [1], wrong, known=[0])
    assert informed_linkage(np.empty((0, 1), int), [], released, known=[0]).linkage.shape == (0, 2)


def test_the_result_is_the_same_in_many_pieces(monkeypatch):
    keys, released = some_file()
    classes, sizes = np.unique(keys, axis=0, return_counts=True)
    whole = informed_linkage(classes, sizes, released, known=[0, 1, 2]).linkage
    monkeypatch.setattr(module, "CELLS_AT_A_TIME", 17)
    np.testing.assert_array_equal(informed_linkage(classes, sizes, released, known=[0, 1, 2]).linkage, whole)
