"""A file too large to use the sizes of its classes says so; one that is not does not."""

import numpy as np
import pandas as pd

import equivoc as eq
from equivoc.linkage import informed_linkage


def test_the_note(monkeypatch):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"age": rng.integers(20, 60, 200), "pay": rng.integers(1, 9, 200)})
    people = eq.Microdata(frame, confidential="pay", keys=["age"])
    release = eq.PRAM(keep=0.7, on="all").release(people, 0)
    exact = release.posteriors(intruder="informed").probabilities
    assert release.notes() == []
    monkeypatch.setattr(informed_linkage, "MOST_PAIRS", 100)
    assert "too large" in release.notes()[0]
    assert release.notes([]) == []  # nothing is linked if no key is known
    without = release.posteriors(intruder="informed").probabilities
    # p/Σp by hand: what is left of the linkage without N
    levels = np.array(people.levels("age"))
    shown = np.searchsorted(levels, np.asarray(release.table["age"]))
    change = np.full((len(levels), len(levels)), 0.3 / (len(levels) - 1))
    np.fill_diagonal(change, 0.7)
    joint = change * np.bincount(people.key_codes("age"))[:, None]
    link = (joint / joint.sum(axis=0))[:, shown]
    link /= link.sum(axis=1, keepdims=True)
    told = np.array([np.where(np.arange(8) == s, 0.7, 0.3 / 7) for s in range(8)])
    told = told * np.bincount(people.codes, minlength=8)
    told /= told.sum(axis=1, keepdims=True)
    by_hand = link @ told[np.asarray(release.table["pay"]) - 1]
    np.testing.assert_allclose(without, by_hand, rtol=1e-9)
    assert np.abs(exact - without).max() > 1e-3
