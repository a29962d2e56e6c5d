"""Trust per person in assessments: a disclosed group is found, and nobody where there is none."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import equivoc as eq
from equivoc.assessment import surprise

GATED = ["surprise", "trust", "below_half_bit", "surprise_p05"]


def frame_of_people(count: int = 3000) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "age": rng.integers(20, 80, count),
            "job": rng.integers(0, 10, count).astype(str),
            "town": rng.integers(0, 8, count).astype(str),
            "pay": rng.integers(1, 11, count) * 10,
        }
    )


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    return frame_of_people()


@pytest.fixture(scope="module")
def people(frame: pd.DataFrame) -> eq.Microdata:
    return eq.Microdata(frame, confidential="pay", keys=["age", "job", "town"])


def shuffled(frame: pd.DataFrame, who: np.ndarray) -> pd.DataFrame:
    pay = frame["pay"].to_numpy().copy()
    pay[who] = np.random.default_rng(1).permutation(pay[who])
    return frame.assign(pay=pay)


def test_the_exact_half_of_a_file_is_found(frame, people):
    young = (frame["age"] < 50).to_numpy()
    truth = eq.assess(people, eq.ReleasedFile(shuffled(frame, young))).summary["truth"]
    alone = frame.groupby(["age", "job", "town"])["pay"].transform("nunique").to_numpy() == 1
    disclosed = (~young & alone).mean()
    assert 0.25 < disclosed < 0.4
    assert truth["below_half_bit"] == 0.0
    assert truth["gated"]["below_half_bit"] == pytest.approx(disclosed, abs=0.05)
    assert truth["gated"]["surprise"] < truth["surprise"][0.0] - 0.2
    assert truth["gated"]["surprise_p05"] < 0.2
    assert list(truth["gated"]) == GATED


def test_no_alarm_without_such_a_group(frame, people):
    everybody = np.ones(len(frame), dtype=bool)
    truth = eq.assess(people, eq.ReleasedFile(shuffled(frame, everybody))).summary["truth"]
    assert truth["gated"]["below_half_bit"] == 0.0
    assert truth["trust"] < 0.05
    assert truth["gated"]["surprise"] == pytest.approx(truth["surprise"][0.0], abs=0.01)


@pytest.mark.parametrize("technique", [eq.Unprotected(), eq.Sampling(0.5)], ids=lambda each: each.notation)
def test_a_trusted_intruder_is_not_gated(technique, people, monkeypatch):
    monkeypatch.setattr(surprise, "gated_truth", None)
    truth = eq.assess(people, technique).summary["truth"]
    assert truth["trust"] >= 0.95
    assert "gated" not in truth


def test_the_largest_probability_is_known_in_dense_and_in_sparse_posteriors(people, monkeypatch):
    from equivoc.intruder import posteriors as mixing

    release = eq.ReleasedFile(frame_of_people().sample(frac=0.5, random_state=2)).release(people)
    posteriors = release.posteriors(["age"], intruder="informed")
    figures = eq.assess(people, release, known=["age"], intruder="informed").figures
    expected = np.column_stack(
        [posteriors.classes.key_codes, figures.h0, posteriors.probabilities.max(axis=1), posteriors.sizes]
    )
    np.testing.assert_allclose(surprise._known_of_classes(posteriors, figures), expected)
    monkeypatch.setattr(mixing, "DENSE_UP_TO", 0)
    np.testing.assert_allclose(surprise._known_of_classes(posteriors, figures), expected)
