"""What holds for every technique: sums, sweeps, orders of rows, names of categories, kinds of frames."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import issparse

import equivoc as eq
from equivoc.channels.channel import Bayes
from equivoc.data.microdata import Microdata
from equivoc.intruder import posteriors as mixing
from equivoc.releases.linked_release import LinkedRelease
from equivoc.techniques.date_shift import DateShift
from equivoc.techniques.generalisation import Generalisation
from equivoc.techniques.geometric_noise import GeometricNoise
from equivoc.techniques.microaggregation import Microaggregation
from equivoc.techniques.noise_addition import NoiseAddition
from equivoc.techniques.noisy_table import NoisyCounts, NoisyTable
from equivoc.techniques.pram import PRAM
from equivoc.techniques.query_restriction import QueryRestriction
from equivoc.techniques.rounding import Rounding
from equivoc.techniques.sampling import Sampling
from equivoc.techniques.suppression import Suppression
from equivoc.techniques.swapping import Swapping
from equivoc.techniques.top_bottom_coding import TopBottomCoding
from equivoc.techniques.unprotected import Unprotected

KEYS = ["sex", "age", "job"]
PRIOR = np.array([0.3, 0.2, 0.1, 0.1, 0.2, 0.05, 0.05])
SUBSETS = [known for size in range(4) for known in combinations(KEYS, size)]
NOISES = [
    NoiseAddition(percent=50, edge=edge, belief=intruder)
    for edge in ("clip", "wrap", "extend")
    for intruder in ("bayes", "interval")
]
RANDOM = [
    Sampling(fraction=0.3),
    Sampling(fraction=0.3, prior="marginal"),
    QueryRestriction(size=4),
    QueryRestriction(size=4, belief="bayes"),
    *NOISES,
    Rounding(base=25, method="random"),
    DateShift(days=12),
    Rounding(base=3, method="random", on="age+pay"),
    PRAM(keep=0.7),
    PRAM(keep=0.5, on="all"),
    GeometricNoise(epsilon=3),
    NoisyTable(epsilon=1),
    Swapping(rate=0.4),
    Swapping(rate=1, on="all"),
    Swapping(rate=0.8, on="all", window=25),
]
AVERAGES = [Microaggregation(size=3, on="age+pay"), Microaggregation(size=3, on="age+pay", method="fast")]
INTERVALS = Generalisation(k=3, hierarchies={"age": 2})
FIXED = [
    Unprotected(),
    Rounding(base=25),
    Rounding(base=3, on="age+pay"),
    TopBottomCoding(low=20, high=40),
    TopBottomCoding(high=22, on="age+pay"),
    Generalisation(k=3),
    INTERVALS,
    Suppression(k=3),
    Suppression(k=3, missing_keys="any"),
    Microaggregation(size=4),
    Microaggregation(size=4, belief="order"),
    *AVERAGES,
]
ALL = [*FIXED, *RANDOM]


def named(techniques):
    return pytest.mark.parametrize("technique", techniques, ids=lambda t: t.notation)


@named([*ALL, eq.ReleasedFile("people.csv")])
def test_a_frame_is_not_people(technique):
    with pytest.raises(eq.InputError, match=r"people is a DataFrame; convert it with eq\.Microdata"):
        technique.release(pd.DataFrame({"sex": ["F"], "pay": [10]}), 0)


@named(ALL)
def test_every_row_sums_to_one(people, domain, records, classes_of, technique):
    release = technique.release(people, 2)
    for known in SUBSETS:
        post = release.posteriors(known, intruder="paper")
        assert post.known == known
        assert post.values.tolist() == domain
        assert post.probabilities.shape == (len(classes_of(records, known)), len(domain))
        assert (post.probabilities >= 0).all()
        np.testing.assert_allclose(post.probabilities.sum(axis=1), 1, rtol=1e-12)
        assert post.sizes.sum() == len(records)


@named(ALL)
@pytest.mark.parametrize("intruder", ["paper", "informed", "strongest"])
def test_a_sweep_gives_every_subset_once(people, beliefs, assert_same, technique, intruder):
    release = technique.release(people, 2)
    swept = list(release.sweep(prior=PRIOR, intruder=intruder))
    assert sorted(tuple(sorted(post.known)) for post in swept) == sorted(
        tuple(sorted(known)) for known in SUBSETS
    )
    for post in swept:
        known = [key for key in KEYS if key in post.known]
        again = release.posteriors(known, prior=PRIOR, intruder=intruder)
        assert_same(beliefs(post), beliefs(again))
        assert sorted(post.sizes.tolist()) == sorted(again.sizes.tolist())


@named(ALL)
@pytest.mark.parametrize(
    ("sizes", "count"), [({"max_size": 1}, 4), ({"min_size": 2}, 4), ({"min_size": 1, "max_size": 2}, 6)]
)
def test_a_sweep_keeps_to_the_sizes(people, technique, sizes, count):
    swept = {frozenset(post.known) for post in technique.release(people, 2).sweep(**sizes, prior=PRIOR)}
    assert len(swept) == count
    assert min(map(len, swept)) >= sizes.get("min_size", 0)
    assert max(map(len, swept)) <= sizes.get("max_size", 3)


@named(ALL)
def test_the_order_of_the_known_keys_only_orders_the_classes(people, beliefs, assert_same, technique):
    release = technique.release(people, 2)
    one, other = (
        release.posteriors(["sex", "age"], intruder="paper"),
        release.posteriors(["age", "sex"], intruder="paper"),
    )
    assert one.classes.key_codes.tolist() != other.classes.key_codes.tolist()
    assert_same(beliefs(one), beliefs(other))


@named(RANDOM)
def test_the_seed_is_all_the_randomness(people, beliefs, technique):
    def found(rng):
        return beliefs(technique.release(people, rng).posteriors(["age"], intruder="paper"))

    assert found(7) == found(7) == found(np.int64(7)) == found(np.random.default_rng(7))
    assert found(7) != found(8)


@named(ALL)
def test_techniques_without_randomness_are_marked(people, beliefs, technique):
    """A study makes only one release of a technique that says it does not."""
    one, other = (
        beliefs(technique.release(people, rng).posteriors(["age"], intruder="paper")) for rng in (7, 8)
    )
    assert technique.random == (one != other)


@named(RANDOM)
def test_two_releases_from_one_generator_differ(people, beliefs, technique):
    """Two releases from one generator differ: the second draw is not the first again."""
    rng = np.random.default_rng(7)
    first, second = (technique.release(people, rng).posteriors(["age"], intruder="paper") for _ in range(2))
    assert beliefs(first) != beliefs(second)


def reordered(release: Any, people: Microdata, order: np.ndarray) -> Any:
    """The same release with its records in another order."""
    if isinstance(release, NoisyCounts):
        return replace(release, people=people)
    if isinstance(release, LinkedRelease):
        columns = {key: replace(column, codes=column.codes[order]) for key, column in release.keys.items()}
        confidential = replace(release.confidential, codes=release.confidential.codes[order])
        return replace(release, people=people, keys=columns, confidential=confidential)
    return replace(release, people=people, group=release.group[order])


@named(ALL)
def test_the_order_of_rows_changes_nothing(people, records, domain, beliefs, technique):
    order = np.random.default_rng(3).permutation(len(records))
    shuffled = Microdata(
        pa.Table.from_pylist([records[r] for r in order]), confidential="pay", keys=KEYS, domain=domain
    )
    release = technique.release(people, 2)
    other = reordered(release, shuffled, order) if technique in RANDOM else technique.release(shuffled)
    for known in SUBSETS:
        assert beliefs(release.posteriors(known, intruder="paper")) == beliefs(
            other.posteriors(known, intruder="paper")
        )


@pytest.mark.parametrize(
    "technique",
    [
        Sampling(fraction=1, prior="marginal"),
        QueryRestriction(size=40),
        QueryRestriction(size=40, belief="bayes"),
        NoiseAddition(percent=0, edge="extend"),
        NoiseAddition(percent=0, belief="interval"),
    ],
    ids=lambda t: t.notation,
)
def test_where_nothing_is_left_to_chance_the_order_of_rows_changes_nothing(
    people, records, domain, technique
):
    """All drawn, one query over all, no noise: any seed and any order of rows give the same figures."""
    shuffled = Microdata(pa.Table.from_pylist(records[::-1]), confidential="pay", keys=KEYS, domain=domain)
    for known in SUBSETS:
        one = technique.release(people, 1).posteriors(known, intruder="paper").curves()
        other = technique.release(shuffled, 2).posteriors(known, intruder="paper").curves()
        np.testing.assert_allclose(one.h0, other.h0, rtol=0, atol=1e-12)
        np.testing.assert_allclose(one.area, other.area, rtol=0, atol=1e-10)


@pytest.mark.parametrize(
    ("technique", "age"),
    [
        *(
            (technique, lambda age: f"{age - 19:02d} years")
            for technique in ALL
            if technique not in (*NOISES[4:], INTERVALS) and "age" not in getattr(technique, "on", "")
        ),
        *((technique, lambda age: 100 - 2.5 * (24 - age)) for technique in (*NOISES[4:], *AVERAGES)),
    ],
    ids=lambda p: getattr(p, "notation", ""),
)
def test_names_of_categories_change_nothing(people, records, domain, technique, age):
    """Other names in the same order (for a grid that may grow, or means: in even steps again)."""
    sexes = {"F": "Ą", "M": "ż", None: None}
    jobs = {"cook": -3.5, "judge": 0.0, "nurse": 8.0}
    renamed = [
        {"sex": sexes[r["sex"]], "age": age(r["age"]), "job": jobs[r["job"]], "pay": r["pay"]}
        for r in records
    ]
    other = Microdata(pa.Table.from_pylist(renamed), confidential="pay", keys=KEYS, domain=domain)
    release, again = technique.release(people, 5), technique.release(other, 5)
    for known in SUBSETS:
        one, two = release.posteriors(known, intruder="paper"), again.posteriors(known, intruder="paper")
        assert one.classes.key_codes.tolist() == two.classes.key_codes.tolist()
        assert one.probabilities.tolist() == two.probabilities.tolist()


FRAMES = {
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "pyarrow": pa.Table,
    "duckdb": duckdb.DuckDBPyRelation,
    "csv": pd.DataFrame,
}


def framed(kind, records, folder):
    table = pa.Table.from_pylist(records)
    if kind == "csv":
        pa.csv.write_csv(table, folder / "people.csv")
        return folder / "people.csv"
    if kind == "pandas":
        return table.to_pandas()
    if kind == "polars":
        return pl.DataFrame(pl.from_arrow(table))
    return duckdb.from_arrow(table) if kind == "duckdb" else table


def plain(frame: Any) -> dict[str, list[Any]]:
    """Any kind of frame as lists of plain values, missing ones as None."""
    if isinstance(frame, duckdb.DuckDBPyRelation):
        frame = frame.to_arrow_table()
    if isinstance(frame, pd.DataFrame):
        return {name: [None if pd.isna(v) else v for v in frame[name].tolist()] for name in frame}
    return frame.to_pydict() if isinstance(frame, pa.Table) else frame.to_dict(as_series=False)


def typed(columns):
    return {name: [(type(v), v) for v in column] for name, column in columns.items()}


@named(ALL)
@pytest.mark.parametrize("kind", FRAMES)
def test_frames_are_of_the_kind_that_went_in(people, records, domain, tmp_path, technique, kind):
    mine = Microdata(framed(kind, records, tmp_path), confidential="pay", keys=KEYS, domain=domain)
    release, same = technique.release(mine, 2), technique.release(people, 2)
    if isinstance(technique, QueryRestriction):
        assert release.table is None
    else:
        assert isinstance(release.table, FRAMES[kind])
        assert typed(plain(release.table)) == typed(plain(same.table))
    for known in (["age"], ["job", "sex"]):
        post = release.posteriors(known, intruder="paper")
        assert isinstance(post.keys, FRAMES[kind])
        assert post.probabilities.tolist() == same.posteriors(known, intruder="paper").probabilities.tolist()
        levels = [mine.levels(name) for name in known]
        codes = post.classes.key_codes
        expected = {name: [levels[k][code] for code in codes[:, k].tolist()] for k, name in enumerate(known)}
        assert typed(plain(post.keys)) == typed(expected)
        combined = list(zip(*expected.values(), strict=True))
        assert set(combined) == {tuple(record[name] for name in known) for record in records}


@named(ALL)
def test_large_tables_are_sparse_and_the_same(people, monkeypatch, technique):
    release = technique.release(people, 2)
    dense = {known: release.posteriors(known, intruder="paper") for known in SUBSETS}
    entropies = {known: post.shannon() for known, post in dense.items()}
    assert not any(issparse(post.probabilities) for post in dense.values())
    finest = len(dense[tuple(KEYS)]) * 7 * 8
    monkeypatch.setattr(mixing, "DENSE_UP_TO", finest)
    assert not issparse(release.posteriors(KEYS, intruder="paper").probabilities)
    monkeypatch.setattr(mixing, "DENSE_UP_TO", finest - 1)
    assert issparse(release.posteriors(KEYS, intruder="paper").probabilities)
    monkeypatch.setattr(mixing, "DENSE_UP_TO", 0)
    for known in SUBSETS:
        sparse = release.posteriors(known, intruder="paper")
        assert sparse.probabilities.format == "csr"
        found, expected = sparse.probabilities.toarray(), dense[known].probabilities
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-16)
        np.testing.assert_allclose(sparse.shannon(), entropies[known], atol=1e-12)
        np.testing.assert_allclose(sparse.curves().area, dense[known].curves().area, atol=1e-9)


@named(ALL)
def test_curves_are_the_measure_row_by_row(people, technique):
    for known in ([], ["age", "sex"]):
        post = technique.release(people, 2).posteriors(known, intruder="paper")
        many = post.curves()
        assert len(many) == len(post)
        for row, probabilities in enumerate(post.probabilities):
            one = eq.curve(post.values, probabilities)
            assert many.h0[row] == pytest.approx(one.h0, abs=1e-9)
            assert many.area[row] == pytest.approx(one.area, abs=1e-7)
            assert many.eps_max[row] == one.eps_max
            assert many.at(15)[row] == pytest.approx(one(15), abs=1e-9)
            assert many.hit(20)[row] == pytest.approx(one.hit(20), abs=1e-9)
            assert post.shannon()[row] == pytest.approx(one.h0, abs=1e-9)


PEOPLE = st.lists(
    st.tuples(
        st.sampled_from([1, 2, 3, 4, 5, None]),
        st.sampled_from(["x", "y", "z", None]),
        st.sampled_from([10, 20, 30, 50]),
    ),
    min_size=4,
    max_size=12,
)
NEVER_WRONG = [t for t in ALL if getattr(t, "prior", "uniform") == "uniform" and t != INTERVALS]


@settings(max_examples=40, deadline=None)
@given(rows=PEOPLE, seed=st.integers(0, 2**32), percent=st.sampled_from([0, 20, 60, 100, 300]))
@pytest.mark.parametrize("technique", NEVER_WRONG, ids=lambda t: t.notation)
def test_the_truth_is_never_ruled_out(technique, rows, seed, percent):
    """With the paper's prior or the noise's own distribution, no true value has probability 0."""
    columns = dict(zip(("a", "b", "pay"), map(list, zip(*rows, strict=True)), strict=True))
    people = Microdata(pa.table(columns), confidential="pay", keys=["a", "b"])
    if isinstance(technique, NoiseAddition):
        technique = replace(technique, percent=percent)
    if technique in AVERAGES:
        technique = replace(technique, on="pay")
    elif "age" in getattr(technique, "on", ""):
        technique = replace(technique, on=("a", "pay"))
    for post in technique.release(people, seed).own_sweep():
        rows_of_people = post.probabilities[post.classes.of_record]
        assert (rows_of_people[np.arange(len(people)), people.codes] > 0).all()
        np.testing.assert_allclose(post.probabilities.sum(axis=1), 1, rtol=1e-12)


@named(ALL)
def test_no_technique_has_a_prior_of_its_own(technique, people):
    """Every channel is worked out anew for another prior; where it is Bayes' rule, by that rule."""
    release = technique.release(people, 1)
    if isinstance(release, NoisyCounts) or isinstance(technique, Unprotected):
        return
    if isinstance(release, LinkedRelease):
        column = release.confidential
        read = [(column.codes, column.channel), (column.codes, column.informed)]
    else:
        read = [(release.group, release.channel)]
        if isinstance(technique, QueryRestriction):
            read.append((release.informed_group, release.informed))
    for codes, channel in read:
        if channel is None:
            continue
        rows = channel.with_prior(PRIOR).dense()[np.unique(codes)]
        np.testing.assert_allclose(rows.sum(axis=1), 1, rtol=1e-9)
        uniform = channel.with_prior(np.full(7, 1 / 7)).dense()[np.unique(codes)]
        undecided = (uniform > 0).sum(axis=1) > 1
        assert undecided.any() == (np.abs(rows - uniform).max() > 0.01)
        if isinstance(channel, Bayes):
            likelihood = np.divide(uniform, uniform.max(axis=1, keepdims=True))
            expected = likelihood * PRIOR
            np.testing.assert_allclose(
                rows, expected / expected.sum(axis=1, keepdims=True), rtol=1e-9, atol=1e-15
            )


GIVEN = [
    (Sampling(fraction=0.3), "prior", "uniform"),
    (QueryRestriction(size=4), "belief", "uniform"),
    (NoiseAddition(percent=50), "belief", "bayes"),
    (Microaggregation(size=4), "belief", "sum"),
]


@pytest.mark.parametrize(("technique", "name", "given"), GIVEN, ids=lambda t: getattr(t, "notation", t))
def test_a_given_intruder_is_fixed_and_the_default_is_not(technique, name, given, people, beliefs):
    """The default's posteriors are those of the paper's intruder."""
    told = replace(technique, **{name: given})
    assert told.notation == f"{technique.notation},{name}={given}"
    before, after = technique.release(people, 3), told.release(people, 3)
    assert (before.fixed, after.fixed) == (False, True)
    for known in ([], ["sex"], KEYS):
        assert beliefs(before.posteriors(known, intruder="paper")) == beliefs(after.posteriors(known))
    with pytest.raises(eq.InputError, match=f"{name} is 'best'; it must be one of"):
        replace(technique, **{name: "best"})


@named([t for t in ALL if getattr(t, "belief", None) is None and getattr(t, "prior", None) is None])
def test_nothing_is_fixed_that_was_not_given(technique, people):
    assert not technique.release(people, 0).fixed
