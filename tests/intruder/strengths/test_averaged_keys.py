"""Keys averaged in groups: each released mean is compared with everybody, outliers included."""

import numpy as np
import pandas as pd
import pytest

import equivoc as eq


@pytest.fixture(scope="module")
def people():
    """Numbers of which a few lie so far out that a bell curve around their group's mean is 0 for them."""
    rng = np.random.default_rng(5)
    far = np.where(rng.random(300) < 0.02, 5, 1)
    frame = pd.DataFrame(
        {f"key{k}": np.rint(rng.normal(50, 10, 300)).astype(int) * np.roll(far, 7 * k) for k in range(5)}
    )
    frame["pay"] = rng.integers(1, 9, 300) * 10
    return eq.Microdata(frame, confidential="pay", keys=[f"key{k}" for k in range(5)])


@pytest.mark.parametrize("intruder", ["informed", "register"])
def test_every_record_fits_somebody_and_the_nearest_most(people, intruder):
    release = eq.Microaggregation(size=3, on="keys").release(people)
    found = release.posteriors(intruder=intruder).probabilities
    of_record = people.classes(None).of_record
    given = found[of_record, people.codes]
    # An attacker who takes the record with the nearest means is right for about a third: these do no worse.
    means = np.column_stack([np.asarray(release.table[key], float) for key in people.keys])
    own = np.column_stack(
        [np.asarray(people.levels(key), float)[people.key_codes(key)] for key in people.keys]
    )
    scale = means.std(axis=0)
    nearest = [np.argmin((((means - row) / scale) ** 2).sum(axis=1)) for row in own]
    attack = (people.codes[nearest] == people.codes).mean()
    best = (found[of_record].argmax(axis=1) == people.codes).mean()
    assert np.isfinite(np.log(np.maximum(given, 1e-12))).all()
    assert best > attack - 0.05
    assert attack > 0.25
