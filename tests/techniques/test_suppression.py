"""Local suppression: k by counting, the number of stars by trying every way, posteriors by enumerating originals."""

from __future__ import annotations

from collections import Counter
from itertools import combinations, product

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from equivoc.data.microdata import Microdata
from equivoc.errors import InputError
from equivoc.linkage import coded_file as level_sets
from equivoc.techniques.suppression import Suppression
from equivoc.techniques.unprotected import Unprotected
from tests.techniques.consistent_originals import beliefs_by_enumeration

KEYS = ["a", "b", "c"]


def people_of(rows) -> Microdata:
    table = pa.table(
        {**{key: [row[at] for row in rows] for at, key in enumerate(KEYS)}, "pay": [7] * len(rows)}
    )
    return Microdata(table, confidential="pay", keys=KEYS)


def released(rows, k):
    """What each record shows, a star being any value but its own, and how many stars the release counts."""
    release = Suppression(k=k).release(people_of(rows))
    shown = [tuple(record[key] for key in KEYS) for record in release.table.to_pylist()]
    return shown, release.suppressed


CELL = st.sampled_from([1, 2, 3, 4, None])


@settings(max_examples=150, deadline=None)
@given(
    rows=st.lists(st.tuples(CELL, st.sampled_from(["x", "y"]), CELL), min_size=1, max_size=25),
    k=st.integers(1, 5),
)
def test_every_combination_occurs_k_times(rows, k):
    if k > len(rows):
        return
    shown, stars = released(rows, k)
    assert min(Counter(shown).values()) >= k
    counted = 0
    for at in range(3):
        nulls = any(row[at] is None for row in rows)
        star = "*" if nulls else None
        changed = [each[at] for each in shown] != [row[at] for row in rows]
        for each, row in zip(shown, rows, strict=True):
            # A column with nulls and stars is text; nothing but stars replaces what was there.
            kept = row[at] if row[at] is None or not (nulls and changed) else str(row[at])
            assert each[at] in (kept, star)
            counted += changed and each[at] == star
    assert counted == stars


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(CELL, CELL, CELL), min_size=1, max_size=8), st.integers(1, 3))
def test_a_file_that_has_k_is_left_alone(rows, k):
    people = people_of(rows * k)
    release = Suppression(k=k).release(people)
    assert release.suppressed == 0
    assert release.table.equals(people.frame)


def fewest_stars(rows, k):
    """The optimum: every way to star every record, abandoned where it cannot win any more."""
    best = len(rows) * len(rows[0])
    ways = [
        [
            (sum(mask), tuple(None if star else value for star, value in zip(mask, row, strict=True)))
            for mask in product((0, 1), repeat=len(row))
        ]
        for row in rows
    ]

    def go(at, shown, stars):
        nonlocal best
        if stars >= best:
            return
        if at == len(rows):
            best = stars if min(Counter(shown).values()) >= k else best
            return
        for more, way in ways[at]:
            go(at + 1, [*shown, way], stars + more)

    go(0, [], 0)
    return best


def test_not_many_more_stars_than_the_fewest():
    """On tiny files of all kinds: at most 5 % more stars in total, and at most 50 % more in any file."""
    rng = np.random.default_rng(0)
    ours = optimum = 0
    for _ in range(80):
        size, k, levels = rng.integers(3, 6), rng.integers(2, 4), rng.integers(2, 5)
        rows = [tuple(row) for row in rng.integers(levels, size=(size, 3)).tolist()]
        _, stars = released(rows, int(k))
        fewest = fewest_stars(rows, k)
        assert fewest <= stars <= 1.5 * fewest
        ours, optimum = ours + stars, optimum + fewest
    assert optimum > 200
    assert ours <= 1.05 * optimum


def test_the_set_of_keys_that_covers_most_comes_first():
    """Suppressing a helps four records at once, including the two that suppressing b would help."""
    rows = [(1, 1, 1), (2, 1, 1), (3, 1, 1), (3, 2, 1), (4, 2, 1), (9, 9, 9), (9, 9, 9)]
    shown, stars = released(rows, 2)
    assert shown == [(None, 1, 1)] * 3 + [(None, 2, 1)] * 2 + [(9, 9, 9)] * 2
    assert stars == 5


def test_those_left_over_join_the_group_that_costs_least():
    """One person left: with the pair (1, 1, 1) two values differ, 3 · 2 stars; with the triple all three, 4 · 3."""
    rows = [(1, 1, 1), (1, 1, 1), (5, 5, 5), (5, 5, 5), (5, 5, 5), (1, 2, 3)]
    shown, stars = released(rows, 2)
    assert shown == [(1, None, None)] * 2 + [(5, 5, 5)] * 3 + [(1, None, None)]
    assert stars == 6


@pytest.mark.parametrize("k", [2, 3])
def test_the_posterior_is_a_count_over_all_originals_that_fit(beliefs, k):
    """A star may be any level, null among them where nulls occur; all originals that fit are equally likely."""
    table = pa.table({"a": [1, 1, 2, 3], "b": ["x", "x", None, "y"], "pay": [10, 20, 10, 30]})
    people = Microdata(table, confidential="pay", keys=["a", "b"])
    release = Suppression(k=k).release(people)
    assert release.suppressed > 0

    def reads(shown, levels):
        star = "*" if None in levels else None
        return list(levels) if shown == star else [v for v in levels if v == shown]

    for known in ([], ["a"], ["b"], ["a", "b"]):
        rows = release.table.to_pylist()
        levels = {key: people.levels(key) for key in ("a", "b")}
        expected = beliefs_by_enumeration(rows, levels, known, reads=reads)
        for target, row in beliefs(release.posteriors(known, intruder="paper")).items():
            told = expected[target]
            assert row == pytest.approx([told.get(pay, 0.0) for pay in people.values], abs=1e-12)


SUBSETS = [known for size in range(4) for known in combinations(["sex", "age", "job"], size)]


def test_k_of_1_leaves_the_file_unchanged(people, beliefs):
    release, plain = Suppression(k=1).release(people), Unprotected().release(people)
    for known in SUBSETS:
        assert beliefs(release.posteriors(known, intruder="paper")) == beliefs(
            plain.posteriors(known, intruder="paper")
        )


def test_all_starred_is_knowing_nothing():
    table = pa.table({"a": [1, 2, 3, 4], "b": [5, 6, 7, 8], "pay": [10, 20, 20, 30]})
    people = Microdata(table, confidential="pay", keys=["a", "b"])
    release = Suppression(k=4).release(people)
    assert release.suppressed == 8
    for known in ([], ["a"], ["b"], ["a", "b"]):
        np.testing.assert_allclose(
            release.posteriors(known, intruder="paper").probabilities,
            [[0.25, 0.5, 0.25]] * len(people.classes(known)),
            atol=1e-12,
        )


@pytest.mark.parametrize("kind", ["int64", "float64", "str", "category", "bool"])
def test_a_star_is_a_missing_value_of_the_column_s_own_kind(kind):
    first = pd.Series([0, 0, 1, 1]).astype(str if kind in ("str", "category") else kind).astype(kind)
    frame = pd.DataFrame({"a": first, "b": [1, 2, 3, 3], "pay": [1, 2, 3, 4]})
    people = Microdata(frame[["b", "a", "pay"]], confidential="pay", keys=["b", "a"])
    frame_out = Suppression(k=2).release(people).table
    assert frame_out["b"].isna().tolist() == [True, True, False, False]
    assert frame_out["a"].tolist() == first.tolist()
    assert frame_out["a"].dtype == first.dtype


class TestMistakes:
    @pytest.mark.parametrize("k", [0, -1, 2.5, "two", None, True])
    def test_k(self, k):
        with pytest.raises(
            InputError, match=f"suppression: k is {k!r}; it must be a whole number of 1 or more"
        ):
            Suppression(k=k)

    def test_k_beyond_the_file(self, people):
        with pytest.raises(InputError, match="suppression: k is 41, but there are only 40 records"):
            Suppression(k=41).release(people)

    def test_too_many_keys(self):
        columns = {f"k{i}": [1, 2] for i in range(13)}
        wide = Microdata(pa.table({**columns, "pay": [1, 2]}), confidential="pay", keys=list(columns))
        with pytest.raises(InputError, match="13 keys and 2\\^13 ways to star them; give at most 12"):
            Suppression(k=2).release(wide)

    def test_a_value_that_is_a_star(self):
        table = pa.table({"a": ["*", "x", None], "pay": [1, 2, 3]})
        people = Microdata(table, confidential="pay", keys=["a"])
        with pytest.raises(InputError, match=r"key 'a' has the value '\*'"):
            Suppression(k=2).release(people)

    def test_too_many_levels(self, monkeypatch):
        people = people_of([(at, 1, 1) for at in range(10)])
        monkeypatch.setattr(level_sets, "LARGEST_TABLE", 109)
        with pytest.raises(InputError, match="key 'a' has 10 values, released as 11 different ones"):
            Suppression(k=2).release(people)
