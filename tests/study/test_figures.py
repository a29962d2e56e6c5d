"""A study's rows against a slow computation from what is released."""

from __future__ import annotations

from collections import defaultdict
from itertools import combinations

import numpy as np
import pandas as pd
import pytest

import equivoc as eq
from equivoc.experiments.cell import CellKey, cell_randomness
from equivoc.techniques.technique import Technique

KEYS = ["age", "sex", "job"]
DOMAIN = [float(v) for v in range(10, 110, 10)]


def slow_rows(frame: pd.DataFrame, posterior_of) -> dict[int, tuple[float, float, float, float]]:
    """For every number of known keys: h0, area, h0_record, area_record, one class at a time.

    ``posterior_of(subset, values, members)`` is the posterior of one class as {value: probability}.
    """
    found = {}
    for size in range(len(KEYS) + 1):
        per_class, per_record = [], []
        for subset in combinations(KEYS, size):
            members = defaultdict(list)
            for row, record in enumerate(frame[list(subset)].itertuples(index=False, name=None)):
                members[record].append(row)
            for values, rows in members.items():
                p = posterior_of(subset, values, rows)
                c = eq.curve(list(p), list(p.values()))
                per_class.append((c.h0, c.area))
                per_record += [(c.h0, c.area)] * len(rows)
        found[size] = (*np.mean(per_class, axis=0), *np.mean(per_record, axis=0))
    return found


def sampling_posterior(table: pd.DataFrame):
    """|M_s| of the class's |M_o| are in the sample; of the others nothing is known."""

    def posterior(subset, values, rows):
        in_sample = table
        for key, value in zip(subset, values, strict=True):
            in_sample = in_sample[in_sample[key] == value]
        rest = (len(rows) - len(in_sample)) / len(rows) / len(DOMAIN)
        counts = in_sample["salary"].value_counts()
        return {v: rest + counts.get(v, 0) / len(rows) for v in DOMAIN if rest + counts.get(v, 0) > 0}

    return posterior


def query_posterior(bounds: np.ndarray):
    """Each member's values between its bounds are equally likely; each member is equally likely the target."""

    def posterior(subset, values, rows):
        p: dict[float, float] = defaultdict(float)
        for row in rows:
            low, high = bounds[row]
            fit = [v for v in DOMAIN if low - 1e-9 <= v <= high + 1e-9]
            for v in fit:
                p[v] += 1 / len(fit) / len(rows)
        return dict(sorted(p.items()))

    return posterior


@pytest.mark.parametrize(
    "technique",
    [
        eq.Sampling(fraction=0.3),
        eq.Sampling(fraction=1.0),
        eq.QueryRestriction(size=2),
        eq.QueryRestriction(size=4),
    ],
    ids=lambda technique: technique.notation,
)
def test_rows_equal_a_slow_computation(
    frame: pd.DataFrame, people: eq.Microdata, technique: Technique
) -> None:
    """The paper's intruder, who takes all values to be equally likely without a release."""
    as_published = {"intruder": "paper", "prior": "uniform"}
    done = eq.Study(people, techniques=[technique], replicates=2, seed=3, **as_published).run(progress=False)
    assert len(done.frame) == 2 * 4
    for replicate in (0, 1):
        randomness = cell_randomness(3, CellKey(technique.notation, replicate))
        release = technique.release(people, randomness)
        if isinstance(technique, eq.Sampling):
            slow = slow_rows(frame, sampling_posterior(release.table))
        else:
            slow = slow_rows(frame, query_posterior(release.bounds))
        rows = done.frame[done.frame["replicate"] == replicate].set_index("known_size")
        for size, figures in slow.items():
            got = rows.loc[size, ["h0", "area", "h0_record", "area_record"]].to_numpy(float)
            np.testing.assert_allclose(got, figures, rtol=1e-9, atol=1e-9)


CASES = [
    (eq.NoiseAddition(percent=30), {"intruder": "informed", "prior": "marginal"}),
    (eq.NoiseAddition(percent=30), {"intruder": "paper", "prior": "uniform"}),
    (eq.Unprotected(), {"intruder": "informed", "prior": "marginal"}),
    (eq.Sampling(fraction=0.5), {"intruder": "strongest", "prior": "uniform"}),
    (eq.Sampling(fraction=0.5), {"intruder": "learned", "prior": "marginal"}),
    (eq.PRAM(keep=0.8), {"intruder": "learned", "prior": "marginal"}),
]


@pytest.mark.parametrize(("technique", "chosen"), CASES)
def test_rows_equal_what_assess_finds(
    people: eq.Microdata, technique: Technique, chosen: dict[str, str]
) -> None:
    done = eq.Study(people, techniques=[technique], replicates=1, seed=4, **chosen).run(progress=False)
    assert (done.intruder, done.prior, done.true_hit_tolerance) == (chosen["intruder"], chosen["prior"], 5.0)
    release = technique.release(people, cell_randomness(4, CellKey(technique.notation, 0)))
    for size in range(4):
        h0, area, sizes, truth = [], [], [], []
        for subset in combinations(KEYS, size):
            result = eq.assess(people, release, known=list(subset), eps=[0, 5], **chosen)
            classes, told = result.classes, result.summary["truth"]
            truth.append((told["surprise"][0.0], told["gain"], told["true_hit"][5.0]))
            h0 += classes["h0"].tolist()
            area += classes["area"].tolist()
            sizes += classes["size"].tolist()
        (row,) = done.frame[done.frame["known_size"] == size].itertuples()
        assert row.h0 == pytest.approx(np.mean(h0), rel=1e-9, abs=1e-12)
        assert row.area == pytest.approx(np.mean(area), rel=1e-9, abs=1e-12)
        assert row.h0_record == pytest.approx(np.average(h0, weights=sizes), rel=1e-9, abs=1e-12)
        assert row.area_record == pytest.approx(np.average(area, weights=sizes), rel=1e-9, abs=1e-12)
        assert (row.surprise, row.gain, row.true_hit) == pytest.approx(np.mean(truth, axis=0), abs=1e-9)


def test_a_published_file_surprises_as_much_as_it_should(frame: pd.DataFrame, people: eq.Microdata) -> None:
    """A class's own distribution is a calibrated belief: T(0) is the mean H0, and the prior's is that of everybody."""
    done = eq.Study(people, techniques=[eq.Unprotected()], replicates=2).run(progress=False)
    summary = done.summary().set_index("known_size")
    assert summary["surprise"].tolist() == pytest.approx(summary["h0_record"].tolist(), abs=1e-12)
    gains = summary.loc[0, "h0_record"] - summary["h0_record"]
    assert summary["gain"].tolist() == pytest.approx(gains.tolist(), abs=1e-12)
    assert (summary[["surprise_se", "gain_se", "true_hit_se"]] == 0).all(axis=None)
    # Salaries are 10 apart, so a window of 5 holds one of them: the most frequent ones, ties shared, are guessed.
    for size, row in summary.iterrows():
        right = [
            rows["salary"].value_counts().max() / len(frame)
            for subset in combinations(KEYS, size)
            for _, rows in (frame.groupby(list(subset)) if subset else [((), frame)])
        ]
        assert row["true_hit"] == pytest.approx(sum(right) / len(list(combinations(KEYS, size))), abs=1e-12)


def test_a_class_counts_once_a_record_counts_once(people_of) -> None:
    """Three people who share a key's value and differ in pay, one who is alone: ⅓ of all classes' pairs differ."""
    frame = pd.DataFrame(
        {"age": [1, 1, 1, 2], "sex": [0, 0, 0, 0], "job": [0, 0, 0, 0], "salary": [10, 20, 10, 30]}
    )
    done = eq.Study(people_of(frame), techniques=[eq.Unprotected()], known_sizes=[1], replicates=1).run()
    class_1 = eq.curve([10, 20], [2 / 3, 1 / 3]).h0
    everyone = eq.curve([10, 20, 30], [0.5, 0.25, 0.25]).h0
    (row,) = done.frame.itertuples()
    # Classes: age 1, age 2, everyone (by sex), everyone (by job).
    assert row.h0 == pytest.approx((class_1 + 0 + 2 * everyone) / 4)
    assert row.h0_record == pytest.approx((3 * class_1 + 0 + 2 * 4 * everyone) / 12)


def test_pieces_measured_apart_give_the_same(people: eq.Microdata, monkeypatch: pytest.MonkeyPatch) -> None:
    study = eq.Study(people, techniques=[eq.NoiseAddition(percent=40)], replicates=1)
    together = study.run(progress=False).results
    monkeypatch.setattr("equivoc.experiments.cell.CLASSES_TOGETHER", 1)
    apart = study.run(progress=False).results
    pd.testing.assert_frame_equal(together, apart, rtol=1e-12)


def test_sparse_posteriors_are_measured_too(people: eq.Microdata, monkeypatch: pytest.MonkeyPatch) -> None:
    study = eq.Study(people, techniques=[eq.Sampling(fraction=0.3)], replicates=1)
    dense = study.run(progress=False).results
    monkeypatch.setattr("equivoc.intruder.posteriors.DENSE_UP_TO", 0)
    sparse = study.run(progress=False).results
    pd.testing.assert_frame_equal(dense, sparse, rtol=1e-12)


def test_some_sizes_and_named_subsets(people: eq.Microdata) -> None:
    def rows(**knowledge: object) -> pd.DataFrame:
        study = eq.Study(people, techniques=[eq.Sampling(fraction=0.3)], replicates=2, **knowledge)
        return study.run(progress=False).results

    whole, some = rows(), rows(known_sizes=[3, 0])
    expected = whole[whole["known_size"].isin([0, 3])].reset_index(drop=True)
    pd.testing.assert_frame_equal(some, expected, rtol=1e-12)
    named = rows(subsets=[["sex", "age", "job"], [], ["age"]])
    assert named["known_size"].unique().tolist() == [0, 1, 3]
    of_ends = named[named["known_size"] != 1].reset_index(drop=True)
    pd.testing.assert_frame_equal(of_ends, expected, rtol=1e-12)
    assert not np.isclose(
        named.loc[named["known_size"] == 1, "h0"].to_numpy(),
        whole.loc[whole["known_size"] == 1, "h0"].to_numpy(),
    ).any()
